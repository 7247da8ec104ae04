#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make bench-instructions: how many instructions fixed work takes, counted by callgrind, so that a change that makes
something dearer is seen on a machine of any speed.

    instructions.py --build DIR [--write] [--only NAME]

instructions.tsv holds what each scenario took when it was last looked at. The exit status is 1 when one takes more than
MARGIN times that; --write puts the figures of now there. Figures are those of x86-64 and of an optimized build
of gcc without sanitizers: elsewhere nothing is compared, and a line says so.
"""
import argparse
import concurrent.futures
import os
import platform
import re
import subprocess
import sys

MARGIN = 1.15       # compilers and C libraries differ by less
TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "instructions.tsv")
NOTE = """\
# Instructions of tests/bench/bench_instructions, as callgrind counts them. Renew: make bench-instructions \
INSTRUCTIONS_ARGUMENTS=--write
"""


def count(program, name, environment):
    """The least of tries: a process beside it may cost a look more, never one less."""
    out = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no",
                          "--toggle-collect=scenario_run", program, name], env=environment,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, universal_newlines=True)
    found = re.search(r"Collected : (\d+)", out.stderr)
    if out.returncode or not found:
        raise RuntimeError("%s: %s" % (name, out.stderr[-500:]))
    return int(found.group(1))


def known():
    with open(TABLE) as file:
        return {name: int(value) for name, value in
                (line.split("\t") for line in file if not line.startswith("#"))}


def why_not_comparable(build):
    with open(os.path.join(build, "Makefile")) as file:
        variables = dict(re.findall(r"^(\w+) = (.*)$", file.read(), re.M))
    if platform.machine() != "x86_64":
        return "this is %s, not x86-64" % platform.machine()
    if not re.search(r"-O[23]\b", variables.get("CFLAGS", "")) or variables.get("SANITIZE_CFLAGS", "").strip():
        return "this is no optimized build without sanitizers"
    if "clang" in variables.get("CC", ""):
        return "the table is made with gcc"
    with open("/proc/cpuinfo") as file:
        return "" if re.search(r"\bavx2\b", file.read()) else "the processor has no AVX2"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    reason = why_not_comparable(args.build)
    if reason:
        print("bench-instructions: skipped: " + reason)
        return 0
    program = os.path.join(args.build, "tests/bench/bench_instructions")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "GLIBC_TUNABLES"))}
    environment.update(BENCH_PYTHON=args.python, PYTHONHASHSEED="0", LC_ALL="C.UTF-8")
    names = [n for n in subprocess.run([program], stdout=subprocess.PIPE, universal_newlines=True,
                                       check=True).stdout.split() if args.only in n]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = dict(zip(names, pool.map(lambda name: count(program, name, environment), names)))
    before, slower = known() if os.path.exists(TABLE) else {}, []
    for name, value in counts.items():
        ratio = value / before[name] if name in before else 0
        note = ("new" if not ratio else "DEARER" if ratio > MARGIN else
                "cheaper: renew the table" if ratio < 0.85 else "")
        print("%-22s %12d  %5.2f  %s" % (name, value, ratio, note))
        if ratio > MARGIN or (not ratio and not args.write):
            slower.append(name)
    if args.write:
        before.update(counts)
        with open(TABLE, "w") as file:
            file.write(NOTE + "".join("%s\t%d\n" % pair for pair in before.items()))
    elif slower:
        print("more than %.2f of what the table has: %s; make it cheap again, or say in the commit why it is worth "
              "that and renew the table" % (MARGIN, ", ".join(slower)))
    return 1 if slower and not args.write else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
        sys.exit("bench-instructions: %s" % error)
