#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program as a black box, in batch: $HERMES_REPL runs scripts and notebooks and is compared with plain Python.

Standard library only (python3-nbformat validates saved notebooks where it is installed). Run one test with
    HERMES_REPL=build/hermes-repl python3 tests/e2e/test_batch.py Human.test_streams
"""
import codecs
import fcntl
import glob
import json
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest
import uuid
import xml.etree.ElementTree

from support import LIMIT, PYTHON, SLOW, alive, marked, wait_for

PROGRAM = os.environ.get("HERMES_REPL", "hermes-repl")
if os.sep in PROGRAM:
    PROGRAM = os.path.abspath(PROGRAM)


def clean_environment(home):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("HERMES_", "PYTHON", "XDG_"))}
    environment.pop("VIRTUAL_ENV", None)
    environment.pop("CONDA_PREFIX", None)
    environment.update(HOME=home, XDG_CONFIG_HOME=os.path.join(home, "config"), LC_ALL="C.UTF-8")
    return environment


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    @property
    def lines(self):
        return [json.loads(line) for line in self.out.decode().splitlines()]

    def __repr__(self):
        return "status %r\nstdout %r\nstderr %r" % (self.status, self.out, self.err)


class Case(unittest.TestCase):
    def setUp(self):
        self.home = os.path.realpath(tempfile.mkdtemp(prefix="hermes-e2e-"))
        self.addCleanup(shutil.rmtree, self.home, True)
        self.environment = clean_environment(self.home)
        self.mark = "HERMES_E2E=" + uuid.uuid4().hex
        self.environment["HERMES_E2E"] = self.mark.partition("=")[2]

    def path(self, name):
        return os.path.join(self.home, name)

    def write(self, name, text):
        data = text if isinstance(text, bytes) else text.encode()
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as file:
            file.write(data)
        return name

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def start(self, command, **options):
        options = dict({"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                        "stderr": subprocess.PIPE, "cwd": self.home,
                        "env": self.environment}, **options)
        return subprocess.Popen(command, **options)

    def finish(self, process, data=None):
        try:
            out, err = process.communicate(data, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            self.fail("still running: %r %r" % (out, err))
        return Result(process.returncode, out, err)

    def command(self, *words):
        return [PROGRAM, "--python", PYTHON] + list(words)

    def run_program(self, *words, data=None, **options):
        if data is not None:
            options["stdin"] = subprocess.PIPE
        return self.finish(self.start(self.command(*words), **options), data)

    def run_python(self, *words, data=None, **options):
        if data is not None:
            options["stdin"] = subprocess.PIPE
        return self.finish(self.start([PYTHON, "-u"] + list(words), **options), data)

    def same(self, text, arguments=(), data=None, name="f.py", files=None, **options):
        """Both programs do the same with a script, to the byte."""
        self.write(name, text)
        for other, content in (files or {}).items():
            self.write(other, content)
        theirs = self.run_python(name, *arguments, data=data, **options)
        dashes = ["--"] if any(word.startswith("-") for word in arguments) else []
        ours = self.run_program("--batch", name, *dashes, *arguments, data=data, **options)
        self.assertEqual((ours.status, ours.out, ours.err), (theirs.status, theirs.out, theirs.err), text)
        return ours

    def no_leftovers(self):
        wait_for(lambda: not marked(self.mark.encode()), "end of all processes", 6)


# ---- as python3 -u FILE ----------------------------------------------------------------------------

class SameAsPython(Case):
    def test_streams(self):
        self.same("import sys, os\nprint('a')\n# %% two\nprint('b', file=sys.stderr)\n"
                  "os.write(1, b'c')\nprint()\n"
                  "# %%\nsys.stdout.write('no line end')\n")

    def test_bytes_are_untouched(self):
        self.same("import sys\nsys.stdout.buffer.write(bytes(range(256)) * 300)\n# %%\n"
                  "sys.stderr.buffer.write(b'\\xff\\x00\\xc3')\n")

    def test_much_output(self):
        self.same("for i in range(60000):\n    print('line', i)\n# %%\nimport os\n"
                  "os.write(2, b'x' * 3000000)\n")

    def test_arguments(self):
        self.same("import sys\nprint(sys.argv)\n# %%\nprint(__name__, __file__, sys.path[0])\n",
                  ["a", "-x", "--json", "", "é", "--"])

    def test_folder_of_the_script(self):
        self.same("import sys, beside\nprint(sys.path[0], __file__, sys.argv, beside.value)\n",
                  name="sub/f.py",
                  files={"sub/beside.py": "value = 3\n"})

    def test_link_to_a_script(self):
        self.write("real/f.py", "")
        os.symlink("real/f.py", self.path("link.py"))
        self.same("import sys\nprint(sys.path[0], __file__)\n", name="link.py")

    def test_names_and_modules(self):
        self.same("print(sorted(globals()))\nimport sys\nprint(sys.flags, __spec__, __builtins__, "
                  "__doc__, __package__)\n"
                  "print(type(__loader__).__name__, sys.modules['__main__'].__file__)\n")

    def test_docstring_and_future(self):
        self.same('"""About it."""\nfrom __future__ import annotations\nprint(__doc__)\n# %%\n'
                  'def f(x: undefined): pass\nprint(f.__annotations__)\n')

    def test_standard_input(self):
        self.same("print(input('name? '))\n# %%\nimport sys\nprint(repr(sys.stdin.read()))\n",
                  data=b"one\ntwo\nthree")

    def test_children_and_standard_input(self):
        self.same("import subprocess\nsubprocess.run(['cat'])\n# %%\nsubprocess.run(['sh', '-c', "
                  "'echo out; echo err >&2'])\n", data=b"in\n")

    def test_encodings(self):
        self.same(b"# -*- coding: latin-1 -*-\nprint('caf\xe9')\n# %%\nprint(len('\xe9'))\n")
        self.same(b"# coding: cp1252\nprint('\x80')\n")
        self.same(b"# coding: iso8859-15\nprint('\xa4')\n")
        self.same(codecs.BOM_UTF8 + "print('é')\n# %%\nprint(2)\n".encode())

    def test_line_ends(self):
        self.same(b"x = '''a\r\nb'''\r\nprint(repr(x))\r\n# %%\r\nprint(1 + \\\r\n 2)\r\n")
        self.same(b"print(1)\r# %%\rprint(2)\r")

    def test_markers_in_strings(self):
        self.same("x = '''\n# %% not a cell\n'''\nprint(x)\ny = f'''{'a'}\n# %%\n{x!r}'''\n"
                  "print(y)\n# %% cell\nprint(3)\n")

    def test_warnings_name_the_line(self):
        self.same("import warnings\n# %%\nwarnings.warn('here')\n# %%\nimport logging\n"
                  "logging.warning('logged')\n")

    def test_tracebacks(self):
        self.same("def f(n):\n    return 1 / n  # here\n# %% second\n\nprint('so far')\nf(0)\n")
        self.same("x = 1\n# %%\ntry:\n    {}['a']\nexcept KeyError as error:\n"
                  "    raise ValueError('b') from error\n")
        self.same("print('first')\n\n\nraise SystemExit('no more')\n")

    def test_exit(self):
        for call, status in (("sys.exit()", 0), ("sys.exit(0)", 0), ("sys.exit(3)", 3),
                             ("sys.exit(256 + 7)", 7), ("sys.exit(-1)", 255),
                             ("sys.exit('text')", 1), ("exit(4)", 4), ("raise SystemExit", 0),
                             ("os._exit(9)", 9)):
            result = self.write("f.py", "import sys, os\nprint('a')\n# %%\n" + call + "\n# %%\n"
                                "print('never')\n")
            result = self.run_program("--batch", "f.py")
            self.assertEqual((result.status, result.out), (status, b"a\n"), call)
            if "_exit" not in call:
                self.same("import sys, os\nprint('a')\n# %%\n" + call + "\n# %%\nprint('never')\n")

    def test_the_end_of_a_script(self):
        self.same("import atexit\natexit.register(print, 'at exit')\n# %%\nprint('last')\n")
        self.same("import threading, time\ndef work():\n    time.sleep(0.5)\n"
                  "    print('thread done')\nthreading.Thread(target=work).start()\n"
                  "print('started')\n")
        self.same("import sys\nclass Noisy:\n    def __del__(self):\n        print('deleted')\n"
                  "noisy = Noisy()\n")

    def test_processes(self):
        self.same("import multiprocessing\ndef f(x):\n    return x * x\n# %%\nif __name__ == '__main__':\n"
                  "    with multiprocessing.get_context('fork').Pool(2) as pool:\n"
                  "        print(pool.map(f, range(4)))\n")
        self.same("import multiprocessing\ndef f(x):\n    return x * x\n# %%\nif __name__ == '__main__':\n"
                  "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
                  "        print(pool.map(f, range(4)))\n")

    def test_empty_scripts(self):
        for text in ("", "\n\n", "# %%", "# only a comment", "# %% [markdown]\n# prose\n"):
            self.same(text)

    def test_environment_is_inherited(self):
        self.environment["SECRET_TOKEN"] = "s3"
        self.environment["HERMES_REPL_QUIET"] = "on"
        result = self.same("import os\nprint(os.environ.get('SECRET_TOKEN'), os.environ.get('HOME'))\n")
        self.assertIn(b"s3", result.out)
        self.write("f.py", "import os\nprint([n for n in os.environ if n.startswith('HERMES_REPL')])\n")
        self.assertEqual(self.run_program("--batch", "f.py").out, b"[]\n")
        result = self.run_program("--env", "scrub", "-c", "import os; print(os.environ.get('SECRET_TOKEN'))")
        self.assertEqual(result.out, b"None\n")

    def test_order_in_one_file(self):
        self.write("f.py", "import sys, os, subprocess\nfor i in range(200):\n    print('out', i)\n"
                   "    print('err', i, file=sys.stderr)\n"
                           "    os.write(1, b'raw %d\\n' % i)\n# %%\nsubprocess.run(['sh', '-c', "
                   "'echo a; echo b >&2; echo c'])\n")
        both = [self.finish(self.start(command, stderr=subprocess.STDOUT))
                for command in ([PYTHON, "-u", "f.py"], self.command("--batch", "f.py"))]
        self.assertEqual(both[0].out, both[1].out)

    def test_output_is_live(self):
        self.write("f.py", "import os, sys, time\nprint('one')\nwhile not os.path.exists('go'):\n"
                   "    time.sleep(0.01)\nprint('two')\n")
        process = self.start(self.command("--batch", "f.py"))
        self.assertEqual(process.stdout.readline(), b"one\n")
        self.write("go", "")
        self.assertEqual(self.finish(process).out, b"two\n")


def every_python():
    """The one that is tested, and others that are installed."""
    found = [PYTHON]
    for version in "3.13", "3.14":
        found += [path for path in [shutil.which("python" + version)] if path]
        found += glob.glob(os.path.expanduser("~/.pyenv/versions/%s.*/bin/python3" % version))
    works = [sys.executable, "-c", "import sys; raise SystemExit(sys.version_info < (3, 8))"]
    return [path for path in found if subprocess.call([path] + works[1:], stderr=subprocess.DEVNULL) == 0]


class Shadows(Case):
    """From 3.13 on, `python -c` imports linecache from the working directory before it runs anything."""

    def check(self, name, text):
        self.write(name, text)
        self.write("lib/relative.py", "x = 5\n")
        self.write("f.py", "import os, sys, relative\nprint(os.getcwd(), sys.path[0], relative.x)\n1/0\n")
        self.environment["PYTHONPATH"] = "lib"
        for python in every_python():
            result = self.finish(self.start([PROGRAM, "--python", python, "--batch", "f.py"]))
            self.assertEqual(result.out.decode(), "%s %s 5\n" % (self.home, self.home), (python, result))
            self.assertIn(b"ZeroDivisionError", result.err)
            self.assertNotIn(b"EVIL", result.err)

    def test_module(self):
        self.check("linecache.py", "raise RuntimeError('EVIL')\n")

    def test_package(self):
        self.check("linecache/__init__.py", "raise RuntimeError('EVIL')\n")


class Code(Case):
    def test_like_python(self):
        for code in ("print(1)", "import sys; print(sys.argv, sys.path[0] == '', __name__)",
                     "1 + 1", "import warnings; warnings.warn('w')",
                     "print(\n", "raise SystemExit(5)", "def f():\n  return 3\nprint(f())"):
            theirs, ours = self.run_python("-c", code, "a", "b"), self.run_program("-c", code, "a", "b")
            self.assertEqual((ours.status, ours.out), (theirs.status, theirs.out), code)

    def test_there_is_no_file(self):
        result = self.run_program("-c", "print('__file__' in globals())")
        self.assertEqual(result.out, b"False\n")

    def test_echo(self):
        self.assertEqual(self.run_program("--echo", "-c", "x = 41\nx + 1").out, b"42\n")
        self.assertEqual(self.run_program("--echo", "-c", "import asyncio\n"
                                          "await asyncio.sleep(0, 5)").out, b"5\n")
        result = self.run_program("-c", "import asyncio\nawait asyncio.sleep(0)")
        self.assertEqual(result.status, 1)
        self.assertIn(b"SyntaxError", result.err)

    def test_json(self):
        result = self.run_program("--json", "-c", "print(6)")
        self.assertEqual(result.lines[0]["output"], "6\n")


class StandardInput(Case):
    def test_script(self):
        for text in ("print(1)\n# %%\nimport sys\nprint(sys.argv, sys.path[0] == '', __name__)\n",
                     "import sys\nprint(repr(sys.stdin.read()))\n"):
            theirs = self.run_python("-", "a", data=text.encode())
            ours = self.run_program("--batch", "-", "a", data=text.encode())
            self.assertEqual((ours.status, ours.out, ours.err), (theirs.status, theirs.out, theirs.err))
        ours = self.run_program("--batch", "-", data=b"print('__file__' in globals())")
        self.assertEqual(ours.out, b"False\n")

    def test_notebook(self):
        text = json.dumps(notebook("1 + 1"))
        self.assertEqual(self.run_program("--batch", "-", data=text.encode()).out, b"2\n")

    def test_none_and_inherit(self):
        self.write("f.py", "import sys\nprint(repr(sys.stdin.read()))\n")
        for words, want in ((["--json"], "''\n"), (["--json", "--stdin", "inherit"], "'in'\n")):
            self.assertEqual(self.run_program("--batch", "f.py", *words, data=b"in").lines[0]["output"], want)
        self.assertEqual(self.run_program("--batch", "f.py", "--stdin", "none", data=b"in").out, b"''\n")


# ---- results ---------------------------------------------------------------------------------------

class Json(Case):
    def test_one_object_a_cell(self):
        self.write("f.py", "# about\n# %% First one\nprint('a')\n\n# %%\n   \n# %% [markdown]\n"
                   "# text\n# %%\nimport sys\nprint('é\\0', file=sys.stderr)\n")
        result = self.run_program("--batch", "f.py", "--json")
        self.assertEqual((result.status, result.err), (0, b""))
        self.assertEqual([line["cell"] for line in result.lines],
                         [{"index": 1, "title": None, "first_line": 1},
                          {"index": 2, "title": "First one", "first_line": 3},
                          {"index": 3, "title": None, "first_line": 10}])
        self.assertEqual(result.lines[1]["output"], "a\n")
        self.assertIn("é\0", result.lines[2]["output"])
        self.assertEqual([line["kernel"]["execution_count"] for line in result.lines], [1, 2, 3])
        self.assertEqual([line["kernel"]["reused"] for line in result.lines], [False, True, True])

    def test_results_are_flushed(self):
        self.write("f.py", "print(1)\n# %%\nimport os, time\nwhile not os.path.exists('go'):\n"
                   "    time.sleep(0.01)\n")
        process = self.start(self.command("--batch", "f.py", "--json"))
        self.assertEqual(json.loads(process.stdout.readline())["output"], "1\n")
        self.write("go", "")
        self.assertEqual(len(self.finish(process).lines), 1)

    def test_continue_after_an_error(self):
        self.write("f.py", "x = 1\n# %%\n1 / 0\n# %%\nprint(x)\n# %%\nimport sys; sys.exit(4)\n"
                   "# %%\nprint('x' in globals())\n# %%\nimport os; os._exit(6)\n# %%\nprint(3)\n")
        result = self.run_program("--batch", "f.py", "--json", "--on-error", "continue")
        self.assertEqual(result.status, 1)
        self.assertEqual([line["status"] for line in result.lines], ["success", "error", "success",
                                                                     "error", "success", "error", "success"])
        self.assertEqual([line["exit_code"] for line in result.lines], [0, 1, 0, 4, 0, 6, 0])
        self.assertEqual(result.lines[2]["output"], "1\n")
        self.assertEqual(result.lines[4]["output"], "False\n")
        self.assertEqual(result.lines[4]["kernel"]["previous"], "exited")
        self.assertTrue(result.lines[3]["kernel"]["ended"])
        self.assertEqual(result.lines[6]["kernel"]["generation"], 3)

    def test_stop_is_the_default(self):
        self.write("f.py", "1 / 0\n# %%\nprint(2)\n")
        result = self.run_program("--batch", "f.py", "--json")
        self.assertEqual((result.status, len(result.lines)), (1, 1))
        self.assertIn("ZeroDivisionError", result.lines[0]["error"])

    def test_exit_zero_stops_and_is_a_success(self):
        self.write("f.py", "import sys; sys.exit(0)\n# %%\nprint(2)\n")
        result = self.run_program("--batch", "f.py", "--json")
        self.assertEqual((result.status, len(result.lines)), (0, 1))
        self.assertEqual(len(self.run_program("--batch", "f.py", "--json", "--on-error",
                                              "continue").lines), 2)

    def test_death_by_a_signal(self):
        self.write("f.py", "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
        result = self.run_program("--batch", "f.py", "--json")
        self.assertEqual(result.status, 128 + signal.SIGSEGV)
        self.assertEqual(result.lines[0]["exit_code"], -signal.SIGSEGV)
        self.assertIn("SIGSEGV", result.lines[0]["error"])

    def test_a_kernel_that_cannot_start(self):
        result = self.finish(self.start([PROGRAM, "--python", self.path("none"), "--json", "-c", "1"]))
        self.assertEqual(result.status, 125)
        self.assertEqual(result.err.count(b"\n"), 1)
        self.assertEqual(result.lines[0]["status"], "error")


class Events(Case):
    def test_what_happens(self):
        self.write("f.py", "import sys\nprint('a')\nprint('b', file=sys.stderr)\n# %% two\n1 / 0\n")
        result = self.run_program("--batch", "f.py", "--events")
        self.assertEqual(result.status, 1)
        events = result.lines
        self.assertEqual(events[0], {"event": "started", "cell": {"index": 1, "title": None,
                                                                  "first_line": 1}, "execution_count": 1})
        for stream, text in (("stdout", "a\n"), ("stderr", "b\n")):
            parts = [event["text"] for event in events
                     if event["event"] == "output" and event["stream"] == stream]
            self.assertEqual("".join(parts), text)
        done = [event for event in events if event["event"] == "done"]
        self.assertEqual([event["result"]["status"] for event in done], ["success", "error"])
        self.assertEqual(done[1]["result"]["cell"]["title"], "two")
        self.assertEqual(events[-1], {"event": "end", "status": 1})

    def test_characters_are_not_cut(self):
        self.write("f.py", "import os, time\nfor byte in 'é→😀'.encode():\n"
                   "    os.write(1, bytes([byte]))\n    time.sleep(0.02)\nos.write(1, b'\\xe2\\x82')\n")
        events = self.run_program("--batch", "f.py", "--events").lines
        self.assertEqual("".join(event["text"] for event in events if event["event"] == "output"),
                         "é→😀\ufffd")

    def events_of(self, *words):
        """The events and when each came."""
        process = self.start(self.command("--batch", "f.py", "--events", *words))
        events = [(json.loads(line), time.monotonic()) for line in process.stdout]
        self.assertEqual(self.finish(process).status, 0)
        return events

    @staticmethod
    def text_of(events, kind="output", stream="stdout"):
        return "".join(event["text"] for event, _ in events
                       if event["event"] == kind and event["stream"] == stream)

    def test_secrets_in_two_parts(self):
        head, tail = "ghp_" + 14 * "A", 22 * "B"
        text = ("import sys, time\nfor stream in sys.stdout, sys.stderr:\n"
                "    for part in 'key: %s', '%s', ' end\\n':\n"
                "        print(part, end='', file=stream, flush=True)\n        time.sleep(0.02)\n" % (head, tail))
        self.write("f.py", text)
        events = self.events_of()
        for stream in "stdout", "stderr":
            self.assertEqual(self.text_of(events, stream=stream), "key: ghp_AA...BBBB end\n")
        self.assertNotIn(head, json.dumps(events))
        self.assertNotIn(tail, json.dumps(events))
        self.assertEqual(self.text_of(self.events_of("--redact", "off")), "key: " + head + tail + " end\n")

    def test_secrets_in_displays(self):
        key = "ghp_" + 36 * "A"
        picture = "Z2hwX0FBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQQ=="
        forms = {"text/plain": "a " + key, "application/json": {key[:3]: [1, {"k": key}, None]}, "image/png": picture}
        self.write("n.ipynb", json.dumps(notebook("display(%r, raw=True)" % forms, "'my ' + %r" % key)))
        for more, shown in ([], "ghp_AA...AAAA"), (["--redact", "off"], key):
            data = [event["data"] for event in self.run_program("--batch", "n.ipynb", "--events", *more).lines
                    if event["event"] == "display"]
            self.assertEqual(data, [{"text/plain": "a " + shown, "image/png": picture,
                                     "application/json": {"ghp": [1, {"k": shown}, None]}},
                                    {"text/plain": "'my %s'" % shown}])

    def test_secrets_in_colour_and_at_the_end(self):
        key = "ghp_" + 36 * "A"
        self.write("f.py", "import atexit\natexit.register(print, %r)\nprint('\\x1b[31m%s\\x1b[m', end='')\n"
                           "# %%%%\nprint(%r, end='')\n" % (key, key, key))
        events = self.events_of()
        self.assertEqual(self.text_of(events), "\x1b[31mghp_AA...AAAA\x1b[mghp_AA...AAAA")
        self.assertEqual([event["cell"] for event, _ in events if event["event"] == "output"][-1], 2)
        self.assertEqual(self.text_of(events, "background"), "ghp_AA...AAAA\n")

    def test_partial_lines_are_live(self):
        self.write("f.py", "import os\nfor i in range(4):\n    os.write(1, b'\\r%d of 4, tokens' % i)\n"
                           "    while not os.path.exists(str(i)): pass\n")
        process = self.start(self.command("--batch", "f.py", "--events"))
        self.assertEqual(json.loads(process.stdout.readline())["event"], "started")
        for i in range(4):
            begun, text = time.monotonic(), ""
            while not text.endswith("tokens"):
                text += json.loads(process.stdout.readline())["text"]
            self.assertEqual(text, "\r%d of 4, tokens" % i)
            if i:
                self.assertLess(time.monotonic() - begun, 0.3 * SLOW)
            self.write(str(i), "")
        self.finish(process)

    def test_values_of_a_notebook_are_broken_over_lines(self):
        self.write("n.ipynb", json.dumps(notebook("{n: 'value %d' % n for n in range(9)}", "int, {3, 1, 2}")))
        self.assertEqual(self.run_program("--batch", "n.ipynb").out.decode(), "{%s}\n(int, {1, 2, 3})\n" % ",\n ".join(
            "%d: 'value %d'" % (n, n) for n in range(9)))

    def test_display(self):
        self.write("n.ipynb", json.dumps(notebook("display('x')\n7")))
        events = [event for event in self.run_program("--batch", "n.ipynb",
                                                      "--events").lines if event["event"] == "display"]
        self.assertEqual([event["is_result"] for event in events], [False, True])
        self.assertEqual(events[1]["data"]["text/plain"], "7")

    def test_the_end_of_the_kernel(self):
        self.write("f.py", "import atexit\natexit.register(print, 'bye')\n")
        events = self.run_program("--batch", "f.py", "--events").lines
        self.assertIn({"event": "background", "stream": "stdout", "text": "bye\n"}, events)


# ---- limits and signals ----------------------------------------------------------------------------

class Limits(Case):
    def test_cell_timeout(self):
        self.write("f.py", "import time\nx = 1\nprint('before')\n# %%\ntime.sleep(60)\n# %%\n"
                   "print('x' in globals())\n")
        result = self.run_program("--batch", "f.py", "--cell-timeout", "0.5")
        self.assertEqual((result.status, result.out), (124, b"before\n"))
        self.assertIn(b"cell 2", result.err)
        self.assertIn(b"timed out", result.err)
        result = self.run_program("--batch", "f.py", "--cell-timeout", "0.5", "--on-error",
                                  "continue", "--json")
        self.assertEqual(result.status, 124)
        self.assertEqual([line["status"] for line in result.lines], ["success", "timeout", "success"])
        self.assertEqual(result.lines[2]["output"], "False\n")
        self.no_leftovers()

    def test_time_for_the_whole_run(self):
        self.write("f.py", "import time\ntime.sleep(0.4)\n# %%\ntime.sleep(60)\n# %%\nprint('never')\n")
        for words in ([], ["--on-error", "continue"]):
            start = time.monotonic()
            result = self.run_program("--batch", "f.py", "--timeout", "1", "--json", *words)
            self.assertEqual([line["status"] for line in result.lines], ["success", "timeout"])
            self.assertEqual(result.status, 124)
            self.assertIn(b"time limit", result.err)
            self.assertLess(time.monotonic() - start, 10 * SLOW)

    def test_the_shorter_limit_counts(self):
        result = self.run_program("--cell-timeout", "0.3", "--timeout", "50", "--on-error",
                                  "continue", "-c", "import time; time.sleep(50)")
        self.assertEqual(result.status, 124)
        self.assertNotIn(b"run's time limit", result.err)

    def test_configuration_and_environment(self):
        self.environment["HERMES_REPL_TIMEOUT"] = "0.3"
        self.assertEqual(self.run_program("-c", "import time; time.sleep(50)").status, 124)
        self.assertEqual(self.run_program("--cell-timeout", "off", "-c",
                                          "import time; time.sleep(0.5)").status, 0)


class Signals(Case):
    def begin(self, text, *words, **options):
        self.write("f.py", "import os, signal, time\n" + text)
        process = self.start(self.command("--batch", "f.py", *words), **options)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        wait_for(lambda: os.path.exists(self.path("ready")), "sign of the cell")
        return process

    READY = "open('ready', 'w').close()\n"

    def test_interrupt(self):
        process = self.begin("import atexit\natexit.register(print, 'tidied')\nprint('a')\n# %%\n" +
                             self.READY +
                             "time.sleep(60)\n# %%\nprint('never')\n")
        process.send_signal(signal.SIGINT)
        result = self.finish(process)
        self.assertEqual((result.status, result.out), (130, b"a\ntidied\n"))
        self.assertIn(b"KeyboardInterrupt", result.err)
        self.no_leftovers()

    def test_interrupt_in_json(self):
        process = self.begin(self.READY + "time.sleep(60)\n# %%\nprint('never')\n", "--json",
                             "--on-error", "continue")
        process.send_signal(signal.SIGINT)
        result = self.finish(process)
        self.assertEqual((result.status, len(result.lines)), (130, 1))
        self.assertEqual(result.lines[0]["status"], "interrupted")
        self.assertTrue(result.lines[0]["kernel"]["state_kept"])

    def test_a_cell_may_handle_it(self):
        process = self.begin("try:\n    " + self.READY + "    time.sleep(60)\n"
                             "except KeyboardInterrupt:\n    print('handled')\n# %%\nprint('next')\n")
        process.send_signal(signal.SIGINT)
        result = self.finish(process)
        self.assertEqual((result.status, result.out), (0, b"handled\nnext\n"))

    def test_a_second_interrupt_kills(self):
        process = self.begin("signal.signal(signal.SIGINT, lambda *a: open('got', 'w').close())\n" +
                             self.READY +
                             "while True:\n    time.sleep(1)\n")
        process.send_signal(signal.SIGINT)
        wait_for(lambda: os.path.exists(self.path("got")), "interrupt in the cell")
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        result = self.finish(process)
        self.assertEqual(result.status, 130)
        self.assertLess(time.monotonic() - start, 4 * SLOW)
        self.no_leftovers()

    def test_a_deaf_cell_is_killed_after_the_grace(self):
        process = self.begin("signal.signal(signal.SIGINT, signal.SIG_IGN)\n" + self.READY +
                             "while True:\n    time.sleep(1)\n",
                             "--interrupt-grace", "0.3", "--json")
        process.send_signal(signal.SIGINT)
        result = self.finish(process)
        self.assertEqual(result.status, 130)
        self.assertFalse(result.lines[0]["kernel"]["state_kept"])

    def test_term_and_hangup(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            process = self.begin("import subprocess\nsubprocess.Popen(['sleep', '600'], "
                                 "start_new_session=True)\nsignal.signal(15, signal.SIG_IGN)\n" +
                                 self.READY + "time.sleep(600)\n", "--json", "--junit", "j.xml")
            process.send_signal(number)
            result = self.finish(process)
            self.assertEqual(result.status, 128 + number)
            self.assertEqual([line["status"] for line in result.lines], ["interrupted"])
            report = xml.etree.ElementTree.parse(self.path("j.xml")).getroot()
            self.assertEqual(len(report.findall(".//error")), 1)
            os.unlink(self.path("ready"))
            self.no_leftovers()

    def test_nohup(self):
        process = self.begin(self.READY + "while not os.path.exists('go'):\n    time.sleep(0.01)\n"
                             "print('done')\n",
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        self.write("go", "")
        self.assertEqual(self.finish(process).out, b"done\n")

    def test_killed(self):
        process = self.begin("import subprocess\nsubprocess.Popen(['sleep', '600'], "
                             "start_new_session=True)\n" + self.READY + "time.sleep(600)\n")
        process.kill()
        self.finish(process)
        self.no_leftovers()

    def test_a_reader_that_goes_away(self):
        self.write("f.py", "import itertools\nfor i in itertools.count():\n    print(i)\n")
        process = self.start(self.command("--batch", "f.py"))
        self.assertEqual(process.stdout.readline(), b"0\n")
        process.stdout.close()
        err = process.stderr.read()
        process.stderr.close()
        self.assertEqual(process.wait(LIMIT), -signal.SIGPIPE)
        self.assertEqual(err, b"")
        self.no_leftovers()

    def test_a_reader_that_stops_reading(self):
        process = self.begin(self.READY + "while True:\n    print('x' * 1000)\n")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(LIMIT), 128 + signal.SIGTERM)
        process.stdout.close()
        process.stderr.close()
        self.no_leftovers()

    def test_a_full_disk(self):
        self.write("f.py", "print('a' * 100000)\n")
        with open("/dev/full", "wb") as full:
            result = self.run_program("--batch", "f.py", stdout=full)
        self.assertEqual(result.status, 1)
        self.assertIn(b"cannot write to standard output: No space left", result.err)

    def test_closed_descriptors(self):
        self.write("f.py", "import sys\nprint('a')\nprint('b', file=sys.stderr)\n"
                   "open('seen', 'w').write('yes')\n")
        result = self.finish(self.start(["sh", "-c", "exec \"$@\" <&- >&- 2>&-", "sh"] +
                                        self.command("--batch", "f.py")))
        self.assertEqual(result.status, 0)
        self.assertEqual(self.read("seen"), b"yes")


# ---- what is run -----------------------------------------------------------------------------------

class Parameters(Case):
    SCRIPT = ("x = 'first'\n# %% tags=[\"parameters\"]\nalpha = 1\nbeta = 'b'\n"
              "# %%\nprint(repr(alpha), repr(beta), x)\n")

    def test_after_the_tagged_cell(self):
        self.write("f.py", self.SCRIPT)
        result = self.run_program("--batch", "f.py", "-p", "alpha=0.5", "--param", "beta=it's \"é\"\\")
        self.assertEqual(result.out.decode(), "0.5 'it\\'s \"é\"\\\\' first\n")

    def test_before_the_first_cell(self):
        self.write("f.py", "print(new, other)\n")
        result = self.run_program("--batch", "f.py", "-p", "new=True", "-p", "other=None")
        self.assertEqual(result.out, b"True None\n")

    def test_file(self):
        self.write("p.json", "{\"alpha\": 12345678901234567890, \"beta\": {\"k\": [1.0, null, true, \"é\"]}}")
        self.write("f.py", self.SCRIPT)
        result = self.run_program("--batch", "f.py", "--params", "p.json")
        self.assertEqual(result.out.decode(), "12345678901234567890 {'k': [1.0, None, True, 'é']} first\n")
        result = self.run_program("--batch", "f.py", "--params", "p.json", "-p", "alpha=2", "-p", "beta=")
        self.assertEqual(result.out.decode(), "2 '' first\n")

    def test_numbering_and_lines_stay(self):
        self.write("f.py", self.SCRIPT + "# %% bad\n1 / 0\n")
        result = self.run_program("--batch", "f.py", "-p", "alpha=2", "--json")
        self.assertEqual([(line["cell"]["index"], line["cell"]["title"]) for line in result.lines],
                         [(1, None), (2, None), (0, "injected-parameters"), (3, None), (4, "bad")])
        self.assertIn("f.py\", line 8, in <module>\n    1 / 0", result.lines[4]["error"])
        self.assertIn("1 / 0", self.run_program("--batch", "f.py", "-p", "alpha=2", "--cells",
                                                "4").err.decode())

    def test_notebook(self):
        document = notebook("a = 1", "print(a)")
        document["cells"][0]["metadata"]["tags"] = ["parameters"]
        self.write("n.ipynb", json.dumps(document))
        result = self.run_program("--batch", "n.ipynb", "-p", "a=5", "--save", "o.ipynb")
        self.assertEqual(result.out, b"5\n")
        saved = json.loads(self.read("o.ipynb"))
        self.assertEqual([cell["metadata"].get("tags") for cell in saved["cells"]],
                         [["parameters"], ["injected-parameters"], None])
        result = self.run_program("--batch", "o.ipynb", "-p", "a=6", "--save", "o.ipynb")
        self.assertEqual(result.out, b"6\n")
        self.assertEqual(len(json.loads(self.read("o.ipynb"))["cells"]), 3)

    def test_what_is_wrong(self):
        self.write("f.py", "print(1)\n")
        self.write("p.yaml", "alpha: 1\n")
        for words, want in ((["-p", "x"], "NAME=VALUE"), (["-p", "a-b=1"], "not a Python name"),
                            (["--params", "none.json"], "cannot read none.json"),
                            (["--params", "p.yaml"], "YAML")):
            result = self.run_program("--batch", "f.py", *words)
            self.assertEqual((result.status, result.out), (2, b""))
            self.assertIn(want, result.err.decode())
            self.assertEqual(result.err.count(b"\n"), 1)


class Cells(Case):
    def test_ranges(self):
        self.write("f.py", "print(1)\n# %% [markdown]\n# x\n# %%\n\n# %%\nprint(2)\n# %%\n"
                   "print(3)\n# %%\nprint(4)\n")
        for text, want in (("2", "2"), ("2-3", "23"), ("3-", "34"), ("-2", "12"), ("1,3-4", "134"),
                           ("4,1", "14"), ("3-99", "34")):
            result = self.run_program("--batch", "f.py", "--cells", text)
            self.assertEqual(result.out.decode().replace("\n", ""), want, text)
        for text in ("0", "5", "2-1", "x", "", "9-"):
            result = self.run_program("--batch", "f.py", "--cells", text)
            self.assertEqual((result.status, result.out), (2, b""), text)
            self.assertEqual(result.err.count(b"\n"), 1)

    def test_magics(self):
        document = notebook("%matplotlib inline\n%load_ext autoreload\n%autoreload 2\nx = 41",
                            "x + 1", "!echo hi {x} $x", "files = !printf 'a\\nb\\n'\nfiles",
                            "%%bash\necho from bash", "%time y = x + 1\ny", "%%time\nx",
                            "%%capture cap\nprint('hidden')", "cap.stdout", "%env FOO=bar",
                            "%env FOO", "import os\nbefore = os.getcwd()\n%cd /",
                            "%%writefile wf.txt\nhello", "if x:\n    !echo indented", "print?",
                            "%%html\n<b>", "s = '''\n%notamagic\n!no\n'''\ns",
                            "%timeit -n 2 -r 2 x", "%%sh\nexit 0")
        self.write("n.ipynb", json.dumps(document))
        result = self.run_program("--batch", "n.ipynb", "--json")
        self.assertEqual([line["status"] for line in result.lines],
                         ["success"] * len(document["cells"]), result)
        output = [line["output"] for line in result.lines]
        for index, want in ((2, "hi 41 41\n"), (4, "from bash\n"), (9, "env: FOO=bar\n"),
                            (11, "/\n"), (13, "indented\n")):
            self.assertEqual(output[index], want)
        human = self.run_program("--batch", "n.ipynb").out.decode()
        for want in ("42\n", "['a', 'b']\n", "'hidden\\n'\n", "'bar'\n", "'\\n%notamagic\\n!no\\n"
                     "'\n", "Wall time: ", "per loop"):
            self.assertIn(want, human)

    def test_magics_that_are_refused(self):
        for source, words in (("x = 1\n%store x", ("cell 2", "%store")), ("%%cython\nint x",
                                                                          ("cell 2", "%%cython")),
                              ("%load_ext sql", ("%load_ext",))):
            self.write("n.ipynb", json.dumps(notebook("print('before')", source, "print('after')")))
            result = self.run_program("--batch", "n.ipynb")
            self.assertEqual((result.status, result.out), (1, b"before\n"))
            for word in words:
                self.assertIn(word, result.err.decode())
            result = self.run_program("--batch", "n.ipynb", "--on-error", "continue")
            self.assertEqual(result.out, b"before\nafter\n")

    def test_failing_shell_cells(self):
        self.write("n.ipynb", json.dumps(notebook("!exit 3", "_exit_code", "%%bash\nexit 4")))
        result = self.run_program("--batch", "n.ipynb")
        self.assertEqual((result.status, result.out), (1, b"3\n"))
        self.assertIn(b"non-zero exit status 4", result.err)


class Notebooks(Case):
    def test_cells_run_as_in_jupyter(self):
        document = notebook("import sys\nx = 3\nx", "x + 1;", "None", "_ + 1 if isinstance(_, int) "
                            "else x", "   ", "import asyncio\nawait asyncio.sleep(0, 'a')")
        document["cells"].insert(1, {"cell_type": "markdown", "metadata": {}, "source": "text"})
        self.write("sub/n.ipynb", json.dumps(document))
        self.write("sub/beside.py", "value = 8\n")
        result = self.run_program("--batch", "sub/n.ipynb")
        self.assertEqual((result.status, result.out), (0, b"3\n4\n'a'\n"))
        self.write("sub/n.ipynb", json.dumps(notebook("import beside, os\nbeside.value",
                                                      "print(os.getcwd())", "'__file__' in globals()")))
        result = self.run_program("--batch", "sub/n.ipynb")
        self.assertEqual(result.out.decode(), "8\n%s\nFalse\n" % self.home)
        result = self.run_program("--batch", "sub/n.ipynb", "--cwd", "sub")
        self.assertEqual(result.out.decode(), "8\n%s/sub\nFalse\n" % self.home)

    def test_tracebacks_name_the_cell(self):
        self.write("n.ipynb", json.dumps(notebook("def f():\n    return 1 / 0", "f()")))
        result = self.run_program("--batch", "n.ipynb")
        self.assertIn("File \"<cell 2>\", line 1, in <module>\n    f()", result.err.decode())
        self.assertIn("File \"<cell 1>\", line 2, in f\n    return 1 / 0", result.err.decode())

    def test_what_is_no_notebook(self):
        for text, want in (("", "not JSON"), ("{\"cells\": []}", "nbformat"), ("{\"nbformat\": 3}",
                                                                               "format 3"),
                           ("print(1)", "not JSON"),
                           (json.dumps({"nbformat": 4, "cells": [{"cell_type": "code"}]}),
                            "item 1"), (b"\xff\xfe", "not UTF-8"),
                           (json.dumps(dict(notebook("1"), metadata={"language_info": {"name": "R"}})),
                            "not Python")):
            self.write("n.ipynb", text)
            result = self.run_program("--batch", "n.ipynb")
            self.assertEqual((result.status, result.out), (2, b""))
            self.assertEqual(result.err.count(b"\n"), 1)
            self.assertTrue(result.err.startswith(b"hermes-repl: n.ipynb: "), result.err)
            self.assertIn(want, result.err.decode())


def notebook(*sources):
    return {"nbformat": 4, "nbformat_minor": 4, "metadata": {},
            "cells": [{"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [],
                       "source": source} for source in sources]}


# ---- what is written -------------------------------------------------------------------------------

class Saving(Case):
    def validate(self, name):
        document = json.loads(self.read(name))
        self.assertEqual((document["nbformat"], document["nbformat_minor"]), (4, 5))
        ids = [cell["id"] for cell in document["cells"]]
        self.assertEqual(len(ids), len(set(ids)))
        try:
            import nbformat
        except ImportError:
            return document
        nbformat.validate(nbformat.from_dict(document))
        return document

    def test_notebook(self):
        source = notebook("print('é', end='')\nprint('x')", "import sys\n"
                          "print('e', file=sys.stderr)\n6 * 7", "display('shown')", "1 / 0", "print('never')")
        source["metadata"] = {"big": 12345678901234567890, "float": 3.0}
        source["cells"][0]["id"] = "first"
        source["cells"][4]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "stale"}]
        source["cells"].insert(0, {"cell_type": "markdown", "metadata": {"k": 1.50},
                                   "source": ["# T\n", "x"], "attachments": {}})
        self.write("n.ipynb", json.dumps(source))
        result = self.run_program("--batch", "n.ipynb", "--save", "o.ipynb", "-q")
        self.assertEqual(result.status, 1)
        saved = self.validate("o.ipynb")
        self.assertIn(b"12345678901234567890", self.read("o.ipynb"))
        self.assertIn(b"\"float\": 3.0", self.read("o.ipynb"))
        cells = saved["cells"]
        self.assertEqual(cells[1]["id"], "first")
        self.assertEqual([cell.get("execution_count") for cell in cells], [None, 1, 2, 3, 4, None])
        self.assertEqual(cells[1]["outputs"], [{"output_type": "stream", "name": "stdout", "text": ["éx\n"]}])
        self.assertEqual([output["output_type"] for output in cells[2]["outputs"]],
                         ["stream", "execute_result"])
        self.assertEqual(cells[2]["outputs"][1]["data"]["text/plain"], ["42"])
        self.assertEqual(cells[3]["outputs"][0]["output_type"], "display_data")
        error = cells[4]["outputs"][-1]
        self.assertEqual((error["output_type"], error["ename"], error["evalue"]),
                         ("error", "ZeroDivisionError", "division by zero"))
        self.assertEqual(cells[5]["outputs"], [])

    def test_cells_that_are_not_chosen_stay(self):
        source = notebook("1", "2")
        source["cells"][0]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "kept"}]
        source["cells"][0]["execution_count"] = 9
        self.write("n.ipynb", json.dumps(source))
        self.run_program("--batch", "n.ipynb", "--cells", "2", "--save", "o.ipynb")
        cells = self.validate("o.ipynb")["cells"]
        self.assertEqual((cells[0]["outputs"][0]["text"], cells[0]["execution_count"]), ("kept", 9))
        self.assertEqual(cells[1]["outputs"][0]["output_type"], "execute_result")

    def test_script(self):
        self.write("f.py", "# %% [markdown]\n# # Title\n# %% Load\nprint('a\\x00b\\x1b[0m')\n\n\n"
                   "# %%\nimport os; n = os.write(1, b'\\xff' * 3)\n")
        result = self.run_program("--batch", "f.py", "--save", "o.ipynb", "--save", "o.py",
                                  "--save", "o.md", "--json")
        self.assertEqual((result.status, result.err), (0, b""))
        cells = self.validate("o.ipynb")["cells"]
        self.assertEqual([cell["cell_type"] for cell in cells], ["markdown", "code", "code"])
        self.assertEqual(cells[0]["source"], ["# Title"])
        self.assertEqual(cells[1]["outputs"][0]["text"], ["a\x00b\x1b[0m\n"])
        self.assertEqual(cells[2]["outputs"][0]["text"], ["\ufffd" * 3])
        again = self.run_program("--batch", "o.py")
        self.assertEqual(again.out, self.run_program("--batch", "f.py").out)
        self.assertIn(b"# Title\n\n## Load\n\n```python\nprint(", self.read("o.md"))
        self.assertEqual(self.run_program("--batch", "o.ipynb").out, again.out)

    def test_over_the_input(self):
        self.write("n.ipynb", json.dumps(notebook("1 + 1")))
        os.chmod(self.path("n.ipynb"), 0o640)
        self.assertEqual(self.run_program("--batch", "n.ipynb", "--save", "n.ipynb").status, 0)
        self.assertEqual(self.validate("n.ipynb")["cells"][0]["outputs"][0]["data"]["text/plain"], ["2"])
        self.assertEqual(os.stat(self.path("n.ipynb")).st_mode & 0o777, 0o640)
        self.assertEqual([name for name in os.listdir(self.home) if name.startswith(".n")], [])

    def test_much_output_is_bounded(self):
        self.write("f.py", "import os\nfor i in range(12):\n    os.write(1, b'x' * 1000000)\n")
        with open(os.devnull, "wb") as null:
            self.run_program("--batch", "f.py", "--save", "o.ipynb", stdout=null)
        outputs = self.validate("o.ipynb")["cells"][0]["outputs"]
        self.assertEqual(len("".join(outputs[0]["text"])), 10000000)
        self.assertIn("2000000 more bytes", outputs[1]["text"][0])

    def test_work_is_kept_when_the_run_is_killed(self):
        self.write("f.py", "import os, time\nprint('precious')\ntime.sleep(1.1)\n# %%\n"
                   "open('ready', 'w').close()\ntime.sleep(600)\n")
        process = self.start(self.command("--batch", "f.py", "--save", "o.ipynb"))
        wait_for(lambda: os.path.exists(self.path("ready")), "sign of the second cell")
        process.kill()
        self.finish(process)
        self.assertEqual(self.validate("o.ipynb")["cells"][0]["outputs"][0]["text"], ["precious\n"])

    def test_paths_are_looked_at_first(self):
        self.write("f.py", "open('ran', 'w')\n")
        os.mkdir(self.path("d.ipynb"))
        for words, want in ((["--save", "none/o.ipynb"], "No such file"), (["--save", "o.txt"],
                                                                           ".ipynb, .py, .md or .html"),
                            (["--save", "d.ipynb"], "directory"),
                            (["--junit", "none/j.xml"], "No such file"), (["--junit", "."], "directory")):
            result = self.run_program("--batch", "f.py", *words)
            self.assertEqual(result.status, 2)
            self.assertEqual(result.err.count(b"\n"), 1)
            self.assertIn(want, result.err.decode())
        self.assertFalse(os.path.exists(self.path("ran")))
        self.assertEqual(sorted(os.listdir(self.home)), ["d.ipynb", "f.py"])

    def test_junit(self):
        self.write("f.py", "print(1)\n# %% Second <&\">\nprint('seen \\x1b[31m \\x00')\n"
                   "raise ValueError('a <b> & \\x07 ]]> é')\n# %%\nprint(3)\n")
        result = self.run_program("--batch", "f.py", "--junit", "j.xml")
        self.assertEqual(result.status, 1)
        suite = xml.etree.ElementTree.parse(self.path("j.xml")).getroot().find("testsuite")
        self.assertEqual([suite.get(name) for name in ("name", "tests", "failures", "errors",
                                                       "skipped")], ["f.py", "3", "1", "0", "1"])
        cases = suite.findall("testcase")
        self.assertEqual([case.get("name") for case in cases], ["cell 1", "cell 2: Second <&\">", "cell 3"])
        failure = cases[1].find("failure")
        self.assertEqual((failure.get("type"), failure.get("message")), ("ValueError", "a <b> &  ]]> é"))
        self.assertIn("Traceback", failure.text)
        self.assertIn("seen", cases[1].find("system-out").text)
        self.assertIsNotNone(cases[2].find("skipped"))

    def test_junit_of_a_timeout(self):
        self.run_program("--cell-timeout", "0.3", "--junit", "j.xml", "-c", "import time; time.sleep(60)")
        error = xml.etree.ElementTree.parse(self.path("j.xml")).getroot().find(".//error")
        self.assertEqual(error.get("type"), "Timeout")
        self.assertIn("timed out", error.get("message"))


# ---- usage -----------------------------------------------------------------------------------------

class Usage(Case):
    def one_line(self, *words, status=2, want="", **options):
        result = self.finish(self.start([PROGRAM] + list(words), **options))
        self.assertEqual((result.status, result.out), (status, b""), result)
        self.assertEqual(result.err.count(b"\n"), 1, result)
        self.assertTrue(result.err.startswith(b"hermes-repl: "), result)
        self.assertIn(want, result.err.decode())

    def test_bad_input(self):
        self.write("bad.py", b"print('\xff')\n")
        self.write("cookie.py", b"# coding: klingon\n")
        self.write("utf16.py", "print(1)\n".encode("utf-16"))
        os.mkdir(self.path("folder"))
        self.one_line("--batch", "none.py", want="cannot read none.py: No such file")
        self.one_line("--batch", "folder", want="cannot read folder: Is a directory")
        self.one_line("--batch", "bad.py", want="bad.py: not UTF-8: byte 0xff in line 1")
        self.one_line("--batch", "cookie.py", want="unknown encoding: klingon")
        self.one_line("--batch", "utf16.py", want="not UTF-8")
        self.one_line("--batch", "bad.py", "--cwd", "none", want="--cwd: none is no directory")
        self.one_line("--python", "/none", "-c", "1", status=125, want="/none")
        if os.geteuid():
            os.chmod(self.path("bad.py"), 0)
            self.one_line("--batch", "bad.py", want="Permission denied")

    def test_bad_words(self):
        self.write("f.py", "print(1)\n")
        for words, want in ((["--batch"], "FILE"), (["--json"], "--batch FILE"), (["--jsn"], "--json"),
                            (["--batch", "f.py", "-x"], "--"),
                            (["--batch", "f.py", "--timeout", "soon"], "--timeout"),
                            (["--batch", "f.py", "--json", "--events"], "exclude"),
                            (["--batch", "f.py", "-c", "1"], "exclude"), (["-c"], "argument"),
                            (["--on-error", "x", "-c", "1"], "stop|continue"),
                            (["--config", "none.json", "-c", "1"], "none.json"), (["f.py"], "--batch")):
            self.one_line(*words, want=want)

    def test_options_after_the_file(self):
        self.write("f.py", "import sys\nprint(sys.argv[1:])\n")
        result = self.run_program("--batch", "f.py", "a", "--json", "-q", "b", "--", "--json", "-z")
        self.assertEqual(result.lines[0]["output"], "['a', 'b', '--json', '-z']\n")

    def test_information(self):
        for words, want in ((["--version"], "hermes-repl "), (["--help"], "--batch FILE"),
                            (["--help", "all"], "--kernel-idle-timeout"),
                            (["--list-options"], "max_session_kernels"), (["--check-config"],
                                                                          "no configuration file")):
            result = self.run_program(*words)
            self.assertEqual((result.status, result.err), (0, b""))
            self.assertIn(want, result.out.decode())
        self.assertLess(self.run_program("--help").out.count(b"\n"), 25)

    def test_explain_env(self):
        self.environment["MY_SECRET_TOKEN"] = "hidden-value"
        result = self.run_program("--explain-env", "--env", "scrub")
        kept, _, dropped = result.out.decode().partition("dropped")
        self.assertIn("MY_SECRET_TOKEN", dropped)
        self.assertIn("HOME", kept)
        self.assertNotIn("hidden-value", result.out.decode())
        self.assertIn("MY_SECRET_TOKEN", json.loads(self.run_program("--explain-env", "--json").out)["kept"])

    def test_configuration(self):
        self.write("config/hermes-repl/config.json", "// mine\n{\"on_error\": \"continue\", "
                   "\"tiemout\": 3, \"kernel_mode\": null, \"echo\": \"perhaps\",}\n")
        self.write("f.py", "1 / 0\n# %%\nprint(2)\n")
        result = self.run_program("--batch", "f.py")
        self.assertEqual((result.status, result.out), (1, b"2\n"))
        warnings = result.err.decode().split("Traceback")[0].splitlines()
        self.assertEqual(len(warnings), 2, warnings)
        self.assertIn("\"tiemout\"; the nearest is \"timeout\"", warnings[0])
        self.assertEqual(self.run_program("--batch", "f.py", "--on-error", "stop").out, b"")
        self.environment["HERMES_REPL_ON_ERROR"] = "stop"
        self.assertEqual(self.run_program("--batch", "f.py").out, b"")
        result = self.run_program("--check-config")
        self.assertEqual(result.status, 2)
        self.assertIn(b"has problems", result.out)
        self.assertIn(b"config.json:2: echo: 'perhaps' is neither on nor off", result.err)
        self.write("config/hermes-repl/keys", "# mine\nbind F5 rerun\n")
        self.write("config/hermes-repl/config.json", "{}")
        result = self.run_program("--check-config")
        self.assertEqual((result.status, result.out.count(b": ok\n")), (0, 2), result.out)
        self.write("config/hermes-repl/keys", "# mine\nbind F5 rerum\n")
        result = self.run_program("--check-config")
        self.assertEqual(result.status, 2)
        self.assertIn(b"keys: has problems", result.out)
        self.assertRegex(result.err.decode(), r"keys:2: no command :rerum; did you mean :rerun\?")
        self.write("other.json", "{\"echo\": true}")
        self.environment.pop("HERMES_REPL_ON_ERROR")
        self.assertEqual(self.run_program("--config", "other.json", "-c", "5").out, b"5\n")
        self.assertEqual(self.run_program("--config", "other.json", "--no-echo", "-c", "5").out, b"")
        self.write("config/hermes-repl/config.json", "{")
        result = self.run_program("-c", "print(1)")
        self.assertEqual((result.status, result.out), (0, b"1\n"))
        self.assertIn(b"ignored", result.err)


class Terminal(Case):
    def run_on_terminal(self, *words, stdout_too=True):
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
        self.environment["TERM"] = "xterm"
        options = {"stderr": follower, "stdin": follower}
        if stdout_too:
            options["stdout"] = follower
        process = self.start(self.command(*words), **options)
        os.close(follower)
        seen = bytearray()

        def read():
            while True:
                try:
                    data = os.read(leader, 65536)
                except OSError:
                    return
                if not data:
                    return
                seen.extend(data)
        reader = threading.Thread(target=read)
        reader.start()
        out = process.stdout.read() if process.stdout else b""
        status = process.wait(LIMIT)
        reader.join()
        os.close(leader)
        if process.stdout:
            process.stdout.close()
        return Result(status, out, bytes(seen))

    SCRIPT = ("import time\n# %% A title that is quite long indeed, longer than the terminal is wide\n"
              "time.sleep(0.8)\nprint('done')\n")

    def test_progress(self):
        self.write("f.py", self.SCRIPT)
        result = self.run_on_terminal("--batch", "f.py")
        self.assertEqual(result.status, 0)
        self.assertIn(b"\r[2/2] A title that is quite long", result.err)
        self.assertNotIn(b"terminal is wide", result.err)
        self.assertIn(b"\r\x1b[Kdone\r\n", result.err)
        self.assertTrue(result.err.endswith(b"done\r\n"), result.err)

    def test_names_cannot_steer_the_terminal(self):
        self.write("f.py", "import time\n# %% \x1b]0;PWN\x07title\x1b[2J\u009b2J\ntime.sleep(0.8)\n"
                   "# %% \x1b]0;PWN\x07fails\nimport os; os.abort()\n")
        result = self.run_on_terminal("--batch", "f.py")
        self.assertIn(b"\r[2/3] ]0;PWNtitle[2J", result.err)
        self.assertIn(b"fails", result.err)
        for bytes_of in (b"\x1b]", b"\x07", b"\x1b[2J", b"\xc2\x9b"):
            self.assertNotIn(bytes_of, result.err)

    def test_no_progress(self):
        self.write("f.py", self.SCRIPT)
        for words in (["-q"], ["--json"], ["--events"]):
            result = self.run_on_terminal("--batch", "f.py", *words)
            self.assertNotIn(b"[2/2]", result.err)

    def test_redirected_output_is_clean(self):
        self.write("f.py", self.SCRIPT)
        result = self.run_on_terminal("--batch", "f.py", stdout_too=False)
        self.assertEqual(result.out, b"done\n")
        self.assertIn(b"[2/2]", result.err)

    def test_progress_spares_an_open_line(self):
        self.write("f.py", "import time\nprint('open', end='', flush=True)\ntime.sleep(0.9)\n"
                   "print(' closed')\n")
        result = self.run_on_terminal("--batch", "f.py")
        self.assertIn(b"open closed\r\n", result.err)


if __name__ == "__main__":
    unittest.main()
