#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: is-instrumented.sh BUILD-DIRECTORY SYMBOL-PREFIX OPTIONS-VARIABLE
# Shows that a sanitizer build is one: each object of the engine that has code refers to the sanitizer, the shared
# library does, and the runtime is alive inside a test suite (it lists its flags when asked by help=1).
set -eu
[ $# -eq 3 ] || { echo "usage: is-instrumented.sh BUILD-DIRECTORY SYMBOL-PREFIX OPTIONS-VARIABLE" >&2; exit 2; }
dir=$1 symbol=$2 variable=$3
status=0 count=0
for object in "$dir"/src/.libs/*.o; do
    nm "$object" | grep -q ' [Tt] ' || continue
    count=$((count + 1))
    nm "$object" | grep -q " U $symbol" || { echo "$object: no $symbol"; status=1; }
done
[ $count -gt 0 ] || { echo "no objects in $dir/src/.libs"; status=1; }
echo "$count objects of the engine refer to $symbol"
nm -D "$dir/.libs/libhermeskernel.so" | grep -q " U $symbol" ||
    { echo "libhermeskernel.so: no $symbol"; status=1; }
suite=$(ls "$dir"/tests/check_* 2>/dev/null | grep -v '\.' | head -n 1)
[ -n "$suite" ] || { echo "no suite in $dir/tests"; exit 1; }
flags=$(env "$variable=help=1" CK_RUN_SUITE=none "$suite" 2>&1 | grep -c '^	[a-z_]*$') || :
echo "${suite##*/}: the runtime lists $flags flags"
[ "$flags" -gt 20 ] || status=1
exit $status
