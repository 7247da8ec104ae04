# SPDX-License-Identifier: MIT
import json

from agent.delegation_context import current_child
from engine import engine, handler, kernel_mode
from tools.approval import current_session_key

DEFAULT_KERNEL_MODE = kernel_mode()
KERNEL_MODES = (DEFAULT_KERNEL_MODE,)


def _load_config():
    return {}


def _get_kernel_mode():
    engine.configure(_load_config())
    return kernel_mode()


def execute_code(code, task_id=None, enabled_tools=None, reset=False):
    engine.configure(_load_config())
    return json.dumps(engine.execute(code, handler, session=current_session_key(), task_id=task_id, child_id=current_child(),
                                     tools=enabled_tools, reset=reset))


def build_execute_code_schema(enabled_tools=None, mode=None):
    engine.configure(_load_config())
    return engine.schema(mode, enabled_tools)
