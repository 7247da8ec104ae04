#!/bin/sh
# SPDX-License-Identifier: MIT
# The public header stands alone, twice in a row, in every C from C99 on and in C++, without a warning.
. "${srcdir:?}/tests/frame/common.sh"

printf '#include "hermes-kernel.h"\n#include "hermes-kernel.h"\n%s\n%s\n' \
    'int main(void) { struct hermes_cell cell = HERMES_CELL_INIT; struct hermes_kernel_setup setup =' \
    'HERMES_KERNEL_SETUP_INIT; return cell.size + setup.size == 0; }' >"$work/alone.c"
cp "$work/alone.c" "$work/alone.cc"
for standard in c99 c11 gnu11 c2x; do
    $CC -std=$standard -Wall -Wextra -Wpedantic -Wundef -Wstrict-prototypes -Werror -I"$src/src/api" -fsyntax-only \
        "$work/alone.c" || fail "$CC -std=$standard"
done
command -v "${CXX%% *}" >/dev/null || skip "no C++ compiler"
for standard in c++11 c++17 c++20; do
    $CXX -std=$standard -Wall -Wextra -Wpedantic -Wundef -Werror -I"$src/src/api" -fsyntax-only "$work/alone.cc" ||
        fail "$CXX -std=$standard"
done
