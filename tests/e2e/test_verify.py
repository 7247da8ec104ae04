#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hermes-repl --verify: a notebook against the outputs that it holds."""
import json
import os
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as xml

REPL = os.environ["HERMES_REPL"]


def notebook(*sources):
    cells = [{"cell_type": "code", "execution_count": None, "id": "c%d" % n, "metadata": {}, "outputs": [],
              "source": source} for n, source in enumerate(sources)]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


class Verify(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "n.ipynb")
        self.folder = folder.name

    def write(self, content):
        with open(self.path, "w") as file:
            json.dump(content, file)

    def run_it(self, *arguments):
        return subprocess.run([REPL, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, timeout=60)

    def store(self, *sources):
        self.write(notebook(*sources))
        self.run_it("--batch", self.path, "--on-error", "continue", "--save", self.path)
        with open(self.path) as file:
            return json.load(file)

    def verify(self, *arguments):
        done = self.run_it("--verify", self.path, *arguments)
        return done.returncode, done.stdout, done.stderr

    def test_what_is_the_same(self):
        self.store("print('a')\n{'b': [1, 2]}", "import sys\nprint('err', file=sys.stderr)", "1 / 0", "x = 3",
                   "# a remark")
        self.assertEqual(self.verify(), (0, "%s: 0 of 5 cells differ\n" % self.path, ""))

    def test_what_changes_by_nature_is_masked(self):
        self.store("object()", "import datetime; print(datetime.datetime.now())", "import time; print(time.ctime())",
                   "import uuid; uuid.uuid4()", "import tempfile; print(tempfile.mkdtemp(dir='/tmp'))",
                   "%%time\nx = 1", "print('12%\\r100%')",
                   "import random; print(random.random(), end='\\n\\x1b[A\\x1b[Kdone\\n')",
                   "import warnings; warnings.warn('old')")
        self.assertEqual(self.verify()[0], 0, self.verify()[1])

    def test_what_differs_is_shown(self):
        content = self.store("print('same')", "print('one')\nprint('two')")
        content["cells"][1]["outputs"][0]["text"] = ["one\n", "three\n"]
        self.write(content)
        status, output, _ = self.verify()
        self.assertEqual(status, 1)
        self.assertIn("cell 2 differs", output)
        self.assertIn("-three\n+two\n", output)
        self.assertNotIn("same", output)
        self.assertIn("1 of 2 cells differs", output)

    def test_an_error_that_is_no_longer_and_one_that_is_new(self):
        content = self.store("1 / 0", "print('fine')")
        content["cells"][0]["source"] = "1 / 1"
        content["cells"][1]["source"] = "print('fine')\nraise ValueError('new')"
        self.write(content)
        status, output, _ = self.verify()
        self.assertEqual(status, 1)
        self.assertIn("-ZeroDivisionError: division by zero", output)
        self.assertIn("+ValueError: new", output)

    def test_another_order_is_named(self):
        content = self.store("x = 1", "print(x)")
        content["cells"][0]["execution_count"] = 7
        content["cells"][1]["outputs"][0]["text"] = "5\n"
        self.write(content)
        self.assertIn("run in another order: [2] stands behind [7]", self.verify()[1])

    def test_junit(self):
        content = self.store("print(1)", "print(2)")
        content["cells"][1]["outputs"][0]["text"] = "3\n"
        self.write(content)
        report = os.path.join(self.folder, "r.xml")
        self.assertEqual(self.verify("--junit", report)[0], 1)
        suite = xml.parse(report).getroot().find("testsuite")
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("2", "1"))
        self.assertIn("-3\n+2", suite.findall("testcase")[1].find("failure").text)

    def test_time_limit(self):
        self.store("print(1)")
        with open(self.path) as file:
            content = json.load(file)
        content["cells"][0]["source"] = "while True: pass"
        self.write(content)
        self.assertEqual(self.verify("--cell-timeout", "0.5")[0], 124)

    def test_the_file_is_not_changed(self):
        self.store("print(1)")
        with open(self.path, "rb") as file:
            before = file.read()
        self.verify()
        with open(self.path, "rb") as file:
            self.assertEqual(file.read(), before)

    def test_bad_input(self):
        self.write(notebook("print(1)"))
        status, output, error = self.verify()
        self.assertEqual((status, output), (2, ""))
        self.assertIn("no cell of %s has been run" % self.path, error)
        script = os.path.join(self.folder, "s.py")
        open(script, "w").close()
        done = self.run_it("--verify", script)
        self.assertEqual(done.returncode, 2)
        self.assertIn("is no notebook", done.stderr)
        for other in ("--json", "--events", "--batch"):
            done = self.run_it("--verify", self.path, other)
            self.assertEqual(done.returncode, 2, other)
            self.assertIn("--verify", done.stderr)


if __name__ == "__main__":
    unittest.main()
