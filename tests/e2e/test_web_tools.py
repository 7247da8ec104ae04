#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The example commands web_search and web_extract against a local HTTP server that plays SearXNG and the web."""
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
import unittest
import urllib.parse

TOP = os.environ.get("HERMES_TEST_SRCDIR") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TOOLS = os.path.join(TOP, "examples", "tools", "searxng")

PAGE = """<!DOCTYPE html><html><head><title>A  page
of text</title><style>p {}</style><script>alert("no")</script></head>
<body><nav>menu</nav><h1>Head &amp; line</h1><p>One <b>bold</b>
word, a <a href="https://example.org/x">link</a>, a <a href="/y">near one</a>.</p>
<ul><li>first</li><li>second</li></ul><pre>code
  as it is</pre><p>caf\u00e9</p></body></html>"""


class Service(http.server.BaseHTTPRequestHandler):
    seen = []

    def answer(self, status, kind, body, **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(url.query)
        Service.seen.append((url.path, query))
        if url.path == "/search" and query.get("format") == ["json"]:
            results = [{"url": "http://x/%d" % i, "title": "T%d" % i, "content": "about " + query["q"][0]}
                       for i in range(8)]
            self.answer(200, "application/json", json.dumps({"results": [{"title": "no url"}, 7] + results}).encode())
        elif url.path == "/html-only/search":
            self.answer(200, "text/html", b"<html>results</html>")
        elif url.path == "/page":
            self.answer(200, "text/html; charset=utf-8", PAGE.encode())
        elif url.path == "/latin":
            self.answer(200, "text/html; charset=ISO-8859-1", PAGE.encode("latin-1"))
        elif url.path == "/moved":
            self.answer(302, "text/plain", b"", Location="/page")
        elif url.path == "/moved-away":
            self.answer(302, "text/plain", b"", Location="file:///etc/passwd")
        elif url.path == "/json":
            self.answer(200, "application/json", b'{"a": 1}')
        elif url.path == "/long":
            self.answer(200, "text/plain", b"a" * 5000 + b"z" * 5000)
        elif url.path == "/image":
            self.answer(200, "image/png", b"\x89PNG\n\x1a\n")
        else:
            self.answer(404, "text/plain", b"no")

    def log_message(self, *_arguments):
        pass


class WebTools(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("curl"):
            raise unittest.SkipTest("curl is not installed")
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
        cls.base = "http://127.0.0.1:%d" % cls.server.server_port
        cls.thread = threading.Thread(target=cls.server.serve_forever, daemon=True)
        cls.thread.start()

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()
        cls.thread.join()
        cls.server.server_close()

    def run_tool(self, name, arguments, base=None):
        environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        environment.pop("SEARXNG_URL", None)
        if base is not None:
            environment["SEARXNG_URL"] = base
        return subprocess.run([sys.executable, os.path.join(TOOLS, name + ".py")], input=json.dumps(arguments),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, env=environment,
                              timeout=60)

    def search(self, arguments, base=None):
        done = self.run_tool("web_search", arguments, self.base if base is None else base)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["data"]["web"]

    def extract(self, *paths, **more):
        done = self.run_tool("web_extract", dict(urls=[p if ":" in p else self.base + p for p in paths], **more))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["results"]

    def refused(self, name, arguments, part, base=None):
        done = self.run_tool(name, arguments, base)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        self.assertIn(part, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_search(self):
        query = "a b&c=d \u00e9 'q' --x"
        web = self.search({"query": query})
        self.assertEqual(web[0], {"url": "http://x/0", "title": "T0", "description": "about " + query})
        self.assertEqual(len(web), 5)
        self.assertEqual(Service.seen[-1][1]["q"], [query])
        self.assertEqual(len(self.search({"query": "x", "limit": 2}, self.base + "/")), 2)
        self.assertEqual(len(self.search({"query": "@/etc/passwd", "limit": 100})), 8)
        self.assertEqual(Service.seen[-1][1]["q"], ["@/etc/passwd"])

    def test_search_refused(self):
        self.refused("web_search", {"query": "x"}, "SEARXNG_URL is not set")
        self.refused("web_search", {}, "'query' must be", self.base)
        self.refused("web_search", {"query": "x", "limit": 0}, "'limit' must be", self.base)
        self.refused("web_search", {"query": "x"}, "404", self.base + "/nowhere")
        self.refused("web_search", {"query": "x"}, "did not answer JSON", self.base + "/html-only")
        self.refused("web_search", {"query": "x"}, "curl: ", "file:///etc")
        self.refused("web_search", {"query": "x"}, "curl: ", "http://127.0.0.1:1")

    def test_extract(self):
        page, = self.extract("/page")
        self.assertIsNone(page["error"])
        self.assertEqual(page["title"], "A page of text")
        self.assertEqual(page["content"], "# Head & line\n\n"
                                          "One bold word, a [link](https://example.org/x), a near one.\n\n"
                                          "- first\n- second\n\n```\ncode\n  as it is\n```\n\ncaf\u00e9")
        self.assertEqual(page["url"], self.base + "/page")
        self.assertIn("caf\u00e9", self.extract("/latin")[0]["content"])
        self.assertEqual(self.extract("/moved")[0]["title"], "A page of text")
        self.assertEqual(self.extract("/json")[0]["content"], '{"a": 1}')

    def test_extract_many(self):
        results = self.extract("/page", "/nowhere", "/image", "file:///etc/passwd", "/moved-away", "/json")
        self.assertEqual([result["error"] is None for result in results], [True, False, False, False, False, True])
        self.assertIn("404", results[1]["error"])
        self.assertEqual(results[2]["error"], "no text but image/png")
        self.assertIn("only http", results[3]["error"])
        self.assertEqual("".join(result["content"] for result in results[1:5]), "")

    def test_extract_long(self):
        content = self.extract("/long", char_limit=1000)[0]["content"]
        self.assertTrue(content.startswith("a" * 750 + "\n\n[... 9000 of 10000 characters left out ...]"))
        self.assertTrue(content.endswith("]\n\n" + "z" * 250))
        self.assertEqual(len(self.extract("/long")[0]["content"]), 10000)

    def test_extract_refused(self):
        self.refused("web_extract", {}, "'urls' must be")
        self.refused("web_extract", {"urls": []}, "'urls' must be")
        self.refused("web_extract", {"urls": ["http://x"] * 21}, "at most 20")
        self.refused("web_extract", {"urls": ["http://x"], "char_limit": 5}, "'char_limit' must be")

    def test_example_configuration(self):
        with open(os.path.join(TOOLS, "config.json"), encoding="utf-8") as stream:
            commands = json.load(stream)["tool_commands"]
        self.assertEqual(sorted(commands), ["web_extract", "web_search"])
        for name, entry in commands.items():
            self.assertEqual(os.path.basename(entry["command"][1]), name + ".py")


if __name__ == "__main__":
    unittest.main()
