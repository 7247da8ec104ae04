# SPDX-License-Identifier: MIT
import contextlib
import contextvars

_child = contextvars.ContextVar("child", default=None)
current_child = _child.get


@contextlib.contextmanager
def delegated_child_context(ident):
    token = _child.set(ident)
    try:
        yield
    finally:
        _child.reset(token)
