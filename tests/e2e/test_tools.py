#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tools from inside cells, in batch and MCP server: which there are, who allows them, what they do, how they end.

Standard library only. Run one test with
    HERMES_REPL=build/hermes-repl python3 tests/e2e/test_tools.py Approval.test_denied
"""
import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import uuid

from support import LIMIT, PYTHON, SLOW, marked, wait_for

PROGRAM = os.path.abspath(os.environ.get("HERMES_REPL", "hermes-repl"))
TOP = os.environ.get("HERMES_TEST_SRCDIR") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
KNOWN = "known: web_search, web_extract, read_file, write_file, search_files, patch, terminal"


class Case(unittest.TestCase):
    def setUp(self):
        self.home = os.path.realpath(tempfile.mkdtemp(prefix="hermes-e2e-"))
        self.addCleanup(shutil.rmtree, self.home, True)
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("HERMES_", "PYTHON", "XDG_")) and not name.endswith("_proxy")}
        self.environment.update(HOME=self.home, XDG_CONFIG_HOME=self.path("config"), LC_ALL="C.UTF-8",
                                XDG_MARK=uuid.uuid4().hex)      # XDG_: a scrubbed environment keeps it, too
        self.mark = b"XDG_MARK=" + self.environment["XDG_MARK"].encode()
        self.addCleanup(self.assert_nothing_left)

    def assert_nothing_left(self):
        self.assertEqual(marked(self.mark), [])

    def path(self, name):
        return os.path.join(self.home, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def configure(self, **members):
        return self.write("config/hermes-repl/config.json", json.dumps(members))

    def start(self, code, *options):
        script = self.write("cell.py", code)
        return subprocess.Popen([PROGRAM, "--python", PYTHON, "--batch", *options, script], cwd=self.home,
                                env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, universal_newlines=True)

    def finish(self, process):
        try:
            out, err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            self.fail("still running: %r %r" % process.communicate())
        return process.returncode, out, err

    def batch(self, code, *options, status=0):
        """What the cell printed, and what stood on standard error."""
        done = self.finish(self.start(code, *options))
        self.assertEqual(done[0], status, done)
        return done[1:]

    def answer(self, code, *options):
        """The JSON that the cell printed."""
        out, err = self.batch("import json\n" + code, *options)
        try:
            return json.loads(out)
        except ValueError:
            self.fail((out, err))

    def refused(self, *options):
        done = self.finish(self.start("print('ran')", *options))
        self.assertEqual(done[:2], (2, ""), done)
        self.assertEqual(done[2].count("\n"), 1, done[2])
        return done[2]


class ToolSets(Case):
    def test_none_by_default(self):
        code = "try:\n    from hermes_tools import terminal\nexcept ImportError:\n    print('none')\n"
        self.assertEqual(self.batch(code)[0], "none\n")
        self.assertEqual(self.batch(code, "--tools", "")[0], "none\n")
        self.assertEqual(self.batch(code, "--tools", "read_file", "--approve", "allow")[0], "none\n")

    def test_all(self):
        self.configure(tool_commands={"weather": "true"})
        names = self.answer("import hermes_tools as t\nprint(json.dumps([n for n in ('web_search', 'read_file',"
                            " 'patch', 'weather', 'terminal', 'wether') if hasattr(t, n)]))", "--tools", "all")
        self.assertEqual(names, ["web_search", "read_file", "patch", "weather", "terminal"])

    def test_by_configuration(self):
        self.configure(tools=["terminal"], approve={"terminal": "allow"})
        code = "from hermes_tools import terminal\nprint(json.dumps(terminal('echo $((6 * 7))')))"
        self.assertEqual(self.answer(code)["output"], "42\n")
        out, err = self.batch("import hermes_tools as t\nprint(t.terminal('echo no'))", "--approve", "terminal=deny")
        self.assertIn('the policy "approve" says terminal=deny', out)
        self.assertIn("says terminal=deny", err)

    def test_unknown_names(self):
        self.assertEqual(self.refused("--tools", "read_file,terminl"),
                         "hermes-repl: --tools: there is no tool 'terminl'; %s\n" % KNOWN)
        self.configure(tool_commands={"weather": "true"})
        self.assertIn(KNOWN + ", weather\n", self.refused("--tools=wether"))
        self.assertIn(KNOWN + ", weather\n", self.refused("--approve", "wether=allow"))
        self.assertIn("'perhaps' is neither ask, allow or deny", self.refused("--approve", "perhaps"))
        self.configure(tools="terminl", tool_commands={"terminal": "true"})
        _, err = self.batch("pass")
        self.assertIn("tools: there is no tool 'terminl'; known: ", err)
        self.assertIn("terminal is built in", err)

    def test_options(self):
        self.configure(tools="weather,patch", approve={"weather": "deny"}, tool_commands={"weather": "true"})
        done = subprocess.run([PROGRAM, "--list-options", "--approve", "patch=allow"], env=self.environment,
                              stdout=subprocess.PIPE, universal_newlines=True, timeout=LIMIT)
        lines = {line.split()[0]: line for line in done.stdout.splitlines()}
        self.assertRegex(lines["tools"], r" weather,patch +file +tools ")
        self.assertRegex(lines["approve"], r" weather=deny,patch=allow +command line +allow")
        self.assertRegex(lines["tool_commands"], r" weather +file +commands ")

    def test_schema(self):
        self.configure(tool_commands={"weather": "true"})

        def description(*options):
            done = subprocess.run([PROGRAM, "--schema", *options], env=self.environment, stdout=subprocess.PIPE,
                                  universal_newlines=True, timeout=LIMIT)
            self.assertEqual(done.returncode, 0)
            return json.loads(done.stdout)["description"]
        self.assertNotIn("weather", description())
        self.assertIn("terminal(", description())
        self.assertIn("weather(", description("--tools", "all"))
        self.assertNotIn("terminal(", description("--tools", "weather"))


class Approval(Case):
    TERMINAL = "from hermes_tools import terminal\nprint(json.dumps(terminal('echo ran > ran; echo out')))"

    def test_denied(self):
        out, err = self.batch("import json\n" + self.TERMINAL, "--tools", "terminal,read_file")
        want = ("terminal was denied: it needs approval, and in a batch there is nobody to ask; the option "
                "--approve terminal=allow allows it")
        self.assertEqual(json.loads(out), {"error": want})
        self.assertEqual(err, "hermes-repl: %s\n" % want)
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_told_once(self):
        code = ("from hermes_tools import terminal, patch\nfor i in range(3):\n    terminal('x')\n"
                "    patch('a', 'b', 'c')\n")
        _, err = self.batch(code, "--tools", "terminal,patch")
        self.assertEqual(err.count("terminal was denied"), 1)
        self.assertEqual(err.count("patch was denied"), 1)
        self.assertEqual(self.batch(code, "--tools", "terminal,patch", "-q")[1], "")

    def test_allowed(self):
        answer = self.answer(self.TERMINAL, "--tools", "terminal,read_file", "--approve", "terminal=allow")
        self.assertEqual((answer["output"], answer["exit_code"]), ("out\n", 0))
        self.assertEqual(self.read("ran"), "ran\n")

    def test_ask_is_no(self):
        self.write("f", "text\n")
        code = "from hermes_tools import read_file\nprint(json.dumps(read_file('f')))"
        self.assertEqual(self.answer(code, "--tools", "read_file")["content"], "1|text")
        self.assertIn("nobody to ask", self.answer(code, "--tools", "read_file", "--approve", "ask")["error"])
        self.assertIn("says deny", self.answer(code, "--tools", "read_file", "--approve", "deny")["error"])
        self.assertIn("content", self.answer(code, "--tools", "read_file", "--approve", "deny,read_file=allow"))

    def test_code(self):
        done = subprocess.run([PROGRAM, "--python", PYTHON, "--tools", "terminal", "--approve", "allow", "-c",
                               "from hermes_tools import terminal; print(terminal('pwd')['output'])"], cwd=self.home,
                              env=self.environment, stdout=subprocess.PIPE, universal_newlines=True, timeout=LIMIT)
        self.assertEqual(done.stdout.strip(), self.home)


class Use(Case):
    def test_files(self):
        os.makedirs(self.path("work"))
        answer = self.answer("""
