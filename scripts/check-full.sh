# SPDX-License-Identifier: MIT
# Sourced by ./check --full, whose functions it uses: what takes long.

# Where chance decides, ./check takes the same way each time; this looks for others.
HERMES_TEST_SEED=$(date +%s)
export HERMES_TEST_SEED
echo "HERMES_TEST_SEED=$HERMES_TEST_SEED"

# ---- another compiler, the fallbacks, faults --------------------------------------------------------
tree "clang: build" "$top/build-clang" CC=clang --enable-werror --enable-tests &&
    suites "clang: suites" "$top/build-clang" "SUITES TEXT_SUITES" -j"$(jobs)" || :
tree "no guard: build" "$top/build-noguard" --disable-guard --enable-werror --enable-tests &&
    suites "no guard: suites and scripts" "$top/build-noguard" "SUITES TEXT_SUITES SCRIPT_TESTS" -j"$(jobs)" || :
tree "no epoll: build" "$top/build-noepoll" --disable-epoll --enable-werror --enable-tests && {
    suites "no epoll: suites" "$top/build-noepoll" "SUITES TEXT_SUITES" -j"$(jobs)" || :
    suites "no epoll: cases" "$top/build-noepoll" CASE_TESTS HERMES_CASES_JOBS=2 || :
}
tree "faults: build" "$top/build-fault" --enable-fault-injection --enable-asan --enable-ubsan --enable-werror \
    --enable-tests && suites "faults: suites" "$top/build-fault" "SUITES TEXT_SUITES" CK_TIMEOUT_MULTIPLIER=6 || :

# ---- analysers, sanitizers and valgrind over more ----------------------------------------------------------------
for tool in cppcheck clang-tidy gcc; do
    step "analysis: $tool" "$top/scripts/analyse.sh" "$build" $tool || :
done
# A black-box test may expect a bad status, so what a sanitizer says goes to files, too: there must be none.
reports=$top/build-asan/reports
rm -rf "$reports"
mkdir -p "$reports"
ASAN_OPTIONS=log_path=$reports/asan UBSAN_OPTIONS=log_path=$reports/ubsan:print_stacktrace=1
TSAN_OPTIONS=log_path=$reports/tsan
export ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS
suites "asan+ubsan: scripts" "$top/build-asan" SCRIPT_TESTS -j"$(jobs)" || :
suites "asan+ubsan: cases" "$top/build-asan" CASE_TESTS HERMES_CASES_JOBS=2 || :
suites "tsan: scripts" "$top/build-tsan" SCRIPT_TESTS -j"$(jobs)" || :
suites "tsan: cases" "$top/build-tsan" CASE_TESTS HERMES_CASES_JOBS=2 || :
unset ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS
step "sanitizers: nothing reported" sh -c "cat \"$reports\"/* 2>/dev/null && exit 1 || exit 0" || :
for suite in "$build"/tests/check_*; do
    [ -x "$suite" ] && [ ! -d "$suite" ] || continue
    step "valgrind: ${suite##*/}" env -C "$build" CK_TIMEOUT_MULTIPLIER=30 HERMES_REPL="$build/hermes-repl" \
        valgrind -q --leak-check=full --errors-for-leak-kinds=definite --error-exitcode=9 "$suite" || :
done

# ---- all Pythons that are here ------------------------------------------------------------------------
pythons() {
    for version in 3.8 3.9 3.10 3.11 3.12 3.13 3.14; do
        for python in $(command -v python$version || :) /usr/bin/python$version /usr/local/bin/python$version \
            "$HOME"/.pyenv/versions/$version.*/bin/python3; do
            # By what it is: a version manager puts names of versions on PATH that it then refuses.
            "$python" -c 'import sys; print(sys.executable)' 2>/dev/null && break
        done
    done
}
for python in $(pythons); do
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    step "python $version: the runner alone" "$python" -B "$top/tests/runner/test_runner.py" || :
    step "python $version: the runner's answers" "$python" -B "$top/tests/runner/test_inspect.py" || :
    step "python $version: figures" "$python" -B "$top/tests/runner/test_inline.py" || :
    HERMES_CASES_ARGUMENTS="--python $python" HERMES_REPL_PYTHON=$python
    export HERMES_CASES_ARGUMENTS HERMES_REPL_PYTHON
    suites "python $version: cases" "$build" CASE_TESTS HERMES_CASES_JOBS=2 || :
    unset HERMES_CASES_ARGUMENTS HERMES_REPL_PYTHON
done

step "random keys on the screen" env -C "$build" HERMES_REPL="$build/hermes-repl" TUI_FUZZ_SEED=random \
    TUI_FUZZ_SECONDS=300 tests/check_tui_fuzz || :

# ---- fuzzers ------------------------------------------------------------------------------------------
tree "fuzzers: build" "$top/build-fuzz" CC=clang --enable-fuzzing --enable-asan --enable-ubsan --enable-tests &&
    step "fuzzers: are built" make -C "$top/build-fuzz" -j"$(jobs)" check TESTS= && {
    found=0
    for fuzzer in "$top"/build-fuzz/tests/fuzz/fuzz_*; do
        [ -x "$fuzzer" ] && [ ! -d "$fuzzer" ] || continue
        found=$((found + 1))
        name=${fuzzer##*/fuzz_}
        mkdir -p "$top/build-fuzz/new/$name"
        dictionary=$top/tests/fuzz/$name.dict
        [ -e "$dictionary" ] || dictionary=
        step "fuzz $name: corpus and 60 s" "$fuzzer" ${dictionary:+"-dict=$dictionary"} \
            -max_total_time=60 -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$logs/" \
            "$top/build-fuzz/new/$name" "$top/tests/fuzz/corpus/$name" || :
    done
    step "fuzzers: there are some" test $found -gt 0 || :
} || :

# ---- long runs and the package ------------------------------------------------------------------------
step "contract: 20 times" env HERMES_CONTRACT_ROUNDS=20 make -C "$build" check TESTS=tests/frame/contract.sh || :
step "store: 1 000 kills, 100 000 cells" env HERMES_TEST_BUILDDIR="$build" HERMES_STORE_KILLS=1000 \
    HERMES_STORE_CELLS=100000 python3 -B "$top/tests/e2e/test_store_kill.py" || :
for faults in test_faults test_faults_live; do
    step "$faults: each" env HERMES_TEST_SRCDIR="$top" HERMES_REPL="$build/hermes-repl" HERMES_FAULT_ALL=1 \
        "${TEST_PYTHON:-/usr/bin/python3}" -B "$top/tests/e2e/$faults.py" || :
done
step "kill matrix, whole" env HERMES_TEST_BUILDDIR="$build" HERMES_REPL="$build/hermes-repl" \
    "${TEST_PYTHON:-/usr/bin/python3}" -B "$top/tests/e2e/kill_matrix.py" --full || :
step "soak" make -C "$build" soak || :
step "distcheck" make -C "$build" distcheck DISTCHECK_CONFIGURE_FLAGS="--enable-tests" || :
step "debian packages" env DEB_BUILD_OPTIONS="nocheck parallel=$(jobs)" "$top/scripts/package.sh" "$build" \
    "$build/package" || :
