# SPDX-License-Identifier: MIT
"""Begins the second part of the runner: repairs, children of cells, debuggers, spares, answers to requests."""
# ==== later ====
# Everything below is compiled on its own, comes as bytes, and is run by load_later(). Most kernels never need it.

# ---- spares -----------------------------------------------------------------------------------------
#
# A kernel that is started before it is needed is an old one as soon as a new interpreter would start otherwise.

def startup_files():
    """The names of what decided how this interpreter started, each ended by a NUL; some may not be there."""
    site = modules.get('site')
    folders, names = [], [sys.executable, sys.prefix + '/pyvenv.cfg']
    try:
        folders += site.getsitepackages()
        folders.append(site.getusersitepackages())
    except Exception:
        pass
    for folder in folders:
        try:
            names += [folder + '/' + name for name in posix.listdir(folder) if name.endswith('.pth')]
        except OSError:
            pass
    for folder in sys.path:
        names += folder + '/sitecustomize.py', folder + '/usercustomize.py'
    for module in list(modules.values()):
        names.append(getattr(module, '__file__', None))
    names = [name for name in folders + names if type(name) is str and name[:1] == '/']
    return b''.join([name.encode('utf-8', 'surrogateescape') + b'\0' for name in dict.fromkeys(names)])


def bind(frame):
    """This spare has become a kernel of somebody whose first cell comes next, from a script of that text."""
    size = number(frame, 20)
    name = frame[24:24 + size].decode('utf-8', 'surrogateescape')
    set_script(name, frame[28 + size:])
    if 'linecache' not in hooks:
        fill_linecache((name,))


# ---- checkpoints ------------------------------------------------------------------------------------

def checkpoint(frame):
    """Keep the state before a cell; hermes_kernel_checkpoint.py takes the name."""
    exec(get_code(parts_path + '/hermes_kernel_checkpoint.py'), private)
    private['checkpoint'](frame)


# ---- mending, the end of a forked child ----------------------------------------------------------

def mend_descriptor(n):
    try:
        dup2(spares[n], n)
    except OSError:
        try:
            fd = posix.open('/dev/null', posix.O_RDWR)
            if fd != n:
                dup2(fd, n)
                close(fd)
        except OSError:
            pass


def mend_streams():
    for n, name in enumerate(('stdin', 'stdout', 'stderr')):
        if is_closed(streams[n]):
            try:
                streams[n] = new_stream(n)
            except BaseException:
                continue
        if is_closed(vars(sys).get('__%s__' % name)):
            setattr(sys, '__%s__' % name, streams[n])
        if is_closed(vars(sys).get(name)):
            setattr(sys, name, streams[n])


def is_closed(stream):
    if stream is None or type(stream) is Catcher:
        return True
    try:
        return stream.closed is True
    except ValueError:
        return type(stream) is _io.TextIOWrapper    # detached
    except BaseException:
        return False


def new_stream(n):
    raw = _io.FileIO(n, 'rb' if n == 0 else 'wb', closefd=False)
    raw.name = ('<stdin>', '<stdout>', '<stderr>')[n]
    encoding, errors = getattr(streams[n], 'encoding', 'utf-8'), getattr(streams[n], 'errors', None)
    if n == 0:
        stream = _io.TextIOWrapper(_io.BufferedReader(raw), encoding, errors)
    else:
        stream = _io.TextIOWrapper(_io.BufferedWriter(raw), encoding, errors, line_buffering=True)
    stream.mode = 'r' if n == 0 else 'w'
    return stream


def find_fflush():
    try:
        ctypes = private_module('_ctypes')
        return ctypes.call_cdeclfunction, ctypes.dlsym(ctypes.dlopen(None, 0), 'fflush')
    except BaseException:
        return None


def leave_child():
    """The end of a process that a cell has forked and that ran off the cell's end."""
    status = 0
    error = failure
    try:
        if error is not None:
            if isinstance_safe(error, SystemExit):
                status, text = system_exit(error)
                if text is not None:
                    sys.stderr.write(text + '\n')
            else:
                status = 1
                sys.stderr.write(describe(error))
        flush_streams()
    except BaseException:
        pass
    finally:
        posix._exit(status & 0xff)


# ---- multiprocessing with the start method spawn or forkserver ------------------------------------
#
# A child of these methods makes __main__ anew from the file that __file__ names. A session has no such file, so what
# its cells define would be unknown to the child. It gets a file that holds, as code, of every cell that ran: imports,
# functions, classes, and assignments of plain values (no calls). The file is in memory (memfd), of mode 0600 for what
# /proc shows of it, and goes with the kernel. Where there is no memfd nothing is done; multiprocessing then reports
# that it can't get the attribute.

spawn_files = []            # descriptors, newest last
spawn_content = b''

SPAWN_MAIN = '''\
def hermes_definitions(data):
    import linecache, marshal
    del globals()['hermes_definitions']
    codes, texts = marshal.loads(data)
    for name in texts:
        lines = texts[name].split('\\n')
        linecache.cache[name] = len(texts[name]), None, [line + '\\n' for line in lines], name
    for code in codes:
        try:
            exec(code, globals())
        except Exception:
            pass
hermes_definitions(%r)
'''


