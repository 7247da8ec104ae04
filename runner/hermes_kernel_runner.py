# SPDX-License-Identifier: MIT
"""The kernel's side of hermes-repl: takes cells from a socket, runs them in __main__, answers.

The other files of the program continue this one: see README.md. They share its globals.

What it must know: the frames (hermes-kernel-protocol(7)) and CPython 3.8 to 3.14. What it must not know: the engine's
ideas of sessions, time limits, output limits; who reads descriptors 1 and 2.

It is never imported. boot.py runs it in a private dictionary that has its own copy of the builtins, so nothing that
cells do to modules reaches it: every function that it uses of another module is bound here, at the start. Nothing is
imported that a bare interpreter has not loaded, apart from modules that are built into the interpreter.

What a signal handler of the user's raises can arrive at any place of this file, so the loop is a machine with stages
whose state is in globals: serve() can be left at any point by an exception and goes on where it was when called again.
Each step from one state to the next is one assignment, and what comes before it can be done twice. System calls that
must not be repeated are made as `list.extend(map(call, ...))`, which no handler can come in between.

    stage    waits for                       an exception that arrives here
    IDLE     a frame                         is reported on stderr (SystemExit: the kernel leaves)
    CHECK    what the last cell broke        as in IDLE; then the check starts anew
    RUNNING  the cell's code                 is the cell's outcome
    SETTLE   flushes, text of the traceback  is dropped, but is the cell's outcome if it had none
    REPLY    the reply's way out             as in IDLE; then the rest is sent
"""
import _codecs
import _imp
import _io
import _signal
import _thread
import builtins
import errno
import faulthandler
import marshal
import posix
import sys
import time

IDLE, CHECK, RUNNING, SETTLE, REPLY = range(5)
ECHO, AWAIT, DISPLAY, INTERACTIVE = 1, 2, 4, 8
TEXT_LIMIT = 256 << 10
SOURCES_LIMIT = 32 << 20    # characters; linecache may have them a second time
SOURCE_COST = 1000          # what each adds to them: names, tables, objects
DISPLAY_LIMIT = (16 << 20) - (512 << 10)
LOW_LIMIT, HIGH_LIMIT = 900, 3000   # of recursion: what the runner works with, what it describes exceptions with
SHIFT_FROM = 300            # lines; see compile_at()
LOOK_AGAIN, QUICK, CROWDED = 50000, 100000, 5000    # nanoseconds; see look_again()
SIGINT, SIG_DFL, SIG_IGN, SIGKILL = 2, 0, 1, 9
SIGTTOU = int(_signal.SIGTTOU)
SIG_BLOCK, SIG_SETMASK = _signal.SIG_BLOCK, _signal.SIG_SETMASK
EBADF, EAGAIN, EPIPE, ECONNRESET, EIO, ENXIO = [
    getattr(errno, name) for name in ('EBADF', 'EAGAIN', 'EPIPE', 'ECONNRESET', 'EIO', 'ENXIO')]
FUTURES = 0x1fe0000         # the co_flags that `from __future__` sets
ONLY_AST, TOP_LEVEL_AWAIT, COROUTINE = 0x400, 0x2000, 0x80
SURROGATES = 'hermes-surrogates'
OK_HEAD = b'\xc8E\0\0\x08\0\0\0'

ModuleType = type(sys)
CodeType = type((lambda: 0).__code__)


def stand_in(name, content):
    """A module of that content."""
    module = ModuleType(name)
    vars(module).update(content)
    return module


# Copies: cells may put what they like into the real ones. (Of sys the attributes of the moment matter.)
_codecs, _imp, _io, _signal, _thread, marshal, posix = [
    stand_in(module.__name__, vars(module)) for module in (_codecs, _imp, _io, _signal, _thread, marshal, posix)]
read, write, dup2, close = posix.read, posix.write, posix.dup2, posix.close
get_inheritable, getpid = posix.get_inheritable, posix.getpid
set_blocking, let_others_run = posix.set_blocking, getattr(posix, 'sched_yield', getpid)
now = time.monotonic_ns
signal, default_int_handler = _signal.signal, _signal.default_int_handler
settrace, gettrace, setprofile, getprofile = sys.settrace, sys.gettrace, sys.setprofile, sys.getprofile
getrecursionlimit, setrecursionlimit = sys.getrecursionlimit, sys.setrecursionlimit
modules = sys.modules
mro_of, name_of, qualname_of = [vars(type)[name].__get__ for name in ('__mro__', '__name__', '__qualname__')]
traceback_of, cause_of, context_of, suppress_of = [vars(BaseException)[name].__get__ for name in (
    '__traceback__', '__cause__', '__context__', '__suppress_context__')]
