# SPDX-License-Identifier: MIT
"""The engine, for the contract's modules; calls and results are translated by hermes_kernel, nothing is decided here."""
import hermes_kernel

engine = hermes_kernel.Engine()
kernel_mode = hermes_kernel.kernel_mode


def handler(call):
    import model_tools
    return model_tools.handle_function_call(call.tool, call.arguments, task_id=call.task_id)


class Authority(hermes_kernel.Authority):
    def __init__(self, task_id=None, **options):
        super().__init__(handler, task_id=task_id, **options)
