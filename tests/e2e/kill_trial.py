# SPDX-License-Identifier: MIT
"""One trial of the kill matrix: a host with a cell in some state, a signal, and a look at what it left."""
import fcntl
import json
import os
import pty
import random
import re
import resource
import select
import signal
import sqlite3
import subprocess
import tempfile
import termios
import time

from support import PYTHON, SLOW, alive, wait_for
from test_plain import PROGRAM, SEQUENCE, environment

GUARD = os.path.join(os.path.dirname(PROGRAM), "hermes-kernel-guard")
GUARDED = os.path.exists(GUARD)
GONE_S = 5                     # the promise, on a machine that is not busy with other things
UNPRIVILEGED_UID = 61000       # and the slot of the trial: nobody else has processes of this user
PROCESS_LIMIT = 60             # of the fork bomb
TIOCGSID = 0x5429

PRELUDE = """
import ctypes, itertools, json, os, signal, subprocess, sys, threading, time
known = 1
def ready():
    with open(HERE + "/ready.new", "w") as file:
        json.dump({"runner": os.getpid(), "guard": os.getppid()}, file)
    os.rename(HERE + "/ready.new", HERE + "/ready")
"""

CELLS = {
    "starting": None,                   # a kernel that is not there yet
    "at the prompt": "ready()",
    "sleeping": "ready()\ntime.sleep(300)",
    "computing": "ready()\nwhile True: pass",
    "holding the GIL in C": "ready()\nctypes.PyDLL(None).sleep(300)",
    "flooding output": "ready()\nfor n in itertools.count(): print(n, 'x' * 200)",
    "flooding unread": "ready()\nfor n in itertools.count(): print(n, 'x' * 200)",
    "in input()": "ready()\nwhile True: input()",
    "in a tool call": "from hermes_tools import terminal\nready()\n"
                      "terminal(('' if ANY else 'setsid ') + 'sleep 302 & sleep 301 | sleep 300; wait', timeout=300)",
    "with daemons": """
def daemon(environment, ignored):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid()
            for number in ignored:
                signal.signal(number, signal.SIG_IGN)
            os.closerange(0, 4096)
            os.execve("/bin/sleep", ["sleep", "300"], environment)
        os._exit(0)
    os.wait()
daemon(os.environ, ())
daemon(os.environ, (signal.SIGTERM, signal.SIGHUP, signal.SIGINT))
daemon({} if CLEARED else os.environ, ())
ready()
time.sleep(300)""",
    "ignoring signals": """
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
ready()
while True:
    try:
        time.sleep(300)
    except BaseException:
        pass""",
    "stopped": "ready()\nos.kill(os.getpid(), signal.SIGSTOP)\ntime.sleep(300)",
    "guard stopped": "os.kill(os.getppid(), signal.SIGSTOP)\nready()\ntime.sleep(300)",
    "many threads": """
def work(n):
    while n % 20 == 0:
        sum(range(1000))
    time.sleep(300)
for n in range(100):
    threading.Thread(target=work, args=(n,)).start()
ready()
time.sleep(300)""",
    "fork bomb": """
def full():
    global full
    full = lambda: time.sleep(0.01)
    open(HERE + "/full", "w").close()
keep = os.getpid()
ready()
while True:
    try:
        if os.fork() == 0 and os.getpid() % 3 == 0:
            os.setsid()
    except OSError:
        full()""",
}

OFF_AT_THE_END = ("1", "1000", "1002", "1003", "1004", "1006", "1049", "2004")
MODE = re.compile(rb"\x1b\[\?([0-9;]+)([hl])")


class Fault(Exception):
    """A promise was broken."""


def check(condition, text, *values):
    if not condition:
        raise Fault(text % values if values else text)


def patience():
    """How much longer things take now: in a sanitizer's build, and for want of processors."""
    return SLOW * max(1, os.getloadavg()[0] / (os.cpu_count() or 1))


def until(condition, what, seconds=20):
    """what: a text, or a function that makes it when the time is over."""
    try:
        wait_for(condition, "", seconds * patience() / SLOW)
    except AssertionError:
        raise Fault("no " + (what() if callable(what) else what)) from None