def help_spawn():
    module = modules['multiprocessing.spawn']
    genuine = module.get_preparation_data

    def get_preparation_data(name):
        data = genuine(name)
        if 'init_main_from_name' not in data and 'init_main_from_path' not in data:
            try:
                data['init_main_from_path'] = definitions_file()
            except Exception:
                pass
        return data

    get_preparation_data.__module__ = module.__name__
    get_preparation_data.__qualname__ = 'get_preparation_data'
    module.get_preparation_data = get_preparation_data


def definitions_file():
    global spawn_content
    codes, texts = [], {}
    for name, text in list(sources.items()):
        try:
            tree = compile(text, name, 'exec', carry | ONLY_AST, True)
            tree.body = [node for node in tree.body if is_definition(node)]
            if tree.body:
                codes.append(compile(tree, name, 'exec', carry, True))
                texts[name] = text.replace('\r\n', '\n').replace('\r', '\n')
        except Exception:
            pass
    content = (SPAWN_MAIN % (marshal.dumps((codes, texts)),)).encode()
    if content != spawn_content or not spawn_files:
        fd = posix.memfd_create('main', posix.MFD_CLOEXEC)
        try:
            posix.fchmod(fd, 0o600)
            view = memoryview(content)
            while view:
                view = view[write(fd, view):]
            spawn_files.append(dup2(fd, free_number(), False))
        finally:
            close(fd)
        spawn_content = content
        while len(spawn_files) > 4:
            close(spawn_files.pop(0))
    return '/proc/%d/fd/%d' % (getpid(), spawn_files[-1])


def free_number():
    """A descriptor's number that is not in use, far up."""
    for n in range(min(spares[0], control) - 3, 2, -1):
        try:
            get_inheritable(n)
        except OSError:
            return n
    raise OSError(errno.EMFILE, 'no descriptor is free')


DEFINITIONS = 'Import', 'ImportFrom', 'FunctionDef', 'AsyncFunctionDef', 'ClassDef', 'TypeAlias'
PLAIN = ('Constant', 'Tuple', 'List', 'Set', 'Dict', 'UnaryOp', 'BinOp', 'Name', 'Attribute', 'Load', 'Store', 'USub',
         'UAdd', 'Not', 'Invert', 'Add', 'Sub', 'Mult', 'Div', 'Mod', 'Pow', 'FloorDiv', 'LShift', 'RShift', 'BitOr',
         'BitAnd', 'Subscript', 'Index', 'Slice', 'Lambda')


def is_definition(node):
    kind = name_of(type(node))
    if kind == 'Assign' or kind == 'AnnAssign':
        return node.value is not None and is_plain(node.value)
    if kind == 'Try':
        return all(map(is_definition, node.body)) and all(map(is_definition, node.orelse)) and not node.finalbody
    return kind in DEFINITIONS


def is_plain(node):
    kind = name_of(type(node))
    if kind == 'Lambda':
        return True
    if kind not in PLAIN:
        return False
    for field in node._fields:
        value = getattr(node, field, None)
        for part in value if type(value) is list else (value,):
            if hasattr(part, '_fields') and not is_plain(part):
                return False
    return True


# ---- debuggers ------------------------------------------------------------------------------------

def mend_debugger():
    """Below the cell no debugger goes, and it stops nowhere in here."""
    kind = modules['bdb'].Bdb
    genuine_stack, genuine_stop = kind.get_stack, kind.stop_here

    def get_stack(self, frame, traceback):
        stack, index = genuine_stack(self, frame, traceback)
        own = [entry[0].f_globals is private for entry in stack]
        for at in range(len(own) - 1):
            if own[at] and not own[at + 1]:
                return (stack[at + 1:], index - at - 1) if at < index else (stack, index)
        return stack, index

    def stop_here(self, frame):
        return frame.f_globals is not private and genuine_stop(self, frame)

    for function in get_stack, stop_here:
        function.__module__, function.__qualname__ = kind.__module__, 'Bdb.' + function.__name__
        setattr(kind, function.__name__, function)


# ---- answers to requests --------------------------------------------------------------------------

ANSWER_LIMIT = 4 << 20


def to_answer(data):
    """The bytes of the answer to a request, whatever happens."""
    try:
        answer = utf8(answer_request(data.decode('utf-8', 'replace')))
        if len(answer) > ANSWER_LIMIT:
            answer = b'{"error":"the answer is too long"}'
    except BaseException as error:
        name = qualname_of(type(error)).encode('ascii', 'replace')
        answer = b'{"error":"the request failed: %s"}' % name.replace(b'"', b'').replace(b'\\', b'')
    return answer


# ---- questions about the kernel: hermes_kernel_objects.py and its followers -----------------------

inspector = {}              # what is defined there, once a request came


def answer_request(text):
    """The answer, a JSON object, to a request of the aux socket, which is another. For one thread only."""
    if 'answer' not in inspector:
        load_inspector()
    return inspector['answer'](text)


def load_inspector():
    """In pieces: while a piece is compiled no other thread gets on."""
    inspector.clear()
    scope = {'__name__': 'hermes_kernel_inspect', '__builtins__': private['__builtins__'], 'runner': private}
    for part in 'objects', 'complete', 'inspect':
        number = 0
        for piece in read_file('%s/hermes_kernel_%s.py' % (parts_path, part)).split(b'\n# ===='):
            exec(compile(b'\n' * number + b'#' + piece, '<hermes kernel %s>' % part, 'exec', 0, True), scope)
            number += piece.count(b'\n') + 1
    inspector.update(scope)