from hermes_tools import write_file, read_file, patch, search_files
print(json.dumps([write_file("src/a.py", "x = 1\\ny = 2\\n"),
                  patch("src/a.py", "y = 2", "y = 3"),
                  patch(mode="patch", patch="*** Begin Patch\\n*** Add File: b.txt\\n+new\\n*** End Patch"),
                  search_files("y = (\\\\d)"),
                  search_files("*.txt", target="files"),
                  read_file("src/a.py", offset=2),
                  patch("src/a.py", "gone", "x")]))
""", "--tools", "all", "--approve", "write_file=allow,patch=allow", "--cwd", "work")
        self.assertEqual(self.read("work/src/a.py"), "x = 1\ny = 3\n")
        self.assertEqual(self.read("work/b.txt"), "new\n")
        self.assertEqual(answer[0]["bytes_written"], 12)
        self.assertEqual(answer[1]["replacements"], 1)
        self.assertTrue(answer[2]["success"])
        self.assertEqual(answer[3]["matches"], [{"path": "src/a.py", "line": 2, "content": "y = 3"}])
        self.assertEqual([m["path"] for m in answer[4]["matches"]], ["b.txt"])
        self.assertEqual(answer[5]["content"], "2|y = 3")
        self.assertIn("error", answer[6])

    def test_strict(self):
        answer = self.answer("""