first_modules = dict(modules)
first_builtins = vars(builtins).copy()
first_sys = vars(sys).copy()
genuine_displayhook = sys.displayhook
genuine_excepthook = sys.__excepthook__
main_module = modules['__main__']
space = vars(main_module)
private = globals()
python = sys.version_info[:2]

control = 3                 # descriptors; far up once claim_descriptors() has run
aux = lifeline = tools = -1  # aux: requests
tools_path = None           # of hermes_tools.py, when the session has tools
terminal = -1               # the kernel's, when it has one
mark_start = b''            # of what tells where in the terminal's output a frame belongs; see write_mark()
posted = 0                  # frames that are out
parts_path = ''             # where the files are that are read on need; see README.md
main_thread = _thread.get_ident()
spares = []                 # duplicates of descriptors 0, 1, 2
streams = [sys.stdin, sys.stdout, sys.stderr]
inbox = []                  # bytes as they were read, not yet taken
job = [IDLE, b'', (), [], b'', 0, []]   # stage, frame, what was read behind it, sizes that were sent, reply, its mark
STAGE, FRAME, BEHIND, SENT, UNSENT, MARK, MARKED = range(7)     # and sizes that were written of that
failure = None              # the exception the cell ended with
held_signals, not_held = [], {1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 15, 19} - {_signal.SIGUSR1}
late_handlers = []          # what signal() returned when SIGINT was put to rest
user_sigint = default_int_handler
user_trace = user_profile = user_limit = None
carry = 0                   # compiler flags of earlier cells
carry_always = False
forked = False
parking = False             # this fork is a checkpoint
flusher = None              # (function address,) once C code that prints may be there
known_modules = 0
own_threads = []            # an item for each thread of the runner's
waits_from = 0              # when the wait for the frame began
quick = False               # whether the last one came soon
crowded, losses = 0, 1      # how many frames are waited for without looking again; weighs the next loss
blocking = True             # the control socket
asking = [b''], b'', []     # what was read of requests, the answer to the first of them, sizes that were sent of it
aux_lock = _thread.allocate_lock()      # held by the thread that answers
answering = _thread.allocate_lock()     # held while it looks at the kernel for an answer
pause = _thread.allocate_lock()
pause.acquire()             # for good: to wait for it is to sleep
load_lock = _thread.RLock()
cells_run = 0
cell_name = ''
cell_compiled = False
light_cells = 100           # how many more cells are compiled as compile_lightly() does it
caught = []                 # the code that it caught
scratch = None              # the globals that it would have run in
loop = None                 # asyncio's, once a cell used a top-level await
display_lock = _thread.allocate_lock()
displaying = False          # whether display() may send frames: in a cell, once one asked for displays
sources = {}                # file name -> text, oldest first
sources_size = 0
script_name = None
hooks = {}                  # module to wait for -> function to call when it has been loaded
error_text = b''
exit_code = None            # the process's, once a cell asked for its end
troubles = 0                # exceptions since the last stage that was passed
status = 0                  # of the reply


# ---- start ----------------------------------------------------------------------------------------

def main():
    magic, compiled, settings, arguments, script = private.pop('init')      # and `later`: see the second part
    items = settings.split(b'\0')
    settings = {}
    for i in range(0, len(items) - 1, 2):
        settings[items[i].decode('ascii', 'replace')] = items[i + 1].decode('utf-8', 'surrogateescape')
    claim_descriptors(settings)
    signal(SIGINT, SIG_IGN)
    if 'cwd' in settings:
        move_to(settings['cwd'])
    set_up_streams(settings)
    set_up_main(settings, arguments.decode('utf-8', 'surrogateescape').split('\0')[:-1])
    set_up_sources(settings, script)
    set_up_tools(settings)
    private['parts_path'] = settings.get('parts', '')
    faulthandler.enable(control)
    posix.register_at_fork(after_in_child=after_fork)
    if aux >= 0 and python >= (3, 12):
        posix.register_at_fork(before=before_fork)
    if settings.get('lifeline') == '1':
        start_thread(watch_lifeline)
    version = '%d.%d.%d' % sys.version_info[:3]
    texts = version, sys.executable or '', sys.prefix
    fields = [text.encode('utf-8', 'surrogateescape') for text in texts]
    fields += magic, compiled, b'%d' % getpid(), private.pop('boot', b'')
    if 'spare' in settings:
        fields.append(startup_files())
    post(b'R', 0, bytes(8), pack(fields))
    del magic, compiled, script, settings, arguments, fields, items
    try:
        insist()
    except Leave as leave:
        status = leave.args[0]
    leave_process(status)


