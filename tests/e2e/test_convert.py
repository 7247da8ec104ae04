#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hermes-repl --convert: documents in and out without running them. nbformat, where it is installed, is the judge."""
import json
import os
import subprocess
import tempfile
import unittest

try:
    import nbformat
    from nbformat import v4
except ImportError:
    nbformat = None

REPL = os.environ["HERMES_REPL"]


class Convert(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8", newline="") as file:
            file.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8", newline="") as file:
            return file.read()

    def convert(self, *names):
        done = subprocess.run([REPL, "--convert", *[self.path(name) for name in names]], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=60)
        return done.returncode, done.stdout + done.stderr

    def good(self, *names):
        self.assertEqual(self.convert(*names), (0, ""))
        return self.read(names[1])

    @unittest.skipUnless(nbformat, "needs nbformat")
    def test_notebooks_come_back_to_the_byte(self):
        outputs = [v4.new_output("stream", name="stdout", text="a\nb\r\nc\x0bd\u2028e\n"),
                   v4.new_output("display_data", {"text/plain": "x\ny", "image/png": "QUJD\n", "text/html": "<b>ä"}),
                   v4.new_output("execute_result", {"text/plain": "1", "application/json": {"z": 1.0, "a": [1e400]}},
                                 execution_count=4),
                   v4.new_output("error", ename="E", evalue="v", traceback=["\x1b[31mE\x1b[0m", "two"])]
        cells = [v4.new_markdown_cell("# Ünï\n\n$x$\n", attachments={"a.png": {"image/png": "QUJD"}}),
                 v4.new_code_cell("x = '\\t\"'\n\n", execution_count=4, outputs=outputs,
                                  metadata={"tags": ["b", "a"], "collapsed": True, "big": 12345678901234567890}),
                 v4.new_code_cell(""), v4.new_raw_cell("raw\n")]
        for minor in (2, 4, 5):
            metadata = {"kernelspec": {"name": "python3", "display_name": "P"}, "other": {"q": None}}
            book = v4.new_notebook(cells=[nbformat.from_dict(dict(cell)) for cell in cells], metadata=metadata)
            book.nbformat_minor = minor
            if minor < 5:
                for cell in book.cells:
                    cell.pop("id", None)
            text = nbformat.writes(book)
            self.write("in.ipynb", text if text.endswith("\n") else text + "\n")
            self.assertEqual(self.good("in.ipynb", "out.ipynb"), self.read("in.ipynb"))

    @unittest.skipUnless(nbformat, "needs nbformat")
    def test_a_script_becomes_a_valid_notebook_and_comes_back(self):
        script = ("# %% [markdown]\n# # Title\n#\n# text\n\n# %% Load tags=[\"parameters\"]\na = 1\n\n"
                  "# %%\ndef f():\n    return '''\n# %% not a marker\n'''\n")
        self.write("s.py", script)
        book = nbformat.reads(self.good("s.py", "s.ipynb"), as_version=4)
        nbformat.validate(book)
        self.assertEqual([cell.cell_type for cell in book.cells], ["markdown", "code", "code"])
        self.assertEqual(book.cells[0].source, "# Title\n\ntext")
        self.assertEqual(book.cells[1].metadata.tags, ["parameters"])
        self.assertEqual(self.good("s.ipynb", "t.py"), script)

    def test_header_and_metadata_of_markers_survive_a_notebook(self):
        text = ("#!/usr/bin/env python\n# ---\n# jupyter:\n#   jupytext:\n#     formats: ipynb,py:percent\n# ---\n\n"
                "# %% [markdown] slideshow={\"slide_type\": \"slide\"}\n# text\n\n"
                "# %% Name tags=[\"parameters\"] editable=false note=\"a, \\\"b\\\" {c}\"\nx = 1\n\n"
                "# %% {\"a b\": [1, 2]}\ny = 2\n")
        self.write("a.py", text)
        self.convert("a.py", "b.ipynb")
        with open(self.path("b.ipynb")) as file:
            content = json.load(file)
        cells = content["cells"]
        self.assertEqual([cell["cell_type"] for cell in cells], ["markdown", "code", "code"])
        self.assertEqual(cells[0]["metadata"], {"slideshow": {"slide_type": "slide"}})
        self.assertEqual(cells[1]["metadata"], {"tags": ["parameters"], "editable": False, "note": 'a, "b" {c}',
                                                "title": "Name"})
        self.assertEqual(cells[2]["metadata"], {"a b": [1, 2]})
        self.convert("b.ipynb", "c.py")
        with open(self.path("c.py")) as file:
            self.assertEqual(file.read(), text)

    def test_the_header_and_markers_of_a_script_stay(self):
        script = ("# ---\n# jupyter:\n#   jupytext:\n#     formats: ipynb,py:percent\n# ---\n\n"
                  "# %% [markdown] slideshow={\"slide_type\": \"slide\"}\n# text\n\n# %% Name\nx = 1\n")
        self.write("a.py", script)
        self.assertEqual(self.good("a.py", "b.py"), script)

    def test_pages(self):
        cell = {"cell_type": "code", "execution_count": 1, "metadata": {}, "source": "print('<b>')", "outputs": [
            {"output_type": "stream", "name": "stdout",
             "text": ["<script>\n", "10%\r100%\n", "1/9\n\x1b[A\x1b[K9/9\n"]},
            {"output_type": "display_data", "metadata": {}, "data": {"image/png": "QUJD\n", "text/plain": ["<F>"]}},
            {"output_type": "display_data", "metadata": {}, "data": {"text/html": "<i>x</i>", "text/plain": "html"}},
            {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\x1b[0;31mE\x1b[0m: v"]}]}
        prose = {"cell_type": "markdown", "metadata": {}, "source": "# <T>"}
        self.write("a.ipynb", json.dumps({"cells": [prose, cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}))
        page = self.good("a.ipynb", "a.html")
        for part in ("<title>a.ipynb</title>", "# &lt;T&gt;", "print('&lt;b&gt;')", "&lt;script&gt;\n100%",
                     '<img alt="output" src="data:image/png;base64,QUJD', ">html<", ">E: v<"):
            self.assertIn(part, page)
        for part in ("<script", "<i>", "\x1b", "10%\r", "1/9"):
            self.assertNotIn(part, page)
        text = self.good("a.ipynb", "a.md")
        for part in ("# <T>\n", "```python\nprint('<b>')\n```", "100%", "E"):
            self.assertIn(part, text)

    def test_bad_input(self):
        self.write("bad.ipynb", "{")
        self.write("good.py", "x = 1\n")
        self.write("kept.md", "kept")
        for names, part in ((("bad.ipynb", "kept.md"), "invalid notebook"),
                            (("none.py", "kept.md"), "repl: cannot read /"),
                            (("good.py", "x.txt"), "should end in .ipynb, .py, .md or .html"),
                            (("good.py",), "--convert FILE OUT"), (("good.py", "a.md", "b.md"), "--convert FILE OUT"),
                            (("good.py", "no/such/a.md"), "no/such")):
            status, output = self.convert(*names)
            self.assertIn(status, (2, 125), names)
            self.assertIn(part, output)
            self.assertEqual(output.count("\n"), 1, output)
        self.assertEqual(self.read("kept.md"), "kept")


if __name__ == "__main__":
    unittest.main()
