# SPDX-License-Identifier: MIT
"""Continues hermes_kernel_runner.py: sources of cells, calls of the host's tools, requests besides the cells."""

# ---- sources --------------------------------------------------------------------------------------

def set_up_sources(settings, script):
    if settings.get('source_name') and script:
        set_script(settings['source_name'], script)
    cached = modules.get('linecache')
    if cached is not None:
        try:
            cached.cache.pop('<string>', None)      # boot.py, where the interpreter registers the text of -c
        except Exception:
            pass
        fill_linecache()
    else:
        hooks['linecache'] = fill_linecache
    if 'script' not in settings:
        hooks['multiprocessing.spawn'] = help_spawn
    if terminal >= 0:
        hooks['bdb'] = mend_debugger
    if hooks:
        sys.meta_path.insert(0, Finder())


def set_script(name, text):
    global script_name
    script_name = name
    sources[name] = text.decode('utf-8', 'replace').lstrip('\ufeff')


def register(name, source):
    global sources_size
    old = sources.pop(name, None)
    if old is not None:
        sources_size -= len(old) + SOURCE_COST
    sources[name] = source
    sources_size += len(source) + SOURCE_COST
    if sources_size > SOURCES_LIMIT:
        drop_old_sources(name)
    if 'linecache' not in hooks:
        fill_linecache((name,))


def drop_old_sources(newest):
    """Many at a time, since each look at all of them costs."""
    global sources_size
    for key in list(sources):
        if sources_size <= SOURCES_LIMIT * 7 // 8:
            break
        if key != script_name and key != newest:
            sources_size -= len(sources.pop(key)) + SOURCE_COST
            try:
                modules['linecache'].cache.pop(key, None)
            except Exception:
                pass


def overlay(name, source, line):
    """A cell of a file: its lines stand where they are in the file, beside those of cells that ran before."""
    lines, new = split_lines(sources.get(name, '')), split_lines(source)
    if line > 1000000:
        return source
    line = max(line, 1) - 1
    lines += ['\n'] * (line - len(lines))
    lines[line:line + len(new)] = new
    return ''.join(lines)


def split_lines(text):
    """Lines as Python counts them, each with its newline."""
    lines = text.replace('\r\n', '\n').replace('\r', '\n').split('\n')
    if not lines[-1]:
        lines.pop()
    return [line + '\n' for line in lines]


def fill_linecache(names=None):
    try:
        cache = modules['linecache'].cache
        for name in names or list(sources):
            text = sources[name]
            cache[name] = len(text), None, split_lines(text), name
    except Exception:
        pass


def check_linecache():
    """Somebody may have emptied it."""
    try:
        cache = modules['linecache'].cache
        if len(cache) < len(sources) or script_name is not None and script_name not in cache:
            fill_linecache()
    except Exception:
        pass


class Finder:
    """On sys.meta_path, to know when one of a few modules gets loaded; finds nothing by itself."""

    def find_spec(self, name, path=None, target=None):
        action, here = hooks.get(name), _thread.get_ident()
        if action is None or here in looking:
            return None
        looking.append(here)
        try:
            spec = modules['_frozen_importlib']._find_spec(name, path, target)
        finally:
            looking.remove(here)
        if spec is not None and hasattr(spec.loader, 'exec_module'):
            spec.loader = Loader(spec.loader, spec, action)
        return spec


looking = []                # threads in which the other finders are asked


class Loader:
    """Stands for another loader until the module is executed: whoever only asks where a module is changes nothing."""

    def __init__(self, loader, spec, action):
        self.loader, self.spec, self.action = loader, spec, action

    def __getattr__(self, name):
        if name == 'loader':
            raise AttributeError(name)
        return getattr(self.loader, name)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        self.spec.loader = self.loader
        module.__loader__ = self.loader
        self.loader.exec_module(module)
        hooks.pop(self.spec.name, None)
        if not hooks:
            sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder) is not Finder]
        self.action()


# ---- tools ----------------------------------------------------------------------------------------
#
# hermes_tools is a file that the engine wrote; it is found by its exact path, whatever lies in the working directory.
# In this process it speaks over an inherited socket and says of each call which cell the calling thread was born in: a
# thread of an earlier cell has no authority, and neither has what such a thread forks.

tools_link = None           # in a session that has tools


def set_up_tools(settings):
    global tools_path, tools_link
    if 'tools' in settings:
        tools_path = settings['tools'] + '/hermes_tools.py'
        tools_link = ToolsLink()
        posix.register_at_fork(before=tools_link.before_fork)
        sys.meta_path.insert(0, ToolsFinder())


class ToolsFinder:
    def find_spec(self, name, path=None, target=None):
        if name != 'hermes_tools':
            return None
        external = modules['_frozen_importlib_external']
        spec = external.spec_from_file_location(name, tools_path)
        spec.loader = Loader(spec.loader, spec, join_tools)
        return spec


def join_tools():
    tools_link.loaded = True
    modules['hermes_tools'].kernel = tools_link


