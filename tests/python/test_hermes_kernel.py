#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python binding as a host uses it. $HERMES_KERNEL_LIB names the library."""
import _thread
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(TOP, "python"))
import hermes_kernel  # noqa: E402

PATIENCE = 30


class Layout(unittest.TestCase):
    """What is written down a second time is what the header has."""

    maxDiff = None
    STRUCTS = {"hermes_error": hermes_kernel._Error, "hermes_tool_call": hermes_kernel._Call,
               "hermes_authority_options": hermes_kernel._AuthorityOptions,
               "hermes_kernel_setup": hermes_kernel._Setup, "hermes_cell": hermes_kernel._Cell,
               "hermes_event": hermes_kernel._Event}
    NAMES = {"EVENT": hermes_kernel._EVENTS, "KERNEL": hermes_kernel._STATES, "PREVIOUS": hermes_kernel._CAUSES}
    NUMBERS = {"CELL": hermes_kernel._FLAGS, "MODE": hermes_kernel._MODES, "IO": hermes_kernel._IO,
               "ENV": hermes_kernel._ENV, "INPUT": hermes_kernel._INPUT_STATES}

    def test_structs_and_numbers(self):
        expected = {}
        for name, struct in self.STRUCTS.items():
            expected["sizeof(struct %s)" % name] = hermes_kernel._c.sizeof(struct)
            for field in struct._fields_:
                expected["offsetof(struct %s, %s)" % (name, field[0])] = getattr(struct, field[0]).offset
        for prefix, names in self.NAMES.items():
            for number, name in enumerate(names):
                expected["HERMES_%s_%s" % (prefix, name.upper() or "NONE")] = number
        for prefix, names in self.NUMBERS.items():
            for name, number in names.items():
                name = {None: "DEFAULT", "onepipe": "ONE_PIPE"}.get(name) or name.upper().strip("_")
                expected["HERMES_%s_%s" % (prefix, name)] = number
        program = '#include <stdio.h>\n#include "hermes-kernel.h"\nint main(void) {%s return 0; }' % "".join(
            'printf("%%zu\\n", (size_t)(%s));\n' % expression for expression in expected)
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/print.c", "w") as file:
                file.write(program)
            environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
            compiler = shlex.split(os.environ.get("CC") or "cc") + ["-I", TOP + "/src/api"]
            subprocess.run(compiler + ["-o", folder + "/print", folder + "/print.c"], check=True, env=environment)
            said = subprocess.run([folder + "/print"], stdout=subprocess.PIPE, check=True, env=environment).stdout
        self.assertEqual(dict(zip(expected, map(int, said.split()))), expected)

    def test_no_event_is_unknown(self):
        with open(TOP + "/src/api/hermes-kernel.h") as file:
            found = re.search(r"enum hermes_event_type \{(.*?)\};", file.read(), re.S).group(1)
        self.assertEqual(tuple(name.lower() for name in re.findall(r"^ *HERMES_EVENT_(\w+),", found, re.M)),
                         hermes_kernel._EVENTS)