def insist(levels=4):
    """Serve until the end, whatever comes. A loop can't guard its own backward jump, so there is one around it."""
    while True:
        try:
            if levels:
                insist(levels - 1)
            else:
                serve()
        except Leave:
            raise
        except BaseException as error:
            out_of_turn(error)


class Leave(BaseException):
    """The process is to end as a Python program does."""


def claim_descriptors(settings):
    """Move the sockets out of the way of small numbers, and keep duplicates of the standard streams beside them."""
    global control, aux, lifeline, tools, terminal, mark_start
    try:
        top = posix.sysconf('SC_OPEN_MAX')
    except (ValueError, OSError):
        top = 1024
    if not 0 < top <= 1024:
        top = 1024
    control = dup2(3, top - 1, False)
    close(3)
    for n in range(3):
        spares.append(dup2(n, top - 4 + n, False))
    if settings.get('requests') == '1':
        aux = dup2(6, top - 5, False)
        close(6)
    if 'lifeline' in settings:
        lifeline = dup2(5, top - 6, False)
        close(5)
    if 'tools' in settings:
        tools = dup2(4, top - 7, False)
        close(4)
    if settings.get('io') == 'tty':
        mark_start = b'\x1f' + settings['mark'].encode()
        try:
            fd = posix.open(posix.ttyname(1), posix.O_RDWR | posix.O_NOCTTY | posix.O_CLOEXEC)
        except OSError:
            fd = 1
        terminal = dup2(fd, top - 8, False)     # opened again: what a cell does to its own (non-blocking) is not ours
        if fd > 2:
            close(fd)


def move_to(folder):
    """Out of "/", where the interpreter was started because a file of this folder would have stopped it. What
    PYTHONPATH has relative to the folder was taken as relative to that."""
    posix.chdir(folder)
    here = posix.getcwd()
    named = b'' if sys.flags.ignore_environment else posix.environ.get(b'PYTHONPATH', b'')
    normal = first_modules['os'].path.normpath
    for entry in named.decode('utf-8', 'surrogateescape').split(':') if named else ():
        if not entry.startswith('/'):
            wrong, right = normal('/' + entry), normal(here + '/' + entry)
            sys.path[:] = [right if path == wrong or path == '/' + wrong else path for path in sys.path]


def set_up_streams(settings):
    _codecs.register_error(SURROGATES, encode_surrogates)
    for n in (1, 2) if terminal < 0 else (0, 1, 2):
        stream = streams[n]
        if stream is None:
            continue
        options = {'line_buffering': True} if n else {}
        named = posix.environ.get(b'PYTHONIOENCODING', b'utf-8').lower()
        if sys.flags.ignore_environment or named in (b'utf-8', b'utf8'):    # the engine sets that
            if stream.encoding.lower() != 'utf-8':
                options['encoding'] = 'utf-8'
                options['errors'] = stream.errors
            if n and stream.errors in ('strict', 'surrogateescape'):
                options['errors'] = SURROGATES
        stream.reconfigure(**options)


def encode_surrogates(error):
    """Error handler of codecs: \\udc80 to \\udcff are the bytes that they stand for, other surrogates are U+FFFD."""
    if type(error) is not UnicodeEncodeError:
        raise error
    out = []
    for c in error.object[error.start:error.end]:
        if '\udc80' <= c <= '\udcff':
            out.append(bytes([ord(c) - 0xdc00]))
        elif '\ud800' <= c <= '\udfff':
            out.append(b'\xef\xbf\xbd')
        else:
            raise error
    return b''.join(out), error.end


