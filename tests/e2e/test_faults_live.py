#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Faults of the system in programs that go on: the server, the plain prompt and the full screen. The n-th open, read,
write, fsync, rename or mkdir in the user's directory fails, or the n-th pipe, socket, process or thread that the
program makes, for n = 1, 2 ... until there is no n-th any more. Each time what was asked for is done or refused in
words, what is asked for next is done, a document is the old one or the new one, whole, and at the end no process, no
directory and no more descriptors are left than without the fault.

HERMES_FAULT_ALL=1    each n; else a few by chance, which HERMES_TEST_SEED chooses
"""
import os
import random
import sqlite3
import sys
import termios
import time
import unittest

import test_mcp_raw
from test_faults import ALL, Injected
from test_plain import LIMIT, PYTHON, Terminal

MADE = ("pipe", "socket", "spawn", "thread")
ON_DISK = ("open", "write", "mkdir", "rename", "fsync")
TOOL = ("from hermes_tools import terminal, write_file\n"
        "print('error' in write_file('out.txt', 'new' * 2000), terminal('echo 42').get('output'))")
OLD = "x = 1\n"
NEW = "x = 1\n\n# %%\ny = 2\n"


chance = random.Random(int(os.environ.get("HERMES_TEST_SEED", "1")))


def each(kinds):
    """(kind, n): the caller sends whether there was an n-th."""
    if not ALL:
        for _ in range(3):
            yield chance.choice(kinds), chance.randint(1, 8)
        return
    for kind in kinds:
        n, hit = 1, True
        while hit:
            hit = yield kind, n
            n += 1


def descriptors(pid):
    """How many are open, without the pipes of threads: each that runs tools has one, and there are up to eight."""
    return len(os.listdir("/proc/%d/fd" % pid)) - 2 * len(os.listdir("/proc/%d/task" % pid))


class Refused(Exception):
    """The program said that it cannot begin, and has ended."""


class Live(Injected):
    def fresh(self):
        super().fresh()
        os.mkdir(self.path("tmp"))

    def every(self, kinds, under, trial):
        """trial(variables): one run of the program, with and without the fault."""
        count, steps, hit = 0, each(kinds), None
        try:
            step = next(steps)
            while True:
                kind, n = step
                self.fresh()
                with self.subTest(kind=kind, n=n):
                    try:
                        trial(self.fault(kind, n, under))
                    except Refused:
                        pass
                    except AssertionError as error:
                        raise AssertionError("%s %d (%s): %s" % (kind, n, self.met(), error)) from error
                hit = self.met()
                count += bool(hit)
                step = steps.send(bool(hit))
        except StopIteration:
            pass
        self.assertTrue(count or not ALL)


class Server(Live):
    usual = None

    def call(self, server, name, **arguments):
        result = server.request("tools/call", {"name": name, "arguments": arguments})["result"]
        content = result["structuredContent"]
        if result["isError"]:
            self.assertTrue(content["error"].strip())
        return content

    def cell(self, server, code, session, expected):
        """As it should be, or an error in words."""
        content = self.call(server, "execute_code", code=code, session=session)
        if content["status"] == "success":
            self.assertRegex(content["output"], expected)
        else:
            self.assertEqual(content["status"], "error", content)
            self.assertTrue(content["error"].strip(), content)
        return content["status"] == "success"

    def converse(self, server):
        self.cell(server, "print(40 + 2)", "a", r"\A42\n\Z")
        self.cell(server, "print('x' * 200000)", "a", "xxx")
        self.cell(server, TOOL, "b", r"\A(True|False) ")
        self.call(server, "clear_session", session="b")
        self.call(server, "execute_code", code="x = 1", session="a", reset=True)

    def is_usable(self, server):
        """Whether all goes well; it must, unless the fault comes only here."""
        before = self.has_met()
        good = self.cell(server, "print(40 + 2)", "a", r"\A42\n\Z")
        good &= self.cell(server, TOOL, "c", r"\AFalse 42\n" if before else r"\A(True|False) ")
        for session in "abc":
            self.call(server, "clear_session", session=session)
        late = self.has_met() and not before
        self.assertTrue(good or late)
        return not late

    def trial(self, variables):
        server = test_mcp_raw.Server(self.home, "--tools", "write_file,terminal", "--approve", "allow",
                                     initialize=False, variables=dict(
                                         variables, TMPDIR=self.path("tmp"), XDG_STATE_HOME=self.path("state")))
        self.addCleanup(server.kill)
        self.serve(server)
        self.assertEqual(os.listdir(self.path("tmp")), [])

    def settles(self, look, expected):
        """Threads end beside."""
        end = time.monotonic() + LIMIT
        while look() != expected and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual(look(), expected)

    def serve(self, server):
        try:
            server.request("initialize", {"protocolVersion": test_mcp_raw.NEWEST, "capabilities": {}})
        except (test_mcp_raw.Ended, BrokenPipeError) as end:        # it could not begin, and says why
            words = str(end) if isinstance(end, test_mcp_raw.Ended) else server.process.stderr.read().decode()
            self.assertGreater(server.process.wait(LIMIT), 0)
            self.assertRegex(words, r"\Ahermes-repl: .+\n\Z")
            return
        self.converse(server)
        if not self.is_usable(server):
            self.assertTrue(self.is_usable(server))
        self.settles(lambda: [one for one in test_mcp_raw.tree(server.process.pid)[1:] if test_mcp_raw.alive(one)], [])
        if self.usual is None:
            while self.usual != descriptors(server.process.pid):
                self.usual = descriptors(server.process.pid)
                time.sleep(0.05)
        self.settles(lambda: descriptors(server.process.pid), self.usual)
        rest, status, words = server.finish()
        self.assertEqual((rest, status), ([], 0))
        for line in words.splitlines():
            self.assertTrue(line.startswith("hermes-repl: "), line)

    def setUp(self):
        super().setUp()
        self.fresh()
        self.trial({})      # what is open without a fault

    def test_what_is_made(self):
        self.every(MADE, "", self.trial)

    def test_disk(self):
        self.every(ON_DISK, "", self.trial)


class Person(Live):
    def open(self, words, variables):
        terminal = Terminal(self.home, *words, "--python", PYTHON, "doc/a.py", TMPDIR=self.path("tmp"),
                            INPUTRC="/dev/null", **variables)
        self.addCleanup(terminal.close)
        return terminal

    def begin(self, words, variables):
        self.write("doc/a.py", OLD)
        terminal = self.open(words, variables)
        self.wait(terminal, ">>> ")
        return terminal

    def wait(self, terminal, pattern):
        """Until this is shown, or why the program cannot go on."""
        shown = terminal.expect(r"%s|(?:^|\r)hermes-repl: (cannot|no) [^\n]+\n" % pattern).group()
        if "hermes-repl: " in shown:
            self.assertGreater(terminal.wait(), 0)
            self.is_left(terminal)
            raise Refused(shown)
        return shown

    def is_over(self, terminal):
        terminal.send("\x1c")       # C-\ leaves and asks nothing
        self.assertEqual(terminal.wait(), 0, terminal.rest())
        self.is_left(terminal)

    def is_left(self, terminal):
        self.assertEqual(termios.tcgetattr(terminal.slave), terminal.modes)
        self.assertEqual(os.listdir(self.path("tmp")), [])
        path = self.path("state/hermes-repl/history.db")
        if os.path.exists(path):
            connection = sqlite3.connect(path)
            self.assertEqual(connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            connection.close()
        terminal.close()
        self._cleanups.pop()        # one a trial is too many to keep

    def save(self, *words):
        """:save: the old file or the new one, told; and once more, without the fault."""
        def trial(variables):
            t = self.begin(words, variables)
            t.send("y = 2\r")
            self.wait(t, r"\[2\] >>> " if words else "✓")
            t.send(":save\r")
            said = t.expect("2 cells written to|cannot write [^\n]*: ").group()
            self.assertEqual(self.read("doc/a.py"), OLD if said.startswith("cannot") else NEW)
            self.assertEqual(os.listdir(self.path("doc")), ["a.py"])
            if said.startswith("cannot"):
                t.expect(":save|>>> ")
                t.send(":save\r" if words else "\r")       # the screen keeps a command that failed
                t.expect("2 cells written to")
                self.assertEqual(self.read("doc/a.py"), NEW)
            t.send("1/0\r")
            t.expect(r"ZeroDivisionError.*\[3\] >>> " if words else "✗")
            self.is_over(t)
        self.every(("open", "write", "fsync", "rename"), "doc", trial)

    def test_save_at_the_prompt(self):
        self.save("--plain")

    def test_save_on_the_screen(self):
        self.save()


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
