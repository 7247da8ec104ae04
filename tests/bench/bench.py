#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make bench: the figures that docs/performance.md promises, as ratios inside one run.

    bench.py --build DIR [--python PATH] [--rounds N] [--only NAME]

Every contestant of a row runs once a round, in turn. A ratio is taken within its round; the table gives the
median ratio and its spread (10th to 90th percentile). Wall-clock figures never decide a test: this only prints, and
its exit status says whether the measurements could be made.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

import bench_terminal

ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}


def series(build, python, rounds, what):
    """-> {name: (unit, [value, ...])} of one bench_engine run"""
    out = subprocess.run([os.path.join(build, "tests/bench/bench_engine"), python, str(rounds), what],
                         env=ENVIRONMENT, stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout
    table = {}
    for line in out.splitlines():
        name, unit, *values = line.split("\t")
        table[name] = (unit, [float(v) for v in values])
    return table


def spread(ratios):
    ordered = sorted(ratios)
    return ordered[len(ordered) // 10], ordered[-1 - len(ordered) // 10]


def row(title, ours, theirs, against, target):
    ratios = [a / b for a, b in zip(ours[1], theirs[1])]
    low, high = spread(ratios)
    print("| %s | %.4g %s | %s: %.4g | %.2f (%.2f–%.2f) | %s |" % (
        title, statistics.median(ours[1]), ours[0], against, statistics.median(theirs[1]),
        statistics.median(ratios), low, high, target), flush=True)


def alone(title, ours, target):
    low, high = spread(ours[1])
    print("| %s | %.4g %s (%.4g–%.4g) | | | %s |" % (
        title, statistics.median(ours[1]), ours[0], low, high, target), flush=True)


def timed(command, **kwargs):
    begin = time.perf_counter()
    subprocess.run(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True, **kwargs)
    return (time.perf_counter() - begin) * 1e3


def batch_rows(build, python, rounds):
    hermes = os.path.join(build, "hermes-repl")
    files = {
        "trivial": ("x = 1\n", "≤ 1.15", []),
        "100 cells": ("".join("# %%%%\nx%d = %d\n" % (n, n) for n in range(100)), "≤ 1.3", []),
        "1 000 cells": ("".join("# %%%%\nx%d = %d\n" % (n, n) for n in range(1000)), "", []),
        "pure work": ("t = 0\nfor i in range(3000000):\n    t += i * i\n", "≤ 1.1", []),
        "100 MB of lines": ("L = 'x' * 99\nfor i in range(1000000): print(L)\n", "≤ 1.1", ["-u"]),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, (text, target, flags) in files.items():
            path = os.path.join(folder, "file.py")
            with open(path, "w") as f:
                f.write(text)
            ours, theirs = [], []
            for n in range(-1, rounds if len(text) > 40 else rounds * 2):
                a = timed([hermes, "--python", python, "--batch", path])
                b = timed([python] + flags + [path])
                if n >= 0:
                    ours.append(a)
                    theirs.append(b)
            peer = "python3 %sFILE" % "".join(f + " " for f in flags)
            row("batch, " + name, ("ms", ours), ("ms", theirs), peer, target)


TERMINAL_ROWS = (
    ("start to prompt", "ms", "ipython3", "≤ 15 ms; ≤ 1/30"),
    ("key to echo", "ms", "ipython3", "≤ 0.4 ms; ≤ 1/10"),
    ("key to echo while a tab behind floods", "ms", None, ""),
    ("Enter on x=1 to the next prompt", "ms", "ipython3", "≤ 1 ms"), ("100 000 lines", "ms", "python3", "≤ 1.1"),
    ("memory at the prompt", "MiB", None, "≤ 8 MiB"), ("memory after 100 000 lines", "MiB", None, "≤ 15 MiB"),
    ("idle wake-ups a second", "", None, "0"))


def terminal_rows(build, python, rounds):
    table = bench_terminal.measure(build, python, rounds)
    for title, unit, peer, target in TERMINAL_ROWS:
        ours, theirs = table[title]["hermes-repl"], table[title].get(peer)
        if theirs:
            row("screen: " + title, (unit, ours), (unit, theirs), peer, target)
        else:
            alone("screen: " + title + (" (%s is not here)" % peer if peer else ""), (unit, ours), target)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only")
    args = parser.parse_args()

    def wanted(name):
        return not args.only or args.only in name

    print("| | ours | against | ratio, median (10–90 %) | target |\n|---|---|---|---|---|")
    run = lambda what, rounds=args.rounds: series(args.build, args.python, rounds, what)
    if wanted("cold"):
        t = run("cold")
        row("cold start to first reply", t["engine"], t["python3 -c pass"], "python3 -c pass", "≤ 1.15")
        row("cold start to first reply", t["engine"], t["floor, default flags"], "floor, default flags", "")
    if wanted("warm"):
        t = run("warm", max(5, args.rounds // 3))
        row("warm x=1, median", t["engine"], t["floor"], "C floor", "≤ 2")
        row("warm x=1, p99", t["engine p99"], t["floor p99"], "C floor", "≤ 2")
    if wanted("reset"):
        t = run("reset")
        row("reset to first reply", t["engine"], t["python3 -c pass"], "python3 -c pass", "≤ 1.2 × cold start")
    if wanted("interrupt"):
        t = run("interrupt")
        alone("interrupt of a busy loop", t["busy loop"], "≤ 1 ms")
        alone("interrupt of a sleep", t["sleep"], "≤ 1 ms")
    if wanted("tool"):
        t = run("tool", max(5, args.rounds // 3))
        row("tool call", t["tool call"], t["warm cell"], "warm cell", "≤ 3")
    if wanted("lines"):
        t = run("lines", 5)
        row("printed lines, line-buffered", t["engine"], t["floor"], "C floor", "≥ 0.85")
    if wanted("blocks"):
        t = run("blocks", 5)
        row("big writes", t["engine"], t["floor"], "C floor", "≥ 0.5")
    if wanted("kernels"):
        for name, (unit, values) in run("kernels", 1).items():
            print("| %s | %.4g %s | | | host ≤ 4 MiB + 100 KiB a kernel |" % (name, values[0], unit))
    if wanted("screen"):
        terminal_rows(args.build, args.python, max(3, args.rounds // 3))
    if wanted("batch"):
        batch_rows(args.build, args.python, max(5, args.rounds // 2))


if __name__ == "__main__":
    try:
        main()
    except (subprocess.CalledProcessError, OSError) as error:
        sys.exit("bench: %s" % error)