import os
from hermes_tools import terminal
print(json.dumps([os.getcwd(), terminal("pwd; echo $SECRET_KEY-$HOME")["output"]]))
""", "--tools", "terminal", "--approve", "allow", "--mode", "strict", "--env", "scrub")
        self.assertNotEqual(os.path.realpath(answer[0]), self.home)
        self.assertEqual(answer[1], "%s\n-%s\n" % (os.path.realpath(answer[0]), self.home))

    def test_environment(self):
        self.environment.update(SECRET_KEY="hidden", HERMES_REPL_QUIET="on", PLAIN="p")
        code = "from hermes_tools import terminal\nprint(json.dumps(terminal('env')['output'].splitlines()))"
        options = ["--tools", "terminal", "--approve", "allow"]
        inherited = self.answer(code, *options)
        self.assertIn("SECRET_KEY=hidden", inherited)
        self.assertFalse([line for line in inherited if line.startswith(("HERMES_REPL", "HERMES_KERNEL"))])
        scrubbed = self.answer(code, *options, "--env", "scrub")
        self.assertFalse([line for line in scrubbed if line.startswith(("SECRET_KEY", "PLAIN"))])
        self.assertIn("HOME=" + self.home, scrubbed)
        self.assertIn("PLAIN=p", self.answer(code, *options, "--env", "scrub", "--env-passthrough", "PLAIN"))

    def test_many_threads(self):
        for number in range(16):
            self.write("f%d" % number, "number %d\n" % number)
        answer = self.answer("""
import threading
from hermes_tools import read_file
answers = {}
def read(number):
    answers[number] = [read_file("f%d" % number)["content"] for _ in range(10)]
