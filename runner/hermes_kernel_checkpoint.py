# SPDX-License-Identifier: MIT
"""Checkpoints: before a cell the idle runner forks, and the child is the state before it.

Read on need into the runner's dictionary (see README.md), when the engine first asks for a checkpoint. The child waits
in wait_for_turn() and touches nothing that it shares with its parent. It ends when the host is gone; it goes on only
when it is asked to by SIGCONT and its parent, the kernel, is dead: then the descriptors that both have are its own, and
it is the kernel. All other signals are blocked meanwhile.
"""
checkpoints = []            # processes, oldest first
faults_seen = 0             # page faults of ours until memory was last measured
memory_seen = 0             # what the checkpoints cost then
measuring_due = 0           # no time was between the last cells
gone_threads = 0            # of own_threads: the dead kernel's, which _thread goes on counting
PAGE = 4096
KEEP_NEW, RESUMED, REFUSED = 1, 2, 4
ALL_SIGNALS = set(map(int, _signal.valid_signals()))
SIGCONT, SIGCHLD = int(_signal.SIGCONT), int(_signal.SIGCHLD)


def checkpoint(frame):
    """The engine's frame: keep so many at most, of so many MiB in all, and (flag) make a new one. Between cells there
    is time to end those that are too many; so there may be one more until then."""
    global measuring_due
    mask = _signal.pthread_sigmask(SIG_BLOCK, ALL_SIGNALS)
    flags, reason, answer = frame[2], '', 0
    try:
        new = flags & KEEP_NEW
        before = len(checkpoints)
        if not new or measuring_due:
            drop_beyond(number(frame, 16), number(frame, 20) << 20)
        measuring_due = new
        if new:
            try:
                reason = make()
            except Exception as error:
                reason = '%s: %s' % (type(error).__name__, error)
        if reason is None:          # we are the child, and resumed
            answer, reason = RESUMED, ''
        elif reason:
            answer = REFUSED
        if new or len(checkpoints) != before:
            tell(answer, reason)
    finally:
        _signal.pthread_sigmask(SIG_SETMASK, mask)


def tell(flags, reason):
    mark = (posted + 1).to_bytes(8, 'little')
    pids = b''.join([pid.to_bytes(4, 'little') for pid in checkpoints])
    post(b'K', flags, bytes(8), mark + len(checkpoints).to_bytes(4, 'little') + pids + utf8(reason)[:500])


# ---- making one -----------------------------------------------------------------------------------

def threads():
    return posix.stat('/proc/self/task').st_nlink - 2


def make():
    """Fork. '': done; text: why not; None: this is the child, which is the kernel now."""
    global parking
    others = _thread._count() - len(own_threads)
    if others > 0:
        return '%d other thread%s of Python run%s in the kernel' % (
            others, '' if others == 1 else 's', 's' if others == 1 else '')
    private_module('select')
    if not answering.acquire(True, 0.1):
        return 'the kernel is answering a question'
    guard, random_state = posix.getppid(), state_of_random()
    parking = True
    try:
        pid = posix.fork()
    finally:
        parking = False
        answering.release()
    if pid == 0:
        try:
            wait_for_turn(guard)
            become_kernel(random_state)
        except BaseException:
            posix._exit(1)
        return None
    # Threads of C libraries: some libraries end theirs before a fork, and start them again when they need them.
    others = threads() - 1 - (len(own_threads) - gone_threads)
    if others > 0:
        end(pid)
        return '%d thread%s of C libraries run%s in the kernel' % (
            others, '' if others == 1 else 's', 's' if others == 1 else '')
    checkpoints.append(pid)
    return ''


def state_of_random():
    """A fork seeds it anew."""
    try:
        return modules['random']._inst.getstate()
    except Exception:
        return None


# ---- dropping -------------------------------------------------------------------------------------

def is_there(pid):
    """Our child, or that of a kernel before us, which is the guard's now. The number may be another's by now, if a cell
    has waited for it."""
    try:
        stat = read_file('/proc/%d/stat' % pid).rpartition(b')')[2].split()
        state, parent, session = stat[0], int(stat[1]), int(stat[3])
    except (OSError, ValueError, IndexError):
        return False
    return parent == getpid() or parent == posix.getppid() and session == pid and state != b'Z'


