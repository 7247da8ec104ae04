#!/bin/sh
# SPDX-License-Identifier: MIT
# The tour runs to its end, in a moment, as a batch and under plain Python, and says the same in both.
. "${srcdir:?}/tests/frame/common.sh"

tour=$src/examples/tour.py
./hermes-repl --batch "$tour" >"$work/out" 2>"$work/err" || fail "exit status $?: $(cat "$work/err")"
"${TEST_PYTHON:-python3}" -u "$tour" >"$work/python-out" 2>"$work/python-err" || fail "plain Python: $?"
diff "$work/python-out" "$work/out" || fail "stdout differs from plain Python's"
diff "$work/python-err" "$work/err" || fail "stderr differs from plain Python's"
cells=$(grep -c '^# %%' "$tour")
markdown=$(grep -c '^# %% \[markdown\]' "$tour" || :)
./hermes-repl --batch "$tour" --json >"$work/json" 2>"$work/err" || fail "--json: exit status $?"
[ "$(grep -c '"status":"success"' "$work/json")" -eq $((cells - markdown)) ] ||
    fail "$(grep -c '"status":"success"' "$work/json") results for $((cells - markdown)) cells"
