#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Python's own tokenizer and ours agree on every file of the standard library.

Strings, comments, numbers and keywords are compared byte for byte. Of an f-string only what is before its first
field: this Python may take all of it for one string, and ours looks into the fields.
"""
import io
import keyword
import os
import subprocess
import sys
import sysconfig
import tokenize

PLAIN, STRING, NUMBER, COMMENT, KEYWORD = ".snck"
SOFT = {"match", "case", "type"}


def expected(source):
    """A letter for each byte, blank where the two need not agree; None: this is no source for this Python."""
    try:
        text = source.decode("utf-8")
        tokens = list(tokenize.tokenize(io.BytesIO(source).readline))
        compile(source, "x", "exec", dont_inherit=True)
    except (SyntaxError, UnicodeDecodeError, tokenize.TokenError, ValueError, RecursionError):
        return None
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line.encode()) + 1)
    lines = text.split("\n")

    def offset(place):
        row, column = place
        return starts[row - 1] + len(lines[row - 1][:column].encode())

    classes = [PLAIN] * len(source)
    for token in tokens:
        if token.type in (tokenize.ENCODING, tokenize.ENDMARKER) or not token.string:
            continue
        letter = PLAIN
        if token.type == tokenize.COMMENT:
            letter = COMMENT
        elif token.type == tokenize.NUMBER:
            letter = NUMBER
        elif token.type == tokenize.NAME and keyword.iskeyword(token.string):
            letter = KEYWORD
        elif token.type == tokenize.NAME and token.string in SOFT:
            letter = " "
        elif token.type == tokenize.STRING:
            letter = STRING
        elif tokenize.tok_name[token.type] in ("FSTRING_START", "FSTRING_END"):
            letter = STRING
        elif tokenize.tok_name[token.type] == "FSTRING_MIDDLE":
            letter = " "
        begin, end = offset(token.start), offset(token.end)
        classes[begin:end] = [letter] * (end - begin)
        if letter == STRING and "f" in token.string.split(token.string[-1])[0].lower():
            field = source.find(b"{", begin, end)
            if field >= 0:
                classes[field : end - 1] = [" "] * (end - 1 - field)
    for i, byte in enumerate(source):
        if byte in b" \t\r\n\f\\":
            classes[i] = " "
    return "".join(classes)


def files(limit):
    root = sysconfig.get_path("stdlib")
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in ("site-packages", "dist-packages"))
        found += [os.path.join(folder, name) for name in sorted(names) if name.endswith(".py")]
    return found[:limit] if limit else found


def main():
    program = os.path.join(os.environ.get("HERMES_TEST_BUILDDIR", "."), "tests", "highlight_classes")
    count = wrong = 0
    for path in files(int(os.environ.get("HERMES_TEST_FILES", "0"))):
        with open(path, "rb") as stream:
            source = stream.read()
        want = expected(source)
        if want is None or b"\r" in source or source.startswith(b"\xef\xbb\xbf"):
            continue
        got = subprocess.run([program], input=source, stdout=subprocess.PIPE, check=True).stdout.decode()
        count += 1
        for at, (one, other) in enumerate(zip(want, got)):
            if one != " " and one != other and (one != PLAIN or other in (STRING, NUMBER, COMMENT, KEYWORD)):
                line = source[:at].count(b"\n") + 1
                print("%s:%d: %r is %r, not %r" % (path, line, source[max(0, at - 20) : at + 20], other, one))
                wrong += 1
                break
    print("%d files, %d differ" % (count, wrong))
    return 1 if wrong or count < 20 else 0


sys.exit(main())
