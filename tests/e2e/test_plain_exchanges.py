#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two hundred exchanges with $HERMES_REPL --plain, driven by pexpect as scripts do it: never out of step.

Needs python3-pexpect; without it the test is skipped.
"""
import os
import random
import re
import shutil
import sys
import tempfile

try:
    import pexpect
except ImportError:
    print("skipped: no pexpect (Debian: python3-pexpect)")
    sys.exit(77)

PROGRAM = os.path.abspath(os.environ.get("HERMES_REPL", "build/hermes-repl"))
SLOW = int(os.environ.get("CK_TIMEOUT_MULTIPLIER", "1") or 1)
EXCHANGES = 200


class Driver:
    def __init__(self, home):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("HERMES_", "PYTHON"))}
        environment.update(HOME=home, XDG_CONFIG_HOME=home, XDG_STATE_HOME=home, TERM="dumb", LC_ALL="C.UTF-8")
        self.child = pexpect.spawn(PROGRAM, ["--plain", "--python", os.environ.get("TEST_PYTHON") or sys.executable],
                                   env=environment, cwd=home, encoding="utf-8", timeout=20 * SLOW, dimensions=(24, 200))
        self.child.delaybeforesend = None
        self.number = 0
        self.prompt()

    def prompt(self, counts=True):
        self.number += counts
        self.child.expect_exact("[%d] >>> " % self.number)

    def ask(self, line, answer):
        """A line, and the exact lines that it shows."""
        self.child.sendline(line)
        self.prompt()
        shown = self.child.before.replace("\r\n", "\n").replace("\r", "")
        assert shown == line + "\n" + answer, "%r gave %r, not %r" % (line, shown, line + "\n" + answer)


def value(d, n):
    d.ask("%d * 7" % n, "%d\n" % (n * 7))


def printed(d, n):
    d.ask("print('line', %d); print('é', end='')" % n, "line %d\né\n" % n)


def state(d, n):
    d.ask("total = globals().get('total', 0) + 1; total", "%d\n" % d.__dict__.setdefault("total", 1))
    d.total += 1


def nothing(d, n):
    d.ask("x%d = %d" % (n, n), "")


def error(d, n):
    d.child.sendline("{}[%d]" % n)
    d.prompt()
    assert re.search(r"KeyError: %d\r\n$" % n, d.child.before), d.child.before


def asked(d, n):
    d.child.sendline("'got ' + input('give %d? ')" % n)
    d.child.expect_exact("\ngive %d? " % n)
    d.child.sendline("answer %d" % n)
    d.child.expect_exact("'got answer %d'" % n)
    d.prompt()


def many(d, n):
    d.child.sendline("print(*('row %%d' %% i for i in range(300)), sep='\\n')  # %d" % n)
    d.prompt()
    rows = re.findall(r"\nrow (\d+)\r", d.child.before)
    assert rows == [str(i) for i in range(300)], d.child.before[-200:]


def interrupted(d, n):
    d.child.sendline("print('runs %d'); __import__('time').sleep(60)" % n)
    d.child.expect_exact("\nruns %d" % n)
    d.child.sendintr()
    d.child.expect_exact("KeyboardInterrupt")
    d.prompt()


def block(d, n):
    d.child.sendline("if %d:" % n)
    d.child.expect_exact("... ")
    d.child.sendline("print('in the block', %d)" % n)
    d.child.expect_exact("... ")
    d.child.sendline("")
    d.child.expect_exact("\nin the block %d" % n)
    d.prompt()


def command(d, n):
    d.child.sendline(":sessions")
    d.child.expect_exact("* 1  main")
    d.prompt(False)


def ahead(d, n):
    d.child.send("1 + %d\r2 + %d\r" % (n, n))
    d.child.expect_exact("\n%d\r\n" % (n + 1))
    d.number += 1
    d.child.expect_exact("\n%d\r\n" % (n + 2))
    d.prompt()


def shell(d, n):
    d.ask("!echo shell %d" % n, "shell %d\n" % n)


def main():
    home = tempfile.mkdtemp(prefix="hermes-exchanges-")
    kinds = [value, printed, state, nothing, error, asked, many, interrupted, block, command, ahead, shell]
    seed = int(os.environ.get("HERMES_TEST_SEED", "1"))
    chance = random.Random(seed)
    done = {}
    try:
        d = Driver(home)
        for n in range(EXCHANGES):
            kind = kinds[n] if n < len(kinds) else chance.choice(kinds)
            try:
                kind(d, n)
            except (AssertionError, pexpect.ExceptionPexpect) as trouble:
                print("exchange %d (%s), seed %d: %s" % (n, kind.__name__, seed, trouble))
                return 1
            done[kind.__name__] = done.get(kind.__name__, 0) + 1
        d.child.sendline(":quit")
        d.child.expect(pexpect.EOF)
        d.child.close()
        if d.child.exitstatus != 0:
            print("exit status %r, signal %r" % (d.child.exitstatus, d.child.signalstatus))
            return 1
    finally:
        shutil.rmtree(home, True)
    print("%d exchanges in step, seed %d: %s" % (EXCHANGES, seed, done))
    return 0


if __name__ == "__main__":
    sys.exit(main())