def end(pid):
    try:
        if not is_there(pid):
            return
        waiting = SIGCHLD in _signal.sigpending()
        posix.kill(pid, SIGKILL)
        posix.waitpid(pid, 0)
        if not waiting and SIGCHLD in _signal.sigpending():
            _signal.sigwait((SIGCHLD,))
    except OSError:
        pass


def drop_beyond(count, limit):
    while len(checkpoints) > max(count, 0) or checkpoints and memory_of_all(limit) > limit:
        end(checkpoints.pop(0))


def memory_of_all(limit):
    """What the checkpoints cost beside the kernel. To measure it takes as long as a fork does, so it is not done while
    the page faults of this process tell that it cannot be more than the limit."""
    global faults_seen, memory_seen
    faults = int(read_file('/proc/self/stat').rpartition(b')')[2].split()[7])
    if memory_seen + (faults - faults_seen) * PAGE <= limit:
        return 0
    own = rollup('self')
    total = own.get(b'Pss_Anon', 0) - own.get(b'Anonymous', 0)
    for pid in checkpoints:
        fields = rollup(pid)
        total += fields.get(b'Pss_Anon', fields.get(b'Private_Dirty', 0))
    faults_seen, memory_seen = faults, max(total, 0)
    return memory_seen


def rollup(pid):
    fields = {}
    try:
        for line in read_file('/proc/%s/smaps_rollup' % pid).split(b'\n')[1:]:
            key, _, value = line.partition(b':')
            if value.endswith(b' kB'):
                fields[key] = int(value[:-3]) << 10
    except OSError:
        pass
    if b'Pss_Anon' not in fields:
        fields.pop(b'Anonymous', None)
    return fields


# ---- the child ------------------------------------------------------------------------------------

def wait_for_turn(guard):
    """Until the kernel is dead and the guard asks. The terminal's hang-up, when the leader of its session dies, does
    not reach another session."""
    select = private_module('select')
    faulthandler.disable()
    posix.setsid()
    woken, wake = posix.pipe()
    posix.set_blocking(wake, False)
    user_handler = signal(SIGCONT, nothing)
    user_wake = _signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    poll = select.poll()
    poll.register(control, 0)       # the host's end: to see that it is gone, not to read
    poll.register(woken, select.POLLIN)
    _signal.pthread_sigmask(SIG_SETMASK, ALL_SIGNALS - {SIGCONT})
    while True:
        for fd, _ in poll.poll():
            if fd != woken:
                posix._exit(0)
            read(woken, 4096)
        if posix.getppid() == guard:
            break
    _signal.pthread_sigmask(SIG_BLOCK, ALL_SIGNALS)
    while _signal.sigpending():     # they were for the kernel of that time
        _signal.sigwait(_signal.sigpending())
    _signal.set_wakeup_fd(user_wake)
    signal(SIGCONT, SIG_DFL if user_handler is None else user_handler)
    close(woken)
    close(wake)


def become_kernel(random_state):
    global aux_lock, answering, display_lock, asking, own_pid, posted, faults_seen, memory_seen, gone_threads
    for fd in control, aux, tools:
        if fd >= 0:
            drain(fd)
    job[BEHIND] = ()
    inbox.clear()
    checkpoints[:] = filter(is_there, checkpoints)      # the dead kernel may have dropped some since
    gone_threads = _thread._count()
    own_threads[:] = [None] * gone_threads
    aux_lock, answering, display_lock = [_thread.allocate_lock() for i in range(3)]
    asking = [b''], b'', []
    own_pid = getpid()
    posted += 1 << 32               # numbers of marks that the dead kernel cannot have used
    faults_seen = memory_seen = 0
    if tools_link is not None:
        tools_link.elder, tools_link.rest, tools_link.broken = {}, b'', False
    if terminal >= 0:
        try:
            close(posix.open(posix.ttyname(terminal), posix.O_RDWR))    # the leader of a session gets it as its own
        except OSError:
            pass
        take_foreground()
    if random_state is not None:
        try:
            modules['random']._inst.setstate(random_state)
        except Exception:
            pass
    faulthandler.enable(control)


def drain(fd):
    """Bytes that were for the dead kernel. The host sends nothing before it hears of us."""
    posix.set_blocking(fd, False)
    try:
        while read(fd, 65536):
            pass
        posix._exit(0)              # nobody there
    except BlockingIOError:
        pass
    posix.set_blocking(fd, True)