threads = [threading.Thread(target=read, args=(number,)) for number in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(json.dumps(answers))
""", "--tools", "read_file", "--max-tool-calls", "160")
        self.assertEqual(answer, {str(n): ["1|number %d" % n] * 10 for n in range(16)})

    def test_side_by_side(self):
        """Eight commands that wait for each other can only end if they run at the same time."""
        answer = self.answer("""
import threading
from hermes_tools import terminal
answers = []
def meet(number):
    answers.append(terminal("touch here-%d; until [ $(ls here-* | wc -l) -ge 8 ]; do sleep 0.01; done"
                            % number, timeout=%d)["exit_code"])
threads = [threading.Thread(target=meet, args=(number,)) for number in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(json.dumps(answers))
""".replace("timeout=%d", "timeout=%d" % LIMIT), "--tools", "terminal", "--approve", "allow")
        self.assertEqual(answer, [0] * 8)

    def test_budget(self):
        # what approval denies costs nothing
        self.write("f", "text\n")
        code = ("from hermes_tools import read_file, terminal\n"
                "print(json.dumps([terminal('x')] + [read_file('f') for _ in range(4)]))")
        self.configure(max_tool_calls=3)
        answers = self.answer(code, "--tools", "read_file,terminal")
        self.assertEqual(["error" in answer for answer in answers], [True, False, False, False, True])
        self.assertIn("limit", answers[4]["error"].lower())
        answers = self.answer(code, "--tools", "read_file,terminal", "--max-tool-calls", "4")
        self.assertEqual(["error" in answer for answer in answers], [True, False, False, False, False])

    def test_notebook(self):
        self.write("n.ipynb", json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
            {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None,
             "source": "from hermes_tools import terminal"},
            {"cell_type": "code", "id": "b", "metadata": {}, "outputs": [], "execution_count": None,
             "source": "print(terminal('echo two')['output'])"}]}))
        done = subprocess.run([PROGRAM, "--python", PYTHON, "--json", "--tools", "terminal", "--approve", "allow",
                               "--batch", "n.ipynb"], cwd=self.home, env=self.environment, stdout=subprocess.PIPE,
                              timeout=LIMIT)
        results = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([result["tool_calls_made"] for result in results], [0, 1])
        self.assertIn("two", results[1]["output"])


class Commands(Case):
    def test_command(self):
        program = self.write("upper.py", "import json, os, sys\na = json.load(sys.stdin)\n"
                                         "print(json.dumps({'text': a['text'].upper(), 'cwd': os.getcwd(),"
                                         " 'place': os.environ['PLACE']}))\n")
        self.configure(tool_commands={"upper": {"command": [PYTHON, program], "env": {"PLACE": "here"}},
                                      "broken": "echo why >&2; exit 3"})
        answer = self.answer("from hermes_tools import upper, broken\n"
                             "print(json.dumps([upper(text='h\\u00e9'), broken(), upper()]))",
                             "--tools", "upper,broken", "--approve", "upper=allow,broken=allow")
        self.assertEqual(answer[0], {"text": "H\u00c9", "cwd": self.home, "place": "here"})
        self.assertEqual(answer[1], {"error": "broken: the command failed with exit status 3: why"})
        self.assertIn("KeyError", answer[2]["error"])

    def test_needs_approval(self):
        self.configure(tool_commands={"touch": "touch ran; echo {}"})
        answer = self.answer("from hermes_tools import touch\nprint(json.dumps(touch()))", "--tools", "touch")
        self.assertIn("--approve touch=allow allows it", answer["error"])
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_not_configured(self):
        code = "from hermes_tools import web_search\nprint(json.dumps(web_search('x')))"
        answer = self.answer(code, "--tools", "web_search", "--approve", "allow")
        self.assertIn('web_search is not configured: add "tool_commands"', answer["error"])
        self.assertIn(self.path("config/hermes-repl/config.json"), answer["error"])
        other = self.write("other.json", "{}")
        answer = self.answer(code, "--tools", "web_search", "--approve", "allow", "--config", other)
        self.assertIn(other, answer["error"])

    def test_web(self):
        if not shutil.which("curl"):
            self.skipTest("curl is not installed")

        class Service(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                page = self.path == "/page"
                body = b"<title>T</title><p>some text" if page else json.dumps(
                    {"results": [{"url": base + "/page", "title": "hit", "content": self.path}]}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html" if page else "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_arguments):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
        base = "http://127.0.0.1:%d" % server.server_port
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        with open(os.path.join(TOP, "examples", "tools", "searxng", "config.json"), encoding="utf-8") as file:
            commands = json.load(file)["tool_commands"]
        for command in commands.values():
            program = os.path.join(TOP, "examples", "tools", "searxng", os.path.basename(command["command"][1]))
            command["command"] = [PYTHON, os.path.abspath(program)]
        commands["web_search"]["env"]["SEARXNG_URL"] = base
        self.configure(tool_commands=commands)
        answer = self.answer("from hermes_tools import web_search, web_extract\n"
                             "hits = web_search('two words')\n"
                             "print(json.dumps([hits, web_extract([hits['data']['web'][0]['url']])]))",
                             "--tools", "web_search,web_extract", "--approve", "allow")
        self.assertEqual(answer[0]["data"]["web"][0]["title"], "hit")
        self.assertEqual(answer[1]["results"][0]["content"], "some text")


class Endings(Case):
    """The command starts what ignores SIGTERM, and what has left its session."""
    COMMAND = ("(trap '' TERM; touch one; while :; do sleep 100; done) & "
               "setsid sh -c 'touch two; exec sleep 100' & touch three; sleep 100; touch late; wait")

    def begun(self):
        return all(os.path.exists(self.path(name)) for name in ("one", "two", "three"))

    def run_until_begun(self, code, *options):
        process = self.start("from hermes_tools import terminal\nC = %r\n" % self.COMMAND + code, "--tools", "terminal",
                             "--approve", "allow", *options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_for(self.begun, "command")
        return process

    def test_timeout_of_the_tool(self):
        process = self.run_until_begun("print(terminal(C, timeout=%d)['exit_code'])" % (1 * SLOW))
        self.assertEqual(self.finish(process)[:2], (0, "124\n"))

    def test_timeout_of_the_cell(self):
        process = self.run_until_begun("terminal(C)", "--cell-timeout", str(2 * SLOW))
        self.assertEqual(self.finish(process)[0], 124)
        self.assertFalse(os.path.exists(self.path("late")))

    def test_interrupt(self):
        process = self.run_until_begun("terminal(C)")
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(process)[0], 130)

    def test_interrupt_that_is_caught(self):
        process = self.run_until_begun(
            "try:\n    terminal(C)\nexcept KeyboardInterrupt:\n    print(terminal('echo on')['output'])\n")
        process.send_signal(signal.SIGINT)
        status, out, _ = self.finish(process)
        self.assertEqual((status, out.strip()), (0, "on"))

    def test_interrupt_in_a_thread(self):
        """The main thread ignores it: the tool ends all the same, and its caller gets an answer."""
        process = self.run_until_begun(
            "import threading, signal\n"
            "signal.signal(signal.SIGINT, signal.SIG_IGN)\nanswers = []\n"
            "thread = threading.Thread(target=lambda: answers.append(terminal(C)))\nthread.start()\nthread.join()\n"
            "print(answers[0]['exit_code'], answers[0]['error'])\n", "--interrupt-grace", str(30 * SLOW))
        process.send_signal(signal.SIGINT)
        status, out, err = self.finish(process)
        self.assertIn("130 the command was interrupted and killed", out, (status, err))

    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            process = self.run_until_begun("terminal(C)")
            process.send_signal(number)
            self.assertEqual(self.finish(process)[0], 128 + number)
            self.assert_nothing_left()
            os.unlink(self.path("three"))

    def test_cell_that_does_not_wait(self):
        """Calls that a cell leaves behind end with it; those that no thread was free for never begin."""
        process = self.start("""
import os, threading, time
from hermes_tools import terminal
for number in range(12):
    threading.Thread(target=terminal, args=("touch begun-%d; sleep 100; touch late" % number,), daemon=True).start()
while len([name for name in os.listdir() if name.startswith("begun")]) < 8:
    time.sleep(0.01)
""", "--tools", "terminal", "--approve", "allow")
        self.assertEqual(self.finish(process)[0], 0)
        self.assertEqual(len([name for name in os.listdir(self.home) if name.startswith("begun")]), 8)
        self.assertFalse(os.path.exists(self.path("late")))


class Server(Case):
    """hermes-repl --mcp."""

    def connect(self, *options):
        self.process = subprocess.Popen([PROGRAM, "--mcp", "--python", PYTHON, *options], cwd=self.home,
                                        env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        universal_newlines=True)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        self.addCleanup(self.process.stdin.close)
        self.addCleanup(self.process.stdout.close)
        self.identity = 0
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                    "clientInfo": {"name": "t", "version": "1"}})

    def send(self, method, params):
        self.identity += 1
        message = {"jsonrpc": "2.0", "id": self.identity, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        return self.identity

    def receive(self):
        line = self.process.stdout.readline()
        self.assertTrue(line, "the server has ended")
        return json.loads(line)

    def request(self, method, params):
        self.send(method, params)
        return self.receive()["result"]

    def begin(self, code, **arguments):
        return self.send("tools/call", {"name": "execute_code", "arguments": dict(arguments, code=code)})

    def execute(self, code, **arguments):
        self.begin(code, **arguments)
        return self.receive()["result"]["structuredContent"]

    def description(self):
        tools = {tool["name"]: tool for tool in self.request("tools/list", {})["tools"]}
        return tools["execute_code"]["description"]

    def end(self):
        self.process.stdin.close()
        self.assertEqual(self.process.wait(LIMIT), 0)

    def test_none_by_default(self):
        self.connect()
        self.assertNotIn("hermes_tools", self.description())
        self.assertEqual(self.execute("import hermes_tools")["status"], "error")
        self.end()

    def test_tools(self):
        self.write("f", "text\n")
        self.configure(tool_commands={"weather": "echo '{\"sky\": \"blue\"}'"})
        self.environment["SECRET_KEY"] = "hidden"
        self.connect("--tools", "read_file,terminal,weather,patch", "--approve", "terminal=allow,weather=allow")
        self.assertIn("terminal(", self.description())
        self.assertIn("weather(", self.description())
        self.assertNotIn("write_file(", self.description())
        result = self.execute("from hermes_tools import read_file, terminal, weather, patch\n"
                              "print(read_file('f')['content'], terminal('pwd; echo .$SECRET_KEY.')['output'],"
                              " weather()['sky'], patch('f', 'text', 'x')['error'])")
        self.assertEqual(result["status"], "success", result)
        self.assertEqual(result["tool_calls_made"], 3)  # one was denied
        self.assertEqual(result["output"].split("\n")[0], "1|text " + self.home)
        self.assertIn(".. \n blue", result["output"].replace("..\n", ".. \n"))
        self.assertIn("patch was denied: it needs approval, and this server asks nobody; the option --approve "
                      "patch=allow allows it", result["output"])
        self.assertEqual(self.read("f"), "text\n")
        self.end()

    def test_sessions_side_by_side(self):
        self.connect("--tools", "terminal", "--approve", "terminal=allow")
        code = ("from hermes_tools import terminal\n"
                "print(terminal('touch %s; until [ -e %s ]; do sleep 0.01; done')['exit_code'])")
        self.begin(code % ("a", "b"), session="a")
        self.begin(code % ("b", "a"), session="b")
        for _ in range(2):
            self.assertEqual(self.receive()["result"]["structuredContent"]["output"], "0\n")
        self.end()

    def test_ends(self):
        """A call is interrupted, its session cleared, or the server told to end: no process of the tool is left."""
        code = "from hermes_tools import terminal\nterminal(%r)" % Endings.COMMAND
        for how in ("interrupt", "cancel", "clear_session", "terminate"):
            with self.subTest(how):
                self.connect("--tools", "terminal", "--approve", "terminal=allow")
                call = self.begin(code)
                wait_for(lambda: os.path.exists(self.path("three")), "command")
                if how == "terminate":
                    self.process.terminate()
                    self.assertEqual(self.receive()["result"]["structuredContent"]["status"], "interrupted")
                    self.assertEqual(self.process.wait(LIMIT), 128 + signal.SIGTERM)
                elif how == "cancel":
                    self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled",
                                                         "params": {"requestId": call}}) + "\n")
                    self.process.stdin.flush()
                    self.assertEqual(self.execute("print('next')")["output"], "next\n")
                    self.end()
                else:
                    self.send("tools/call", {"name": how, "arguments": {}})
                    answers = {message["id"]: message["result"] for message in (self.receive(), self.receive())}
                    self.assertEqual(answers[call]["structuredContent"]["status"], "interrupted")
                    self.end()
                self.assert_nothing_left()
                os.unlink(self.path("three"))


if __name__ == "__main__":
    unittest.main()
