#!/bin/sh
# SPDX-License-Identifier: MIT
# The user's contract against the shared library, through a binding that decides nothing: it is short, and
# fails whole without the library. HERMES_CONTRACT_ROUNDS repeats it.
. "${srcdir:?}/tests/frame/common.sh"
python=${TEST_PYTHON:-python3}
"$python" -c 'import pytest, psutil' 2>/dev/null || skip "needs python3-pytest and python3-psutil"
lines=$(cat "$src"/tests/contract/engine.py "$src"/tests/contract/model_tools.py "$src"/tests/contract/*/*.py | wc -l)
[ "$lines" -le 250 ] || fail "the binding has $lines lines, above 250"

# A sanitized library needs the sanitizer in the host from its start; the host's own leaks are Python's.
preload=
case ${SANITIZE_CFLAGS-} in
    *address*) preload=$($CC -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 ;;
esac
export ASAN_OPTIONS="${ASAN_OPTIONS-}"

# pgrep does without it, which hangs now and then where it is loaded (glibc 2.36, libasan 8).
mkdir "$work/bin"
printf '#!/bin/sh\nunset LD_PRELOAD\nexec %s "$@"\n' "$(command -v pgrep)" >"$work/bin/pgrep"
chmod +x "$work/bin/pgrep"

contract() {
    LD_PRELOAD=$preload PATH=$work/bin:$PATH PYTHONPATH=$src/tests/contract:$src/python "$python" -B -m pytest -q \
        -p no:cacheprovider --rootdir "$src/tests/contract" "$src/tests/contract/test_code_kernel.py"
}

HERMES_KERNEL_LIB=$work/none contract >"$work/out" 2>&1 && fail "the contract passes without the library"
grep -Eq '[1-9][0-9]* passed' "$work/out" && fail "parts of the contract pass without the library"
HERMES_KERNEL_LIB=$build/.libs/libhermeskernel.so
export HERMES_KERNEL_LIB
round=0
while [ $((round += 1)) -le "${HERMES_CONTRACT_ROUNDS:-1}" ]; do
    contract | tee "$work/out"
    grep -q '^24 passed' "$work/out" || fail "not 24 passed in round $round"
done
