# SPDX-License-Identifier: MIT
import collections.abc
import json
import subprocess
import types

import engine

CellAuthority = engine.Authority

class Process:
    def __init__(self, kernel):
        self.kernel = kernel

    pid = property(lambda self: next((k["guard_pid"] for k in engine.kernels() if k["id"] == self.kernel), None))

    def gone(self, ms):
        return engine.lib.hermes_kernel_wait(engine.engine, engine.number(self.kernel), engine.c.c_int64(ms))

    def wait(self, timeout=None):
        if not self.gone(-1 if timeout is None else int(timeout * 1000)):
            raise subprocess.TimeoutExpired("kernel", timeout)

class SessionKernel:
    def __init__(self, key):
        self.key, self.id, self.proc = key, None, None

    def alive(self):
        return self.proc is not None and not self.proc.gone(0)

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

def shutdown_all_kernels():
    engine.lib.hermes_shutdown_all(engine.engine)

def _spawn(kernel, task_id, child_python, child_cwd, sandbox_tools, max_tool_calls):
    fields = dict(session=kernel.key[0].encode(), task_id=task_id.encode(), python=child_python.encode(), mode=engine.STRICT,
                  cwd=child_cwd.encode() or None, tools=engine.names(sandbox_tools), max_tool_calls=max_tool_calls)
    kernel.adopt(engine.send(engine.lib.hermes_start, engine.make_cell(**fields)))

    def write(line):
        code = json.loads(line)["code"].encode()
        engine.send(engine.lib.hermes_submit, engine.make_cell(code=code, timeout_ms=-1, **fields))
    kernel.proc.stdin = types.SimpleNamespace(write=write, flush=lambda: None)
