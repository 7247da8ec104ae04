# SPDX-License-Identifier: MIT
import threading

_callbacks = threading.local()


def _callback_api():
    return (lambda: getattr(_callbacks, "approval", None), lambda: getattr(_callbacks, "sudo", None),
            lambda callback: setattr(_callbacks, "approval", callback), lambda callback: setattr(_callbacks, "sudo", callback))
