#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""web_extract for hermes-repl: web pages as text with a little Markdown.

stdin:  {"urls": ["https://..."], "char_limit": 15000}
stdout: {"results": [{"url", "title", "content", "error"}]}, in the order of the urls

What is longer than char_limit keeps its beginning and its end. Needs curl. It fetches whatever this machine can reach.
"""
import concurrent.futures
import html.parser
import json
import re
import subprocess
import sys

LIMIT, MOST, AT_ONCE = 15000, 20, 5


def fail(message):
    sys.exit("web_extract: " + message)


class Page(html.parser.HTMLParser):
    """Collects the title and the text of a page."""

    SKIPPED = {"script", "style", "noscript", "template", "svg", "nav", "footer", "head"}
    BLOCKS = {"p", "div", "section", "article", "main", "header", "ul", "ol", "table", "tr", "blockquote", "pre", "hr",
              "br", "dl", "dt", "dd", "figure", "form"}

    def __init__(self, url):
        super().__init__(convert_charrefs=True)
        self.url, self.title, self.parts = url, "", []
        self.skipped, self.in_title, self.in_pre, self.links = 0, False, 0, []

    def handle_starttag(self, tag, attrs):
        if tag == "title":
            self.in_title = True
        elif tag in self.SKIPPED:
            self.skipped += 1
        elif self.skipped:
            pass
        elif re.fullmatch("h[1-6]", tag):
            self.parts.append("\n\n" + "#" * int(tag[1]) + " ")
        elif tag == "li":
            self.parts.append("\n- ")
        elif tag in ("td", "th"):
            self.parts.append(" | ")
        elif tag == "a":
            href = dict(attrs).get("href") or ""
            self.links.append(href if href.startswith(("http://", "https://")) else "")
            self.parts.append("[" if self.links[-1] else "")
        elif tag in self.BLOCKS:
            self.parts.append("\n" if tag == "br" else "\n\n")
            self.in_pre += tag == "pre"
            self.parts.append("```\n" if tag == "pre" else "")

    def handle_endtag(self, tag):
        if tag == "title":
            self.in_title = False
        elif tag in self.SKIPPED:
            self.skipped = max(0, self.skipped - 1)
        elif self.skipped:
            pass
        elif tag == "a" and self.links:
            link = self.links.pop()
            self.parts.append("](%s)" % link if link else "")
        elif tag == "pre" and self.in_pre:
            self.in_pre -= 1
            self.parts.append("\n```\n\n")
        elif tag in self.BLOCKS or re.fullmatch("h[1-6]", tag):
            self.parts.append("\n\n")

    def handle_data(self, data):
        if self.in_title:
            self.title += data
        elif not self.skipped:
            self.parts.append(data if self.in_pre else re.sub(r"\s+", " ", data))

    def text(self):
        text = re.sub(r"[ \t]*\n[ \t]*\n\s*", "\n\n", "".join(self.parts))
        return re.sub(r" +\n", "\n", text).strip()


def fetch(url):
    """(media type, charset, bytes) of a page; ValueError with one line when there is none."""
    command = ["curl", "--silent", "--show-error", "--fail", "--location", "--max-redirs", "5",
               "--proto", "=http,https", "--proto-redir", "=http,https", "--max-time", "25",
               "--max-filesize", "5000000", "--compressed", "--globoff", "--user-agent",
               "hermes-repl web_extract", "--write-out", "\n%{content_type}", "--url", url]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except FileNotFoundError:
        fail("curl is not installed")
    if done.returncode:
        raise ValueError(done.stderr.decode("utf-8", "replace").strip() or
                         "curl failed with exit status %d" % done.returncode)
    body, kind = done.stdout.rsplit(b"\n", 1)
    media, _, parameters = kind.decode("ascii", "replace").partition(";")
    charset = re.search(r"charset=\"?([\w.:-]+)", parameters)
    return media.strip().lower(), charset.group(1) if charset else "utf-8", body


def shorten(text, limit):
    if len(text) <= limit:
        return text
    head = limit * 3 // 4
    return "%s\n\n[... %d of %d characters left out ...]\n\n%s" % (
        text[:head], len(text) - limit, len(text), text[len(text) - (limit - head):])


def extract(url, limit):
    result = {"url": url, "title": "", "content": "", "error": None}
    try:
        if not re.match("https?://", url):
            raise ValueError("only http:// and https:// addresses are taken")
        media, charset, body = fetch(url)
        try:
            text = body.decode(charset, "replace")
        except LookupError:
            text = body.decode("utf-8", "replace")
        if media in ("text/html", "application/xhtml+xml", ""):
            page = Page(url)
            page.feed(text)
            page.close()
            result["title"], text = " ".join(page.title.split()), page.text()
        elif not media.startswith("text/") and not re.search("json|xml|javascript", media):
            raise ValueError("no text but " + media)
        result["content"] = shorten(text, limit)
    except ValueError as error:
        result["error"] = str(error)
    return result


def main():
    arguments = json.load(sys.stdin)
    urls, limit = arguments.get("urls"), arguments.get("char_limit")
    if isinstance(urls, str):
        urls = [urls]
    if not isinstance(urls, list) or not urls or not all(isinstance(url, str) for url in urls):
        fail("'urls' must be a list of addresses")
    if len(urls) > MOST:
        fail("at most %d urls are taken at once" % MOST)
    limit = LIMIT if limit is None else limit
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 100:
        fail("'char_limit' must be an integer of at least 100")
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(lambda url: extract(url, limit), urls))
    json.dump({"results": results}, sys.stdout)


main()