def set_up_main(settings, arguments):
    """What differs between `python -c` and what the cells shall see: python FILE, or an interactive python."""
    global carry_always
    sys.argv[:] = arguments or ['']
    if hasattr(sys, 'orig_argv'):
        sys.orig_argv[:] = sys.orig_argv[:1] + arguments
    if not getattr(sys.flags, 'safe_path', False) and sys.path and sys.path[0] == '':
        if 'path0' in settings:
            sys.path[0] = settings['path0']
        else:
            del sys.path[0]
    if 'script' in settings:
        carry_always = True
    if settings.get('script') not in (None, '-c', '-'):
        path = settings['script']
        if python >= (3, 9) and not path.startswith('/'):
            try:
                path = posix.getcwd() + '/' + path
            except OSError:
                pass
        loader = modules['_frozen_importlib_external'].SourceFileLoader
        space['__loader__'] = loader('__main__', path)
        space['__file__'] = path
        space['__cached__'] = None
    if settings.get('interactive') == '1':
        sys.ps1, sys.ps2 = '>>> ', '... '
        carry_always = True


def after_fork():
    """In a forked child: the kernel's sockets are not ours. /dev/null takes the place of the control socket, because
    faulthandler knows its number."""
    global forked, load_lock
    load_lock = _thread.RLock()     # another thread may have held it
    if parking:
        return
    forked = True
    try:
        null = posix.open('/dev/null', posix.O_RDWR | posix.O_CLOEXEC)
        dup2(null, control, False)
        close(null)
    except OSError:
        close(control)
    for fd in spares + [aux, lifeline, tools, terminal]:
        try:
            close(fd)
        except OSError:
            pass


def start_thread(function):
    own_threads.append(function)
    try:
        _thread.start_new_thread(function, ())
    except BaseException:
        own_threads.pop()


def watch_lifeline():
    _signal.pthread_sigmask(SIG_BLOCK, _signal.valid_signals())
    while True:
        try:
            if not read(lifeline, 64):
                posix.kill(0, SIGKILL)
        except BaseException:
            pass


# ---- frames ---------------------------------------------------------------------------------------

def number(data, at):
    return int.from_bytes(data[at:at + 4], 'little')


def pack(fields):
    parts = [len(fields).to_bytes(4, 'little')]
    for field in fields:
        parts.append(len(field).to_bytes(4, 'little'))
        parts.append(field)
    return b''.join(parts)


def more(size):
    """Read once into the inbox."""
    try:
        inbox.extend(map(read, (control,), (size,)))
    except OSError as error:
        socket_trouble(error)
        return
    if not inbox[-1]:
        host_is_gone()


def socket_trouble(error):
    """The socket's own, or out of a signal handler of the user's?"""
    if error.errno == EAGAIN:
        look_again()
    elif error.errno in (EPIPE, ECONNRESET):
        host_is_gone()
    elif error.errno == EBADF:
        try:
            get_inheritable(control)
        except OSError:
            write(2, b'hermes-repl: a cell has closed the descriptor that the kernel is controlled by\n')
            host_is_gone()
        raise error
    else:
        raise error


def look_again():
    """There is no frame. While they come within some microseconds the socket is asked again for as long as it takes to
    be woken; then the system waits with us. Others run in between. If that takes long, or all of it was in vain, the
    processor is not ours alone, and some frames are waited for without."""
    begin = now()
    if not quick or crowded:
        make_blocking()
    elif begin - waits_from > LOOK_AGAIN:
        lost(LOOK_AGAIN)
        make_blocking()
    else:
        let_others_run()
        taken = now() - begin
        if taken > CROWDED:
            lost(taken)


def lost(time):
    """Four frames for each microsecond, and more each time until it was worth it again."""
    global crowded, losses
    crowded = time * losses // 250
    losses = min(2 * losses, 64)


def make_blocking():
    """What cells meet: their crash is told there, and by somebody who does not try twice."""
    global blocking
    set_blocking(control, True)
    blocking = True


def take():
    """Wait for a frame and make a job of it, in one assignment."""
    global job, quick, crowded, losses, blocking, waits_from
    if job[FRAME]:
        inbox[:] = job[BEHIND]
        job[FRAME] = b''
    waits_from = now()
    if crowded:
        crowded -= 1
    elif quick:
        blocking = False
        set_blocking(control, False)
    while not inbox or len(inbox[0]) < 16:
        if len(inbox) > 1:
            inbox[:] = (b''.join(inbox),)
        else:
            more(16384)
    quick = now() - waits_from < QUICK
    if not blocking:
        make_blocking()
        if not crowded:
            losses = 1
    data = inbox[0]
    size = number(data, 4) + 16
    if len(data) != size:
        have = sum(map(len, inbox))
        while have < size:
            more(min(max(size - have, 65536), 1 << 20))
            have = sum(map(len, inbox))
        data = b''.join(inbox)
        if have > size:
            job = [CHECK, data[:size], (data[size:],), [], b'', 0, []]
            return
    job = [CHECK, data, (), [], b'', 0, []]


