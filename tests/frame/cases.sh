#!/bin/sh
# SPDX-License-Identifier: MIT
# The given acceptance cases, whole.
. "${srcdir:?}/tests/frame/common.sh"
program="$build/hermes-repl${HERMES_CASES_ARGUMENTS:+ $HERMES_CASES_ARGUMENTS}"
"${TEST_PYTHON:-python3}" -B "$src/tests/cases/run_cases.py" --bin "$program" --jobs "${HERMES_CASES_JOBS:-1}" \
    --tmp "$work" --interactive
