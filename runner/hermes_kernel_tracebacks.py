# SPDX-License-Identifier: MIT
"""Continues the second part of the runner: the text of exceptions, and private copies of modules for it."""

# ---- tracebacks -----------------------------------------------------------------------------------

def describe(error):
    """The text that Python prints for an uncaught exception. Never raises what the user's code raised."""
    try:
        text = standard_text(error)
    except BaseException:
        try:
            text = plain_text(error)
        except BaseException:
            text = 'an exception that can not be shown\n'
    return text


def is_own(frame):
    """The runner's, or that of compile_lightly()."""
    return frame.f_globals is private or frame.f_globals is scratch


def user_part(traceback):
    """Without the runner's frames: from the cell's first on, or what follows the runner's last."""
    found = traceback
    while found is not None:
        code = found.tb_frame.f_code
        if found.tb_frame.f_globals is space and code.co_name == '<module>' and code.co_filename == cell_name:
            traceback = found
            break
        found = found.tb_next
    kept, own = [], 0
    while traceback is not None:
        if is_own(traceback.tb_frame):
            own = len(kept) + 1
        else:
            kept.append(traceback)
        traceback = traceback.tb_next
    if not own:
        return kept[0] if kept else None
    result = None
    for entry in reversed(kept):
        result = type(entry)(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result


def standard_text(error):
    kind = type(error)
    start = user_part(traceback_of(error))
    if not cell_compiled and start is None:
        repair_syntax_error(error)
    try:
        lines.clear()
        tool = private_module('traceback')
        shown = tool.TracebackException(kind, error, start)
        correct(shown, error, 0)
        text = ''.join(shown.format())
    finally:
        lines.clear()
        shown = start = None
    if not cell_compiled and not isinstance_safe(error, SyntaxError) and not isinstance_safe(error, KeyboardInterrupt) \
            and 'File "' not in text:
        text = '  File "%s", line 1\n%s' % (cell_name, text)
    return text


def repair_syntax_error(error):
    """The compiler looks for a bad line's text in the file of that name only."""
    if not isinstance_safe(error, SyntaxError):
        return
    if error.filename is None or error.filename == '<string>':
        error.filename = cell_name
    if error.filename == cell_name and error.lineno is None:
        text = sources.get(cell_name, '')
        error.lineno = text[:max(text.find('\0'), 0)].count('\n') + 1
        error.offset = None
        return
    if error.filename == cell_name and error.lineno and (error.text is None or MAGIC in error.text):
        line = get_line(cell_name, error.lineno)
        if line:
            if error.text is not None:
                error.offset = error.end_offset = None
            error.text = line


def correct(shown, error, depth):
    """Of chained exceptions and members of groups the runner's frames are not shown either. And before 3.13 the
    interpreter prints an uncaught exception itself, not quite as the traceback module does: it has "Did you mean",
    other names of modules, tabs and carets. So it is asked for what stands below the frames."""
    seen = 0
    while shown is not None and error is not None and seen < 100:
        if seen or depth:
            cut_frames(shown, traceback_of(error))
        drop_carets(shown.stack)
        seen += 1
        members = getattr(shown, 'exceptions', None)
        if members is None:
            text = last_lines(error) if python < (3, 13) else None
            if text is not None:
                shown.format_exception_only = (text,).__iter__
        elif depth < 10:
            for one, other in zip(members, BaseExceptionGroup.exceptions.__get__(error)):
                correct(one, other, depth + 1)
        if shown.__cause__ is not None:
            shown, error = shown.__cause__, cause_of(error)
        else:
            shown, error = shown.__context__, context_of(error)


def cut_frames(shown, traceback):
    found = traceback
    while found is not None:
        if is_own(found.tb_frame):
            shown.stack = private_module('traceback').TracebackException(
                BaseException, BaseException(), user_part(traceback)).stack
            return
        found = found.tb_next


def drop_carets(stack):
    """Below lines that are shown as they were before the host made Python of them."""
    for entry in stack:
        text = sources.get(entry.filename, '')
        if MAGIC in text and MAGIC in split_lines(text)[entry.lineno - 1] and hasattr(entry, 'colno'):
            entry.colno = entry.end_colno = None


class Catcher:
    """In the place of sys.stderr for the length of one call of the interpreter's own excepthook."""

    def __init__(self):
        self.parts, self.thread = [], _thread.get_ident()

    def write(self, text):
        if _thread.get_ident() == self.thread:
            self.parts.append(text)
        else:
            self.stderr.write(text)

    def flush(self):
        pass

    def show(self, error, traceback):
        self.stderr = vars(sys).get('stderr')
        try:
            sys.stderr = self
            genuine_excepthook(type(error), error, traceback)
        finally:
            if self.stderr is None:
                del sys.stderr
            else:
                sys.stderr = self.stderr
        return ''.join(self.parts)


def last_lines(error):
    """What the interpreter prints below the frames, or None."""
    traceback, cause, context, suppress = traceback_of(error), cause_of(error), context_of(error), suppress_of(error)
    last = traceback
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    try:
        BaseException.__cause__.__set__(error, None)
        BaseException.__context__.__set__(error, None)
        BaseException.__traceback__.__set__(error, None)
        text = Catcher().show(error, None)
        if python >= (3, 10) and isinstance_safe(error, NameError) and last is not None:
            BaseException.__traceback__.__set__(error, last)    # the names are looked for in the frame
            again = Catcher().show(error, last)
            if again.startswith('Traceback '):
                at = again.rfind('\n' + text[:-1])
                text = again[at + 1:] if at >= 0 else text
    finally:
        BaseException.__traceback__.__set__(error, traceback)
        BaseException.__cause__.__set__(error, cause)
        BaseException.__context__.__set__(error, context)
        BaseException.__suppress_context__.__set__(error, suppress)
        last = traceback = cause = context = error = None
    return text if text.endswith('\n') and text.strip() and not text.startswith('Traceback ') else None


def plain_text(error):
    """For what the standard library's formatter can't do. Runs none of the exception's code but __str__."""
    parts = ['Traceback (most recent call last):\n']
    start = user_part(traceback_of(error))
    entries = []
    while start is not None:
        entries.append((start.tb_frame.f_code.co_filename, start.tb_lineno, start.tb_frame.f_code.co_name))
        start = start.tb_next
        if len(entries) > 200:
            del entries[50:100]
    if not entries:
        parts = ['  File "%s"\n' % cell_name]
    for entry in entries:
        parts.append('  File "%s", line %d, in %s\n' % entry)
        try:
            line = get_line(entry[0], entry[1]).strip()
        except BaseException:
            line = ''
        if line:
            parts.append('    %s\n' % line)
    name = qualname_of(type(error))
    try:
        text = str(error)
    except BaseException:
        text = '<unprintable %s object>' % name
    parts.append('%s: %s\n' % (name, text) if text else name + '\n')
    return ''.join(parts)


lines = {}                  # file name -> lines, while a traceback is made
MAGIC = '\t#magic\t'        # what stands behind it in a line of a cell is what was typed


def get_line(name, number, globals=None):
    found = get_lines(name, globals)
    return found[number - 1] if 1 <= number <= len(found) else ''


def get_lines(name, globals=None):
    found = lines.get(name)
    if found is None:
        try:
            found = find_lines(name)
        except BaseException:
            found = []
        lines[name] = found
    return found


def find_lines(name):
    if name in sources:
        found = split_lines(sources[name])
        return [line.rpartition(MAGIC)[2] for line in found] if MAGIC in sources[name] else found
    cached = modules.get('linecache')
    if type(cached) is ModuleType:
        entry = vars(cached).get('cache', {}).get(name)
        if type(entry) is tuple and len(entry) == 4 and entry[1] is None and type(entry[2]) is list:
            return entry[2]
    if name.startswith('<') and name.endswith('>'):
        return []
    return split_lines(decode_source(read_file(name)))


def read_file(path):
    fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK)
    try:
        pieces = []
        while True:
            piece = read(fd, 1 << 20)
            if not piece:
                return b''.join(pieces)
            pieces.append(piece)
    finally:
        close(fd)


