#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: installcheck.sh SOURCE BINDIR LIBDIR, with PKG_CONFIG_PATH set: what was installed works by itself.
set -eu
source=$1 bindir=$2 libdir=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

[ "$("$bindir/hermes-repl" -c 'print(6 * 7)')" = 42 ] || { echo "the installed program does not work"; exit 1; }
# shellcheck disable=SC2046,SC2086
${CC:-cc} ${SANITIZE_CFLAGS-} -o "$work/embed" "$source/examples/embed.c" $(pkg-config --cflags --libs hermeskernel)
LD_LIBRARY_PATH=$libdir "$work/embed" >"$work/out"
[ -s "$work/out" ] || { echo "the embedding example prints nothing"; exit 1; }
echo "installcheck: program and library work as installed"
