#!/bin/sh
# SPDX-License-Identifier: MIT
# The Python binding against the shared library.
. "${srcdir:?}/tests/frame/common.sh"
preload=
case ${SANITIZE_CFLAGS-} in
    *address*) preload=$($CC -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 ;;
    *thread*) skip "the thread sanitizer does not see the host's own synchronisation" ;;
esac
export ASAN_OPTIONS="${ASAN_OPTIONS-}"
HERMES_KERNEL_LIB=$build/.libs/libhermeskernel.so LD_PRELOAD=$preload \
    "${TEST_PYTHON:-python3}" -B "$src/tests/python/test_hermes_kernel.py"
