#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: package.sh BUILD DIRECTORY: build the Debian packages in DIRECTORY, from a release that `make dist` makes in
# BUILD, check them with lintian, and leave them there. Needs dpkg-dev, debhelper, dh-python, lintian.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd -P)
build=$1 out=$2
make -C "$build" dist
mkdir -p "$out"
rm -rf "${out:?}"/*
archive=$(ls "$build"/hermes-repl-*.tar.xz)
version=$(basename "$archive" .tar.xz)
version=${version#hermes-repl-}
cp "$archive" "$out/hermes-repl_$version.orig.tar.xz"
tar -C "$out" -xJf "$archive"
cp -R "$source/debian" "$out/hermes-repl-$version/"
cd "$out/hermes-repl-$version"
unset MAKEFLAGS MFLAGS MAKELEVEL || true
dpkg-buildpackage -us -uc
cd ..
lintian --fail-on error --info ./*.changes
ls ./*.deb
