#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hermes-repl --mcp line by line: what a proper client never sends, and how the server ends.

Standard library only. Run one test with
    HERMES_REPL=build/hermes-repl python3 tests/e2e/test_mcp_raw.py Ending.test_sigterm
"""
import json
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

# Also where all of this runs under nohup or in the background, which is handed on to children.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

PROGRAM = os.path.abspath(os.environ.get("HERMES_REPL", "hermes-repl"))
PYTHON = os.environ.get("TEST_PYTHON") or sys.executable
SLOW = int(os.environ.get("CK_TIMEOUT_MULTIPLIER", "1") or 1)      # sanitizers
LIMIT = 60 * SLOW
# Processes of a kernel: with the guard, or Python alone.
KERNEL = 2 if os.path.exists(os.path.join(os.path.dirname(PROGRAM), "hermes-kernel-guard")) else 1
NEWEST, PREVIOUS = "2025-11-25", "2025-06-18"
PARSE, INVALID, METHOD, PARAMS = -32700, -32600, -32601, -32602


def alive(process):
    """Whether (pid, start time) is a living process."""
    try:
        with open("/proc/%d/stat" % process[0], "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return fields[0] not in (b"Z", b"X") and fields[19] == process[1]
    except OSError:
        return False


def tree(pid):
    """The process and its descendants as (pid, start time)."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name, "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
                parents[int(name)] = (int(fields[1]), fields[19])
            except OSError:
                pass
    found = [pid]
    for one in found:
        found += [other for other, (parent, _) in parents.items() if parent == one]
    return [(one, parents[one][1]) for one in found if one in parents]


def wait_for(condition, what, seconds=20):
    end = time.monotonic() + seconds * SLOW
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("no " + what)
        time.sleep(0.005)


class Ended(AssertionError):
    """The server has; what it wrote to standard error."""


