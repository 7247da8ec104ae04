# SPDX-License-Identifier: MIT
from tools.thread_context import _callback_api


def set_approval_callback(callback):
    _callback_api()[2](callback)