def push():
    """Send what is left of the reply."""
    reply, sent = job[UNSENT], job[SENT]
    while True:
        done = sum(sent)
        if done >= len(reply):
            return
        try:
            sent.extend(map(write, (control,), (reply[done:] if done else reply,)))
        except OSError as error:
            socket_trouble(error)


def post(kind, flags, ident, body):
    """Send a frame that is no reply. What a signal handler raises meanwhile is raised afterwards. False: too late."""
    global posted
    data = b'\xc8' + kind + flags.to_bytes(2, 'little') + len(body).to_bytes(4, 'little') + ident + body
    done, marked, late = [], [], None
    with display_lock:
        if kind == b'D' and not displaying:
            return False
        number = posted + 1
        while sum(done) < len(data):
            try:
                write_mark(number, marked)
                try:
                    done.extend(map(write, (control,), (data[sum(done):],)))
                except OSError as error:
                    socket_trouble(error)
            except BaseException as error:
                late = error
        posted = number
    if late is not None:
        raise late
    return True


def write_mark(number, sent):
    """Tell by a mark in the terminal's output where a frame belongs in it; the engine takes it out. Where it can't be
    written, the engine does not wait for long."""
    if terminal < 0:
        return
    data = mark_start + b'%016X' % number
    while sum(sent) < len(data):
        try:
            sent.extend(map(write, (terminal,), (data[sum(sent):],)))
        except OSError as error:
            if error.errno not in (EAGAIN, EBADF, EIO, ENXIO):
                raise               # out of a signal handler of the user's
            sent.append(len(data))


def push_mark():
    """Behind the reply: a terminal that somebody has stopped holds up the mark, but not the news."""
    global posted
    write_mark(job[MARK], job[MARKED])
    posted = job[MARK]


def take_foreground():
    """The terminal's foreground is ours again, whoever a cell has given it to."""
    try:
        if posix.tcgetpgrp(terminal) == posix.getpgrp():
            return
        masked = _signal.pthread_sigmask(SIG_BLOCK, (SIGTTOU,))
        try:
            posix.tcsetpgrp(terminal, posix.getpgrp())
        finally:
            _signal.pthread_sigmask(SIG_SETMASK, masked)
    except OSError:
        pass


def host_is_gone():
    for stream in streams[1:]:
        try:
            stream.flush()
        except BaseException:
            pass
    posix._exit(0)


# ---- the loop -------------------------------------------------------------------------------------

def serve():
    global failure, carry, cell_name, cell_compiled, user_trace, user_profile, user_limit, troubles, status
    global exit_code, cells_run
    while True:
        if job[STAGE] == IDLE:
            take()
        if job[STAGE] == CHECK:
            frame = job[FRAME]
            if frame[1] == 0x51:
                raise Leave(0)
            if aux >= 0 and not aux_lock.locked():
                start_thread(answer_requests)
            if frame[1] != 0x58 or frame[0] != 0xc8:
                if frame[1] == 0x42:
                    bind(frame)
                elif frame[1] == 0x4b:
                    checkpoint(frame)
                job[STAGE] = IDLE
                continue
            if troubles < 20:
                check()
            flags = frame[2]
            name_end = 24 + number(frame, 20)
            line = number(frame, 16)
            cell_name = frame[24:name_end].decode('utf-8', 'surrogateescape')
            source = frame[name_end:].decode('utf-8', 'surrogateescape')
            if source[:1] == '\ufeff':
                source = source[1:]
            if cell_name != script_name:
                register(cell_name, source if cell_name[:1] == '<' else overlay(cell_name, source, line))
            failure = exit_code = None
            cell_compiled = False
            if tools_link is not None:
                tools_link.cell_begins(frame[8:16])
            late_handlers.clear()
            troubles = status = 0
            if user_limit is not None:
                setrecursionlimit(user_limit)
                user_limit = None
            keep = carry if carry_always or flags & INTERACTIVE else 0
            cells_run += 1
            job[STAGE] = RUNNING
            try:
                signal(SIGINT, user_sigint)
                if flags & (ECHO | AWAIT | DISPLAY):
                    run_special('\n' * (line - 1) + source, flags, keep)
                else:
                    code = compile_at(source, line, keep)
                    cell_compiled = True
                    carry |= code.co_flags & FUTURES
                    source = None
                    if user_trace is None and user_profile is None:
                        exec(code, space)
                    else:
                        trace, profile, user_trace, user_profile = user_trace, user_profile, None, None
                        setprofile(profile); settrace(trace); exec(code, space)
                if gettrace() is not None: user_trace = gettrace(); settrace(None)
                if getprofile() is not None: user_profile = getprofile(); setprofile(None)
                flush_streams()
            except BaseException as error:
                if gettrace() is not None: user_trace = gettrace(); settrace(None)
                if getprofile() is catch_code: setprofile(None)
                if getprofile() is not None: user_profile = getprofile(); setprofile(None)
                failure = error
            code = source = frame = None
            job[STAGE] = SETTLE
        if job[STAGE] == RUNNING:       # the exception came between the lines; see out_of_turn()
            job[STAGE] = SETTLE
        if job[STAGE] == SETTLE:
            settle()
        if job[STAGE] == REPLY:
            failure = None
            push()
            if terminal >= 0:
                push_mark()
            if exit_code is not None:
                raise Leave(exit_code)
            job[STAGE] = IDLE


