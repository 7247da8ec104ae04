#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Faults of the disk, injected into the real program: the n-th open, read, write, fsync, rename or mkdir in the user's
directory fails, for n = 1, 2 ... until there is no n-th any more. Each time: the program ends by itself, without a
signal; what could not be done is told on standard error in lines of its own; a file that was to be written is the
old one or the new one, whole; nothing temporary is left; the store is sound; and the next run works.

Where the program was made with sanitizers their library is loaded before ours: memory that a fault loses is found, too.

HERMES_FAULT_ALL=1    each n, and the next run behind each; else they are sampled
"""
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

from test_plain import LIMIT, PROGRAM, PYTHON, environment

SOURCE = os.environ.get("HERMES_TEST_SRCDIR") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
ALL = bool(os.environ.get("HERMES_FAULT_ALL"))
KINDS = ("open", "write", "fsync", "rename", "mkdir")
CELLS = "# %%\nprint(40 + 2)\n# %%\nprint('x' * 3000)\n"
OLD = "the old one\n"
injected = 0


def sanitizers():
    """The shared libraries of sanitizers that the program needs: they insist on being the first."""
    lines = subprocess.run(["ldd", PROGRAM], stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
    return [line.split()[2] for line in lines if line.strip().startswith(("libasan.", "libtsan."))]


class Injected(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tools = tempfile.mkdtemp(prefix="hermes-faults-")
        cls.shim = os.path.join(cls.tools, "shim.so")
        cls.preload = ":".join([*sanitizers(), cls.shim])
        subprocess.run([*os.environ.get("CC", "cc").split(), "-shared", "-fPIC", "-O1", "-o", cls.shim,
                        os.path.join(SOURCE, "tests", "e2e", "fault-shim.c"), "-ldl"], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.tools, True)
        print("%d faults injected so far" % injected)

    def setUp(self):
        self.home = None
        self.addCleanup(lambda: shutil.rmtree(self.home, True))

    def fresh(self):
        if self.home:
            shutil.rmtree(self.home)
        self.home = os.path.realpath(tempfile.mkdtemp(prefix="hermes-faults-"))
        self.told = os.path.join(self.tools, "told")
        if self.has_met():
            os.unlink(self.told)
        self.write("a.py", CELLS)

    def fault(self, kind, n, under=""):
        """Variables that make the n-th fail. A sanitizer reports on standard error: for a file it needs mkdir() before
        anything that is loaded works."""
        return {"LD_PRELOAD": self.preload, "FAULT_KIND": kind, "FAULT_NUMBER": str(n), "FAULT_TOLD": self.told,
                "FAULT_UNDER": self.path(under) if under else self.home, "ASAN_OPTIONS": "", "TSAN_OPTIONS": ""}

    def has_met(self):
        return os.path.exists(self.told)

    def met(self):
        """Where the fault was; None: there was no n-th."""
        global injected
        if not self.has_met():
            return None
        injected += 1
        with open(self.told, encoding="utf-8") as file:
            return file.read()

    def path(self, name):
        return os.path.join(self.home, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def run_program(self, words, text="", **variables):
        return subprocess.run([PROGRAM, "--python", PYTHON, *words], cwd=self.home, input=text.encode(),
                              env=environment(self.home, **variables), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=3 * LIMIT)

    def is_sound(self):
        path = self.path("state/hermes-repl/history.db")
        if not os.path.exists(path):
            return
        connection = sqlite3.connect(path)
        self.assertEqual(connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        connection.close()



class Faults(Injected):
    def check(self, words, look, text="", prepare=None, kinds=KINDS, under=""):
        """look(done, hit): what this operation promises. The same without a fault must be right."""
        before = injected
        for kind in kinds:
            n, hit = 1, True
            while hit:
                self.fresh()
                if prepare:
                    prepare()
                done = self.run_program(words, text, **self.fault(kind, n, under))
                hit = self.met()
                with self.subTest(kind=kind, n=n, where=hit, done=done):
                    self.assertGreaterEqual(done.returncode, 0)
                    for line in done.stderr.decode().splitlines():
                        self.assertTrue(line.startswith("hermes-repl: "), line)
                    look(done, hit)
                    self.is_sound()
                    if (ALL or n == 1) and not under:
                        again = self.run_program(words, text)
                        self.assertEqual((again.returncode, again.stderr), (0, b""))
                        look(again, False)
                        self.is_sound()
                n += 1 if n < 3 or ALL else 9
        self.assertGreater(injected, before)

    def old_or_new(self, name, is_new):
        def look(done, hit):
            text = self.read(name)
            if text == OLD:
                self.assertTrue(hit)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(b"cannot write", done.stderr)
            else:
                self.assertTrue(is_new(text), text)
            left = [entry for entry in os.listdir(self.home) if entry not in ("a.py", "state", ".cache", name)]
            self.assertEqual(left, [])
        return look

    def test_convert(self):
        self.check(["--convert", "a.py", "out.ipynb"], self.old_or_new("out.ipynb", lambda text: len(
            json.loads(text)["cells"]) == 2), prepare=lambda: self.write("out.ipynb", OLD))

    def test_save(self):
        self.check(["--batch", "a.py", "--save", "out.md"], self.old_or_new("out.md", lambda text: "42" in text),
                   prepare=lambda: self.write("out.md", OLD))

    def test_junit(self):
        self.check(["--batch", "a.py", "--junit", "out.xml"], self.old_or_new("out.xml", lambda text: "</test" in text),
                   prepare=lambda: self.write("out.xml", OLD))

    def test_store(self):
        """What is lost is the history, never the run."""
        def look(done, hit):
            self.assertEqual((done.returncode, done.stdout.split()[0]), (0, b"42"))
        self.check(["--session", "s", "--batch", "a.py"], look)

    def test_store_of_the_prompt(self):
        def look(done, hit):
            self.assertEqual((done.returncode, done.stdout.split()[0]), (0, b"42"))
        self.check(["--session", "s"], look, text="print(40 + 2)\n\nx = 1\n")

    def test_long_output(self):
        """The whole of it goes into a file; where that fails, head and tail are in the result all the same."""
        def look(done, hit):
            cell = json.loads(done.stdout.splitlines()[1])
            self.assertEqual((cell["status"], cell["stdout_bytes_total"]), ("success", 3001))
        self.check(["--json", "--stdout-limit", "1000", "--batch", "a.py"], look)

    def test_export(self):
        def prepare():
            self.assertEqual(self.run_program(["--session", "s", "--batch", "a.py"]).returncode, 0)
            self.write("out.md", OLD)
        self.check(["--export", "s", "out.md"], self.old_or_new("out.md", lambda text: "42" in text), prepare=prepare)

    def test_tool(self):
        """write_file() and patch(): the old file or the new one, and the cell is told."""
        def look(done, hit):
            self.assertEqual(done.returncode, 0)
            failed = done.stdout == b"True\n"
            self.assertEqual(self.read("out.txt"), OLD if failed else "new" * 2000)
            self.assertTrue(hit or not failed)

        def prepare():
            self.write("a.py", "from hermes_tools import write_file\n"
                       "print('error' in write_file('out.txt', 'new' * 2000))\n")
            self.write("out.txt", OLD)
        self.check(["--tools", "write_file", "--approve", "allow", "--batch", "a.py"], look, prepare=prepare)

    def test_save_at_the_prompt(self):
        """:save of a session: told in a line, and the prompt goes on."""
        def look(done, hit):
            self.assertEqual(done.stdout, b"42\non\n")
            text = self.read("doc/out.md")
            if text == OLD:
                self.assertTrue(hit)
                self.assertEqual(done.stderr.count(b"cannot write doc/out.md"), 1)
            else:
                self.assertIn("42", text)
                self.assertEqual(done.stderr, b"hermes-repl: 1 cell written to doc/out.md\n")
            self.assertEqual(os.listdir(self.path("doc")), ["out.md"])
        self.check([], look, text="print(40 + 2)\n:save doc/out.md\nprint('on')\n",
                   prepare=lambda: self.write("doc/out.md", OLD), under="doc")

    def unreadable(self, name, words, status, prepare):
        """A file of the user's that cannot be read: told once, by its name."""
        def look(done, hit):
            if hit:
                self.assertRegex(done.stderr.decode(), r"\Ahermes-repl: cannot read \S*%s: .*\n\Z" % name)
            self.assertEqual((done.returncode, done.stdout), (status, b"") if hit and status else (0, b"42\n"))
        self.check(words, look, text="print(40 + 2)\n", prepare=prepare, kinds=("open", "read"), under=name)

    def test_configuration(self):
        name, text = "config/hermes-repl/config.json", '{"timeout": 7}'
        self.unreadable(name, [], 0, lambda: self.write(name, text))
        self.unreadable("mine.json", ["--config", "mine.json"], 2, lambda: self.write("mine.json", text))

    def test_keys(self):
        name, text = "config/hermes-repl/keys", "bind C-x g status\n"
        self.unreadable(name, [], 0, lambda: self.write(name, text))
        self.unreadable("mine", ["--keys", "mine"], 0, lambda: self.write("mine", text))


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
