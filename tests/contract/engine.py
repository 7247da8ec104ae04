# SPDX-License-Identifier: MIT
"""The engine's C API for the contract: calls and results translated, nothing decided."""
import ctypes as c
import json
import os

lib = c.CDLL(os.environ["HERMES_KERNEL_LIB"])
libc = c.CDLL(None)
libc.strdup.restype = c.c_void_p

struct = lambda name, fields: type(name, (c.Structure,), {"_fields_": fields})
text, number, pointer = c.c_char_p, c.c_uint64, c.c_void_p
Error = struct("Error", [("code", c.c_int), ("os_errno", c.c_int), ("text", c.c_char * 256)])
Call = struct("Call", [("id", number), ("cell", number), ("kernel", number), ("owner", text), ("session", text),
                       ("task_id", text), ("tool", text), ("arguments", text), ("context", pointer)])
ToolFn = c.CFUNCTYPE(pointer, c.POINTER(Call))
AuthorityOptions = struct("AuthorityOptions", [
    ("size", c.c_size_t), ("session", text), ("task_id", text), ("child_id", text), ("tools", c.POINTER(text)),
    ("max_calls", c.c_int64), ("handler", ToolFn), ("context", pointer)])
Cell = struct("Cell", [
    ("size", c.c_size_t), ("session", text), ("task_id", text), ("child_id", text), ("mode", c.c_int), ("python", text),
    ("cwd", text), ("tools", c.POINTER(text)), ("code", text), ("code_size", c.c_size_t), ("file_name", text),
    ("first_line", c.c_uint), ("flags", c.c_uint), ("timeout_ms", c.c_int64), ("setup", pointer), ("whole_source", text),
    ("whole_source_size", c.c_size_t), ("tool_handler", ToolFn), ("tool_context", pointer), ("max_tool_calls", c.c_int64)])
RESET, STRICT = 1, 2

for name, result in [("hermes_result_json", pointer), ("hermes_kernels_json", pointer), ("hermes_schema", pointer),
                     ("hermes_authority_new", pointer), ("hermes_kernel_authority", pointer),
                     ("hermes_authority_dispatch", pointer), ("hermes_authority_active", c.c_bool), ("hermes_kernel_mode", text)]:
    getattr(lib, name).restype = result

engine, error = pointer(), Error()

def check(status):
    if status:
        raise RuntimeError(error.text.decode())

check(lib.hermes_engine_new(c.byref(engine), c.byref(error)))

def take(address):
    """The text at an address that is ours to free."""
    value = c.string_at(address).decode()
    lib.hermes_free(pointer(address))
    return value

def encoded(value):
    return None if value is None else value.encode()

def names(tools):
    return None if tools is None else (text * (len(tools) + 1))(*[t.encode() for t in tools], None)

@ToolFn
def handler(call):
    import model_tools
    task_id = call[0].task_id and call[0].task_id.decode()
    answer = model_tools.handle_function_call(call[0].tool.decode(), json.loads(call[0].arguments), task_id=task_id)
    return libc.strdup(answer.encode())

def make_cell(**fields):
    return Cell(size=c.sizeof(Cell), tool_handler=handler, **fields)

def configure(config):
    data = json.dumps(config).encode()
    check(lib.hermes_configure(engine, data, c.c_size_t(len(data)), None, c.byref(error)))

def execute(cell):
    result = pointer()
    check(lib.hermes_execute(engine, c.byref(cell), c.byref(result), c.byref(error)))
    answer = take(lib.hermes_result_json(result, None))
    lib.hermes_result_free(result)
    return answer

def send(function, cell):
    ident = number()
    check(function(engine, c.byref(cell), c.byref(ident), c.byref(error)))
    return ident.value

def kernels():
    return json.loads(take(lib.hermes_kernels_json(engine)))

class Authority:
    def __init__(self, task_id=None, address=None):
        options = AuthorityOptions(size=c.sizeof(AuthorityOptions), task_id=encoded(task_id), handler=handler)
        self.address = pointer(address or lib.hermes_authority_new(c.byref(options)))

    active = property(lambda self: lib.hermes_authority_active(self.address))

    def retire(self):
        lib.hermes_authority_retire(self.address)

    def dispatch(self, tool, arguments):
        return take(lib.hermes_authority_dispatch(self.address, tool.encode(), json.dumps(arguments).encode()))

def kernel_authority(kernel, authorities={}):
    address = lib.hermes_kernel_authority(engine, number(kernel))
    return authorities.setdefault(address, Authority(address=address))
