#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Batches in sessions: --session, --replay, --resume, --on-error interactive. Real SQLite, real terminals.

Standard library only. Run one test with
    HERMES_REPL=build/hermes-repl python3 tests/e2e/test_session.py Record.test_cells
"""
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree as xml

from test_plain import LIMIT, PROGRAM, PYTHON, Terminal, environment

FAILING = """# %% one
print("one")
x = 1
# %% two
y = x + 1
# %% three
assert y == 3, y
# %% four
print("four", y)
# %% five
print("five")
"""


class Case(unittest.TestCase):
    def setUp(self):
        self.home = os.path.realpath(tempfile.mkdtemp(prefix="hermes-session-"))
        self.addCleanup(shutil.rmtree, self.home, True)
        self.database = self.path("state/hermes-repl/history.db")

    def path(self, name):
        return os.path.join(self.home, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def run_program(self, *words, text=""):
        """(exit status, standard output, standard error)"""
        done = subprocess.run([PROGRAM, "--python", PYTHON, *words], cwd=self.home, env=environment(self.home),
                              input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=3 * LIMIT)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def batch(self, name, *words, session="s"):
        return self.run_program("--session", session, "--batch", name, *words)

    def query(self, text, *values):
        connection = sqlite3.connect(self.database)
        with connection:
            rows = connection.execute(text, values).fetchall()
        connection.close()
        return rows

    def await_cells(self, count):
        """They are stored beside the prompt."""
        end = time.monotonic() + LIMIT
        while self.query("SELECT count(*) FROM cells") != [(count,)] and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual(self.query("SELECT count(*) FROM cells"), [(count,)])

    def cells(self, session="s", columns="number, status, output"):
        return self.query("SELECT %s FROM cells WHERE session = (SELECT id FROM sessions WHERE name = ?) ORDER BY id"
                          % columns, session)

    def one_line(self, done, *parts):
        """Bad input: exit status 2 and one line that says so."""
        self.assertEqual(done[0], 2, done)
        self.assertEqual(done[1], "")
        self.assertRegex(done[2], r"\Ahermes-repl: [^\n]*\n\Z")
        for part in parts:
            self.assertIn(part, done[2])


class Record(Case):
    def test_cells(self):
        self.write("a.py", FAILING)
        self.assertEqual(self.batch("a.py")[:2], (1, "one\n"))
        cells = self.cells()
        self.assertEqual([cell[:2] for cell in cells], [(1, "success"), (2, "success"), (3, "error")])
        self.assertEqual(cells[0][2], "one\n")
        self.assertIn("a.py\", line 7, in <module>", cells[2][2])
        self.assertTrue(cells[2][2].endswith("AssertionError: 2\n"), cells[2][2])
        (first,) = self.cells(columns="source, exit_code, started_us, submitted_us, duration_us, generation,"
                              " execution_count, origin, first_line")[:1]
        self.assertEqual(first[0], 'print("one")\nx = 1\n')
        self.assertEqual(first[1], 0)
        self.assertGreaterEqual(first[2], first[3])
        self.assertGreater(first[4], 0)
        self.assertEqual(first[5:], (1, 1, self.path("a.py"), 2))

    def test_without_a_session_nothing_is_kept(self):
        self.write("a.py", FAILING)
        self.run_program("--batch", "a.py")
        self.run_program("-c", "print(1)")
        self.assertFalse(os.path.exists(self.path("state")))

    def test_what_is_shown(self):
        """Streams, values, progress bars as a terminal leaves them; not the marks of a JSON result."""
        source = ("import sys\nprint('out')\nprint('err', file=sys.stderr)\n"
                  "for n in range(3): print('\\r%d%%' % n, end='', flush=True)")
        for more in ((), ("--json",), ("--events",), ("--echo",), ("-q",)):
            self.run_program("--session", "s", "-c", source + "\nprint()\n6 * 7", *more)
            value = "42\n" if "--echo" in more else ""
            self.assertEqual(self.cells()[-1][2], "out\n2%\n" + value + "err\n", more)

    def test_one_stream_is_in_order(self):
        source = "import sys\nprint('err', file=sys.stderr)\nprint('out')"
        subprocess.run([PROGRAM, "--session", "s", "-c", source], cwd=self.home, env=environment(self.home),
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=3 * LIMIT)
        self.assertEqual(self.cells()[-1][2], "err\nout\n")
        self.assertEqual(self.run_program("--replay", "s")[0], 0)

    def test_notebook(self):
        self.write("n.ipynb", '{"cells": [{"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [],'
                   '"source": "x = 3\\n[x, x]"}, {"cell_type": "code", "execution_count": null, "metadata": {},'
                   '"outputs": [], "source": "1/0"}], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}')
        self.batch("n.ipynb")
        cells = self.cells()
        self.assertEqual(cells[0], (1, "success", "[3, 3]\n"))
        self.assertIn("ZeroDivisionError", cells[1][2])
        self.assertEqual(self.run_program("--replay", "s")[:2], (0, "s: 0 of 2 cells differ\n"))

    def test_secrets(self):
        self.write("b.py", "# %%\nprint('kept')\n")
        self.run_program("--session", "s", "-c", " print('with a space')")
        self.batch("b.py", "--history-mode", "off")
        self.assertFalse(os.path.exists(self.database) and self.cells())
        self.batch("b.py", "--history-mode", "no-output")
        self.assertEqual(self.cells(), [(1, "success", None)])

    def test_commands_say_that_it_is_off(self):
        status, _, errors = self.run_program("--session", "s", "--history-mode", "off",
                                             text="1\n:search-all x\n:replay\n")
        told = "hermes-repl: nothing is kept: the history is off (--history-mode)\n"
        self.assertEqual((status, errors), (1, told * 2))
        self.assertFalse(os.path.exists(self.path("state")))

    def test_redacted_where_results_are(self):
        secret = "gh" + "p_" + "A1b2C3d4" * 5
        source = "print('gh' + 'p_' + 'A1b2C3d4' * 5)"
        self.run_program("--session", "s", "-c", source)
        self.run_program("--session", "s", "-c", source, "--json")
        outputs = [cell[2] for cell in self.cells()]
        self.assertIn(secret, outputs[0])
        self.assertNotIn(secret, outputs[1])
        self.assertEqual(self.run_program("--replay", "s")[0], 0)

    def test_state_loss_is_told(self):
        self.write("a.py", "# %%\nimport os\n# %%\nos._exit(3)\n# %%\nprint('os' in globals())\n")
        self.batch("a.py", "--on-error", "continue")
        self.assertEqual(self.cells(columns="status, exit_code, generation, execution_count, previous"),
                         [("success", 0, 1, 1, ""), ("error", 3, 1, 2, ""), ("success", 0, 2, 1, "died")])

    def test_wrong_usage(self):
        self.write("a.py", FAILING)
        self.one_line(self.batch("a.py", session="a/b"), "a session's name")
        self.one_line(self.batch("a.py", session="a::b"), "a::b")
        self.one_line(self.batch("a.py", "--session", "t"), "one --session")
        self.one_line(self.run_program("--session", "s", "--verify", "n.ipynb"), "--session")
        self.one_line(self.batch("a.py", "--history-mode", "some"), "some")

    def test_history_that_cannot_be_written(self):
        """The run is as without it; one remark."""
        os.makedirs(self.path("state"))
        self.write("state/hermes-repl", "in the way")
        status, output, error = self.run_program("--session", "s", "-c", "print(1)")
        self.assertEqual((status, output), (0, "1\n"))
        self.assertRegex(error, r"\Ahermes-repl: history is kept in memory only[^\n]*\n\Z")

    def test_prompt_shows_it(self):
        self.run_program("--session", "s", "-c", "print('of a batch')")
        status, output, _ = self.run_program("--session", "s", text=":history\n")
        self.assertEqual(status, 0)
        self.assertIn("of a batch", output)


class Replay(Case):
    def replay(self, *words, session="s"):
        return self.run_program("--replay", session, *words)

    def test_the_same(self):
        self.write("a.py", FAILING)
        self.batch("a.py")
        before = self.query("SELECT * FROM cells")
        self.assertEqual(self.replay(), (0, "s: 0 of 3 cells differ\n", ""))
        self.assertEqual(self.query("SELECT * FROM cells"), before)
        self.assertEqual(self.query("SELECT count(*) FROM sessions"), [(1,)])

    def test_masks(self):
        self.write("a.py", "print(object())\n# %%\nimport time; print(time.ctime())\n")
        self.batch("a.py")
        self.assertEqual(self.replay()[0], 0)

    def test_what_differs(self):
        self.write("a.py", "print('a')\n# %%\nprint('b')\nprint('c')\n")
        self.batch("a.py")
        self.query("UPDATE cells SET output = 'b\nd\n' WHERE number = 2")
        status, output, error = self.replay("--junit", "j.xml")
        self.assertEqual((status, error), (1, ""))
        self.assertTrue(output.startswith("[2] differs\n--- a/stored\n+++ b/now\n"), output)
        self.assertIn("\n b\n-d\n+c\n", output)
        self.assertTrue(output.endswith("\ns: 1 of 2 cells differs\n"), output)
        cases = xml.parse(self.path("j.xml")).getroot().findall(".//testcase")
        self.assertEqual([case.find("failure") is not None for case in cases], [False, True])
        self.assertIn("+c", cases[1].find("failure").text)

    def test_only_the_newest_run(self):
        self.write("a.py", "print(1)\n# %%\nprint(2)\n")
        self.batch("a.py")
        self.write("a.py", "print(3)\n")
        self.batch("a.py")
        self.assertEqual(self.replay()[:2], (0, "s: 0 of 1 cell differ\n"))

    def test_prompt(self):
        """Typed cells: values, magics; commands and what is no Python are skipped."""
        text = "v = 41\nv + 1\n:vars\n!echo shell\n%pwd\n%%time\nw = 2\n\nw\nprint('é 日本')\n1/0\n"
        self.run_program("--session", "s", text=text)
        status, output, _ = self.replay()
        self.assertEqual(status, 0, output)
        self.assertIn("skipped: it is no Python", output)

    def test_name_that_is_kept_out(self):
        self.run_program("--session", "s", text=" secret = 5\nprint(secret)\n")
        status, output, _ = self.replay()
        self.assertEqual(status, 1)
        self.assertIn("stored outcome: success, now: error\n", output)
        self.assertIn("depends on order: no cell of this history before it sets secret", output)

    def test_lost_state(self):
        self.write("a.py", "print('n' in globals())\n# %%\nn = 1\n# %%\nimport os; os._exit(0)\n"
                   "# %%\nprint('n' in globals())\n")
        self.batch("a.py", "--on-error", "continue")
        self.query("DELETE FROM cells WHERE number = 3")
        status, output, _ = self.replay()
        self.assertEqual(status, 1)
        self.assertIn("[4] differs\n", output)
        self.assertIn("depends on order: [4] and what is behind it ran in a fresh kernel (after died);", output)

    def test_interrupted_cells_are_not_run(self):
        self.write("a.py", "import time\n# %%\ntime.sleep(600)\n# %%\nprint('end')\n")
        self.batch("a.py", "--cell-timeout", "0.5", "--on-error", "continue")
        status, output, _ = self.replay("--junit", "j.xml")
        self.assertEqual((status, output), (0, "[2] skipped: it came to its time limit\ns: 0 of 2 cells differ\n"))
        cases = xml.parse(self.path("j.xml")).getroot().findall(".//testcase")
        self.assertEqual([case.find("skipped") is not None for case in cases], [False, True, False])

    def test_without_output_outcomes_are_compared(self):
        self.run_program("--session", "s", "--history-mode", "no-output", "-c", "print(1)")
        self.assertEqual(self.replay()[:2], (0, "s: 0 of 1 cell differ\n"))
        self.query("UPDATE cells SET status = 'error'")
        self.assertEqual(self.replay()[0], 1)

    def test_long_output(self):
        self.run_program("--session", "s", "-c", "for n in range(100000): print(n)")
        self.assertEqual(self.replay()[:2], (0, "s: 0 of 1 cell differ\n"))

    def test_cell_that_reads_gets_no_answer(self):
        """Typed at a terminal, answered there; in a replay it reads an end of file."""
        terminal = Terminal(self.home, "--plain", "--python", PYTHON, "--session", "s")
        self.addCleanup(terminal.close)
        terminal.prompt()
        terminal.send("input('who? ')\r")
        terminal.expect("who\\? ")
        terminal.send("me\r")
        terminal.prompt(2)
        terminal.send("\x04")
        self.assertEqual(terminal.wait(), 0)
        status, output, _ = self.replay()
        self.assertEqual(status, 1)
        self.assertIn("EOFError", output)

    def test_time_limit_and_interrupt(self):
        self.write("a.py", "import os, time\ntime.sleep(float(os.environ.get('LONG', '0')))\n")
        self.batch("a.py")
        new = environment(self.home, LONG="600")
        done = subprocess.run([PROGRAM, "--replay", "s", "--timeout", "1"], cwd=self.home, env=new,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=3 * LIMIT)
        self.assertEqual(done.returncode, 124)
        self.assertIn(b"time limit", done.stderr)
        process = subprocess.Popen([PROGRAM, "--replay", "s"], cwd=self.home, env=new, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            process.communicate(timeout=1)
            self.fail("it ended")
        except subprocess.TimeoutExpired:
            process.terminate()
        process.communicate(timeout=3 * LIMIT)
        self.assertEqual(process.returncode, 143)

    def test_wrong_usage(self):
        self.one_line(self.replay(session="none"), "there is no session 'none'")
        self.run_program("--session", "s", "-c", "1")
        self.one_line(self.replay("--json"), "--json")
        self.one_line(self.replay("word"), "word")
        self.one_line(self.replay("--batch", "a.py"), "--batch")
        self.one_line(self.replay("--junit", "none/j.xml"), "none/j.xml")
        self.query("UPDATE cells SET status = 'interrupted'")
        self.one_line(self.replay(), "no cell")

    def test_kernel_that_does_not_start(self):
        self.run_program("--session", "s", "-c", "1")
        status, output, error = self.run_program("--replay", "s", "--python", "/bin/false")
        self.assertEqual((status, output), (125, ""))
        self.assertEqual(len(error.splitlines()), 1, error)

    def test_command(self):
        """At the prompt: beside the session's own kernel, whose state stays."""
        terminal = Terminal(self.home, "--plain", "--python", PYTHON, "--session", "s")
        self.addCleanup(terminal.close)
        terminal.prompt()
        terminal.run("n = 0")
        terminal.run("n += 1; print('n is', n)")
        self.await_cells(2)
        self.assertIn("s: 0 of 2 cells differ", terminal.run(":replay"))
        self.assertIn("n is 2", terminal.run("n += 1; print('n is', n)"))
        self.await_cells(3)
        self.query("UPDATE cells SET output = 'n is 5' WHERE number = 2")
        terminal.send("\x18R")
        terminal.expect(r"\[2\] differs.*-n is 5.*\+n is 1.*s: 1 of 3 cells differs")
        terminal.prompt()
        self.assertEqual(self.query("SELECT count(*) FROM cells"), [(3,)])
        self.assertIn("takes nothing", terminal.run(":replay now"))
        self.assertIn("no replay", terminal.run(":replay stop"))

    def test_command_is_interrupted(self):
        terminal = Terminal(self.home, "--plain", "--python", PYTHON, "--session", "s")
        self.addCleanup(terminal.close)
        terminal.prompt()
        terminal.run("import os, time; time.sleep(600 if os.path.exists('slow') else 0)")
        self.write("slow", "")
        terminal.send(":replay\r")
        terminal.expect("C-c ends it")
        terminal.send("\x03")
        terminal.expect("1 was not run|0 of 0 cells")
        terminal.prompt()
        self.assertEqual(terminal.run("6 * 7"), "42")

    def test_command_without_terminal(self):
        status, output, _ = self.run_program("--session", "s", text="print('a')\n:replay\nprint('b')\n")
        self.assertEqual((status, output), (0, "a\ns: 0 of 1 cell differ\nb\n"))

    def test_command_on_the_screen(self):
        terminal = Terminal(self.home, "--python", PYTHON, "--session", "s", size=(24, 100))
        self.addCleanup(terminal.close)
        terminal.expect("In|>>>|\\[1\\]")
        terminal.send("print('a', 'b')\r")
        terminal.expect("a b")
        terminal.expect("idle")
        terminal.send("\x18R")
        terminal.expect("s: 0 of 1 cell differ")
        terminal.send("q:quit now\r")
        self.assertEqual(terminal.wait(), 0)


