#!/bin/sh
# SPDX-License-Identifier: MIT
# Every fuzz target runs over its corpus, and has one.
. "${srcdir:?}/tests/frame/common.sh"

count=0
for program in tests/fuzz/fuzz_*; do
    case $program in *.*) continue ;; esac
    [ -x "$program" ] || continue
    corpus=$src/tests/fuzz/corpus/${program##*/fuzz_}
    [ -n "$(ls "$corpus" 2>/dev/null)" ] || fail "$corpus is empty or missing"
    # libFuzzer's own main wants to be told that it shall not go on after the corpus.
    "$program" "$corpus" $(grep -q LLVMFuzzerRunDriver "$program" && echo -runs=0) || fail "$program: exit status $?"
    count=$((count + 1))
done
[ $count -eq "$(ls "$src"/tests/fuzz/fuzz_*.c | wc -l)" ] || fail "only $count fuzz targets are built"