class Cells(unittest.TestCase):
    def setUp(self):
        self.engine = hermes_kernel.Engine()
        self.addCleanup(self.engine.close)

    def run_cell(self, code, *rest, **options):
        return self.engine.execute(code, *rest, **dict({"session": "s"}, **options))

    def test_state_stays(self):
        self.assertEqual(self.run_cell("x = 41")["status"], "success")
        result = self.run_cell("print(x + 1)")
        self.assertEqual(result["output"], "42\n")
        self.assertEqual((result["kernel"]["reused"], result["kernel"]["execution_count"]), (True, 2))

    def test_this_interpreter_is_the_default(self):
        self.assertEqual(self.run_cell("import sys; print(sys.executable)")["output"].strip(), sys.executable)

    def test_flags(self):
        self.assertEqual(self.run_cell("6 * 7", echo=True)["output"], "42\n")
        self.run_cell("y = 1")
        result = self.run_cell("y", reset=True)
        self.assertIn("NameError", result["error"])
        self.assertTrue(result["kernel"]["state_reset"])

    def test_text_of_all_kinds(self):
        self.assertEqual(self.run_cell("print('ä€\\U0001f40d\\0')", echo=True)["output"], "ä€\U0001f40d\0\n")

    def test_timeout(self):
        result = self.run_cell("while True: pass", timeout=0.3)
        self.assertEqual(result["status"], "timeout")
        self.assertIn("state was lost", result["error"])

    def test_events_come_in_order(self):
        cell = self.engine.submit("print('a', flush=True)\nprint('b')", session="s")
        events = list(cell.events())
        self.assertEqual([events[0]["type"], events[-1]["type"]], ["started", "done"])
        self.assertEqual(b"".join(e["data"] for e in events if e["type"] == "output"), b"a\nb\n")
        self.assertEqual(events[-1]["result"], cell.result())

    def test_display(self):
        cell = self.engine.submit("display({'text/plain': 'x'}, raw=True)", session="s", display=True)
        bundles = [e["data"] for e in cell.events() if e["type"] == "display"]
        self.assertEqual(bundles, [{"text/plain": "x"}])

    def test_nothing_that_a_cell_sends_stops_the_events(self):
        nested = "[" * 999 + "]" * 999      # JSON, but deeper than json.loads() goes
        results = []

        def work():
            cell = self.engine.submit("display({'application/json': %r, 'text/plain': 'x'}, raw=True)" % nested,
                                      session="s", display=True)
            results.append(cell.result())
            results.append(self.run_cell(
                "import sys, hermes_tools\nsys.setrecursionlimit(9000)\nlist = []\n"
                "for _ in range(990): list = [list]\nprint(hermes_tools.terminal(list))",
                lambda call: {"got": str(call.arguments)[:5]}))
            results.append(self.run_cell("print('alive')"))
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(PATIENCE)
        self.assertEqual([result["status"] for result in results], ["success"] * 3, results)

    def test_environment(self):
        os.environ["HERMES_TEST_SEEN"] = "yes"
        self.addCleanup(os.environ.pop, "HERMES_TEST_SEEN")
        code = "import os; print(os.environ.get('HERMES_TEST_SEEN'))"
        self.assertEqual(self.run_cell(code)["output"], "None\n")
        self.assertEqual(self.run_cell(code, session="i", env="inherit")["output"], "yes\n")

    def test_terminal(self):
        cell = self.engine.submit("import os\nprint(tuple(os.get_terminal_size()), os.environ['TERM'])\n"
                                  "name = input('name? ')\nprint('hello', name, tuple(os.get_terminal_size()))",
                                  session="t", io="tty", columns=77, rows=11, terminal="vt100")
        shown = b""
        for event in cell.events():
            if event["type"] != "output":
                continue
            shown += event["data"]
            if shown.endswith(b"name? "):
                end = time.monotonic() + PATIENCE
                while "waits" not in self.engine.input_state(event["kernel"]) and time.monotonic() < end:
                    time.sleep(0.005)
                self.assertTrue(self.engine.resize(event["kernel"], 99, 12))
                self.assertTrue(self.engine.input(event["kernel"], "Zo\u00eb\n"))
        self.assertEqual(cell.result()["output"], "(77, 11) vt100\nname? Zo\u00eb\nhello Zo\u00eb (99, 12)\n")
        self.assertFalse(self.engine.input(1 << 40, b"x"))
        self.assertFalse(self.engine.resize(1 << 40, 80, 24))
        self.assertEqual(self.engine.input_state(1 << 40), set())

    def test_requests(self):
        self.assertEqual(self.run_cell("width = 7", session="q", requests=True)["status"], "success")
        kernel = self.engine.kernels()[0]["id"]
        answer = self.engine.request(kernel, {"request": "complete", "code": "wid"}, 10)
        self.assertIn("width", [match["text"] for match in answer["matches"]])
        cell = self.engine.submit("print('on', flush=True)\nwhile True: pass", session="q", requests=True)
        for event in cell.events():
            if event["type"] == "output":
                self.assertTrue(self.engine.request(kernel, {"request": "ping"}, 10)["busy"])
                cell.interrupt()
        self.assertIn("error", self.engine.request(kernel, {"request": "no such thing"}))
        self.run_cell("1", session="plain")
        plain = [one["id"] for one in self.engine.kernels() if one["session"] == "plain"][0]
        with self.assertRaises(hermes_kernel.Error) as caught:
            self.engine.request(plain, {"request": "ping"})
        self.assertEqual(caught.exception.name, "HERMES_ENOENT")

    def test_a_request_to_a_kernel_that_dies_is_answered(self):
        cell = self.engine.submit("import time\nprint('on', flush=True)\ntime.sleep(600)", session="q", requests=True)
        answers = []
        for event in cell.events():
            if event["type"] == "output":
                os.kill([one["pid"] for one in self.engine.kernels()][0], signal.SIGSTOP)
                thread = threading.Thread(
                    target=lambda k: answers.append(self.engine.request(k, {"request": "ping"}, -1)),
                    args=(event["kernel"],), daemon=True)
                thread.start()
                thread.join(0.1)
                cell.kill()
        thread.join(PATIENCE)
        self.assertEqual([list(answer) for answer in answers], [["error"]])

    def test_interrupt_keeps_the_state(self):
        self.run_cell("z = 5")
        cell = self.engine.submit("print('on', flush=True)\nwhile True: pass", session="s")
        for event in cell.events():
            if event["type"] == "output":
                self.assertTrue(cell.interrupt())
        self.assertEqual(cell.result()["status"], "interrupted")
        self.assertFalse(cell.interrupt())
        self.assertEqual(self.run_cell("print(z)")["output"], "5\n")

    def test_tools_run_on_the_calling_thread(self):
        seen = []

        def handler(call):
            seen.append((threading.get_ident(), call.tool, call.arguments["command"], call.session))
            return {"output": "hello"}
        result = self.run_cell("from hermes_tools import terminal\nprint(terminal('ls')['output'])", handler)
        self.assertEqual(result["output"], "hello\n", result)
        self.assertEqual(seen, [(threading.get_ident(), "terminal", "ls", "s")])
        self.assertEqual(result["tool_calls_made"], 1)

    def test_a_handler_that_raises_is_the_cells_error(self):
        def handler(call):
            raise ValueError("no such luck")
        result = self.run_cell("from hermes_tools import terminal\nprint(terminal('ls'))", handler)
        self.assertIn("ValueError: no such luck", result["output"] + result.get("error", ""))

    def test_without_a_handler_calls_are_refused(self):
        result = self.run_cell("from hermes_tools import terminal\nprint(terminal('ls'))")
        self.assertIn("this host runs no tools", result["output"] + result.get("error", ""))
        self.assertEqual(result["tool_calls_made"], 0)

    def test_no_tools(self):
        code = "try:\n    from hermes_tools import terminal\nexcept ImportError:\n    print('none')"
        self.assertEqual(self.run_cell(code, tools=())["output"], "none\n")

    def test_threads_get_their_own_answers(self):
        answers = {}

        def work(n):
            for _ in range(5):
                answers.setdefault(n, []).append(self.run_cell("print(%d)" % n, session="t%d" % (n % 3))["output"])
        threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        self.assertEqual(answers, {n: ["%d\n" % n] * 5 for n in range(6)})

    def test_sessions_and_kernels(self):
        self.run_cell("1")
        kernel = self.engine.kernels()[0]
        self.assertEqual((kernel["session"], kernel["state"]), ("s", "idle"))
        self.assertFalse(self.engine.kernel_wait(kernel["id"], 0))
        self.assertTrue(self.engine.session_clear("s"))
        self.assertTrue(self.engine.kernel_wait(kernel["id"], PATIENCE))
        self.assertEqual(self.engine.kernels(), [])
        self.assertFalse(self.engine.reset("s"))
        with self.assertRaisesRegex(hermes_kernel.Error, "nothing is kept"):
            self.engine.undo("s")

    def test_undo(self):
        self.engine.configure({"undo_kernels": 1})
        self.run_cell("z = 42")
        self.assertTrue(self.engine.reset("s"))
        self.engine.undo("s")
        result = self.run_cell("print(z)")
        self.assertEqual((result["output"], result["kernel"]["previous"]), ("42\n", "undone"))

    def test_kernel_events(self):
        dead = threading.Event()
        seen = []

        def note(event):
            seen.append(event)
            if event["type"] == "kernel" and event["state"] == "dead":
                dead.set()
        with hermes_kernel.Engine(on_event=note) as engine:
            engine.execute("import os; os._exit(3)", session="k")
            self.assertTrue(dead.wait(PATIENCE))
        states = [e["state"] for e in seen if e["type"] == "kernel" and e["session"] == "k"]
        self.assertEqual((states[0], states[-1]), ("starting", "dead"))

    def test_configuration(self):
        self.assertEqual(self.engine.configure({"timeout": 7}), [])
        self.assertEqual(self.engine.option("timeout"), "7")
        self.assertIn("max_session_kernels", self.engine.configure({"max_sesion_kernels": 2})[0])
        with self.assertRaises(hermes_kernel.Error) as caught:
            self.engine.configure("{")
        self.assertEqual(caught.exception.name, "HERMES_EINVAL")

    def test_refusals(self):
        with self.assertRaises(hermes_kernel.Error):
            self.run_cell("1", session="a::b")
        with self.assertRaises(TypeError):
            self.run_cell("1", sesion="a")
        self.engine.close()
        with self.assertRaises(hermes_kernel.Error):
            self.run_cell("1")

    def test_schema(self):
        schema = self.engine.schema("strict", ["terminal"])
        self.assertIn("persistent session kernel", schema["description"])
        self.assertNotIn("web_search", schema["description"])

    def test_authority(self):
        authority = hermes_kernel.Authority(lambda call: {"got": call.arguments}, tools=["a"], max_calls=2)
        self.assertEqual(json.loads(authority.dispatch("a", {"x": 1})), {"got": {"x": 1}})
        self.assertIn("error", json.loads(authority.dispatch("b", {})))
        authority.retire()
        self.assertIn("No active execute_code cell", authority.dispatch("a", {}))
        self.assertEqual((authority.active, authority.calls), (False, 1))

    def test_ctrl_c_in_the_host_interrupts_the_cell(self):
        self.run_cell("w = 9")

        def handler(call):
            _thread.interrupt_main()
            return {}
        with self.assertRaises(KeyboardInterrupt):
            self.run_cell("from hermes_tools import terminal\nterminal('x')\nwhile True: pass", handler)
        self.assertEqual(self.run_cell("print(w)")["output"], "9\n")


