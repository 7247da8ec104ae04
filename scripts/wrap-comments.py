#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: wrap-comments.py FILE... - wraps over-long comment lines of C files at 100 columns, in place.

clang-format would flow the lists of "Errors:" and the like together. Here a line's overflow goes to the next
line only if that one is indented alike and begins no list item. Code is not touched.
"""
import re
import sys
import textwrap

LIMIT = 100


def fill(text, width, hang=""):
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False, subsequent_indent=hang)


def wrap(lines):
    out, inside, lines = [], False, list(lines)
    for at, line in enumerate(lines):
        single = re.match(r"^(\s*)/\* (.*) \*/$", line)
        if not inside and single and len(line) > LIMIT:
            indent, text = single.groups()
            out += [indent + "/*"]
            out += [indent + " * " + part for part in fill(text, LIMIT - len(indent) - 3)]
            out += [indent + " */"]
            continue
        if re.match(r"^\s*/\*", line) and "*/" not in line:
            inside = True
        body = re.match(r"^(\s*\*)( +)(.*)$", line)
        if not (inside and body and len(line) > LIMIT):
            inside = inside and "*/" not in line
            out.append(line)
            continue
        star, indent, text = body.groups()
        label = re.match(r"^((?:[A-Z][a-z]+:\s+)?HERMES_\w+ {2,})", text)
        hang = " " * len(label.group(1)) if label else ""
        ends = text.endswith("*/")
        text = text[:-2].rstrip() if ends else text
        *full, rest = fill(text, LIMIT - len(star) - len(indent), hang)
        out += [star + indent + part for part in full]
        following = re.match(r"^(\s*\*)( +)(.*)$", lines[at + 1]) if at + 1 < len(lines) else None
        flows = following and following.group(2) == indent and not label
        if not ends and flows and not re.match(r"^(- |\d+\. |[A-Z][a-z]+: )", following.group(3)):
            lines[at + 1] = star + indent + rest + " " + following.group(3)
        else:
            out.append(star + indent + rest + (" */" if ends else ""))
            inside = not ends
    return out


for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as stream:
        before = stream.read()
    after = "\n".join(wrap(before.split("\n")))
    if after != before:
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(after)
