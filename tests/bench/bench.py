#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make bench: the figures that docs/performance.md promises, as ratios inside one run.

    bench.py --build DIR [--python PATH] [--rounds N] [--only REGEX] [--write FILE]

Every contestant of a row runs once a round, in turn. A ratio is taken within its round; the table gives the
median ratio and its spread (10th to 90th percentile). Peers that are not installed are named and left out (make
bench-setup installs them). --only takes groups (cold, screen, batch ...) and single rows of the screen. --write puts
the rows of a run into a document's table, between its lines "<!-- table -->" and "<!-- end of table -->": all of
them, or with --only those that were measured. Wall-clock figures never decide a test: this only prints, and its exit
status says whether the measurements could be made.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import bench_terminal

ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
TABLE = []


def series(build, program, python, rounds, what):
    """-> {name: (unit, [value, ...])} of one run of a program of this directory"""
    out = subprocess.run([os.path.join(build, "tests/bench", program), python, str(rounds), what],
                         env=ENVIRONMENT, stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout
    table = {}
    for line in out.splitlines():
        name, unit, *values = line.split("\t")
        table[name] = (unit, [float(v) for v in values])
    return table


def put(line):
    TABLE.append(line)
    print(line, flush=True)


def spread(ratios):
    ordered = sorted(ratios)
    return ordered[len(ordered) // 10], ordered[-1 - len(ordered) // 10]


def number(value):
    return "%.3g" % value if value < 1000 else "{:,.0f}".format(float("%.3g" % value)).replace(",", " ")


def row(title, ours, theirs, against, target):
    ratios = [a / b for a, b in zip(ours[1], theirs[1])]
    low, high = spread(ratios)
    put("| %s | %s %s | %s: %s %s | %.2f (%.2f–%.2f) | %s |" % (
        title, number(statistics.median(ours[1])), ours[0], against, number(statistics.median(theirs[1])), theirs[0],
        statistics.median(ratios), low, high, target))


def alone(title, ours, target):
    low, high = spread(ours[1])
    spent = " (%s–%s)" % (number(low), number(high)) if len(ours[1]) > 1 else ""
    put("| %s | %s %s%s | | | %s |" % (title, number(statistics.median(ours[1])), ours[0], spent, target))


# What a program of this directory measures: (its argument, rounds: of the wish, or a number, rows), where a row is
# (title, name of our series, name of the other or None, what that is called, target).
ENGINE = (
    ("cold", 1, (
        ("cold start to first reply", "engine", "python3 -c pass", "`python3 -c pass`", "≤ 1.15"),
        ("cold start to first reply", "engine", "floor, default flags", "C floor, default flags", ""))),
    ("warm", 1 / 3, (
        ("warm `x=1`, median", "engine", "floor", "C floor", "≤ 2"),
        ("warm `x=1`, p99", "engine p99", "floor p99", "C floor", "≤ 2"))),
    ("reset", 1, (
        ("reset to first reply", "engine", "python3 -c pass", "`python3 -c pass`", "≤ 1.2 × cold start"),)),
    ("spare", 1, (
        ("reset with a spare", "reset", "python3 -c pass", "`python3 -c pass`", "≤ 2 ms"),
        ("new session with a spare", "new session", "python3 -c pass", "`python3 -c pass`", "≤ 5 ms"))),
    ("checkpoint-10", 1, (("checkpoint with 10 MB of state", "checkpoint", "os.fork()", "`os.fork()`", "≤ 1.2"),)),
    ("checkpoint-1000", 1, (("checkpoint with 1 GB of state", "checkpoint", "os.fork()", "`os.fork()`", "≤ 1.2"),)),
    ("interrupt", 1, (
        ("interrupt of a busy loop", "busy loop", None, "", "≤ 1 ms"),
        ("interrupt of a sleep", "sleep", None, "", "≤ 1 ms"))),
    ("tool", 1 / 3, (("tool call from a cell", "tool call", "warm cell", "warm cell", "≤ 3"),)),
    ("lines", 1 / 3, (("printed lines, line-buffered", "engine", "floor", "C floor", "≥ 0.85"),)),
    ("blocks", 1 / 3, (("big writes, redacted", "engine", "floor", "C floor", "≥ 0.5"),)),
    ("child", 1 / 3, (("output of a child process, redacted", "engine", "floor", "C floor", ""),)),
)
SCALE = (
    ("busy", 1 / 3, (
        ("warm `x=1` beside a busy kernel, median", "beside", "alone", "alone", ""),
        ("warm `x=1` beside a busy kernel, p99", "beside p99", "alone p99", "alone", ""))),
    ("source", 1 / 3, (("source of 5 MB", "engine", "python3", "`python3 FILE` without its start", ""),)),
    ("complete", 1 / 3, (("completion", "completion", "warm cell", "warm cell", ""),)),
    ("threads", 1 / 3, (("cells of four threads in four sessions", "four threads", "one thread", "one thread", ""),)),
    ("kernels", 0, (
        ("host with one kernel", "host with one kernel", None, "", "≤ 4 MiB"),
        ("host, each further kernel of 200", "host, each further kernel", None, "", "≤ 100 KiB"),
        ("host, each further kernel: descriptors", "host, each further kernel: descriptors", None, "", "≤ 5"),
        ("host, 200 kernels: further threads", "host, 200 kernels: threads more", None, "", ""),
        ("warm cell among 200 kernels, × alone", "warm cell among 200 kernels, to alone", None, "", "≤ 1.3"))),
)


def program_rows(args, program, benches):
    for what, part, rows in benches:
        if not re.search(args.only, what):
            continue
        figures = series(args.build, program, args.python, max(5, int(args.rounds * part)) if part else 1, what)
        for title, ours, theirs, against, target in rows:
            if theirs:
                row(title, figures[ours], figures[theirs], against, target)
            else:
                alone(title, figures[ours], target)


def timed(command, **kwargs):
    begin = time.perf_counter()
    subprocess.run(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True, **kwargs)
    return (time.perf_counter() - begin) * 1e3


def lines_into(where, command, folder):
    """Milliseconds until the command has ended and its output has been taken."""
    begin = time.perf_counter()
    if where == "a pipe":
        process = subprocess.Popen(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   bufsize=0)
        buffer = bytearray(1 << 16)
        while process.stdout.readinto(buffer):
            pass
        if process.wait():
            raise subprocess.CalledProcessError(process.returncode, command)
    else:
        with open(os.devnull if where == "/dev/null" else os.path.join(folder, "lines"), "wb") as f:
            subprocess.run(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=f, check=True)
    return (time.perf_counter() - begin) * 1e3


def batch_rows(build, python, rounds):
    hermes = os.path.join(build, "hermes-repl")
    floor = os.path.join(build, "tests/bench/bench_floor")
    files = {
        "trivial": ("x = 1\n", "≤ 1.15"),
        "100 cells": ("".join("# %%%%\nx%d = %d\n" % (n, n) for n in range(100)), "≤ 1.3"),
        "1 000 cells": ("".join("# %%%%\nx%d = %d\n" % (n, n) for n in range(1000)), ""),
        "pure work": ("t = 0\nfor i in range(3000000):\n    t += i * i\n", "≤ 1.1"),
    }
    lines = "L = 'x' * 99\nfor i in range(1000000): print(L)\n"
    with tempfile.TemporaryDirectory() as folder:
        for name, (text, target) in files.items():
            path = os.path.join(folder, "file.py")
            with open(path, "w") as f:
                f.write(text)
            ours, theirs, least = [], [], []
            for n in range(-1, rounds * 2):
                figures = [timed(command + [path]) for command in
                           ([hermes, "--python", python, "--batch"], [python], [floor, python])]
                if n >= 0:
                    for series_of, figure in zip((ours, theirs, least), figures):
                        series_of.append(figure)
            row("batch, " + name, ("ms", ours), ("ms", theirs), "python3 FILE", target)
            if name == "trivial":
                row("batch, " + name, ("ms", ours), ("ms", least), "C floor", "")
        with open(path, "w") as f:
            f.write(lines)
        for where, target in (("/dev/null", "≤ 1.1"), ("a file", "≤ 1.1"), ("a pipe", "≤ 1.1")):
            ours, theirs = [], []
            for n in range(-1, rounds):
                figures = [lines_into(where, command + [path], folder) for command in
                           ([hermes, "--python", python, "--batch"], [python, "-u"])]
                if n >= 0:
                    ours.append(figures[0])
                    theirs.append(figures[1])
            row("batch, 100 MB of lines into " + where, ("ms", ours), ("ms", theirs), "python3 -u FILE", target)


def notebook_rows(build, python, rounds):
    """A notebook of 100 cells, run and written with its outputs, by whole programs."""
    cells = [{"cell_type": "code", "execution_count": None, "id": "c%d" % n, "metadata": {}, "outputs": [],
              "source": "x%d = %d\nprint(x%d)" % (n, n, n)} for n in range(100)]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "file.ipynb"), os.path.join(folder, "out.ipynb")
        with open(path, "w") as file:
            json.dump({"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}, file)
        ours, theirs = [os.path.join(build, "hermes-repl"), "--python", python, "--save", out, "--batch", path], {}
        for name, module, words in (
                ("nbconvert --execute", "nbconvert", ["--to", "notebook", "--execute", "--output", out, path]),
                ("papermill", "papermill", [path, out])):
            interpreter = bench_terminal.interpreter_with(build, python, [module, "ipykernel"])
            if interpreter:
                theirs[name] = [interpreter, "-m", module] + words
            else:
                print("notebook of 100 cells: %s is not here" % name, file=sys.stderr)
        table = {}
        for _ in range(rounds if theirs else 0):
            for name, command in dict(theirs, ours=ours).items():
                table.setdefault(name, []).append(timed(command, stderr=subprocess.DEVNULL))
        for name in theirs:
            row("notebook of 100 cells", ("ms", table["ours"]), ("ms", table[name]), "`%s`" % name, "")


TERMINAL_ROWS = (
    ("start to prompt", "ms", "ipython3", "≤ 15 ms; ≤ 1/30"),
    ("key to echo", "ms", "ipython3", "≤ 0.4 ms; ≤ 1/10"),
    ("key to echo while a tab behind floods", "ms", None, ""),
    ("Enter on x=1 to the next prompt", "ms", "ipython3", "≤ 1 ms"), ("100 000 lines", "ms", "python3", "≤ 1.1"),
    ("a page up in 100 000 lines", "ms", None, ""), ("search in 100 000 lines", "ms", "grep -i", ""),
    ("resize with 100 000 lines", "ms", None, "≤ 10 ms"),
    ("paste of 10 000 lines", "ms", None, "≤ 20 ms"),
    ("progress bar at 1 kHz, processor time in 3 s", "ms", "python3", "≤ 1"),
    ("progress bar at 1 kHz, bytes sent in 3 s", "kB", "python3", ""),
    ("memory at the prompt", "MiB", None, "≤ 8 MiB"), ("memory after 100 000 lines", "MiB", None, "≤ 15 MiB"),
    ("idle wake-ups a second", "", None, "0"))
PEERS = (("ptpython", "start to prompt"), ("ptpython", "key to echo"), ("jupyter console", "start to prompt"),
         ("jupyter console", "key to echo"), ("jupyter console", "Enter on x=1 to the next prompt"))


def terminal_rows(build, python, rounds, only):
    rows = [r for r in TERMINAL_ROWS if re.search(only, "screen: " + r[0])]
    peers = [(peer, title) for peer, title in PEERS if re.search(only, "screen: %s: %s" % (title, peer))]
    table = bench_terminal.measure(build, python, rounds) if rows or peers else {}
    for title, unit, peer, target in rows:
        ours, theirs = table[title]["hermes-repl"], table[title].get(peer)
        if theirs:
            row("screen: " + title, (unit, ours), (unit, theirs), peer, target)
        else:
            alone("screen: " + title + (" (%s is not here)" % peer if peer else ""), (unit, ours), target)
    for peer, title in peers:
        if peer in table[title]:
            row("screen: " + title, ("ms", table[title]["hermes-repl"]), ("ms", table[title][peer]), peer, "")
        else:
            print("screen: %s: %s is not here" % (title, peer), file=sys.stderr)


def key(line):
    """What a row is of: its title, and whom it compares with."""
    cells = line.split(" | ")
    return cells[0], cells[2].split(":")[0] if len(cells) > 3 else ""


def merged(old):
    """The old table with the rows that were measured, each in the place of the one before, or behind its neighbour."""
    lines, place = old.splitlines(), 0
    for new in TABLE[1:]:
        same = [n for n, line in enumerate(lines) if key(line) == key(new)]
        place = same[0] if same else place + 1 if place else len(lines)
        lines[place:place + len(same[:1])] = [new]
    return "\n".join(lines) + "\n"


def write(path, part):
    with open(path) as file:
        text = file.read()
    before, rest = text.split("<!-- table -->\n", 1)
    old, after = rest.split("<!-- end of table -->\n", 1)
    with open(path + ".new", "w") as file:
        file.write(before + "<!-- table -->\n" + (merged(old) if part else "\n".join(TABLE) + "\n") +
                   "<!-- end of table -->\n" + after)
    os.rename(path + ".new", path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", metavar="REGEX", default="")
    parser.add_argument("--write", metavar="FILE")
    args = parser.parse_args()
    put("| | ours | against | ratio, median (10–90 %) | target |\n|---|---|---|---|---|")
    program_rows(args, "bench_engine", ENGINE)
    program_rows(args, "bench_scale", SCALE)
    terminal_rows(args.build, args.python, max(3, args.rounds // 3), args.only)
    if re.search(args.only, "batch"):
        batch_rows(args.build, args.python, max(5, args.rounds // 2))
    if re.search(args.only, "notebook"):
        notebook_rows(args.build, args.python, max(3, args.rounds // 4))
    if args.write:
        write(args.write, args.only)


if __name__ == "__main__":
    try:
        main()
    except (subprocess.CalledProcessError, OSError) as error:
        sys.exit("bench: %s" % error)
