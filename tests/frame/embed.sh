#!/bin/sh
# SPDX-License-Identifier: MIT
# The example of embedding is the one that README shows, compiles without a warning, and does what README says.
. "${srcdir:?}/tests/frame/common.sh"

awk '/^```c$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$src/README.md" >"$work/embed.c"
diff "$src/examples/embed.c" "$work/embed.c" || fail "README shows another examples/embed.c"
$CC -std=c11 -Wall -Wextra -Werror ${SANITIZE_CFLAGS-} -I"$src/src/api" -o "$work/embed" "$work/embed.c" \
    -L.libs -lhermeskernel || fail "it does not compile"
LD_LIBRARY_PATH=$build/.libs "$work/embed" >"$work/out" 2>"$work/err" || fail "exit status $?: $(cat "$work/err")"
awk '/^    \$ \.\/embed$/ { inside = 1; next } inside && !/^    / { exit } inside { print substr($0, 5) }' \
    "$src/README.md" >"$work/expected"
[ -s "$work/expected" ] || fail "README shows no output of ./embed"
diff "$work/expected" "$work/out" || fail "another output than README shows"
[ ! -s "$work/err" ] || fail "on stderr: $(cat "$work/err")"
