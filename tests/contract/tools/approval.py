# SPDX-License-Identifier: MIT
import contextvars

import engine

_session_key = contextvars.ContextVar("session_key", default=None)
set_current_session_key = _session_key.set
reset_current_session_key = _session_key.reset
current_session_key = _session_key.get


def clear_session(key):
    engine.lib.hermes_session_clear(engine.engine, key.encode())
