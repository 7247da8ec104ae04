#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: soak.sh PROGRAM [ROUNDS] - many batches, ended in every way; then nothing of them is left: no process, no
# private directory; and the memory of one long batch does not grow with its output.
set -eu
program=$1 rounds=${2:-100}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
TMPDIR=$work/tmp
mkdir "$TMPDIR"
export TMPDIR

processes() { pgrep -f hermes_kernel_runner | sort || :; }
before=$(processes)

cat >"$work/ok.py" <<'PY'
# %%
x = list(range(1000))
# %%
print(len(x))
PY
cat >"$work/crash.py" <<'PY'
# %%
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], start_new_session=True)
# %%
os.kill(os.getpid(), 11)
PY
cat >"$work/stuck.py" <<'PY'
# %%
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
# %%
while True:
    pass
PY
expect() {
    wanted=$1
    shift
    got=0
    "$@" >"$work/out" 2>&1 || got=$?
    [ $got -eq "$wanted" ] || { tail -n 5 "$work/out"; echo "exit status $got, not $wanted: $*"; exit 1; }
}
round=0
while [ $round -lt "$rounds" ]; do
    expect 0 "$program" --batch --mode strict "$work/ok.py"
    expect 139 "$program" --batch "$work/crash.py"
    [ $((round % 10)) -ne 0 ] || expect 124 "$program" --batch --cell-timeout 0.2 "$work/stuck.py"
    if [ $((round % 10)) -eq 5 ]; then
        "$program" --batch "$work/stuck.py" >"$work/out" 2>&1 &
        victim=$!
        until pgrep -P $victim -f hermes_kernel_runner >/dev/null; do :; done
        kill -9 $victim
        wait $victim 2>/dev/null || :
    fi
    round=$((round + 1))
done

# A killed host's guard has a moment to end the rest.
deadline=$(($(date +%s) + 5))
until [ "$(processes)" = "$before" ]; do
    [ "$(date +%s)" -lt $deadline ] || { echo "left behind:"; pgrep -af hermes_kernel_runner; exit 1; }
done
expect 0 "$program" --batch --mode strict "$work/ok.py"
left=$(find "$TMPDIR" -mindepth 1 | head)
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }

# Memory: 200 MB of output through one cell.
cat >"$work/long.py" <<'PY'
import sys
line = "x" * 99 + "\n"
for _ in range(2000000):
    sys.stdout.write(line)
PY
for arguments in "" "--json"; do
    # shellcheck disable=SC2086
    /usr/bin/env python3 -B - "$program" --batch "$work/long.py" $arguments <<'PY'
import os, sys
null = os.open(os.devnull, os.O_WRONLY)
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
_, status, usage = os.wait4(pid, 0)
print("200 MB %s: wait status %d, host at most %.1f MB" % (" ".join(sys.argv[4:]), status, usage.ru_maxrss / 1024))
sys.exit(status != 0 or usage.ru_maxrss > 20 * 1024)
PY
done
echo "soak: $rounds rounds, nothing left"