# ---- processes -------------------------------------------------------------------------------------


def process_table():
    """{pid: (parent, state, name)} of all processes."""
    table = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name, "rb") as file:
                    head, _, tail = file.read().rpartition(b")")
            except OSError:
                continue
            fields = tail.split()
            table[int(name)] = (int(fields[1]), fields[0].decode(), head.partition(b"(")[2].decode("utf-8", "replace"))
    return table


def descendants(root):
    table = process_table()
    found, todo = [], [root]
    while todo:
        parent = todo.pop()
        children = [pid for pid, entry in table.items() if entry[0] == parent]
        found += [pid for pid in children if table[pid][1] not in "ZX"]
        todo += children
    return found


def state_of(pid):
    return process_table().get(pid, (0, "X", ""))[1]


def reap_all():
    """True: there is no child any more, which is: no process of this trial."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return True
    return False


def reap_orphans(host):
    """As init does: what is dead counts against the limit of the fork bomb's user. The host is for who waits for it."""
    try:
        while True:
            dead = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if not dead or dead.si_pid == host:
                return
            os.waitpid(dead.si_pid, 0)
    except ChildProcessError:
        pass


def end_all():
    """After a fault, so that the next trial begins with nothing."""
    for _ in range(100):
        for pid in descendants(os.getpid()):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        if reap_all():
            return
        time.sleep(0.05)


def become_user(uid):
    """In a new process: nobody in particular, and bounded. 0: stay who we are."""
    if uid:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
        resource.setrlimit(resource.RLIMIT_NPROC, (PROCESS_LIMIT, PROCESS_LIMIT))


# ---- one host on a terminal ------------------------------------------------------------------------


class Terminal:
    def __init__(self, trial, arguments):
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, b"\x18\0\x50\0\0\0\0\0")
        self.before = termios.tcgetattr(self.slave)
        self.modes, self.carry, self.tail, self.reads = {}, b"", b"", True
        slave = self.slave

        def become():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            become_user(trial.uid)

        if trial.uid:
            os.fchown(slave, trial.uid, trial.uid)
        self.process = subprocess.Popen(arguments, stdin=slave, stdout=slave, stderr=slave, cwd=trial.home,
                                        env=environment(trial.home, TMPDIR=trial.temporary), preexec_fn=become)
        os.set_blocking(self.master, False)

    def pump(self, seconds=0.0):
        """Take what was written; follows the modes, and keeps the end of it."""
        if self.master is None or not self.reads:
            time.sleep(seconds)
            return
        for _ in range(500):
            if not select.select([self.master], [], [], seconds)[0] or not self.take():
                return
            seconds = 0

    def take(self):
        try:
            data = os.read(self.master, 1 << 16)
        except OSError:
            data = b""
        text = self.carry + data
        for match in MODE.finditer(text):
            for mode in match.group(1).decode().split(";"):
                self.modes[mode] = match.group(2) == b"h"
        last = text[text.rfind(b"\x1b"):] if b"\x1b" in text[-32:] else b""
        self.carry = b"" if MODE.match(last) else last
        self.tail = (self.tail + data)[-100000:]
        return bool(data)

    def text(self):
        return SEQUENCE.sub("", self.tail.decode("utf-8", "replace"))

    def wait(self, condition, what, seconds=20):
        def step():
            self.pump(0.02)
            reap_orphans(self.process.pid)
            return condition()
        until(step, what, seconds)

    def wait_until_full(self):
        """Nobody reads: until the host hangs in its writing."""
        since = [time.monotonic()]

        def is_full():
            if select.select([], [self.slave], [], 0)[1]:
                since[0] = time.monotonic()
            return time.monotonic() - since[0] > 0.3
        self.wait(is_full, "terminal that is full")

    def expect(self, word):
        self.wait(lambda: word in self.text(), lambda: "%r on the terminal: %r" % (word, self.text()[-300:]))

    def send(self, text):
        os.write(self.master, text.encode())

    def ended(self):
        return self.process.poll() is not None

    def hang_up(self):
        """As a terminal emulator that is closed: nobody holds it but the host."""
        os.close(self.slave)
        os.close(self.master)
        self.master = self.slave = None

    def check_restored(self):
        self.reads = True
        self.pump()
        check(termios.tcgetattr(self.slave) == self.before, "the terminal's modes are %r, not %r",
              termios.tcgetattr(self.slave), self.before)
        left = [mode for mode in OFF_AT_THE_END if self.modes.get(mode)]
        check(not left, "left on: %s", " ".join(left))
        check(self.modes.get("25", True), "the cursor is hidden")

    def close(self):
        for fd in (self.master, self.slave):
            if fd is not None:
                os.close(fd)