def decode_source(data):
    """A Python file's text, by its byte-order mark or coding cookie."""
    if data.startswith(b'\xef\xbb\xbf'):
        return data[3:].decode('utf-8', 'replace')
    for line in data.split(b'\n', 2)[:2]:
        at = line.find(b'coding')
        if line.lstrip(b' \t\f').startswith(b'#') and line[at + 6:at + 7] in (b':', b'='):
            name = line[at + 7:].split()[0].decode('ascii', 'replace')
            try:
                return data.decode(name.strip('"\';*,'), 'replace')
            except LookupError:
                break
    return data.decode('utf-8', 'replace')


def lazy_cache(name, globals):
    """For modules without a file: their loader knows the text."""
    try:
        if name in lines or name in sources or not globals or name.startswith('<'):
            return False
        spec = globals.get('__spec__')
        loader = getattr(spec, 'loader', None) or globals.get('__loader__')
        if loader is None or type(loader) is modules['_frozen_importlib_external'].SourceFileLoader:
            return False
        text = loader.get_source(getattr(spec, 'name', None) or globals.get('__name__'))
        if text is not None:
            lines[name] = split_lines(text)
            return True
    except BaseException:
        pass
    return False


# ---- private copies of modules of the standard library --------------------------------------------

copies = {}                 # module name -> module


