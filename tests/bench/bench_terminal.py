# SPDX-License-Identifier: MIT
"""The rows of bench.py that need a terminal: hermes-repl's full screen beside python3, IPython and others, each on a
pseudo-terminal of its own, in turn. Time is from the write of a key to the arrival of the bytes that show it; queries
of the programs are answered at once, as a terminal does. Memory and wake-ups are the program's, without its kernel."""
import atexit
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time

FOLDER = tempfile.mkdtemp()     # HOME of all
atexit.register(shutil.rmtree, FOLDER, True)
ROWS, COLUMNS, PATIENCE = 40, 120, 60
ESCAPES = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-Za-z]|\x1b[=>78cM]")
QUERIES = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?62c", b"\x1b[0c": b"\x1b[?62c"}


class Terminal:
    """A program on a terminal."""

    def __init__(self, command, prompt):
        self.prompt, self.seen = prompt, b""
        environment = {"HOME": FOLDER, "PATH": os.environ["PATH"], "TERM": "xterm-256color", "LC_ALL": "C.UTF-8",
                       "INPUTRC": "/dev/null", "HERMES_REPL_HISTORY": "off"}
        self.begin = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.execve(command[0], command, environment)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))

    def read(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return b""
        try:
            data = os.read(self.fd, 65536)
        except OSError:         # the program has ended
            raise EOFError("the program ended: %r" % self.seen[-300:])
        for query, answer in QUERIES.items():
            if query in data:
                os.write(self.fd, answer)
        return data

    def until(self, pattern):
        """Read until the text without escape sequences matches; the time that took, in ms, since the last key."""
        end = time.perf_counter() + PATIENCE
        while not re.search(pattern, ESCAPES.sub(b"", self.seen)):
            left = end - time.perf_counter()
            if left <= 0:
                raise TimeoutError("%r did not come, but %r" % (pattern, self.seen[-300:]))
            self.seen += self.read(left)
        return (time.perf_counter() - self.begin) * 1e3

    def quiet(self, seconds=0.15):
        while self.read(seconds):
            pass

    def settled(self, quiet=0.1):
        """Read until nothing comes for a while; the time from the last key to the last byte, in ms, and the bytes."""
        last, count = self.begin, 0
        while True:
            data = self.read(quiet if count else PATIENCE)
            if not data:
                return (last - self.begin) * 1e3, count
            last, count = time.perf_counter(), count + len(data)

    def send(self, data):
        self.begin = time.perf_counter()
        os.write(self.fd, data)
        return self.settled()

    def resize(self, rows, columns):
        self.begin = time.perf_counter()
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        return self.settled()[0]

    def paste(self, text):
        """A terminal does not wait for the program: it is written as fast as that takes it."""
        os.set_blocking(self.fd, False)
        data = b"\x1b[200~" + text + b"\x1b[201~"
        self.begin = time.perf_counter()
        while data:
            select.select([self.fd], [self.fd], [])
            try:
                data = data[os.write(self.fd, data):]
            except BlockingIOError:
                pass
            while self.read(0):
                pass
        os.set_blocking(self.fd, True)
        return self.settled()[0]

    def spent(self):
        """Processor time of all its threads, in ms."""
        folder, total = "/proc/%d/task" % self.pid, 0
        for task in os.listdir(folder):
            with open("%s/%s/schedstat" % (folder, task)) as file:
                total += int(file.read().split()[0])
        return total / 1e6

    def key(self, data, pattern):
        self.seen = b""
        self.begin = time.perf_counter()
        os.write(self.fd, data)
        return self.until(pattern)

    def started(self):
        spent = self.until(self.prompt)
        self.quiet(0.5)
        return spent

    def run(self, source, pattern=None):
        self.type(source)
        return self.key(b"\r", pattern or self.prompt)

    def type(self, source):
        os.write(self.fd, source)
        self.quiet()

    def echo(self):
        """Of a key, the median."""
        spent = []
        for letter in b"qwzkqwzkqwzkqwzkqwzk":
            spent.append(self.key(bytes([letter]), re.escape(bytes([letter]))))
            self.quiet(0.01)
        self.key(b"\x15", b"")
        self.quiet()
        return sorted(spent)[len(spent) // 2]

    def memory(self):
        """Resident, in MiB; and the number of times it slept."""
        with open("/proc/%d/status" % self.pid) as file:
            fields = dict(line.split(":", 1) for line in file)
        return int(fields["VmRSS"].split()[0]) / 1024, int(fields["voluntary_ctxt_switches"])

    def close(self):
        os.kill(self.pid, signal.SIGTERM)
        end = time.monotonic() + 5
        while time.monotonic() < end and os.waitpid(self.pid, os.WNOHANG) == (0, 0):
            try:
                self.read(0.02)
            except EOFError:
                time.sleep(0.01)
        os.close(self.fd)


def interpreter_with(build, python, modules):
    """python, or the one of make bench-setup; None: neither has all the modules."""
    for interpreter in (python, os.path.join(build, "peers/bin/python")):
        if os.path.exists(interpreter) and subprocess.run(
                [interpreter, "-c", "import " + ", ".join(modules)], stderr=subprocess.DEVNULL).returncode == 0:
            return interpreter
    return None


def contestants(build, python):
    yield "hermes-repl", [os.path.join(build, "hermes-repl"), "--python", python], rb">>> "
    yield "python3", [python, "-q"], rb">>> "
    for name, module, flags, prompt in (
            ("ipython3", "IPython", ["--no-banner", "--no-confirm-exit"], rb"In \[\d+\]: "),
            ("ptpython", "ptpython", [], rb">>>"),
            ("jupyter console", "jupyter_console", ["--no-confirm-exit"], rb"In \[\d+\]: ")):
        interpreter = interpreter_with(build, python, [module])
        if interpreter:
            yield name, [interpreter, "-m", module] + flags, prompt


BAR = (b"for i in range(3000): print('\\r%4d of 3000' % i, end='' if i < 2999 else '\\nbar' + 'end\\n', flush=True); "
       b"s(.001)")


LINES = b"for i in range(100000): print('line', i, '' if i < 99999 else 'fin' + 'ished')"
WANTED = b"le 99700"    # is nowhere: all of it is looked through


def grep():
    """The same text, and nothing found, by a program that does nothing else; ms."""
    path = os.path.join(FOLDER, "lines")
    if not os.path.exists(path):
        with open(path, "w") as file:
            file.writelines("line %d \n" % i for i in range(100000))
    begin = time.perf_counter()
    subprocess.run(["grep", "-i", WANTED, path])
    return (time.perf_counter() - begin) * 1e3


def many_lines(terminal):
    """hermes-repl with 100 000 lines on its screen."""
    figures = {"memory after 100 000 lines": terminal.memory()[0]}
    figures["a page up in 100 000 lines"] = terminal.send(b"\x1b[5~")[0]
    terminal.quiet()
    terminal.type(b"/" + WANTED)
    figures["search in 100 000 lines"] = terminal.key(b"\r", rb"nothing below")
    terminal.quiet()
    figures["resize with 100 000 lines"] = terminal.resize(ROWS - 5, COLUMNS - 17)
    terminal.resize(ROWS, COLUMNS)
    return figures


def progress_bar(terminal, more):
    terminal.run(b"from time import sleep as s")
    terminal.quiet(0.3)
    terminal.type(BAR)
    before = terminal.spent()
    terminal.seen, terminal.begin = b"", time.perf_counter()
    os.write(terminal.fd, b"\r" + more)
    terminal.until(rb"barend")
    return {"progress bar at 1 kHz, processor time in 3 s": terminal.spent() - before,
            "progress bar at 1 kHz, bytes sent in 3 s": len(terminal.seen) / 1e3}


def one_round(command, prompt):
    """-> {row: value} of one start of a program."""
    terminal, figures = Terminal(command, prompt), {}
    try:
        figures["start to prompt"] = terminal.started()
        ours = prompt == rb">>> " and "hermes-repl" in command[0]
        terminal.run(b"x = 1")
        terminal.quiet()
        if ours:
            figures["memory at the prompt"], sleeps = terminal.memory()
            terminal.quiet(1)
            figures["idle wake-ups a second"] = terminal.memory()[1] - sleeps
        if "ptpython" in command:
            terminal.quiet(1)       # before it has the terminal again, that echoes by itself
        figures["key to echo"] = terminal.echo()
        if "ptpython" in command:   # draws its prompt with each line that was entered: no end is to be seen
            return figures
        enter = []
        for _ in range(10):
            enter.append(terminal.run(b"x=1"))
            terminal.quiet(0.02)
        figures["Enter on x=1 to the next prompt"] = sorted(enter)[len(enter) // 2]
        if "jupyter_console" in command:
            return figures
        # Of what is the same on the screen already nothing is drawn: the last line has a word of its own.
        terminal.run(LINES + (b"\r" if command[1] == "-q" else b""), rb"finished")
        figures["100 000 lines"] = (time.perf_counter() - terminal.begin) * 1e3
        terminal.quiet(0.5)
        if ours:
            figures.update(many_lines(terminal))
        if ours or "-q" in command:
            figures.update(progress_bar(terminal, b"" if ours else b"\r"))
        if ours:
            terminal.quiet()
            figures["paste of 10 000 lines"] = terminal.paste(b"".join(b"a%d = 1\r" % n for n in range(10000)))
            terminal.key(b"\x03", rb">>> ")
            terminal.quiet()
            terminal.type(b"while True: print('y')\r\r\x18c")       # and a second tab
            terminal.key(b"x = 1\r", rb">>> ")
            terminal.quiet()
            figures["key to echo while a tab behind floods"] = terminal.echo()
    finally:
        terminal.close()
    return figures


def measure(build, python, rounds):
    """-> {row: {contestant: [value, ...]}}"""
    table = {}
    for _ in range(rounds):
        for name, command, prompt in contestants(build, python):
            for row, value in one_round(command, prompt).items():
                table.setdefault(row, {}).setdefault(name, []).append(value)
        table.setdefault("search in 100 000 lines", {}).setdefault("grep -i", []).append(grep())
    return table