def compile_at(source, line, keep):
    """The code of a cell that stands at that line of its file. Empty lines before the source are exact, but they cost
    10 ns each: too much for a thousand cells of one file. So, from some line on, the code objects are moved. Left to
    the empty lines is all that would show a line of its own making: syntax errors, the compiler's warnings (made errors
    here, in the name of this file only), and classes (their __firstlineno__)."""
    global light_cells
    moved = line - 1 if line > SHIFT_FROM else 0
    text = source if moved else '\n' * (line - 1) + source if line > 1 else source
    light = light_cells > 0 and not keep and user_trace is None and user_profile is None and gettrace() is None \
        and getprofile() is None and not _thread._count()
    if not moved and not light:
        return compile(text, cell_name, 'exec', keep, True)
    warnings = modules.get('warnings') or first_modules.get('_warnings')
    filters = getattr(warnings, 'filters', None)
    code = None
    if type(filters) is list:
        name = '<string>' if light else cell_name[:-3] if cell_name.endswith('.py') else cell_name
        rule = 'error', None, Warning, name, 0
        try:
            while rule in filters:
                filters.remove(rule)
            filters.insert(0, rule)
            code = compile_lightly(text) if light else compile(text, cell_name, 'exec', keep, True)
            if code is not None:
                code = shift(code, moved, cell_name)
        except SyntaxError:
            pass
        finally:
            while rule in filters:
                filters.remove(rule)
        while rule in filters:
            filters.remove(rule)
    if code is None:
        code = compile('\n' * (line - 1) + source, cell_name, 'exec', keep, True)
        light_cells = 0
    return code


def compile_lightly(text):
    """The first compile() of a process makes the types of all syntax nodes, which takes as long as a tenth of the
    interpreter's start. exec() of a text does not need them, but does not give the code either: so the profiler's hook
    takes that where it is about to begin, and nothing is run. It is known by its globals: handlers and finalizers may
    be called meanwhile. Its file name is '<string>'. None: compile() is to say what is wrong with the text."""
    global light_cells, scratch
    light_cells -= 1
    scratch = {'__builtins__': {}}
    try:
        setprofile(catch_code); exec(text, scratch)
    except Caught:
        pass
    except BaseException as error:
        setprofile(None)
        caught.clear()
        if traceback_of(error).tb_next is not None or isinstance_safe(error, KeyboardInterrupt):
            raise       # out of a signal handler
    setprofile(None)
    return caught.pop() if caught else None


class Caught(BaseException):
    pass


def catch_code(frame, event, argument):
    if event == 'call' and frame.f_globals is scratch:
        caught[:] = (frame.f_code,)
        raise Caught


def shift(code, lines, name):
    """The code object, that many lines further down and of a file of that name, or None if that can't be done."""
    if lines and '__firstlineno__' in code.co_names:
        return None
    constants = code.co_consts
    for constant in constants:
        if type(constant) is CodeType:
            constants = list(constants)
            for i, constant in enumerate(constants):
                if type(constant) is CodeType:
                    constants[i] = shift(constant, lines, name)
                    if constants[i] is None:
                        return None
            return code.replace(co_firstlineno=code.co_firstlineno + lines, co_filename=name,
                                co_consts=tuple(constants))
    return code.replace(co_firstlineno=code.co_firstlineno + lines, co_filename=name)


