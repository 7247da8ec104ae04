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

# Those of the manual page: the first is the same; the second answers a cell at its terminal.
page=$src/man/hermes-kernel.3
awk '/^\.Sh EXAMPLES/ { inside = 1 } /^\.Sh ERRORS/ { inside = 0 } inside && /^\.Ed/ { shown = 0 }
    inside && shown { print > (out n ".c") } inside && /^\.Bd/ { shown = 1; n++ }' out="$work/page" "$page"
for n in 1 2; do
    sed -i 's/\\e/\\/g' "$work/page$n.c"
    $CC -std=c11 -Wall -Wextra -Werror ${SANITIZE_CFLAGS-} -I"$src/src/api" -o "$work/page$n" "$work/page$n.c" \
        -L.libs -lhermeskernel || fail "example $n of hermes-kernel.3 does not compile"
done
diff "$src/examples/embed.c" "$work/page1.c" || fail "hermes-kernel.3 shows another examples/embed.c"
LD_LIBRARY_PATH=$build/.libs "$work/page2" >"$work/out" || fail "example 2 of hermes-kernel.3: exit status $?"
tr -d '\r' <"$work/out" | grep -q '^who? Ada$' || fail "example 2 of hermes-kernel.3: $(cat "$work/out")"
grep -q '"name": "name", "type": "str"' "$work/out" || fail "example 2 of hermes-kernel.3: $(cat "$work/out")"
