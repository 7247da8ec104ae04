# SPDX-License-Identifier: MIT
#
# The text behind `python -c`: takes the INIT frame from descriptor 3 and becomes the runner that came in it, see
# README.md. The build makes a C string of it, without these comments. Once the engine has the code object of the
# function, it sends that instead. It must parse under Python 2.7 and 3.6, to be
# able to refuse them, and it stays on the stack, below every cell.
def hermes_boot():
    import sys
    globals().pop('hermes_boot', None)
    if sys.version_info < (3, 8):
        found = sys.executable, sys.version.split()[0]
        sys.stderr.write('hermes-repl needs Python 3.8 or newer, %s is Python %s\n' % found)
        sys.exit(3)
    import builtins, marshal, posix
    def take(size):
        pieces = []
        while size:
            piece = posix.read(3, size)
            if not piece:
                posix._exit(0)
            pieces.append(piece)
            size -= len(piece)
        return b''.join(pieces)
    def number(at):
        return int.from_bytes(body[at:at + 4], 'little')
    body = take(16)
    if body[:2] != b'\xc8I':
        sys.stderr.write('hermes-repl: descriptor 3 speaks another protocol\n')
        sys.exit(3)
    body = take(number(4))
    view = memoryview(body)
    fields = []
    at = 4
    for left in range(number(0)):
        fields.append(view[at + 4:at + 4 + number(at)])
        at += 4 + number(at)
    magic = sys.modules['_frozen_importlib_external'].MAGIC_NUMBER
    if fields[2] and fields[1] == magic:
        code, later = marshal.loads(fields[2]), b''
        if type(code) is tuple:
            code, later = code
        boot = b''
        fields[:3] = magic, b''
    else:
        parts = bytes(fields[0]).split(b'\n# ==== later ====\n')
        parts[1] = b'\n' * (parts[0].count(b'\n') + 2) + parts[1]
        code, later = [compile(part, '<hermes kernel runner>', 'exec', 0, True) for part in parts]
        later = marshal.dumps(later)
        fields[:3] = magic, marshal.dumps((code, later))
        boot = marshal.dumps(sys._getframe().f_code)
    fields[2:] = [bytes(field) for field in fields[2:]]
    space = dict(__name__='hermes_kernel_runner', __builtins__=dict(vars(builtins)), init=fields)
    space.update(later=later, boot=boot)
    eval(code, space)
    body = view = fields = parts = code = None
    space['main']()
hermes_boot()
