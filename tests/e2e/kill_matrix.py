#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The kill matrix: the program in each front end, a cell in each state, and somebody kills something.

For every front end (batch, plain prompt, full screen; all on a pseudo-terminal), every state of a cell (CELLS) and
every signal, one of these gets the signal: the host, the guard, the runner, or any of the processes below the
host. Then:

- no process is left 5 s later. Whoever runs a trial is the subreaper of all that it starts, so that waitpid()
  saying "no child" is proof, whatever processes do to their session, environment and name;
- the terminal is as it was: its modes, the alternate screen, the cursor, mouse and paste (not after SIGKILL of the
  host, which no program can answer, and not where there is no terminal any more);
- the store is sound (integrity_check) and has the cell;
- the next start sweeps what was staged;
- where the host lives on, it tells that the state is lost exactly if it is, and the next cell runs.

Prints a table for each front end and victim: how many trials were good, how many there were, and the slowest.
Options: --full (all of it; else a part that changes with the seed), --repeat N, --only WORD,... (names of front
ends, cells, victims, signals; of those that are not named, all), --seed N, --jobs N, --keep (directories of trials
that failed).
"""
import argparse
import ctypes
import json
import os
import random
import shutil
import subprocess
import sys
import time
import traceback

from kill_trial import CELLS, GUARDED, PROGRAM, PYTHON, UNPRIVILEGED_UID, Fault, Trial, become_user, environment

SANITIZED = "-fsanitize" in os.environ.get("SANITIZE_CFLAGS", "")
PR_SET_CHILD_SUBREAPER = 36
HOST_SIGNALS = ("SIGKILL", "SIGTERM", "SIGHUP", "SIGSEGV", "closed")
SIGNALS = HOST_SIGNALS[:4]
VICTIMS = ("host", "guard", "runner", "random")
FRONTS = ("batch", "plain", "screen")


# ---- all of them -----------------------------------------------------------------------------------


def unprivileged_can_run():
    if os.getuid():
        return True
    try:
        return subprocess.run([PROGRAM, "--python", PYTHON, "-c", "1"], cwd="/", env=environment("/nonexistent"),
                              stdin=subprocess.DEVNULL,
                              preexec_fn=lambda: become_user(UNPRIVILEGED_UID)).returncode == 0
    except OSError:
        return False


def is_possible(front, cell, victim, signal_name):
    if not GUARDED and (victim == "guard" or cell in ("guard stopped", "with daemons", "fork bomb")):
        return False
    if SANITIZED and signal_name == "SIGSEGV":          # the sanitizer answers it
        return False
    if cell == "fork bomb" and os.getuid():             # the limit would hold for all that this user runs
        return False
    if cell == "starting" and victim != "host":
        return False
    return front != "batch" or cell != "at the prompt"


def plan(full, seed):
    """Short: each cell with one front end and signal, the host killed; and each other victim with each signal."""
    everything = [(front, cell, victim, name) for victim in VICTIMS for front in FRONTS for cell in CELLS
                  for name in (HOST_SIGNALS if victim == "host" else SIGNALS) if is_possible(front, cell, victim, name)]
    if full:
        return everything
    chance = random.Random(seed)
    chosen = []
    for cell in CELLS:
        fit = [trial for trial in everything if trial[1:3] == (cell, "host")]
        chosen += chance.sample(fit, min(1, len(fit)))
    for victim in VICTIMS[1:]:
        for name in SIGNALS:
            fit = [trial for trial in everything if trial[2:] == (victim, name)]
            chosen += chance.sample(fit, min(1, len(fit)))
    return chosen


def work(slot, trials, keep, report):
    """In a process of its own, the subreaper of its trials."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number, kind, seed in trials:
        trial = Trial(*kind, seed, slot)
        fault = None
        try:
            trial.run()
        except Fault as error:
            fault = str(error)
        except Exception:
            fault = traceback.format_exc()
        if not (fault and keep):
            shutil.rmtree(trial.home, ignore_errors=True)
        line = json.dumps({"number": number, "fault": fault, "took": trial.took, "home": trial.home})
        os.write(report, line.encode() + b"\n")
    os._exit(0)


def run_all(trials, jobs, keep):
    reader, report = os.pipe()
    workers = []
    sys.stdout.flush()
    for slot in range(jobs):
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            work(slot, trials[slot::jobs], keep, report)
        workers.append(pid)
    os.close(report)
    results = {}
    with os.fdopen(reader, encoding="utf-8") as lines:
        for line in lines:
            result = json.loads(line)
            results[result["number"]] = result
            if result["fault"]:
                print("FAULT %s: %s%s" % (", ".join(trials[result["number"]][1]), result["fault"],
                                          " (%s)" % result["home"] if keep else ""), flush=True)
    for pid in workers:
        os.waitpid(pid, 0)
    return results


def print_tables(trials, results):
    for victim in VICTIMS:
        for front in FRONTS:
            mine = [(kind[1], kind[3], results.get(number)) for number, kind, _ in trials
                    if kind[0] == front and kind[2] == victim]
            if not mine:
                continue
            names = [name for name in HOST_SIGNALS if any(name == entry[1] for entry in mine)]
            print("\n%-24s" % ("%s, kill the %s" % (front, victim) if victim != "random" else front + ", kill any")
                  + "".join("%16s" % name for name in names))
            for cell in CELLS:
                row = ""
                for name in names:
                    entries = [entry[2] for entry in mine if entry[:2] == (cell, name)]
                    good = [entry for entry in entries if entry and not entry["fault"]]
                    slowest = max([entry["took"] for entry in good], default=0)
                    row += "%16s" % ("%d/%d %5.2f s" % (len(good), len(entries), slowest) if entries else "-")
                if row.strip(" -"):
                    print("%-24s" % cell + row)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true", default=bool(os.environ.get("HERMES_KILL_FULL")))
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    if options.seed is None:    # the short form is the same for everyone who runs the tests
        options.seed = random.randrange(1 << 30) if options.full or options.only else 1
    words = [word for word in options.only.split(",") if word]
    kinds = plan(options.full or bool(words), options.seed)
    for part, names in enumerate((FRONTS, CELLS, VICTIMS, HOST_SIGNALS)):
        wanted = [word for word in words if word in names]
        kinds = [kind for kind in kinds if not wanted or kind[part] in wanted]
    skipped = 0
    if any(kind[1] == "fork bomb" for kind in kinds) and not unprivileged_can_run():
        skipped = sum(kind[1] == "fork bomb" for kind in kinds)
        kinds = [kind for kind in kinds if kind[1] != "fork bomb"]
        print("no fork bomb: an unprivileged user cannot run %s with %s" % (PROGRAM, PYTHON))
    chance = random.Random(options.seed)
    kinds *= options.repeat
    trials = [(number, kind, chance.randrange(1 << 30)) for number, kind in enumerate(kinds)]
    begin = time.monotonic()
    results = run_all(trials, options.jobs, options.keep)
    print_tables(trials, results)
    good = sum(1 for result in results.values() if not result["fault"])
    print("\nseed %d, %.0f s, the slowest end %.2f s" % (options.seed, time.monotonic() - begin, max(
        [result["took"] for result in results.values()], default=0)))
    print("%d passed, %d failed, %d skipped" % (good, len(trials) - good, skipped))
    return good != len(trials)


if __name__ == "__main__":
    sys.exit(main())