class ToolsLink:
    def __init__(self):
        self.lock = _thread.allocate_lock()
        self.cell = bytes(8)
        self.forking = ''       # the cell of the thread that forks; in the child, what it was forked in
        self.elder = {}         # native id of a thread that is older than this cell -> the cell it belongs to
        self.loaded = False
        self.rest = b''
        self.broken = False

    def cell_begins(self, cell):
        if not self.loaded and not self.elder and _thread._count() <= len(own_threads):
            self.cell = cell    # nobody else here
            return
        try:
            here = _thread.get_native_id()
            tasks = [int(name) for name in posix.listdir('/proc/self/task')]
            self.elder = {task: self.elder.get(task, self.cell) for task in tasks if task != here}
        except Exception:
            self.elder = {}
        self.cell = cell

    def before_fork(self):
        self.forking = self.name_of_cell()

    def name_of_cell(self):
        if forked:
            return self.forking
        return '%016x' % int.from_bytes(self.elder.get(_thread.get_native_id(), self.cell), 'little')

    def exchange(self, line, is_answer):
        """Send a request and wait for its answer, with the lock held. None: not by this way; nothing was sent. After an
        exception in the middle (an interrupt) nobody knows where in a line the stream stands: it is not used again."""
        if forked or self.broken:
            return None
        self.broken = True
        while line:
            line = line[write(tools, line):]
        while True:
            pieces = [self.rest]
            while b'\n' not in pieces[-1]:
                try:
                    pieces.append(read(tools, 65536))
                except BlockingIOError:     # it has a time limit: a signal just before it would wait for the answer
                    continue
                if not pieces[-1]:
                    return b'{"error": "the host has gone"}'
            answer, _, self.rest = b''.join(pieces).partition(b'\n')
            if is_answer(answer):
                self.broken = False
                return answer


# ---- requests besides the cells -------------------------------------------------------------------
#
# They are read and answered by a thread of their own, which starts with the first cell or the first request. Whatever a
# cell does to threads (trace functions, exceptions set from outside, a recursion limit of nothing) may interrupt it at
# any place: then it goes on where it was, as serve() does. At worst a request is answered twice.

def answer_requests():
    global aux
    if not aux_lock.acquire(False):     # there is one
        own_threads.pop()
        return
    try:
        _signal.pthread_sigmask(SIG_BLOCK, _signal.valid_signals())     # they are the main thread's
        keep_answering()
    except OSError:
        aux = -1                # a cell has closed it
    except BaseException:
        pass
    finally:
        own_threads.pop()
        if aux >= 0:
            aux_lock.release()


def keep_answering(levels=3):
    while True:
        try:
            if levels:
                keep_answering(levels - 1)
            else:
                answer_next()
        except OSError as error:
            if error.errno in (EBADF, EPIPE, ECONNRESET):
                raise
            pause.acquire(True, 0.02)
        except Leave:
            raise
        except BaseException:
            pause.acquire(True, 0.02)


def answer_next():
    global asking
    while True:
        read_in, answer, sent = asking
        if answer:
            while sum(sent) < len(answer):
                sent.extend(map(write, (aux,), (answer[sum(sent):],)))
            have = b''.join(read_in)
            asking = [have[16 + number(have, 4):]], b'', []
            continue
        have = read_in[0] if len(read_in) == 1 else b''.join(read_in)
        size = 16 + number(have, 4)
        if len(have) < size:
            read_in.extend(map(read, (aux,), (65536,)))
            if not read_in[-1]:
                raise Leave
            continue
        with answering:
            text = to_answer(have[16:size])
        asking = [have], b'\xc8a\0\0' + len(text).to_bytes(4, 'little') + have[8:16] + text, []


FORK_WARNING = 'This process (pid=%d) is multi-threaded, use of %s() may lead to deadlocks in the child.'
fork_rules = []             # that ignore it


def before_fork():
    """From 3.12 on the interpreter warns of a fork beside threads. Not for ours: the child needs nothing of it."""
    mend_filters()
    if _thread._count() <= len(own_threads):
        fork_rules.extend([('ignore', FORK_WARNING % (own_pid, name), DeprecationWarning, None, 0)
                           for name in ('fork', 'forkpty')])
        find_filters()[:0] = fork_rules


def find_filters():
    warnings = modules.get('warnings') or first_modules.get('_warnings')
    filters = getattr(warnings, 'filters', None)
    return filters if type(filters) is list else []


def mend_filters():
    if fork_rules:
        filters = find_filters()
        for rule in fork_rules:
            while rule in filters:
                filters.remove(rule)
        fork_rules.clear()


# ---- the second part ------------------------------------------------------------------------------

later = private.get('later', b'')


def load_later():
    """Run the second part of the runner, at the first use of one of its functions."""
    global later
    with load_lock:
        if later:
            exec(marshal.loads(later), private)
            later = b''


def loading_on_first_call(name):
    """Stands for a function of the second part until that is there and takes the name."""
    def call(*arguments):
        load_later()
        return private[name](*arguments)
    return call


for name in ('mend_descriptor', 'mend_streams', 'find_fflush', 'leave_child', 'run_special', 'help_spawn',
             'mend_debugger', 'describe', 'user_part', 'to_answer', 'startup_files', 'bind', 'checkpoint'):
    private[name] = loading_on_first_call(name)
own_pid = getpid()
