#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The history on the command line: --list, --history, --export, --rename, --delete, --history-purge.

Standard library only (and nbformat, where it is). Run one test with
    HERMES_REPL=build/hermes-repl HERMES_TEST_BUILDDIR=build python3 tests/e2e/test_store.py Commands.test_list
"""
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

try:
    import nbformat
except ImportError:
    nbformat = None

PROGRAM = os.path.abspath(os.environ.get("HERMES_REPL", "hermes-repl"))
WRITER = os.path.join(os.path.abspath(os.environ.get("HERMES_TEST_BUILDDIR") or "build"), "tests", "e2e",
                      "store-writer")
LIMIT = 60 * int(os.environ.get("CK_TIMEOUT_MULTIPLIER", "1") or 1)


class Case(unittest.TestCase):
    def setUp(self):
        self.home = os.path.realpath(tempfile.mkdtemp(prefix="hermes-store-"))
        self.addCleanup(shutil.rmtree, self.home, True)
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("HERMES_", "PYTHON", "XDG_"))}
        self.environment.update(HOME=self.home, XDG_STATE_HOME=self.path("state"), LC_ALL="C.UTF-8", TZ="UTC")
        self.database = self.path("state/hermes-repl/history.db")

    def path(self, name):
        return os.path.join(self.home, name)

    def run_program(self, *words, program=PROGRAM):
        """(exit status, standard output, standard error)"""
        done = subprocess.run([program, *words], cwd=self.home, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def write(self, session, count):
        status, _, error = self.run_program(self.database, "write", session, str(count), program=WRITER)
        self.assertEqual((status, error), (0, ""))

    def change(self, text, *values):
        connection = sqlite3.connect(self.database)
        with connection:
            connection.execute(text, values)
        connection.close()

    def objects(self, text):
        return [json.loads(line) for line in text.splitlines()]


class Commands(Case):
    def test_nothing_is_made_by_looking(self):
        self.assertEqual(self.run_program("--list"), (0, "", ""))
        self.assertEqual(self.run_program("--list", "--json"), (0, "", ""))
        self.assertEqual(self.run_program("--history", "x"), (1, "", ""))
        self.assertEqual(self.run_program("--delete", "x"), (1, "", "hermes-repl: there is no session 'x'\n"))
        self.assertFalse(os.path.exists(self.path("state")))

    def test_batch_keeps_nothing(self):
        with open(self.path("a.py"), "w", encoding="utf-8") as file:
            file.write("print(1)\n")
        self.assertEqual(self.run_program("--batch", "a.py"), (0, "1\n", ""))
        self.assertFalse(os.path.exists(self.database))

    def test_list(self):
        self.write("foo", 3)
        self.write("bar", 1)
        status, output, error = self.run_program("--list")
        self.assertEqual((status, error), (0, ""))
        lines = output.splitlines()
        self.assertEqual(len(lines), 2)
        self.assertRegex(lines[0], r"^bar {21}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d       1 cell$")
        self.assertRegex(lines[1], r"^foo {21}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d       3 cells$")
        status, output, error = self.run_program("--list", "--json")
        self.assertEqual((status, error), (0, ""))
        bar, foo = self.objects(output)
        self.assertEqual((foo["session"], foo["cells"], foo["live"], foo["pid"]), ("foo", 3, False, None))
        self.assertRegex(bar["last_used"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")

    def test_live(self):
        writer = subprocess.Popen([WRITER, self.database, "write", "busy", "10000000"], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, env=self.environment)
        try:
            writer.stdout.readline()
            # It reads no more than the pipe holds: so it stands still with the session open.
            status, output, error = self.run_program("--list", "--json")
            self.assertEqual((status, error), (0, ""))
            session = self.objects(output)[0]
            self.assertEqual((session["live"], session["pid"]), (True, writer.pid))
            self.assertIn("  live (process %d)\n" % writer.pid, self.run_program("--list")[1])
            status, output, error = self.run_program("--delete", "busy")
            self.assertEqual((status, output), (2, ""))
            self.assertIn("is open in another program (process %d)" % writer.pid, error)
        finally:
            writer.kill()
            writer.communicate()
        self.assertFalse(self.objects(self.run_program("--list", "--json")[1])[0]["live"])

    def test_history(self):
        self.write("foo", 7)
        self.write("bar", 7)
        status, output, error = self.run_program("--history", "df.groupby(", "--session", "foo")
        self.assertEqual((status, error), (0, ""))
        self.assertRegex(output, r"\Afoo \[6\] \d{4}-\d\d-\d\d \d\d:\d\d:\d\d success\n"
                                 r"    df_6 = df.groupby\('col_6'\)")
        self.assertEqual(output.count("foo ["), 1)
        self.assertEqual(self.run_program("--history", "DF.GroupBy(")[1].count(" success\n"), 2)
        status, output, error = self.run_program("--history", "0  row number")
        self.assertEqual(output.count("    | 0  row number "), 14)
        status, output, error = self.run_program("--history", "col_3", "--json")
        cells = self.objects(output)
        self.assertEqual([(cell["session"], cell["number"], cell["status"], cell["exit_code"]) for cell in cells],
                         [("bar", 3, "success", 0), ("foo", 3, "success", 0)])
        self.assertTrue(cells[0]["source"].startswith("df_3 = df.concat("))
        self.assertTrue(cells[0]["output"].startswith("0  row number "))
        self.assertEqual(self.run_program("--history", "not there"), (1, "", ""))
        self.assertEqual(self.run_program("--history", "df", "--session", "none"), (1, "", ""))

    def test_terminal_is_safe(self):
        self.write("foo", 1)
        self.change("UPDATE cells SET source = ?, output = ?", "x = '\x1b]0;pwned\x07' # \u009b31m",
                    "\x1b[2Jneedle\n")
        self.change("UPDATE sessions SET name = ?", "a\nb\x1b[1m")
        for words in (["--history", "x"], ["--history", "need"], ["--list"]):
            output = self.run_program(*words)[1]
            self.assertFalse(set(output) & set("\x1b\x07\u009b"), output)
        self.assertIn("a?b?[1m", output)

    def test_rename_and_delete(self):
        self.write("foo", 3)
        self.write("bar", 2)
        self.assertEqual(self.run_program("--rename", "foo", "it's-new"), (0, "", ""))
        self.assertEqual(self.run_program("--rename", "foo", "x"),
                         (1, "", "hermes-repl: there is no session 'foo'\n"))
        self.assertEqual(self.run_program("--rename", "bar", "it's-new"),
                         (2, "", "hermes-repl: there is a session 'it's-new' already\n"))
        self.assertEqual(self.run_program("--delete", "it's-new"), (0, "", ""))
        self.assertEqual([item["session"] for item in self.objects(self.run_program("--list", "--json")[1])], ["bar"])

    def test_purge(self):
        self.write("foo", 3)
        self.write("bar", 1)
        with open(self.database + ".damaged-x", "w", encoding="utf-8") as file:
            file.write("col_1")
        self.assertEqual(self.run_program("--history-purge"),
                         (0, "removed 4 cells of 2 sessions, 1 damaged file\n", ""))
        self.assertEqual(self.run_program("--history", "col_1"), (1, "", ""))
        for name in os.listdir(os.path.dirname(self.database)):
            with open(os.path.join(os.path.dirname(self.database), name), "rb") as file:
                self.assertNotIn(b"col_", file.read())
        self.assertEqual(self.run_program("--history-purge"), (0, "removed 0 cells of 0 sessions\n", ""))

    def test_export(self):
        self.write("foo", 12)
        self.change("UPDATE cells SET output = '\u20ac\n' || char(0) || 'x' WHERE number = 2")
        self.change("UPDATE cells SET output = NULL, status = 'running' WHERE number = 12")
        self.assertEqual(self.run_program("--export", "foo", "out.ipynb"), (0, "", ""))
        with open(self.path("out.ipynb"), encoding="utf-8") as file:
            notebook = json.load(file)
        self.assertEqual((notebook["nbformat"], notebook["nbformat_minor"], len(notebook["cells"])), (4, 5, 12))
        self.assertEqual("".join(notebook["cells"][1]["outputs"][0]["text"]), "\u20ac\n\0x")
        self.assertEqual(notebook["cells"][11]["outputs"], [])
        self.assertTrue("".join(notebook["cells"][0]["source"]).startswith("df_1 = df.merge("))
        if nbformat:
            nbformat.validate(nbformat.read(self.path("out.ipynb"), as_version=4))
        self.assertEqual(self.run_program("--export", "foo", "out.py"), (0, "", ""))
        with open(self.path("out.py"), encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(text.count("# %%\n"), 12)
        compile(text, "out.py", "exec")
        self.assertEqual(self.run_program("--export", "foo", "out.md"), (0, "", ""))
        with open(self.path("out.md"), encoding="utf-8") as file:
            self.assertEqual(file.read().count("```python\n"), 12)
        self.assertEqual(self.run_program("--export", "foo", "out.html"), (0, "", ""))
        with open(self.path("out.html"), encoding="utf-8") as file:
            self.assertIn("col_12", file.read())
        self.assertEqual(self.run_program("--export", "none", "x.py"),
                         (1, "", "hermes-repl: there is no session 'none'\n"))
        self.assertEqual(self.run_program("--export", "foo", "x.txt"),
                         (2, "", "hermes-repl: --export: x.txt should end in .ipynb, .py, .md or .html\n"))
        status, _, error = self.run_program("--export", "foo", "no/such/dir/x.py")
        self.assertEqual(status, 2)
        self.assertIn("no/such/dir/x.py", error)

    def test_usage(self):
        for words in (["--export", "foo"], ["--export", "foo", "a.py", "b.py"], ["--rename", "foo"], ["--list", "x"],
                      ["--list", "--history-purge"], ["--history"], ["--delete", "a", "b"],
                      ["--session", "x", "--mcp"]):
            status, output, error = self.run_program(*words)
            self.assertEqual((status, output), (2, ""), words)
            self.assertTrue(error.startswith("hermes-repl: "), error)


class Faults(Case):
    def test_damaged(self):
        os.makedirs(os.path.dirname(self.database))
        with open(self.database, "w", encoding="utf-8") as file:
            file.write("not a database at all " * 100)
        status, output, error = self.run_program("--list")
        self.assertEqual((status, output), (2, ""))
        self.assertIn("the history was damaged; it is in %s.damaged-" % self.database, error)
        self.assertEqual(error.count("\n"), 1)
        self.assertEqual(self.run_program("--list"), (0, "", ""))

    def test_directory_in_its_place(self):
        os.makedirs(self.database)
        for words in (["--list"], ["--history", "x"], ["--history-purge"]):
            status, output, error = self.run_program(*words)
            self.assertEqual((status, output), (2, ""), words)      # nothing was removed
            self.assertIn("history is kept in memory only: %s: " % self.database, error)

    def test_no_home(self):
        del self.environment["XDG_STATE_HOME"], self.environment["HOME"]
        self.assertEqual(self.run_program("--list"),
                         (2, "", "hermes-repl: there is no history: there is no home directory\n"))

    def test_standard_output_is_full(self):
        self.write("foo", 3)
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([PROGRAM, "--list"], env=self.environment, stdout=full, stderr=subprocess.PIPE,
                                  timeout=LIMIT)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"cannot write to standard output", done.stderr)


class Option(Case):
    def test_places(self):
        def value():
            status, output, _ = self.run_program("--list-options", *words)
            self.assertEqual(status, 0)
            return [line.split()[4:6] for line in output.splitlines() if line.startswith("history ")][0]
        words = []
        self.assertEqual(value()[0], "on")
        os.makedirs(self.path(".config/hermes-repl"))
        with open(self.path(".config/hermes-repl/config.json"), "w", encoding="utf-8") as file:
            file.write('{"history": "no-output"}')
        self.assertEqual(value(), ["no-output", "file"])
        self.environment["HERMES_REPL_HISTORY"] = "off"
        self.assertEqual(value(), ["off", "environment"])
        words = ["--history-mode", "on"]
        self.assertEqual(value(), ["on", "command"])
        status, _, error = self.run_program("--history-mode", "maybe", "--list")
        self.assertEqual(status, 2)
        self.assertIn("'maybe' is not one of on|off|no-output", error)


if __name__ == "__main__":
    unittest.main()