def flush_streams():
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except KeyboardInterrupt:
        raise
    except BaseException:
        pass
    if vars(sys).get('stdout') is not streams[1] or vars(sys).get('stderr') is not streams[2]:
        for stream in streams[1:]:
            try:
                stream.flush()
            except KeyboardInterrupt:
                raise
            except BaseException:
                pass
    if len(modules) != known_modules:
        look_at_modules()
    if flusher is not None:
        flush_c()


def settle():
    """From the end of the cell's code to a reply that can be sent."""
    global user_sigint, user_limit, exit_code, status
    if forked or flusher is not None and getpid() != own_pid:
        leave_child()
    if not late_handlers:
        limit = user_limit or getrecursionlimit()
        if limit < LOW_LIMIT or failure is not None and limit < HIGH_LIMIT:
            user_limit = limit
            setrecursionlimit(HIGH_LIMIT)
    if failure is not None and not status:
        status = outcome()
    if not late_handlers:
        late_handlers.extend(map(signal, (SIGINT,), (SIG_IGN,)))
    if displaying:
        end_displays()
    if terminal >= 0:
        take_foreground()
    job[MARK] = posted + 1
    handler = late_handlers[0]
    user_sigint = default_int_handler if handler is None else handler
    ident = job[FRAME][8:16]
    if failure is None:
        job[UNSENT] = OK_HEAD + ident + b'\0\0\0\0\0\0\0\0'
    else:
        if not status:          # an interrupt that came in the lines above
            status = outcome()
        job[UNSENT] = error_reply(ident, status, exit_code if status == 2 else 1, error_text)
    job[STAGE] = REPLY


def error_reply(ident, kind, code, text):
    body = code.to_bytes(4, 'little', signed=True) + len(text).to_bytes(4, 'little') + text
    return b'\xc8E' + kind.to_bytes(2, 'little') + len(body).to_bytes(4, 'little') + ident + body


def outcome():
    """Status of the reply for the exception; sets the text, and the exit code if it is the end."""
    global error_text, exit_code
    error = failure
    masked = hold_signals()
    if isinstance_safe(error, SystemExit):
        exit_code, text = system_exit(error)
        if text is not None:
            try:
                sys.stderr.write(text + '\n')
            except BaseException:
                pass
        status = 2
    else:
        exit_code = None
        text = describe(error)
        status = 3 if isinstance_safe(error, KeyboardInterrupt) else 1
        if job[FRAME][2] & INTERACTIVE:
            set_last(error)
    error_text = to_bytes(text or '')
    error = None
    try:
        flush_streams()
    except BaseException:
        pass
    release_signals(masked)
    return status


def hold_signals():
    """While an exception is described, but not those that end code which never ends. Returns the mask."""
    try:
        if not held_signals:
            held_signals.extend(set(map(int, _signal.valid_signals())) - not_held)
        return _signal.pthread_sigmask(SIG_BLOCK, held_signals)
    except (OSError, ValueError):
        return None


def release_signals(mask):
    """What had to wait is raised in here, and dropped."""
    try:
        if mask is not None:
            _signal.pthread_sigmask(SIG_SETMASK, mask)
    except BaseException:
        pass


def isinstance_safe(value, kind):
    """isinstance() asks __class__, which may be the user's."""
    return kind in mro_of(type(value))


def system_exit(error):
    """(exit code, message or None) as the interpreter would have it."""
    try:
        code = SystemExit.code.__get__(error)
    except BaseException:
        code = None
    if code is None:
        return 0, None
    try:
        if isinstance_safe(code, int):
            code = int.__index__(code)
            if not -1 << 31 <= code < 1 << 31:
                code = code & 0xff if -1 << 63 <= code < 1 << 63 else 255
            return code, None
        return 1, str(code)
    except BaseException:
        return 1, None


def set_last(error):
    try:
        sys.last_type, sys.last_value, sys.last_traceback = type(error), error, user_part(error.__traceback__)
        if python >= (3, 12):
            sys.last_exc = error
    except BaseException:
        pass


def to_bytes(text):
    """UTF-8, never more than the limit, lone surrogates replaced."""
    data = utf8(text)
    if len(data) > TEXT_LIMIT:
        half = TEXT_LIMIT // 2 - 100
        start = data[:half].decode('utf-8', 'ignore')
        end = data[-half:].decode('utf-8', 'ignore')
        left = len(data) - 2 * half
        data = ('%s\n[... %d bytes of this text are left out here ...]\n%s' % (start, left, end)).encode()
    return data


