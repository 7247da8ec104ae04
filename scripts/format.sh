#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: format.sh [FILE...] - gives C files the project's form, all of them without arguments. Needs clang-format 14.
# The public header is laid out by hand: there only comments are wrapped.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- $(find src ui tests -name '*.[ch]')
scripts/wrap-comments.py "$@"
for file; do
    case $file in
        src/api/*) ;;
        *) clang-format -i "$file" ;;
    esac
done
