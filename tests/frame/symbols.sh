#!/bin/sh
# SPDX-License-Identifier: MIT
# The shared library exports the functions of the public header and nothing else; the program uses nothing else of it.
. "${srcdir:?}/tests/frame/common.sh"

library=.libs/libhermeskernel.so
[ -e "$library" ] || fail "no $library"
$NM -D --defined-only "$library" | awk '$2 ~ /[A-Z]/ && $2 != "A" { print $3 }' | sort >"$work/exported"
# A name that a declaration of the header gives to a function.
tr '\n' ' ' <"$src/src/api/hermes-kernel.h" | grep -oE 'HERMES_API [^;{]*\(' | grep -oE 'hermes_[a-z0-9_]+ ?\(' |
    tr -d ' (' | sort -u >"$work/declared"
[ "$(wc -l <"$work/declared")" -gt 20 ] || fail "the header declares only $(wc -l <"$work/declared") functions?"
# Hooks of a build with fault injection, and what compilers add for coverage or sanitizers, are no part of the API.
grep -v -e '^hermes_fault_' -e '^__' "$work/exported" | diff "$work/declared" - >"$work/difference" ||
    { cat "$work/difference"; fail "declared (<) and exported (>) differ"; }

for object in ui/*.o ui/.libs/*.o; do
    [ -e "$object" ] || continue
    $NM -u "$object" | grep -E ' hr_' && fail "$object reaches into the engine"
done
ls ui/*.o ui/.libs/*.o >/dev/null 2>&1 || fail "no objects of ui/ to look at"

# readline is GPL: the library must not need it.
readelf -d "$library" | grep NEEDED | grep -E 'readline|ncurses|tinfo' && fail "the library needs a terminal library"
exit 0
