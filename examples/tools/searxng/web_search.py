#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""web_search for hermes-repl by a SearXNG service.

stdin:  {"query": "...", "limit": 5}
stdout: {"data": {"web": [{"url", "title", "description"}]}}

SEARXNG_URL names the service (its settings must allow the format json). Needs curl.
"""
import json
import os
import subprocess
import sys


def fail(message):
    sys.exit("web_search: " + message)


def ask(base, query):
    """The service's answer to a query, as a dict."""
    command = ["curl", "--silent", "--show-error", "--fail", "--location", "--max-redirs", "3",
               "--proto", "=http,https", "--max-time", "25", "--max-filesize", "5000000", "--get",
               "--data-urlencode", "q=" + query, "--data-urlencode", "format=json", "--url",
               base.rstrip("/") + "/search"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except FileNotFoundError:
        fail("curl is not installed")
    if done.returncode:
        fail(done.stderr.decode("utf-8", "replace").strip() or "curl failed with exit status %d" % done.returncode)
    try:
        answer = json.loads(done.stdout.decode("utf-8", "replace"))
        if isinstance(answer, dict):
            return answer
    except ValueError:
        pass
    fail("%s did not answer JSON; are its formats set to [html, json]?" % base)


def main():
    arguments = json.load(sys.stdin)
    query, limit = arguments.get("query"), arguments.get("limit")
    base = os.environ.get("SEARXNG_URL")
    if not base:
        fail("SEARXNG_URL is not set")
    if not isinstance(query, str) or not query.strip():
        fail("'query' must be a text that is not empty")
    limit = 5 if limit is None else limit
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= 100:
        fail("'limit' must be an integer from 1 to 100")
    web = [{"url": result["url"], "title": result.get("title") or "", "description": result.get("content") or ""}
           for result in ask(base, query).get("results", [])
           if isinstance(result, dict) and isinstance(result.get("url"), str)]
    json.dump({"data": {"web": web[:limit]}}, sys.stdout)


main()