class Export(Case):
    def test_failure_is_an_error_output(self):
        """A notebook says what failed as Jupyter does, and runs again."""
        import json
        self.run_program("--session", "s", "-c", "print('before')\nraise ValueError('no')")
        for name in ("n.ipynb", "n.html", "n.md", "n.py"):
            self.assertEqual(self.run_program("--export", "s", name), (0, "", ""))
        with open(self.path("n.ipynb"), encoding="utf-8") as file:
            outputs = json.load(file)["cells"][0]["outputs"]
        self.assertEqual([output["output_type"] for output in outputs], ["stream", "error"])
        self.assertEqual(outputs[0]["text"], ["before\n"])
        self.assertEqual((outputs[1]["ename"], outputs[1]["evalue"]), ("ValueError", "no"))
        for name in ("n.html", "n.md"):
            with open(self.path(name), encoding="utf-8") as file:
                self.assertIn("ValueError: no", file.read())

    def test_of_a_file_the_newest_run(self):
        """What was typed is all there; a file's cells not once for each time that it was recorded."""
        self.write("a.py", "# %%\nprint('a1')\n# %%\nprint('a2')\n")
        self.write("b.py", "# %%\nprint('b1')\n")
        self.batch("a.py")
        self.run_program("--session", "s", "-c", "print('typed 1')")
        self.batch("b.py")
        self.batch("a.py")
        self.write("a.py", "# %%\nprint('a1')\n# %%\nprint('a2, changed')\n")
        self.run_program("--session", "s", "-c", "print('typed 1')")
        self.batch("a.py")
        self.assertEqual(self.run_program("--export", "s", "out.py"), (0, "", ""))
        with open(self.path("out.py"), encoding="utf-8") as file:
            lines = [line for line in file.read().split("\n") if line.startswith("print")]
        self.assertEqual(lines, ["print('typed 1')", "print('b1')", "print('typed 1')", "print('a1')",
                                 "print('a2, changed')"])

    def test_new_name_is_a_name(self):
        self.run_program("--session", "s", "-c", "1")
        self.one_line(self.run_program("--rename", "s", "a/b"), "a session's name")
        self.one_line(self.run_program("--rename", "s", "a", "b"), "a word too many: b")
        self.one_line(self.run_program("--rename", "s", ""), "a session's name")
        self.assertEqual(self.run_program("--rename", "s", "t"), (0, "", ""))
        self.assertEqual(self.run_program("--replay", "t")[0], 0)


