# SPDX-License-Identifier: MIT
import contextvars

from engine import engine

_session_key = contextvars.ContextVar("session_key", default=None)
set_current_session_key = _session_key.set
reset_current_session_key = _session_key.reset
current_session_key = _session_key.get
clear_session = engine.session_clear