def private_module(name):
    if not copies:
        start_copies()
    return load(name)


def start_copies():
    """The modules of which the copies get something else than the real thing."""
    scope = first_builtins.copy()
    scope['__import__'] = private_import
    copies['builtins'] = stand_in('builtins', scope)
    shadow = stand_in('sys', first_sys)
    shadow.modules = copies
    copies['sys'] = shadow
    copies['os'] = stand_in('os', {'environ': {}, 'path': None})
    copies['warnings'] = stand_in('warnings', {'warn': nothing, '_deprecated': nothing})
    copies['linecache'] = stand_in('linecache', {
        'getline': get_line, 'getlines': get_lines, 'checkcache': nothing, 'lazycache': lazy_cache, 'cache': {}})


def nothing(*arguments, **named):
    return None


def private_import(name, globals=None, locals=None, fromlist=(), level=0):
    if level:
        package = globals['__package__']
        for i in range(level - 1):
            package = package.rpartition('.')[0]
        name = package + '.' + name if name else package
    module = load(name)
    if fromlist:
        if hasattr(module, '__path__'):
            for part in fromlist:
                if part != '*' and not hasattr(module, part):
                    load(name + '.' + part)
        return module
    return module if level else copies[name.partition('.')[0]]


def load(name):
    with load_lock:     # a module that is half there is no module
        return load_locked(name)


def load_locked(name):
    module = copies.get(name)
    if module is not None:
        return module
    parent = name.rpartition('.')[0]
    if parent:
        load(parent)
        if name in copies:
            return copies[name]
    if name in first_sys['builtin_module_names']:
        module = load_builtin(name)
    else:
        module = load_source(name) or load_dynamic(name)
    if module is None:
        raise ImportError('no module %s for the runner' % name)
    if parent:
        setattr(copies[parent], name.rpartition('.')[2], module)
    return module


def load_builtin(name):
    """A fresh instance. Older modules can't be made twice: what that does to the public one is undone."""
    public = modules.get(name)
    kept = vars(public).copy() if type(public) is ModuleType else None
    try:
        fresh = _imp.create_builtin(Spec(name, 'built-in'))
        _imp.exec_builtin(fresh)
        module = stand_in(name, vars(fresh).copy())
    finally:
        if kept is not None:
            vars(public).update(kept)
            modules[name] = public
        else:
            modules.pop(name, None)
    copies[name] = module
    return module


class Spec:
    submodule_search_locations = loader = parent = cached = None

    def __init__(self, name, origin):
        self.name, self.origin = name, origin


def load_source(name):
    path = '%s/%s' % (stdlib(), name.replace('.', '/'))
    module = ModuleType(name)
    package = name.rpartition('.')[0]
    code = None
    for end in '/__init__.py', '.py':
        try:
            code = get_code(path + end)
        except OSError:
            continue
        if end != '.py':
            package = name
            module.__path__ = []
        break
    if code is None:
        return None
    module.__package__ = package
    module.__file__ = path + end
    module.__builtins__ = vars(copies['builtins'])
    copies[name] = module
    try:
        exec(code, vars(module))
    except BaseException:
        copies.pop(name, None)
        raise
    return copies.get(name, module)


def get_code(path):
    """From the interpreter's cache if it is in order, else compiled."""
    stat = posix.stat(path)
    try:
        folder, _, name = path.rpartition('/')
        data = read_file('%s/__pycache__/%s.%s.pyc' % (folder, name[:-3], sys.implementation.cache_tag))
        flags = number(data, 4)
        current = number(data, 8) == int(stat.st_mtime) & 0xffffffff and number(data, 12) == stat.st_size & 0xffffffff
        if data[:4] == modules['_frozen_importlib_external'].MAGIC_NUMBER and (flags == 1 or not flags and current):
            return marshal.loads(data[16:])
    except (OSError, ValueError, EOFError, TypeError):
        pass
    return compile(read_file(path), path, 'exec', 0, True)


def load_dynamic(name):
    """A module of C code: the public one if it is there."""
    module = modules.get(name)
    if type(module) is not ModuleType:
        path = dynload() + name + _imp.extension_suffixes()[0]
        spec = Spec(name, path)
        module = _imp.create_dynamic(spec)
        _imp.exec_dynamic(module)
    copies[name] = module
    return module