class Resume(Case):
    def test_goes_on_at_the_failure(self):
        self.write("a.py", FAILING.replace("x = 1", "x = 1; open('ran', 'a').write('1')"))
        self.batch("a.py")
        self.write("a.py", FAILING.replace("x = 1", "x = 1; open('ran', 'a').write('1')").replace("y == 3", "y == 2"))
        status, output, error = self.batch("a.py", "--resume")
        self.assertEqual((status, output), (0, "four 2\nfive\n"))
        self.assertEqual(error, "hermes-repl: 2 cells run again; going on at cell 3 (three)\n")
        with open(self.path("ran"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "11")
        self.assertEqual([cell[0] for cell in self.cells()], [1, 2, 3, 1, 2, 3, 4, 5])
        self.assertEqual(self.run_program("--replay", "s")[:2], (0, "s: 0 of 5 cells differ\n"))
        self.one_line(self.batch("a.py", "--resume"), "no cell failed in the last run of a.py")

    def test_a_changed_cell_is_where_it_begins(self):
        self.write("a.py", FAILING)
        self.batch("a.py")
        self.write("a.py", FAILING.replace("y = x + 1", "y = x + 2; print('now', y)"))
        status, output, error = self.batch("a.py", "--resume")
        self.assertEqual((status, output), (0, "now 3\nfour 3\nfive\n"))
        self.assertIn("hermes-repl: cell 2 (two) has changed since: the run goes on there, not at cell 3\n", error)

    def test_again_and_again(self):
        self.write("a.py", FAILING)
        self.batch("a.py")
        self.assertEqual(self.batch("a.py", "--resume")[0], 1)
        self.assertEqual(self.batch("a.py", "--resume", "-q")[1], "")
        self.assertEqual(len(self.cells()), 9)

    def test_replayed_cell_fails(self):
        self.write("a.py", FAILING.replace("x = 1", "x = 1; assert not __import__('os').path.exists('bad')"))
        self.batch("a.py")
        self.write("bad", "")
        status, output, error = self.batch("a.py", "--resume")
        self.assertEqual((status, output), (1, ""))
        self.assertIn("cell 1 (one) fails now", error)

    def test_json_and_parameters(self):
        self.write("a.py", FAILING.replace("y == 3", "y == limit"))
        self.batch("a.py", "-p", "limit=3")
        status, output, _ = self.batch("a.py", "-p", "limit=3", "--resume", "--json")
        self.assertEqual(status, 1)
        self.assertEqual(len(output.splitlines()), 1)
        self.assertEqual(self.batch("a.py", "-p", "limit=2", "--resume")[:2], (0, "one\nfour 2\nfive\n"))

    def test_other_path_to_the_file(self):
        self.write("a.py", FAILING)
        self.batch("a.py")
        os.symlink("a.py", self.path("b.py"))
        self.assertIn("going on at cell 3", self.batch("b.py", "--resume")[2])

    def test_wrong_usage(self):
        self.write("a.py", FAILING)
        self.one_line(self.batch("a.py", "--resume"), "no run of a.py")
        self.one_line(self.run_program("--batch", "a.py", "--resume"), "--session")
        self.one_line(self.run_program("--session", "s", "--batch", "-", "--resume"), "FILE")
        self.one_line(self.run_program("--session", "s", "-c", "1", "--resume"), "FILE")
        self.one_line(self.batch("a.py", "--resume", "--history-mode", "off"), "off")
        self.one_line(self.run_program("--resume"), "--resume")
        self.batch("a.py")
        self.write("a.py", "# %%\nprint(1)\n")
        self.one_line(self.batch("a.py", "--resume"), "cell 3 failed")


class Interactive(Case):
    def open(self, *words, **more):
        terminal = Terminal(self.home, "--python", PYTHON, *words, **more)
        self.addCleanup(terminal.close)
        return terminal

    def test_prompt_in_the_failed_state(self):
        self.write("a.py", FAILING)
        terminal = self.open("--plain", "--batch", "a.py", "--on-error", "interactive")
        terminal.expect("AssertionError: 2")
        terminal.expect("cell 3 \\(three\\) failed: AssertionError")
        terminal.prompt(4)
        self.assertEqual(terminal.run("x, y, __name__"), "(1, 2, '__main__')")
        self.assertIn("four 2", terminal.run(":continue"))
        self.assertIn("no cell of a.py is left", terminal.run(":continue"))
        terminal.send("\x04")
        self.assertEqual(terminal.wait(), 0)

    def test_continue_stops_at_the_next_failure(self):
        self.write("a.py", "1/0\n# %%\nprint('two')\n# %%\nraise KeyError\n# %%\nprint('end')\n")
        terminal = self.open("--plain", "--batch", "a.py", "--on-error", "interactive")
        terminal.prompt(2)
        terminal.send(":continue\r")
        terminal.expect("two")
        terminal.expect("KeyError.*1 cell of a.py is left; :continue runs it")
        terminal.prompt()
        self.assertIn("end", terminal.run(":continue"))

    def test_debugger_finds_the_failure(self):
        self.write("a.py", "def f(n):\n    return 1 / n\nf(0)\n")
        terminal = self.open("--plain", "--batch", "a.py", "--on-error", "interactive")
        terminal.prompt()
        terminal.send(":debug\r")
        terminal.expect(r"\(Pdb\) ")
        terminal.send("p n\r")
        terminal.expect("0")
        terminal.expect(r"\(Pdb\) ")
        terminal.send("q\r")
        terminal.prompt()

    def test_what_is_typed_reaches_the_cells(self):
        self.write("a.py", "name = input('who? ')\nprint('hello', name)\n1/0\n")
        terminal = self.open("--plain", "--batch", "a.py", "--on-error", "interactive")
        terminal.expect("who\\? ")
        terminal.send("you\r")
        terminal.expect("hello you")
        terminal.prompt()
        self.assertEqual(terminal.run("name"), "'you'")

    def test_without_failure_no_prompt(self):
        self.write("a.py", "import sys; print(sys.stdout.isatty(), sys.argv)\n")
        terminal = self.open("--batch", "a.py", "--on-error", "interactive", "--", "-x")
        self.assertEqual(terminal.wait(), 0)
        self.assertEqual(terminal.text(), "True ['a.py', '-x']\r\n")

    def test_modes_of_the_terminal_come_back(self):
        import termios
        self.write("a.py", "import sys\nsys.exit(7)\n")
        terminal = self.open("--batch", "a.py", "--on-error", "interactive")
        self.assertEqual(terminal.wait(), 7)
        self.assertEqual(termios.tcgetattr(terminal.slave), terminal.modes)

    def test_kernel_that_died_opens_none(self):
        self.write("a.py", "import os\nos.kill(os.getpid(), 9)\n")
        terminal = self.open("--plain", "--batch", "a.py", "--on-error", "interactive")
        self.assertEqual(terminal.wait(), 137)
        self.assertIn("no prompt is opened", terminal.text())

    def test_session_and_history(self):
        self.write("a.py", FAILING)
        terminal = self.open("--plain", "--session", "s", "--batch", "a.py", "--on-error", "interactive")
        terminal.prompt(4)
        terminal.run("y = 3")
        terminal.send("\x04")
        self.assertEqual(terminal.wait(), 0)
        self.assertEqual([cell[:2] for cell in self.cells()],
                         [(1, "success"), (2, "success"), (3, "error"), (4, "success")])
        self.assertEqual(self.run_program("--replay", "s")[:2], (0, "s: 0 of 4 cells differ\n"))

    def test_screen(self):
        self.write("a.py", FAILING)
        terminal = self.open("--batch", "a.py", "--on-error", "interactive", size=(24, 100))
        terminal.expect("its variables are here")
        terminal.send("print('y', 'is', y)\r")
        terminal.expect("y is 2")
        terminal.send(":continue\r")
        terminal.expect("four 2")
        terminal.send(":quit now\r")
        self.assertEqual(terminal.wait(), 0)

    def test_interrupt_ends_the_run(self):
        self.write("a.py", "import time\nprint('sleeps', flush=True)\ntime.sleep(600)\n")
        terminal = self.open("--batch", "a.py", "--on-error", "interactive")
        terminal.expect("sleeps")
        terminal.send("\x03")
        self.assertEqual(terminal.wait(), 130)

    def test_wrong_usage(self):
        self.write("a.py", FAILING)
        words = ("--batch", "a.py", "--on-error", "interactive")
        self.one_line(self.run_program(*words), "needs a terminal on standard input")
        terminal = self.open("--batch", "-", "--on-error", "interactive")
        self.assertEqual(terminal.wait(), 2)
        self.assertIn("needs standard input for the prompt", terminal.text())
        terminal = self.open(*words, "--json")
        self.assertEqual(terminal.wait(), 2)
        self.assertIn("excludes --json", terminal.text())

    def test_configured_but_without_terminal(self):
        os.makedirs(self.path("config/hermes-repl"))
        self.write("config/hermes-repl/config.json", '{"on_error": "interactive"}')
        self.write("a.py", FAILING)
        self.assertEqual(self.run_program("--batch", "a.py")[:2], (1, "one\n"))

    def test_continue_without_batch(self):
        _, _, error = self.run_program(text=":continue\n")
        self.assertIn("there is no batch to go on with", error)


if __name__ == "__main__":
    unittest.main(verbosity=1)
