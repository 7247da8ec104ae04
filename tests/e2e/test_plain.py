#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The plain front end as a black box: $HERMES_REPL --plain on a real pseudo-terminal, and with blocks from a pipe.

Standard library only (and nbformat, where it is). Run one test with
    HERMES_REPL=build/hermes-repl python3 tests/e2e/test_plain.py Prompt.test_values
"""
import errno
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

try:
    import nbformat
except ImportError:
    nbformat = None

PROGRAM = os.path.abspath(os.environ.get("HERMES_REPL", "build/hermes-repl"))
PYTHON = os.environ.get("TEST_PYTHON") or sys.executable
SLOW = int(os.environ.get("CK_TIMEOUT_MULTIPLIER", "1") or 1)      # sanitizers
LIMIT = 20 * SLOW
SEQUENCE = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*(\x07|\x1b\\)|[()][A-Z0-9]|[=>78c])")


def environment(home, **more):
    new = {name: value for name, value in os.environ.items()
           if not name.startswith(("HERMES_", "PYTHON", "XDG_")) and name not in ("VIRTUAL_ENV", "CONDA_PREFIX")}
    new.update(HOME=home, XDG_CONFIG_HOME=home + "/config", XDG_STATE_HOME=home + "/state", LC_ALL="C.UTF-8",
               TERM="xterm-256color")
    new.update(more)
    return new


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


def wait_for(condition, what):
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("never: " + what)
        time.sleep(0.01)


class Terminal:
    """The program on a pseudo-terminal. Text is what it wrote, without escape sequences."""

    def __init__(self, home, *arguments, size=(24, 80), **more):
        self.raw, self.at, self.status = "", 0, None
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[0], size[1], 0, 0))
        self.modes = termios.tcgetattr(slave)

        def become():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            signal.signal(signal.SIGHUP, signal.SIG_DFL)

        arguments = arguments or ("--plain", "--python", PYTHON)
        self.process = subprocess.Popen([PROGRAM, *arguments], stdin=slave, stdout=slave, stderr=slave, cwd=home,
                                        env=environment(home, **more), preexec_fn=become, close_fds=True)
        self.slave = slave

    def text(self):
        return SEQUENCE.sub("", self.raw)

    def pump(self, seconds):
        ready, _, _ = select.select([self.master], [], [], seconds)
        if ready:
            try:
                self.raw += os.read(self.master, 65536).decode("utf-8", "replace")
            except OSError as error:
                if error.errno != errno.EIO:
                    raise

    def expect(self, pattern, seconds=LIMIT):
        """Wait for the pattern behind what was expected before."""
        end = time.monotonic() + seconds
        while True:
            match = re.compile(pattern, re.S | re.M).search(self.text(), self.at)
            if match:
                self.at = match.end()
                return match
            if time.monotonic() > end:
                raise AssertionError("no /%s/ in %r" % (pattern, self.text()[self.at:]))
            self.pump(0.05)

    def rest(self):
        return self.text()[self.at:]

    def send(self, text):
        os.write(self.master, text.encode())

    def prompt(self, number=None):
        return self.expect(r"\[%s\] >>> " % (number if number else r"\d+"))

    def run(self, line):
        """Type it, and what stands between it and the next prompt."""
        self.send(line + "\r")
        self.expect(re.escape(line.split("\n")[-1]))
        start = self.at
        self.prompt()
        return self.text()[start:self.at].rsplit("[", 1)[0].replace("\r\n", "\n").strip("\n")

    def wait(self):
        end = time.monotonic() + LIMIT
        while self.process.poll() is None:
            if time.monotonic() > end:
                raise AssertionError("it does not end: %r" % self.rest())
            self.pump(0.02)
        self.pump(0)
        return self.process.returncode

    def resize(self, rows, columns):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.kill(self.process.pid, signal.SIGWINCH)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)


class Case(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="hermes-plain-")
        self.addCleanup(shutil.rmtree, self.home, True)

    def open(self, *arguments, **more):
        terminal = Terminal(self.home, *arguments, **more)
        self.addCleanup(terminal.close)
        terminal.prompt()
        return terminal


class Prompt(Case):
    def test_values(self):
        t = self.open()
        self.assertEqual(t.run("x = 41"), "")
        self.assertEqual(t.run("x + 1"), "42")
        self.assertEqual(t.run("_ * 2"), "84")
        self.assertEqual(t.run("print('é 日本')"), "é 日本")
        self.assertIn("ZeroDivisionError", t.run("1/0"))
        self.assertEqual(t.run("import sys; sys.stdout.isatty(), sys.stdin.isatty()"), "(True, True)")
        t.send("\x04")
        self.assertEqual(t.wait(), 0)

    def test_numbers(self):
        t = self.open()
        t.send("1\r")
        t.prompt(2)
        t.send(":help quit\r")
        t.expect("end the program")
        t.prompt(2)
        t.send("\r")
        t.prompt(2)

    def test_blocks(self):
        t = self.open()
        t.send("def f(n):\r")
        t.expect(r"\n\r?    \.\.\. ")
        t.send("return n + 1\r\r")      # the indentation comes by itself
        t.prompt()
        self.assertEqual(t.run("f(1)"), "2")
        t.send("(1,\r2)\r")
        t.expect(r"\(1, 2\)")
        t.prompt()

    def test_paste_runs_nothing(self):
        t = self.open()
        t.send("\x1b[200~>>> a = 20\r>>> b = 22\r... \r\x1b[201~")
        t.expect("b = 22")
        t.pump(0.3)
        self.assertNotIn("[2] >>>", t.rest())
        t.send("\r")
        t.prompt(2)
        self.assertEqual(t.run("a + b"), "42")

    def test_typed_ahead(self):
        t = self.open()
        t.send("import time; time.sleep(0.5)\rprint('second')\rprint('third')\r")
        t.expect("\nsecond")
        t.expect("\nthird")
        t.prompt(4)

    def test_history_and_editing(self):
        t = self.open()
        t.run("value = 'first'")
        t.send("\x1b[A")
        t.expect("value = 'first'")
        t.send("\x7f\x7f\x7f\x7f\x7f\x7fsecond'\r")
        t.prompt()
        self.assertEqual(t.run("value"), "'second'")
        t.send("\x12first")
        t.expect("value = 'first'")
        t.send("\r")
        t.prompt()
        self.assertEqual(t.run("value"), "'first'")

    def test_what_begins_with_a_space_is_not_remembered(self):
        t = self.open()
        t.run("remembered = 1")
        self.assertEqual(t.run(" print('for', 'now')"), "for now")
        t.send("\x1b[A")
        t.expect("remembered = 1")
        t.send("\x05\x15 :nosuch\r")     # it would be lost
        t.expect("-- no command :nosuch")
        t.expect(r"\[3\] >>>  :nosuch")
        t.send("\x05\x15print('free', 'again')\r")
        t.expect("\nfree again")

    def test_history_of_the_run_before(self):
        t = self.open()
        t.run("remembered = 1")
        t.send("\x04")
        self.assertEqual(t.wait(), 0)
        t = self.open()
        t.run("0")
        t.send("\x1b[A\x1b[A")
        t.expect("remembered = 1")

    def test_named_session_goes_on(self):
        arguments = ("--plain", "--python", PYTHON, "--session", "work")
        t = self.open(*arguments)
        t.run("one = 1")
        t.send(":quit\r")
        self.assertEqual(t.wait(), 0)
        t = Terminal(self.home, *arguments)
        self.addCleanup(t.close)
        t.prompt(2)
        self.assertIn("NameError", t.run("one"))

    def test_completion(self):
        t = self.open()
        t.run("alphabetical = [1]")
        t.send("alphab\t")
        t.expect("alphabetical")
        t.send(".app\t")
        t.expect(r"\.append")
        t.send("\x03")
        t.prompt()
        t.send(":sess\t")
        t.expect("session-clear +sessions|sessions +session-clear")
        t.send("\x03")
        t.prompt()

    def test_questions(self):
        t = self.open()
        t.send("len?\r")
        t.expect("Return the number of items")
        t.prompt(1)
        t.run("amount = 12")
        t.send(":vars\r")
        t.expect(r"amount +int")
        t.prompt(2)
        t.send("nosuchname?\r")
        t.expect("nosuchname is not defined")
        t.prompt(2)

    def test_errors_of_commands(self):
        t = self.open()
        t.send(":resett\r")
        t.expect("did you mean :reset")
        t.prompt(1)
        t.send(":browse\r")
        t.expect("full screen")
        t.send("%prunn x\r")
        t.expect("%prunn")

    def test_shell(self):
        t = self.open()
        self.assertEqual(t.run("!echo from the shell; tty -s && echo a terminal"), "from the shell\na terminal")

    def test_keys_of_commands(self):
        t = self.open()
        t.run("x = 1")
        t.send("\x18c")                 # C-x c
        t.expect(r"s2 \[1\] >>> ")
        t.send("\x18p")
        t.expect(r"main \[2\] >>> ")
        t.send("\x18r")
        t.expect(r"reset main\? It loses .*1 cell, .*\[y/N\] ")
        t.send("n")
        t.expect(r"main \[2\] >>> ")
        t.send("x\r")
        t.expect("\n1\r\n")
        t.send("\x18r")
        t.expect(r"\[y/N\] ")
        t.send("y")
        t.expect("kernel reset · :undo takes it back: 2 cells, ")
        self.assertIn("NameError", t.run("x"))
        t.send("\x18U")                 # C-x U; the fresh kernel has run a cell by now
        t.expect(r"go back to the earlier kernel of main\? It loses 1 cell, .*\[y/N\] ")
        t.send("y")
        t.expect("undone · back with 2 cells, ")
        t.send("x\r")
        t.expect("\n1\r\n")
        t.send(":undo\r")
        t.expect("nothing is kept to go back to")

    def test_key_file(self):
        path = os.path.join(self.home, "keys")
        with open(path, "w") as file:
            file.write("bind C-x g status\nbind C-x z nothing\n")
        t = Terminal(self.home, "--plain", "--python", PYTHON, "--keys", path)
        self.addCleanup(t.close)
        t.expect("keys:2: no command :nothing")
        t.prompt()
        t.send("\x18g")
        t.expect("kernel +")

    def test_file_is_the_document(self):
        path = os.path.join(self.home, "f.py")
        with open(path, "w") as file:
            file.write("print('from the file')\n\n# %%\nx = 1\n")
        t = Terminal(self.home, "--plain", "--python", PYTHON, "f.py")
        self.addCleanup(t.close)
        t.expect("f.py is open")
        t.prompt()
        self.assertNotIn("\nfrom the file", t.text())
        t.send(":cells\r")
        t.expect(r"\*  2  code     \[ \]    x = 1")
        t.prompt()
        t.send(":run 1\r")
        t.expect("\nfrom the file")
        t.prompt()
        t.send(":edit-cell 2\r")
        t.expect("cell 2 is edited")
        t.expect(">>> x = 1")
        t.send("\x03")  # as it was: what comes now is a cell of its own
        t.prompt()
        t.send(":edit-cell 2\r")
        t.expect(">>> x = 1")
        t.send("; print('x', x)\r")
        t.expect("\nx 1")
        t.prompt()
        t.send("y = 2\r")
        t.prompt()
        t.send(":save\r")
        t.expect("3 cells written to")
        with open(path) as file:
            self.assertEqual(file.read(), "print('from the file')\n\n# %%\nx = 1; print('x', x)\n\n# %%\ny = 2\n")

    def test_editor(self):
        editor = os.path.join(self.home, "editor")
        with open(editor, "w") as file:
            file.write("#!/bin/sh\necho 'print(6 * 7)' >>\"$1\"\n")
        os.chmod(editor, 0o755)
        t = self.open(VISUAL=editor)
        t.send("a = 1\x18\x05")         # C-x C-e
        t.expect(r"print\(6 \* 7\)")
        t.send("\r")
        t.expect("\n42")

    def test_leaves_at_exit(self):
        t = self.open()
        t.send("exit()\r")
        self.assertEqual(t.wait(), 0)

    def test_dumb_terminal(self):
        t = self.open(TERM="dumb")
        self.assertEqual(t.run("6 * 7"), "42")
        t.send("if True:\r")
        t.expect(r"\.\.\. ")
        t.send("print('in a suite')\r\r")
        t.expect("\nin a suite")
        t.prompt()
        self.assertNotIn("\x1b", t.raw)

    def test_unknown_terminals(self):
        for name in ("nosuch", "", "unknown", "dumb"):
            t = self.open("--python", PYTHON, TERM=name)
            self.assertIn("2", t.run("1+1"), name)
            self.assertNotIn("\x1b[?1049h", t.raw)

    def test_wide_and_long_lines(self):
        t = self.open(size=(10, 40))
        t.send("s = '" + "日本" * 30 + "'\r")
        t.prompt(2)
        self.assertEqual(t.run("len(s)"), "60")


class Cells(Case):
    def test_input(self):
        t = self.open()
        t.send("name = input('who? ')\r")
        t.expect(r"who\? ")
        t.send("Bob\r")
        t.prompt()
        self.assertEqual(t.run("name"), "'Bob'")

    def test_getpass(self):
        t = self.open()
        t.send("import getpass; secret = getpass.getpass('pass: ')\r")
        t.expect("pass: ")
        t.pump(0.3)
        t.send("hidden\r")
        t.prompt()
        self.assertEqual(t.text().count("hidden"), 0)
        self.assertEqual(t.run("secret[:3]"), "'hid'")

    def test_pdb(self):
        t = self.open()
        t.send("def f():\rvalue = 5\rbreakpoint()\rreturn value\r\r")
        t.prompt()
        t.send("f()\r")
        t.expect(r"\(Pdb\) ")
        t.send("p value + 1\r")
        t.expect("\n6\r\n")
        t.expect(r"\(Pdb\) ")
        t.send("c\r")
        t.expect("\n5\r\n")
        t.prompt()

    def test_post_mortem(self):
        t = self.open()
        self.assertEqual(t.run(":debug"), "no exception was raised here")
        t.run("def g(): here = 7; 1/0")
        t.send("g()\r")
        t.prompt()
        t.send(":debug\r")
        t.expect(r"\(Pdb\) ")
        t.send("p here\r")
        t.expect("\n7\r\n")
        t.send("q\r")
        t.prompt()

    def test_interrupt_keeps_state(self):
        t = self.open()
        t.run("kept = 'kept'")
        t.send("while True: pass\r\r")
        t.pump(0.5)
        t.send("\x03")
        t.expect("KeyboardInterrupt")
        t.expect("variables and imports are kept")
        t.prompt()
        self.assertEqual(t.run("kept"), "'kept'")

    def test_interrupt_at_input(self):
        t = self.open()
        t.send("input('? ')\r")
        t.expect(r"\? ")
        t.send("\x03")
        t.expect("KeyboardInterrupt")
        t.send("print(6 * 7)\r")        # typed at once: for the prompt
        t.expect("\n42")

    def test_interrupt_of_a_child(self):
        t = self.open()
        t.send("!sleep 99; echo not here\r")
        t.pump(0.7)
        t.send("\x03")
        t.prompt(2)
        self.assertNotIn("\nnot here", t.text())

    def test_ladder(self):
        t = self.open()
        t.run("x = 1")
        t.run("import os, signal, time; _ = signal.signal(signal.SIGINT, lambda *_: os.write(1, b'no\\n'))")
        t.send("\x1b[200~while True:\n  time.sleep(9)\n\x1b[201~\r")
        t.pump(0.5)
        t.send("\x03")
        t.expect("\nno")
        t.send("\x03")
        t.expect(r"the cell still runs: .*Kill the kernel\? .*\[y/N\] ")
        t.send("n")
        t.expect("no\r\n")
        t.send("\x03")
        t.expect(r"\[y/N\] ")
        t.send("y")
        t.expect("state lost")
        t.prompt()
        self.assertIn("NameError", t.run("x"))

    def test_crash_is_one_line(self):
        t = self.open()
        t.run("x = 1")
        t.send("import os; os.kill(os.getpid(), 11)\r")
        t.expect("-- kernel killed by SIGSEGV · state lost: 2 cells")
        t.prompt()
        self.assertIn("NameError", t.run("x"))

    def test_resize(self):
        t = self.open()
        t.resize(30, 100)
        self.assertEqual(t.run("import os; os.get_terminal_size().columns"), "100")
        t.run("import signal")
        t.send("_ = signal.signal(signal.SIGWINCH, lambda *a: print('resized', os.get_terminal_size().lines)); "
               "input('ready')\r")
        t.expect("\nready")
        # A signal that comes just before Python begins to read waits for the end of the read: another follows.
        for rows in [33, 34] * 10 * SLOW:
            t.resize(rows, 90)
            t.pump(0.3)
            if "resized" in t.rest():
                break
        t.expect("resized 3[34]")
        t.send("\r")
        t.prompt()

    def test_output_is_byte_for_byte(self):
        t = self.open()
        t.send("import sys; _ = sys.stdout.write('\\x1b[31mred\\x1b[0m\\ta\\rb\\n')\r")
        t.prompt(2)
        self.assertIn("\x1b[31mred\x1b[0m\ta\rb\r\n", t.raw)

    def test_what_a_program_left_behind(self):
        t = self.open()
        t.send("print('\\x1b[?1049h\\x1b[?25l\\x1b[31m')\r")
        t.prompt(2)
        end = t.raw.rindex("\x1b[?25h")
        self.assertGreater(t.raw.rindex("\x1b[?1049l"), t.raw.index("\x1b[?1049h"))
        self.assertGreater(end, t.raw.index("\x1b[?25l"))

    def test_answers_of_a_kernel_are_text(self):
        """What a cell made of its objects cannot steer the terminal when the prompt tells of them."""
        t = self.open()
        evil = r"'\x1b]0;PWN\x07\x9b2J\x1b[2J\u202e'"
        for line in ("evil = " + evil, "class Evil: __repr__ = lambda self: evil",
                     "Evil.__doc__ = evil; globals()[evil] = e = Evil(); e.__dict__['ab' + evil] = e.abcd = 1",
                     "f = lambda: 0; f.__name__ = f.__qualname__ = f.__doc__ = evil"):
            t.run(line)
        start = len(t.raw)
        for line in (":vars", "e?", "f??", "e.ab?"):
            t.run(line)
        self.assertIn("^[]0;PWN^G<9b>2J^[[2J<202e>", t.raw[start:])
        for byte in ("\x1b]", "\x07", "\x9b", "\x1b[2J", "\u202e"):
            self.assertNotIn(byte, t.raw[start:])

    def test_answers_of_the_terminal_are_not_typed(self):
        """A cell asks the terminal; what comes back, and is not read, is no input of the prompt."""
        t = self.open()
        for question, answer in (("[c", "[?62;1;2c"), ("P$qx\x1b\\", "P0$r\nprint('ran')\n\x1b\\"),
                                 ("[21t", "]lprint('ran')\x1b\\"), ("]52;c;?\x07", "]52;c;cHJpbnQ=\x07"),
                                 ("[6n", "[3;1R")):
            t.run("print(%r)" % ("\x1b" + question))
            t.send("\x1b" + answer)
            self.assertEqual(t.run("6 * 7"), "42")
        self.assertNotIn("\nran", t.text())

    def test_rarer_things_left_behind(self):
        for left, undone in (("[?7l", "[?7h"), ("[4h", "[4l"), ("[5;9r", "[r"), ("(0", "(B"), ("[3 q", "[0 q"),
                             ("[>1u", "[<u"), ("[?6h", "[?6l"), ("[?1003h", "[?1003l"), ("=", ">")):
            t = self.open()
            t.send("print('\\x1b%s')\r" % left)
            t.prompt(2)
            self.assertIn("\x1b" + undone, t.raw[t.raw.index("\x1b" + left):], left)
        t = self.open()
        t.send("print('\\x0e')\r")
        t.prompt(2)
        self.assertIn("\x0f", t.raw[t.raw.index("\x0e"):])

    def test_nothing_left_behind(self):
        t = self.open()
        t.send("print('\\x1b[4h\\x1b[4l\\x1b[5;9r\\x1b[r\\x0e\\x0f\\x1b[?7l\\x1b[?7h\\x1b[3 q\\x1b[0 q')\r")
        t.prompt(2)
        rest = t.raw[t.raw.index("\x1b[0 q") + 5:]
        for undone in ("[?7h", "[r", "[0 q", "\x0f"):
            self.assertNotIn(undone, rest)

    def test_output_above_the_prompt(self):
        t = self.open()
        t.send("import threading; threading.Timer(0.7, print, ['late']).start()\r")
        t.prompt(2)
        t.send("half = 'typed")
        t.expect("\nlate|late\r\n")
        t.expect(r"\[2\] >>> half = 'typed")
        t.send("'\r")
        t.prompt(3)
        self.assertEqual(t.run("half"), "'typed'")

    def test_unfinished_line(self):
        t = self.open()
        t.send("print('no end', end='')\r")
        t.expect("\nno end\r\n\\[2\\] >>> ")


class Tools(Case):
    def test_approval(self):
        t = self.open("--plain", "--python", PYTHON, "--tools", "terminal")
        t.run("from hermes_tools import terminal")
        t.send("terminal('echo $((40+2))')['output']\r")
        t.expect(r"terminal: .*\[o\]nce \[s\]ession \[d\]eny\? ")
        t.send("o")
        t.expect("once")
        t.expect("42")
        t.prompt()
        t.send("terminal('true')\r")
        t.expect(r"\[d\]eny\? ")
        t.send("d")
        t.expect("denied by the user")
        t.prompt()
        t.send("[terminal('echo x%d' % i)['output'] for i in range(3)]\r")
        t.expect(r"\[d\]eny\? ")
        t.send("s")
        t.expect("x0.*x1.*x2")
        t.prompt()
        self.assertEqual(t.text().count("[d]eny?"), 3)

    def test_approval_shows_all(self):
        t = self.open("--plain", "--python", PYTHON, "--tools", "terminal")
        t.run("from hermes_tools import terminal")
        t.send("terminal('true ' + 'long ' * 200 + 'the_end')\r")
        t.expect(r"the_end\"\}\r?\n.*\[d\]eny\? ")
        t.send("d")
        t.expect("denied by the user")
        t.prompt()
        t.send("terminal('true ' + 'long ' * 4000 + 'the_end')\r")
        t.expect(r" \.\.\. \d+ bytes are not shown \.\.\. .*the_end\"\}\r?\n.*\[d\]eny\? ")
        t.send("d")
        t.expect("denied by the user")
        t.prompt()


class Program(Case):
    def test_quit_asks_when_something_runs(self):
        t = self.open()
        t.run("import time")
        t.send(":new other\r")
        t.expect(r"other \[1\] >>> ")
        t.send(":quit\r")
        self.assertEqual(t.wait(), 0)

    def test_suspend(self):
        t = self.open()
        t.send("half")
        t.expect("half")
        before = termios.tcgetattr(t.slave)[3]
        os.kill(t.process.pid, 0)
        child = t.process.pid
        t.send("\x1a")

        def state():
            with open("/proc/%d/stat" % child) as file:
                return file.read().rpartition(")")[2].split()[0]
        # The session's leader is in an orphaned group, which a terminal's stop signal does not stop: SIGSTOP stands in.
        t.pump(0.3)
        if state() == "T":
            self.assertNotEqual(termios.tcgetattr(t.slave)[3], before)
            os.kill(child, signal.SIGCONT)
        t.expect(r">>> half")
        t.send(" = 1\r")
        t.prompt(2)

    def test_suspend_in_a_shell(self):
        """With job control, as at home: stopped, the terminal as it was; continued, the prompt as it was."""
        t = Terminal.__new__(Terminal)
        t.raw, t.at = "", 0
        pid, t.master = pty.fork()
        if pid == 0:
            os.chdir(self.home)
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], environment(self.home, PS1="SHELL> "))
        self.addCleanup(os.close, t.master)
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        t.expect("SHELL> ")
        t.send("%s --plain --python %s\r" % (PROGRAM, PYTHON))
        t.prompt(1)
        t.send("half = ")
        t.expect("half = ")
        t.send("\x1a")
        t.expect("Stopped.*SHELL> ")
        t.send("stty -a | grep -c -e -icanon; echo IN''SHELL\r")
        t.expect("\n.?0\r\n.*INSHELL")
        t.send("fg\r")
        t.expect(r"\[1\] >>> half = ")
        t.send("'whole'\r")
        t.prompt(2)
        t.send("half\r")
        t.expect("'whole'")
        t.prompt(3)
        t.send("\x04")
        t.expect("SHELL> ")

    def end_by(self, number):
        t = self.open()
        kernel = int(t.run("import os; os.getpid()"))
        t.send("while True: pass\r\r")
        t.pump(0.3)
        os.kill(t.process.pid, number)
        self.assertEqual(t.wait(), 128 + number)
        wait_for(lambda: not alive(kernel), "the kernel is gone")
        self.assertEqual(termios.tcgetattr(t.slave)[:4], t.modes[:4])

    def test_sigterm(self):
        self.end_by(signal.SIGTERM)

    def test_sighup(self):
        self.end_by(signal.SIGHUP)

    def test_sigterm_loses_no_change_of_a_document(self):
        path = os.path.join(self.home, "a.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write("x = 1\n")
        t = self.open("--plain", path)
        t.run("y = 'not saved'")
        os.kill(t.process.pid, signal.SIGTERM)
        t.expect(r"a\.py was not saved; its changes are in (\S+)")
        self.assertEqual(t.wait(), 128 + signal.SIGTERM)
        (name,) = re.findall(r"its changes are in (\S+)", t.text())
        with open(name, encoding="utf-8") as file:
            self.assertEqual(file.read(), "x = 1\n\n# %%\ny = 'not saved'\n")
        t = self.open("--plain", path)
        t.expect(re.escape(":recover takes them from " + name))
        t.prompt()
        t.run(":recover")
        t.run(":save")
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "x = 1\n\n# %%\ny = 'not saved'\n")
        self.assertFalse(os.path.exists(name))

    def test_leaves_the_terminal_as_it_was(self):
        t = self.open()
        t.send("\x04")
        self.assertEqual(t.wait(), 0)
        self.assertEqual(termios.tcgetattr(t.slave)[:4], t.modes[:4])
        self.assertTrue(t.raw.count("\x1b[?2004h") == t.raw.count("\x1b[?2004l"))

    def test_killed_leaves_no_process(self):
        t = self.open()
        kernel = int(t.run("import os; os.getpid()"))
        t.process.kill()
        t.process.wait()
        wait_for(lambda: not alive(kernel), "the kernel is gone")

    @unittest.skipIf("thread" in os.environ.get("SANITIZE_CFLAGS", ""), "ThreadSanitizer's own thread wakes up")
    def test_idle_sleeps(self):
        t = self.open()
        t.run("1")
        t.pump(0.5)

        def switches():
            total = 0
            for task in os.listdir("/proc/%d/task" % t.process.pid):
                with open("/proc/%d/task/%s/status" % (t.process.pid, task)) as file:
                    total += sum(int(line.split()[1]) for line in file if "ctxt_switches" in line)
            return total
        time.sleep(1.5)     # what the last cell began has ended
        before = switches()
        time.sleep(2)
        self.assertEqual(switches(), before)


class Pipe(Case):
    def run_with(self, text, *arguments):
        done = subprocess.run([PROGRAM, *(arguments or ("--python", PYTHON))], input=text.encode(),
                              capture_output=True, timeout=LIMIT * 3, env=environment(self.home), cwd=self.home)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test_values_and_no_prompts(self):
        self.assertEqual(self.run_with("x = 41\nx + 1\nprint('é')\n"), (0, "42\né\n", ""))

    def test_no_newline_at_the_end(self):
        self.assertEqual(self.run_with("6 * 7"), (0, "42\n", ""))

    def test_nothing(self):
        self.assertEqual(self.run_with(""), (0, "", ""))

    def test_errors_go_on(self):
        status, out, err = self.run_with("1/0\nprint('on')\n")
        self.assertEqual((status, out), (0, "on\n"))
        self.assertTrue(err.startswith("Traceback (most recent call last):"), err)
        self.assertTrue(err.endswith("ZeroDivisionError: division by zero\n"), err)

    def test_a_cell_magic_ends_at_a_blank_line(self):
        status, out, err = self.run_with("%%timeit -n1 -r1\nx = 1\ny = x\n\nprint(2)\n%%time\nprint(3)")
        self.assertEqual(status, 0, err)
        self.assertIn("1 loops each", out)
        self.assertTrue(out.split("each)\n")[1].startswith("2\n3\nWall time: "), out)

    def test_tracebacks_show_magics_as_they_were_typed(self):
        head = 'Traceback (most recent call last):\n  File "<cell 1>", line 1, in <module>\n    '
        missing = "FileNotFoundError: [Errno 2] No such file or directory: '/no/such'\n"
        for text, expected in (
                ("%cd /no/such\n", head + "%cd /no/such\n" + missing),
                ("x = %time y(1)\n", head + "x = %time y(1)\nNameError: name 'y' is not defined\n"),
                ("if 1:\n    %cd /no/such\n\n", head.replace("line 1", "line 2") + "%cd /no/such\n" + missing)):
            self.assertEqual(self.run_with(text), (1, "", expected))
        self.assertRegex(self.run_with("%timeit y\n")[2],
                         r"(?s)line 1, in <module>\n    %timeit y\n.*NameError: name 'y'")
        self.assertRegex(self.run_with("%time y(\n")[2], r'  File "<cell 1>", line 1\n    %time y\(\nSyntaxError: ')

    def test_status_of_the_last(self):
        self.assertEqual(self.run_with("print(1)\n1/0\n")[0], 1)
        self.assertEqual(self.run_with("1/0\n:nosuch\n")[0], 1)
        self.assertEqual(self.run_with("(1,\n")[0], 1)

    def test_wrong_usage(self):
        for arguments, why in ((("--session", "a/b"), "a session's name"), (("--session", ""), "a session's name"),
                               (("a.py",), "--batch runs it"), (("a.py", "b.py"), "b.py"),
                               (("--junit", "j"), "--batch")):
            status, out, err = self.run_with("print('not run')\n", *arguments)
            self.assertEqual((status, out, err.count("\n")), (2, "", 1), err)
            self.assertIn(why, err)

    def test_files_that_cannot_be_run(self):
        with open(os.path.join(self.home, "bad.ipynb"), "w") as file:
            file.write("{")
        for line, why in (("run bad.ipynb", "bad.ipynb: invalid notebook"), ("run -", "cannot read ./-: No such file"),
                          ("load no.py", "cannot read no.py: No such file")):
            status, out, err = self.run_with(":%s\nprint('on')\n" % line)
            self.assertEqual((status, out), (0, "on\n"), line)
            self.assertTrue(err.startswith("hermes-repl: " + why), err)
            self.assertEqual(err.count("\n"), 1)

    def test_exit_status(self):
        self.assertEqual(self.run_with("import sys\nsys.exit(7)\nprint('not here')\n")[:2], (7, ""))
        self.assertEqual(self.run_with("raise SystemExit\n")[0], 0)
        status, out, err = self.run_with("raise SystemExit('bye')\nprint('not here')\n")
        self.assertEqual((status, out, err), (1, "", "bye\n"))
        self.assertEqual(self.run_with("import os\nos._exit(3)\n")[0], 3)

    def test_blocks(self):
        text = ("def f(n):\n    if n:\n        return 'some'\n\n    return 'none'\n\nf(0)\nf(1)\n"
                "for i in range(2):\n    print(i)\nelse:\n    print('end')\nprint('after')\n"
                "s = '''a\n\nb'''\nlen(s)\n@staticmethod\ndef g(): return 5\n\ng.__func__()\n"
                "class A:\n    # comment\n\n# at column 0\n    x = 1\nA.x\n")
        status, out, err = self.run_with(text)
        self.assertEqual(err, "")
        self.assertEqual(out, "'none'\n'some'\n0\n1\nend\nafter\n4\n5\n1\n")

    def test_runs_as_it_comes(self):
        process = subprocess.Popen([PROGRAM, "--python", PYTHON], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   env=environment(self.home), cwd=self.home)
        for line, answer in (("1 + 1", "2"), ("for i in 'a':\n  i\n", ""), ("print('there')", "there")):
            process.stdin.write((line + "\n").encode())
            process.stdin.flush()
            if answer:
                self.assertEqual(process.stdout.readline().decode().strip(), answer)
        process.stdin.close()
        self.assertEqual(process.wait(LIMIT), 0)
        process.stdout.close()

    def test_kernel_death_is_one_line(self):
        status, out, err = self.run_with("x = 1\nimport os; os.kill(os.getpid(), 9)\n'x' in globals()\n")
        self.assertEqual((status, out), (0, "False\n"))
        self.assertEqual(err.count("kernel killed by SIGKILL"), 1)

    def test_input_is_at_its_end(self):
        status, out, err = self.run_with("try: input()\nexcept EOFError: print('EOF')\n\n")
        self.assertEqual((status, out, err), (0, "EOF\n", ""))

    def test_commands(self):
        status, out, err = self.run_with("a = 5\n:vars\n:reset\n'a' in globals()\n!echo shell\nlen?\n"
                                         ":undo\n'back', a\n")
        self.assertEqual(status, 0)
        self.assertRegex(out, r"(?s)a +int.*False\nshell\n.*number of items.*\('back', 5\)")
        self.assertIn("kernel reset", err)

    @unittest.skipUnless(nbformat, "needs nbformat")
    def test_a_saved_session_is_valid(self):
        text = ("print('é')\n6 * 7\n1/0\nimport sys; _ = sys.stderr.write('two\\n')\n"
                "class Drawn:\n    def _repr_html_(self): return '<b>'\n\nDrawn()\n:save out.ipynb\n"
                ":save out.py\n:save out.html\n")
        status, out, err = self.run_with(text)
        self.assertEqual(status, 0, err)
        book = nbformat.read(os.path.join(self.home, "out.ipynb"), as_version=4)
        nbformat.validate(book)
        self.assertEqual([cell.source for cell in book.cells][:3], ["print('é')", "6 * 7", "1/0"])
        self.assertEqual([cell.outputs[0].output_type for cell in book.cells if cell.outputs],
                         ["stream", "execute_result", "error", "stream", "execute_result"])
        for name, part in (("out.py", "6 * 7"), ("out.html", "<title>main</title>")):
            with open(os.path.join(self.home, name), encoding="utf-8") as file:
                self.assertIn(part, file.read())

    def test_atexit(self):
        self.assertIn("bye", self.run_with("import atexit\n_ = atexit.register(print, 'bye')\n")[1])

    def test_no_python(self):
        status, out, err = self.run_with("1\n", "--python", "/does/not/exist")
        self.assertEqual((status, out), (125, ""))
        self.assertIn("/does/not/exist", err)

    def test_usage(self):
        for arguments, part in ((("--json",), "--batch"), (("--timeout", "1"), "--batch"),
                                (("a.py",), "--batch"), (("--session", "a::b"), "::")):
            done = subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                                  env=environment(self.home), timeout=LIMIT)
            self.assertIn(part, done.stderr.decode())
            self.assertNotEqual(done.returncode, 0)

    def test_lists(self):
        for option, part in (("--list-commands", "session-clear [-f]"), ("--list-keys", "C-x r")):
            done = subprocess.run([PROGRAM, option], capture_output=True, env=environment(self.home), timeout=LIMIT)
            self.assertEqual(done.returncode, 0)
            self.assertIn(part, done.stdout.decode())

    def test_a_long_input(self):
        text = "".join("x%d = %d\n" % (i, i) for i in range(2000)) + "x1999\n"
        self.assertEqual(self.run_with(text), (0, "1999\n", ""))


if __name__ == "__main__":
    unittest.main(verbosity=1)
