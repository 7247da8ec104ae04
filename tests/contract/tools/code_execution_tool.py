# SPDX-License-Identifier: MIT
import json
import sys

import engine
from agent.delegation_context import current_child
from tools.approval import current_session_key

DEFAULT_KERNEL_MODE = engine.lib.hermes_kernel_mode().decode()
KERNEL_MODES = (DEFAULT_KERNEL_MODE,)


def _load_config():
    return {}


def _get_kernel_mode():
    engine.configure(_load_config())
    return engine.lib.hermes_kernel_mode().decode()


def execute_code(code, task_id=None, enabled_tools=None, reset=False):
    engine.configure(_load_config())
    names = dict(session=current_session_key(), task_id=task_id, child_id=current_child(), python=sys.executable, code=code)
    return engine.execute(engine.make_cell(tools=engine.names(enabled_tools), flags=engine.RESET if reset else 0,
                                           **{name: engine.encoded(value) for name, value in names.items()}))


def build_execute_code_schema(enabled_tools=None, mode=None):
    engine.configure(dict(_load_config(), **({"mode": mode} if mode else {})))
    return json.loads(engine.take(engine.lib.hermes_schema(engine.engine, 0, engine.names(enabled_tools))))
