# SPDX-License-Identifier: MIT
# Sourced by the shell tests of this folder. `make check` sets srcdir, CC, CXX and NM, and runs them in the build.
set -eu
: "${srcdir:?}" "${CC:=cc}" "${CXX:=c++}" "${NM:=nm}"
src=$(cd "$srcdir" && pwd -P)
build=$(pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

fail() { echo "FAIL: $*"; exit 1; }
skip() { echo "SKIP: $*"; exit 77; }