class Server:
    """A server and what it has said; lines are read by a thread."""

    def __init__(self, home, *arguments, initialize=True, variables=None, **popen):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("HERMES_", "PYTHON", "XDG_"))}
        environment.update(HOME=home, XDG_CONFIG_HOME=os.path.join(home, "config"), LC_ALL="C.UTF-8")
        environment.update(variables or {})
        options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        options.update(popen)
        self.process = subprocess.Popen([PROGRAM, "--mcp", "--python", PYTHON, *arguments], cwd=home,
                                        env=environment, **options)
        self.lines = queue.Queue()
        self.next_id = 1000
        if self.process.stdout:
            self.reader = threading.Thread(target=self.read, daemon=True)
            self.reader.start()
        if initialize:
            self.request("initialize", {"protocolVersion": NEWEST, "capabilities": {},
                                        "clientInfo": {"name": "t", "version": "1"}})

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def send(self, message):
        data = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def receive(self):
        line = self.lines.get(timeout=LIMIT)
        if line is None:
            raise Ended(self.process.stderr.read().decode())
        assert line.endswith(b"\n"), line
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0", line
        return message

    def request(self, method, params=None, identity=None):
        self.next_id += 1
        message = {"jsonrpc": "2.0", "id": self.next_id if identity is None else identity, "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)
        answer = self.receive()
        assert answer["id"] == message["id"], answer
        return answer

    def start(self, code, identity, token=None, **arguments):
        params = {"name": "execute_code", "arguments": dict(arguments, code=code)}
        if token is not None:
            params["_meta"] = {"progressToken": token}
        self.send({"jsonrpc": "2.0", "id": identity, "method": "tools/call", "params": params})

    def execute(self, code, **arguments):
        return self.request("tools/call", {"name": "execute_code", "arguments": dict(arguments, code=code)})["result"]

    def begin(self, code, identity, **arguments):
        """Start a cell and return when it has come to its first line, or to BEGUN."""
        begun = "print('begun', flush=True)"
        code = code.replace("BEGUN", begun) if "BEGUN" in code else begun + "\n" + code
        self.start(code, identity, "p", **arguments)
        message = self.receive()
        assert message["params"]["message"] == "begun\n", message

    def finish(self):
        """End the input; what else was said."""
        self.process.stdin.close()
        rest = []
        while True:
            line = self.lines.get(timeout=LIMIT)
            if line is None:
                break
            rest.append(json.loads(line))
        return rest, self.process.wait(LIMIT), self.process.stderr.read().decode()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                if stream:
                    stream.close()
            except OSError:
                pass


class Test(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.home)

    def serve(self, *arguments, **options):
        server = Server(self.home, *arguments, **options)
        self.addCleanup(server.kill)
        return server

    def assert_error(self, answer, code, text, identity=None):
        self.assertEqual(answer["error"]["code"], code, answer)
        self.assertRegex(answer["error"]["message"], text)
        self.assertEqual(answer["id"], identity)

    def assert_usable(self, server):
        result = server.execute("print('usable')")
        self.assertEqual(result["structuredContent"]["output"], "usable\n")
        self.assertFalse(result["isError"])


class Beginning(Test):
    def test_versions(self):
        for asked, answered in ((NEWEST, NEWEST), (PREVIOUS, PREVIOUS), ("2024-11-05", NEWEST), ("9999-1-1", NEWEST)):
            server = self.serve(initialize=False)
            answer = server.request("initialize", {"protocolVersion": asked, "capabilities": {}})
            self.assertEqual(answer["result"]["protocolVersion"], answered)
            self.assertEqual(answer["result"]["serverInfo"]["name"], "hermes-repl")
            self.assertEqual(server.finish(), ([], 0, ""))

    def test_previous_revision_works(self):
        server = self.serve(initialize=False)
        server.request("initialize", {"protocolVersion": PREVIOUS, "capabilities": {}})
        server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.assertEqual(len(server.request("tools/list")["result"]["tools"]), 4)
        self.assert_usable(server)

    def test_initialize_comes_first_and_once(self):
        server = self.serve(initialize=False)
        self.assert_error(server.request("tools/list", {}, 1), INVALID, "first request must be initialize", 1)
        self.assertEqual(server.request("ping", None, "p"), {"jsonrpc": "2.0", "id": "p", "result": {}})
        self.assert_error(server.request("initialize", {}, 2), PARAMS, "protocolVersion", 2)
        self.assert_error(server.request("initialize", {"protocolVersion": 7}, 3), PARAMS, "protocolVersion", 3)
        self.assertIn("result", server.request("initialize", {"protocolVersion": NEWEST}))
        self.assert_error(server.request("initialize", {"protocolVersion": NEWEST}, 4), INVALID, "already", 4)
        self.assert_usable(server)

    def test_bad_usage(self):
        for arguments, text in ((["file.py"], "takes no FILE"), (["--json"], "--json exclude"),
                                (["-c", "1"], "-c exclude"), (["--batch"], "--batch exclude"),
                                (["--no-such"], "unknown option")):
            done = subprocess.run([PROGRAM, "--mcp", *arguments], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(text, done.stderr.decode())

    def test_settings(self):
        os.makedirs(self.home + "/config/hermes-repl")
        with open(self.home + "/config/hermes-repl/config.json", "w") as file:
            file.write('{"timeout": 0.3, "no_such_key": 1}')
        server = self.serve("--env", "inherit", "--mode", "strict")
        result = server.execute("import os, time\nprint(os.environ['LC_ALL'], os.getcwd(), flush=True)\n"
                                "time.sleep(1000)")
        self.assertEqual(result["structuredContent"]["status"], "timeout")
        self.assertRegex(result["structuredContent"]["output"], "C.UTF-8 .*hermes_kernel_")
        rest, status, errors = server.finish()
        self.assertEqual((rest, status), ([], 0))
        self.assertIn("no_such_key", errors)             # warnings go to standard error


class BadInput(Test):
    def test_messages(self):
        server = self.serve()
        for line, code, text, identity in (
                (b"no json", PARSE, "no JSON: column 1", None),
                (b'{"jsonrpc":"2.0","id":1,', PARSE, "no JSON", None),
                (b'{"jsonrpc":"2.0","id":1,"method":"ping"}}', PARSE, "more text", None),
                (b'{"a":"\xff"}', PARSE, "not UTF-8", None),
                (b'{"a":"\x00"}', PARSE, "control character", None),
                (b"[" * 100000, PARSE, "nesting", None),
                (b"Content-Length: 41\r", PARSE, "no JSON", None),
                (b"1", INVALID, "JSON object", None),
                (b"[]", INVALID, "batches", None),
                (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', INVALID, "batches", None),
                (b"{}", INVALID, "jsonrpc", None),
                (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', INVALID, "jsonrpc", 1),
                (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', INVALID, '"id"', None),
                (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', INVALID, '"id"', None),
                (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', INVALID, '"id"', None),
                (b'{"jsonrpc":"2.0","id":1,"method":{}}', INVALID, '"method" must', 1),
                (b'{"jsonrpc":"2.0","id":1}', INVALID, 'needs a "method"', 1),
                (b'{"jsonrpc":"2.0","id":"x","method":"ping","params":[]}', PARAMS, '"params" must be an object', "x"),
                (b'{"jsonrpc":"2.0","id":1,"method":"resources/list"}', METHOD, 'unknown method "resources/list"', 1),
                (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"z"}}', PARAMS,
                 "cursor", 1),
                (b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}', PARAMS, 'needs "name"', 1),
                (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":1}}', PARAMS, 'needs "name"', 1),
                (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"terminal"}}', PARAMS,
                 "unknown tool", 1),
                (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"interrupt","arguments":[]}}',
                 PARAMS, '"arguments" must be an object', 1),
                (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_code",'
                 b'"arguments":{"code":"1"},"_meta":{"progressToken":1.5}}}', PARAMS, "progressToken", 1)):
            with self.subTest(line=line[:60]):
                server.send(line + b"\n")
                self.assert_error(server.receive(), code, text, identity)
        self.assert_usable(server)
        self.assertEqual(server.finish(), ([], 0, ""))

    def test_what_needs_no_answer(self):
        server = self.serve()
        for line in (b"", b"  \r", b'{"jsonrpc":"2.0","method":"no/such"}',
                     b'{"jsonrpc":"2.0","method":"x","params":[]}', b'{"jsonrpc":"2.0","id":5,"result":{}}',
                     b'{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":""}}',
                     b'{"jsonrpc":"2.0","method":"notifications/cancelled"}',
                     b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}',
                     b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}'):
            server.send(line + b"\n")
        self.assert_usable(server)
        self.assertEqual(server.finish(), ([], 0, ""))

    def test_oversized_line(self):
        server = self.serve()
        piece = b"x" * (1 << 20)
        server.send(b'{"jsonrpc":"2.0","id":1,"method":"')
        for _ in range(64):
            server.send(piece)
        self.assert_error(server.receive(), INVALID, "at most 64 MiB")      # at once, not at the end of the line
        for _ in range(8):
            server.send(piece)
        server.send(b'"}\n')
        self.assert_usable(server)
        with open("/proc/%d/status" % server.process.pid) as file:
            rss = [int(line.split()[1]) for line in file if line.startswith("VmRSS")][0]
        if SLOW == 1:
            self.assertLess(rss, 60000)

    def test_large_code(self):
        server = self.serve()
        text = "ä" * (4 << 20)
        result = server.execute("print(len('%s'))" % text)
        self.assertEqual(result["structuredContent"]["output"], "%d\n" % len(text))

    def test_arguments(self):
        server = self.serve()
        for arguments, text in (
                ({"command": "ls"}, r"'command' parameter.*terminal\(command=...\).*execute_code\(code=...\)"),
                ({"code": 3}, "Python source as a string, not int"), ({"code": ["1"]}, "not list"),
                ({}, "non-empty 'code' parameter"), ({"code": None}, "Python source"),
                ({"code": "\n "}, r"terminal\(command=...\)"), ({"code": "1", "timeout": 0}, "greater than 0"),
                ({"code": "1", "session": "a::b"}, "'session' must be"), ({"code": "1", "reset": "yes"}, "true or")):
            result = server.request("tools/call", {"name": "execute_code", "arguments": arguments})["result"]
            self.assertTrue(result["isError"])
            self.assertRegex(result["structuredContent"]["error"], text)
            self.assertEqual(json.loads(result["content"][0]["text"]), result["structuredContent"])
        sessions = server.request("tools/call", {"name": "list_sessions"})["result"]["structuredContent"]["sessions"]
        self.assertEqual(sessions, [])                   # nothing was started

    def test_id_of_a_running_call(self):
        server = self.serve()
        go = os.path.join(self.home, "go")
        server.begin("import os, time\nwhile not os.path.exists(%r): time.sleep(0.005)" % go, 7)
        for method in ("ping", "tools/call"):
            server.send({"jsonrpc": "2.0", "id": 7, "method": method, "params": {"name": "list_sessions"}})
            self.assert_error(server.receive(), INVALID, "the id 7 belongs to a request that is not answered yet")
        server.send({"jsonrpc": "2.0", "id": "7", "method": "ping"})       # another id
        self.assertEqual(server.receive()["id"], "7")
        open(go, "w").close()
        answer = server.receive()
        self.assertEqual((answer["id"], answer["result"]["isError"]), (7, False))
        self.assertIn("result", server.request("ping", None, 7))           # free again

    def test_hostile_output(self):
        """Nothing a cell does reaches the protocol."""
        server = self.serve()
        line = '{"jsonrpc":"2.0","id":1,"result":{}}'
        result = server.execute("import os, sys\nprint(%r)\nos.write(1, b'\\xff\\x00\\x1b[31m')\n"
                                "os.system('echo child >&2')\nfor fd in range(3, 50):\n"
                                "    try: os.write(fd, b'stray')\n    except OSError: pass" % line)
        self.assertIn(line, json.dumps(result["structuredContent"]["output"]).replace("\\", ""))
        self.assert_usable(server)
        self.assertEqual(server.finish(), ([], 0, ""))


class Progress(Test):
    CODE = ("import time\nfor part in 'key: ghp_' + 14 * 'A', 22 * 'B', ' end\\n', 'partial tokens':\n"
            "    print(part, end='', flush=True)\n    time.sleep(0.02)\n"
            "import os\nwhile not os.path.exists('go'): time.sleep(0.005)")

    def progress(self, server):
        """What is shown while the cell still runs."""
        server.start(self.CODE, 7, "p")
        text = ""
        while not text.endswith("partial tokens"):
            message = server.receive()
            self.assertEqual(message["method"], "notifications/progress")
            if not message["params"]["message"].startswith(("waiting for", "running for")):
                text += message["params"]["message"]
        with open(os.path.join(self.home, "go"), "w"):
            pass
        answer = server.receive()
        self.assertEqual((answer["id"], answer["result"]["isError"]), (7, False))
        return text

    def test_secrets_in_two_parts(self):
        self.assertEqual(self.progress(self.serve()), "key: ghp_AA...BBBB end\npartial tokens")

    def test_redact_off(self):
        self.assertEqual(self.progress(self.serve("--redact", "off")),
                         "key: ghp_" + 14 * "A" + 22 * "B" + " end\npartial tokens")


class Cancelling(Test):
    def cancel(self, server, identity, **more):
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": dict(more, requestId=identity)})

    def test_running_waiting_and_held_calls(self):
        server = self.serve()
        server.execute("ran = []")
        server.begin("import time\ntry: BEGUN; time.sleep(1000)\nfinally: ran.append('stopped')", 1)
        server.start("ran.append('waiting')", 2)
        server.start("ran.append('held')", 3, reset=True)
        for identity in (3, 2, 1, 1):
            self.cancel(server, identity, reason="no\nmore")
        result = server.execute("print(ran)")
        self.assertEqual(result["structuredContent"]["output"], "['stopped']\n")
        self.assertEqual(server.finish(), ([], 0, ""))

    def test_call_that_does_not_obey(self):
        server = self.serve("--interrupt-grace", "0.2")
        server.begin("import time\nbegun = 0\nwhile True:\n    try:\n        if not begun: begun = 1; BEGUN\n"
                     "        time.sleep(1000)\n    except KeyboardInterrupt: pass", "x")
        self.cancel(server, "x")
        result = server.execute("print('fresh')")
        self.assertEqual(result["structuredContent"]["output"], "fresh\n")
        self.assertEqual(result["structuredContent"]["kernel"]["previous"], "interrupted")

    def test_escaped_id(self):
        server = self.serve()
        server.begin("import time; time.sleep(1000)", "\xe4")
        server.send(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\xc3\xa4"}}\n')
        self.assert_usable(server)


class Ending(Test):
    def test_accepted_calls_are_answered(self):
        server = self.serve()
        server.begin("import time; time.sleep(0.3); print('done')", 1)
        server.start("print('waited')", 2)
        server.send(b'{"jsonrpc":"2.0","id":3,"method":"ping"}')           # no line end
        rest, status, errors = server.finish()
        self.assertEqual([message["id"] for message in rest if "id" in message], [3, 1, 2])
        self.assertEqual((status, errors), (0, ""))
        outputs = [message["result"]["structuredContent"]["output"] for message in rest if message.get("id") in (1, 2)]
        self.assertEqual(outputs, ["begun\ndone\n", "waited\n"])

    def test_no_input_at_all(self):
        server = self.serve(initialize=False)
        self.assertEqual(server.finish(), ([], 0, ""))

    def check_signal(self, number):
        server = self.serve()
        server.execute("import subprocess; child = subprocess.Popen(['sleep', '1000'], start_new_session=True)",
                       session="other")
        server.begin("import time; time.sleep(1000)", 1)
        server.start("print('never')", 2)
        server.start("print('never')", 3, reset=True)
        server.request("ping")
        processes = tree(server.process.pid)
        self.assertEqual(len(processes), 1 + 2 * KERNEL + 1)
        os.kill(server.process.pid, number)
        answers = {}
        while len(answers) < 3:
            message = server.receive()
            answers[message["id"]] = message["result"]["structuredContent"]
        self.assertEqual([answers[identity]["status"] for identity in (1, 2, 3)], ["interrupted"] * 3)
        self.assertRegex(answers[3]["error"], "^Not run: ")
        self.assertEqual(server.process.wait(LIMIT), 128 + number)
        wait_for(lambda: not any(map(alive, processes)), "end of all processes")

    def test_sigterm(self):
        self.check_signal(signal.SIGTERM)

    def test_sigint(self):
        self.check_signal(signal.SIGINT)

    def test_sigkill(self):
        server = self.serve()
        server.begin("import time; time.sleep(1000)", 1)
        processes = tree(server.process.pid)
        self.assertEqual(len(processes), 1 + KERNEL)
        server.process.kill()
        wait_for(lambda: not any(map(alive, processes)), "end of all processes")

    def test_host_that_vanishes(self):
        """Both ends closed: nobody waits for the running call."""
        script = ("import os, subprocess, sys\n"
                  "p = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
                  "print(p.pid, flush=True)\n"
                  "def say(text): p.stdin.write(text.encode() + b'\\n'); p.stdin.flush()\n"
                  "say('{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",'\n"
                  "    '\"params\":{\"protocolVersion\":\"x\"}}')\n"
                  "p.stdout.readline()\n"
                  "say('{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":'\n"
                  "    '{\"name\":\"execute_code\",\"_meta\":{\"progressToken\":1},\"arguments\":'\n"
                  "    '{\"code\":\"print(1, flush=True)\\\\nimport time; time.sleep(1000)\"}}}')\n"
                  "p.stdout.readline()\n"
                  "print('ready', flush=True)\n"
                  "sys.stdin.read()\n"
                  "os._exit(0)\n")
        host = subprocess.Popen([PYTHON, "-c", script, PROGRAM, "--mcp", "--python", PYTHON], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE)
        self.addCleanup(host.stdout.close)
        pid = int(host.stdout.readline())
        self.assertEqual(host.stdout.readline(), b"ready\n")
        processes = tree(pid)
        self.assertEqual(len(processes), 1 + KERNEL)
        host.stdin.close()
        self.assertEqual(host.wait(LIMIT), 0)
        wait_for(lambda: not any(map(alive, processes)), "end of all processes")

    def test_reader_that_does_not_read(self):
        """A host that writes more than pipes hold before it reads gets everything later."""
        process = subprocess.Popen([PROGRAM, "--mcp", "--python", PYTHON], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        timer = threading.Timer(LIMIT, process.kill)     # a server that waits for its reader never reads on
        timer.start()
        self.addCleanup(timer.cancel)
        lines = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": NEWEST}}]
        lines += [{"jsonrpc": "2.0", "id": identity, "method": "tools/list"} for identity in range(1, 2500)]
        process.stdin.write("".join(json.dumps(line) + "\n" for line in lines).encode())
        process.stdin.close()
        self.assertEqual([json.loads(line)["id"] for line in process.stdout], list(range(2500)))
        self.assertEqual(process.wait(LIMIT), 0)

    def test_socket_for_both(self):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.settimeout(LIMIT)
            process = subprocess.Popen([PROGRAM, "--mcp", "--python", PYTHON], stdin=theirs, stdout=theirs,
                                       stderr=subprocess.PIPE)
            theirs.close()
            stream = ours.makefile("rb")
            ours.sendall(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"x"}}\n'
                         b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"execute_code","arguments":'
                         b'{"code":"print(\'x\' * 40000)"}}}\n')
            ours.shutdown(socket.SHUT_WR)
            answers = [json.loads(line) for line in stream]
            stream.close()
            self.assertEqual([answer["id"] for answer in answers], [1, 2])
            self.assertEqual(len(answers[1]["result"]["structuredContent"]["output"]), 40001)
            self.assertEqual((process.wait(LIMIT), process.stderr.read()), (0, b""))
            process.stderr.close()


if __name__ == "__main__":
    unittest.main()