def utf8(text):
    try:
        return text.encode()
    except UnicodeError:
        data = _codecs.utf_16_le_encode(text, 'surrogatepass')[0]
        return _codecs.utf_16_le_decode(data, 'replace', True)[0].encode()


def out_of_turn(error):
    """An exception left serve(): it came from a signal handler of the user's, in the runner's own code."""
    global failure, exit_code, troubles
    if type(error) is Leave:
        raise error
    troubles += 1
    stage = job[STAGE]
    if stage == RUNNING or stage == SETTLE:
        if gettrace() is not None:
            settrace(None)
        if getprofile() is not None:
            setprofile(None)
        if failure is None and not late_handlers:
            failure = error
        job[STAGE] = SETTLE
        if troubles > 20:
            give_up(error)
        return
    if isinstance_safe(error, SystemExit):
        code, text = system_exit(error)
        if text is not None:
            sys.stderr.write(text + '\n')
        if stage != REPLY:
            raise Leave(code)
        if exit_code is None:
            exit_code = code
        return
    masked = None
    try:
        masked = hold_signals()
        sys.stderr.write('Exception raised between two cells:\n' + describe(error))
        sys.stderr.flush()
    except BaseException:
        pass
    release_signals(masked)


def give_up(error):
    """No reply could be made of the cell's end. This one can."""
    global exit_code
    name = qualname_of(type(error)).encode('ascii', 'replace')
    text = b'the cell is over, but its outcome could not be described (%s)\n' % name
    exit_code = None
    signal(SIGINT, SIG_IGN)
    job[MARK] = posted + 1
    job[UNSENT] = error_reply(job[FRAME][8:16], 1, 1, text)
    job[STAGE] = REPLY


def leave_process(status):
    """Out through the interpreter's own finalisation: threads joined, atexit, buffers flushed."""
    if loop is not None:
        try:
            if not loop.is_running() and not loop.is_closed():
                loop.close()
        except BaseException:
            pass
    if user_limit is not None:
        try:
            setrecursionlimit(user_limit)
        except BaseException:
            pass
    for name in list(first_modules):
        if name not in ('os', '_warnings'):
            del first_modules[name]
    raise SystemExit(status)


# ---- what the last cell may have broken -----------------------------------------------------------

def check():
    for n in 0, 1, 2:
        try:
            get_inheritable(n)
        except OSError:
            mend_descriptor(n)
    now = vars(sys)
    try:
        if now.get('stdout') is not streams[1] or now.get('stderr') is not streams[2] or \
                now.get('stdin') is not streams[0] or streams[1].closed or streams[2].closed or streams[0].closed:
            mend_streams()
    except (ValueError, AttributeError):    # detached, or not there
        mend_streams()
    if '__name__' not in space:
        space['__name__'] = '__main__'
    scope = space.get('__builtins__')
    if scope is not builtins and type(scope) is not dict:
        space['__builtins__'] = builtins
    if '__import__' not in vars(builtins) or '__build_class__' not in vars(builtins):
        for key in first_builtins:
            vars(builtins).setdefault(key, first_builtins[key])
    if modules.get('__main__') is None:
        modules['__main__'] = main_module
        if 'sys' not in modules:
            for key in first_modules:
                modules.setdefault(key, first_modules[key])
    space.pop('__warningregistry__', None)
    if fork_rules:
        mend_filters()
    if 'linecache' not in hooks:
        check_linecache()


def look_at_modules():
    """A module of C code from outside the standard library, or _ctypes: from now on C's stdio is flushed too."""
    global known_modules, flusher
    count = len(modules)
    if flusher is None:
        new = list(modules.values())[max(known_modules - 8, 0):]
        if '_ctypes' in modules or any(map(is_foreign, new)):
            flusher = find_fflush()
    known_modules = count


def is_foreign(module):
    if type(module) is not ModuleType:
        return False
    path = vars(module).get('__file__')
    return type(path) is str and path.endswith('.so') and not path.startswith(dynload())


def stdlib():
    return (vars(first_modules['os']).get('__file__') or '').rpartition('/')[0]


def dynload():
    base = stdlib()
    if sys.exec_prefix != sys.prefix:
        base = '%s/lib/python%d.%d' % ((first_sys['base_exec_prefix'],) + python)
    return base + '/lib-dynload/'


def flush_c():
    try:
        flusher[0](flusher[1], (None,))
    except KeyboardInterrupt:
        raise
    except BaseException:
        pass