# ---- a trial ---------------------------------------------------------------------------------------


class Trial:
    def __init__(self, front, cell, victim, signal_name, seed, slot):
        self.front, self.cell, self.victim, self.signal_name = front, cell, victim, signal_name
        self.chance = random.Random(seed)
        bomb = cell == "fork bomb"
        self.uid = UNPRIVILEGED_UID + slot if bomb and os.getuid() == 0 else 0
        self.home = os.path.realpath(tempfile.mkdtemp(prefix="hermes-kill-"))
        self.temporary = os.path.join(self.home, "tmp")
        self.terminal, self.others = None, []
        self.host = self.guard = self.runner = 0
        self.took = 0.0

    def path(self, name):
        return os.path.join(self.home, name)

    def arguments(self):
        words = [PROGRAM, "--python", PYTHON, "--mode", "strict", "--session", "kill", "--tools", "terminal",
                 "--approve", "allow"]
        if self.cell == "starting" and GUARDED:
            words += ["--guard", self.path("slow-guard")]
        if self.front == "batch":
            return words + ["--stdin", "inherit", "--batch", self.path("cell.py")]
        return words + ["--plain"] if self.front == "plain" else words

    def prepare(self):
        os.mkdir(self.temporary)
        # A daemon without environment may survive its guard (docs/architecture.md), a daemon may survive the
        # command that made it (docs/tools.md). Nothing else may.
        cleared, any_victim = GUARDED and self.victim == "host", self.victim == "random"
        with open(self.path("cell.py"), "w", encoding="utf-8") as file:
            file.write("HERE, CLEARED, ANY = %r, %r, %r" % (self.home, cleared, any_victim) + PRELUDE +
                       (CELLS[self.cell] or "ready()") + "\n")
        with open(self.path("after.py"), "w", encoding="utf-8") as file:
            file.write("open(%r, 'w').write(str('known' in globals()))\n" % self.path("after"))
        with open(self.path("slow-guard"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nsleep 0.1\nexec '%s' \"$@\"\n" % GUARD)
        os.chmod(self.path("slow-guard"), 0o755)
        for path in (self.home, self.temporary):
            if self.uid:
                os.chown(path, self.uid, self.uid)

    def start(self):
        self.terminal = Terminal(self, self.arguments())
        self.host = self.terminal.process.pid
        if self.cell == "starting":
            until(lambda: self.terminal.ended() or descendants(self.host), "kernel that starts")
            return
        if self.front != "batch":
            self.terminal.expect(">>> ")
            self.terminal.send("exec(open(%r).read())\r" % self.path("cell.py"))
        self.terminal.wait(lambda: os.path.exists(self.path("ready")) or self.terminal.ended(), "cell that runs")
        check(not self.terminal.ended(), "the host ended with %s before the cell ran: %r",
              self.terminal.process.returncode, self.terminal.tail[-500:])
        with open(self.path("ready"), encoding="utf-8") as file:
            pids = json.load(file)
        self.runner, self.guard = pids["runner"], pids["guard"]
        self.reach_the_state()
        if self.victim == "host" and self.signal_name in ("SIGKILL", "SIGSEGV"):
            self.terminal.wait(self.is_stored, "cell in the store")

    def reach_the_state(self):
        """What a cell cannot say of itself."""
        wait = self.terminal.wait
        if self.cell == "at the prompt":
            wait(lambda: [row[0] for row in self.rows()] == ["success"], "end of the cell")
        elif self.cell == "in input()":
            wait(lambda: state_of(self.runner) == "S", "cell that reads")
        elif self.cell == "stopped":
            wait(lambda: state_of(self.runner) in "Tt", "cell that is stopped")
        elif self.cell == "guard stopped":
            wait(lambda: state_of(self.guard) in "Tt", "guard that is stopped")
        elif self.cell == "in a tool call":
            wait(lambda: [names[pid][2] for names in (process_table(),) for pid in descendants(self.host)
                          if pid in names].count("sleep") >= 3, "tool that runs")
        elif self.cell == "fork bomb":
            wait(lambda: os.path.exists(self.path("full")), "limit that the bomb reaches")
        elif self.cell == "flooding unread":
            self.terminal.reads = False
            self.terminal.wait_until_full()

    # ---- the store

    def rows(self):
        path = self.path("state/hermes-repl/history.db")
        if not os.path.exists(path):
            return []
        connection = sqlite3.connect("file:%s?mode=ro" % path, uri=True, timeout=10)
        try:
            return connection.execute("SELECT status, source FROM cells ORDER BY id").fetchall()
        finally:
            connection.close()

    def is_stored(self):
        try:
            return bool(self.rows())
        except sqlite3.Error:
            return False

    def check_store(self):
        path = self.path("state/hermes-repl/history.db")
        if self.cell == "starting" and not os.path.exists(path):
            return
        check(os.path.exists(path), "no store")
        connection = sqlite3.connect(path, timeout=10)
        try:
            sound = connection.execute("PRAGMA integrity_check").fetchall()
        finally:
            connection.close()
        check(sound == [("ok",)], "the store is damaged: %r", sound)
        rows = self.rows() if self.cell != "starting" else [("", "cell.py")]
        check(rows and ("cell.py" in rows[0][1] or "known = 1" in rows[0][1]), "the cell is not in the store: %r", rows)
        check(not [name for name in os.listdir(os.path.dirname(path)) if "damaged" in name], "a store was set aside")

    # ---- the kill

    def kill(self):
        self.at = time.monotonic()
        if self.signal_name == "closed":
            self.terminal.hang_up()
            return
        if self.victim == "random":
            self.victim_pid = self.chance.choice(descendants(self.host))
        else:
            self.victim_pid = {"host": self.host, "guard": self.guard, "runner": self.runner}[self.victim]
        try:
            os.kill(self.victim_pid, getattr(signal, self.signal_name))
        except ProcessLookupError:
            check(self.cell == "fork bomb", "the victim was gone")
        if self.cell == "starting" and self.signal_name in ("SIGKILL", "SIGSEGV"):
            self.open_others()

    def open_others(self):
        """Terminals of others: one may get the name that the dead host's had, which the guard opens by its name."""
        self.terminal.process.wait()
        self.others = [pty.openpty() for _ in range(12)]

    def watch_others(self):
        """Without a pause: who has taken one lives for a few milliseconds."""
        end = self.at + GONE_S * patience()
        while self.others and not reap_all() and time.monotonic() < end:
            for master, slave in self.others:
                try:
                    fcntl.ioctl(master, TIOCGSID, bytes(4))
                except OSError:
                    continue
                raise Fault("the kernel of a dead host took the terminal of another program, %s" % os.ttyname(slave))

    def host_must_end(self, *statuses):
        self.terminal.wait(self.terminal.ended, "end of the host within %d s" % GONE_S, GONE_S)
        status = self.terminal.process.returncode
        check(not statuses or status in statuses, "the host's exit status is %d", status)

    def nothing_may_be_left(self):
        left = max(0.05, GONE_S * patience() - (time.monotonic() - self.at))
        try:
            wait_for(reap_all, "", left / SLOW)
        except AssertionError:
            table = process_table()
            raise Fault("left after %d s: %s" % (GONE_S, ", ".join(
                "%s (%d, %s)" % (table[pid][2], pid, table[pid][1]) for pid in descendants(os.getpid())
                if pid in table))) from None
        self.took = time.monotonic() - self.at

    def after_the_host(self):
        number = getattr(signal, self.signal_name) if self.signal_name != "closed" else signal.SIGHUP
        if self.signal_name == "SIGKILL":
            self.host_must_end(-number)
        else:
            self.host_must_end(-number, 128 + number)
        self.watch_others()
        self.nothing_may_be_left()
        if self.signal_name not in ("SIGKILL", "closed"):
            self.terminal.check_restored()

    def is_deadly(self):
        """Whether the kernel must die of what was done; None: it may."""
        if self.victim == "random":
            return None
        if self.signal_name == "SIGKILL":
            return True
        if self.victim == "guard":
            return False
        return None if self.cell == "fork bomb" else self.cell not in ("ignoring signals", "stopped")

    def after_another(self):
        deadly = self.is_deadly()
        if deadly:
            self.terminal.wait(lambda: not alive(self.runner), "end of the kernel", GONE_S)
        else:
            end = time.monotonic() + 0.3
            while time.monotonic() < end and alive(self.runner):
                self.terminal.pump(0.02)
        lives = alive(self.runner)
        check(deadly is not False or lives, "the kernel died of a signal that its guard blocks")
        self.terminal.reads = True
        if lives:
            self.end_host()
        elif self.front == "batch":
            self.host_must_end()
            status = self.terminal.process.returncode
            check(status >= 0, "the host died of signal %d", -status)
            if self.victim_pid in (self.guard, self.runner):
                check(status != 0, "exit status 0, and the kernel died")
                self.must_say_so()
        else:
            self.must_say_so()
            self.terminal.wait(lambda: descendants(os.getpid()) == [self.host], "end of what the kernel started", 5)
            self.go_on()
        self.nothing_may_be_left()
        self.terminal.check_restored()

    def must_say_so(self):
        self.terminal.wait(lambda: re.search(r"state (was )?lost", self.text_in_one_line()),
                           lambda: "word of the loss: %r" % self.text_in_one_line()[-400:], 5)

    def text_in_one_line(self):
        return " ".join(self.terminal.text().split())

    def go_on(self):
        """The next cell runs, in a fresh kernel; then the program is left as people leave it."""
        self.terminal.send("exec(open(%r).read())\r" % self.path("after.py"))
        self.terminal.wait(lambda: os.path.exists(self.path("after")) and os.path.getsize(self.path("after")),
                           lambda: "next cell: %r" % self.text_in_one_line()[-400:])
        with open(self.path("after"), encoding="utf-8") as file:
            check(file.read() == "False", "the next cell has the old state")
        self.terminal.wait(lambda: len(self.rows()) == 2 and self.rows()[1][0] == "success", "end of the next cell")
        self.at = time.monotonic()
        self.terminal.send("\x04")
        self.host_must_end(0)

    def end_host(self):
        self.at = time.monotonic()
        os.kill(self.host, signal.SIGTERM)
        self.host_must_end(-signal.SIGTERM, 128 + signal.SIGTERM)

    def check_staging(self):
        """What is left of this host goes when the next one starts."""
        done = subprocess.run([PROGRAM, "--python", PYTHON, "--mode", "strict", "-c", "1"], cwd=self.home,
                              env=environment(self.home, TMPDIR=self.temporary), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60 * SLOW,
                              preexec_fn=lambda: become_user(self.uid))
        check(done.returncode == 0 and not done.stderr, "the next start: %r", done)
        check(not os.listdir(self.temporary), "staged and not swept: %r", os.listdir(self.temporary))

    def run(self):
        try:
            self.prepare()
            self.start()
            self.kill()
            if self.victim == "host":
                self.after_the_host()
            else:
                self.after_another()
            self.check_store()
            self.check_staging()
        finally:
            end_all()
            if self.terminal:
                self.terminal.close()
            for ends in self.others:
                os.close(ends[0])
                os.close(ends[1])

