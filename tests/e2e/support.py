# SPDX-License-Identifier: MIT
"""What the end-to-end tests share. Standard library only."""
import os
import signal
import sys
import time

# Also where all of this runs under nohup or in the background, which is handed on to children.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

PYTHON = os.environ.get("TEST_PYTHON") or sys.executable
SLOW = int(os.environ.get("CK_TIMEOUT_MULTIPLIER", "1") or 1)      # sanitizers
LIMIT = 60 * SLOW


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


def marked(mark):
    """Living processes whose environment holds the mark."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open("/proc/%s/environ" % name, "rb") as file:
                if mark in file.read() and alive(int(name)):
                    found.append(int(name))
        except OSError:
            pass
    return found


def wait_for(condition, what, seconds=20):
    end = time.monotonic() + seconds * SLOW
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("no " + what)
        time.sleep(0.01)
