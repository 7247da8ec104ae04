# SPDX-License-Identifier: MIT
import collections.abc
import json
import subprocess
import types

from engine import Authority, engine

CellAuthority = Authority


class Process:
    def __init__(self, kernel):
        self.kernel = kernel

    pid = property(lambda self: next((k["guard_pid"] for k in engine.kernels() if k["id"] == self.kernel), None))

    def wait(self, timeout=None):
        if not engine.kernel_wait(self.kernel, timeout):
            raise subprocess.TimeoutExpired("kernel", timeout)


class SessionKernel:
    def __init__(self, key):
        self.key, self.id, self.proc = key, None, None

    def alive(self):
        return self.proc is not None and not engine.kernel_wait(self.id, 0)

    cell_authority = property(lambda self: engine.kernel_authority(self.id))

    def adopt(self, kernel):
        self.id, self.proc = kernel, Process(kernel)
        return self


class Kernels(collections.abc.Mapping):
    """What the engine has at this moment."""

    def _now(self):
        return {(k["owner"], k["mode"], k["python"], k["cwd"], tuple(k["tools"] or ("*",))): k["id"] for k in engine.kernels()}

    def __getitem__(self, key):
        return SessionKernel(key).adopt(self._now()[key])

    def __iter__(self):
        return iter(self._now())

    def __len__(self):
        return len(self._now())


_KERNELS = Kernels()
shutdown_all_kernels = engine.shutdown_all


def _spawn(kernel, task_id, child_python, child_cwd, sandbox_tools, max_tool_calls):
    options = dict(session=kernel.key[0], task_id=task_id, python=child_python, mode="strict", cwd=child_cwd or None,
                   tools=tuple(sandbox_tools), max_tool_calls=max_tool_calls)
    kernel.adopt(engine.start(**options))

    def write(line):
        engine.submit(json.loads(line)["code"], timeout=-1, **options)
    kernel.proc.stdin = types.SimpleNamespace(write=write, flush=lambda: None)