class Life(unittest.TestCase):
    def test_no_kernel_outlives_a_killed_host(self):
        host = subprocess.Popen(
            [sys.executable, "-c", "import sys; sys.path.insert(0, %r); import hermes_kernel\n"
             "engine = hermes_kernel.Engine()\n"
             "cell = engine.submit('import os, time; print(os.getpid(), flush=True); time.sleep(600)', session='s')\n"
             "for event in cell.events():\n"
             "    if event['type'] == 'output': print(event['data'].decode(), flush=True)" % sys.path[0]],
            stdout=subprocess.PIPE)
        self.addCleanup(host.stdout.close)
        pid = int(host.stdout.readline())
        watch = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None
        host.kill()
        host.wait()
        if watch is not None:
            import select
            self.assertTrue(select.select([watch], [], [], PATIENCE)[0], "the kernel is alive")
            os.close(watch)

    def test_the_interpreter_ends_with_an_engine_left_open(self):
        done = subprocess.run(
            [sys.executable, "-c", "import sys; sys.path.insert(0, %r); import hermes_kernel\n"
             "engine = hermes_kernel.Engine()\n"
             "print(engine.execute('print(1)', session='s')['output'])" % sys.path[0]],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stdout.strip(), done.stderr), (0, b"1", b""))


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    unittest.main()
