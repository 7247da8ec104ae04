#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: count-tests.sh LOG... - print "PASSED FAILED SKIPPED" summed over the logs of test programs: libcheck,
# unittest, run_cases.py, or anything else as one test. The result of a whole log stands in the file LOG%.log.trs,
# as automake's test harness writes it; a log that reports no failure there but has a bad result counts one.
set -eu
for log; do
    trs=${log%.log}.trs
    result=$(sed -n 's/^:test-result: *\([A-Z]*\).*/\1/p' "$trs" 2>/dev/null) || result=
    awk -v result="${result:-ERROR}" '
        function number(key,    text) {
            text = $0
            if (!sub(".*" key "=", "", text))
                return 0
            return text + 0
        }
        /^[0-9]+%: Checks: [0-9]+, Failures: [0-9]+, Errors: [0-9]+/ {
            gsub(/[,:%]/, " ")
            bad = $5 + $7
            passed += $3 - bad
            failed += bad
            seen = 1
        }
        /^left out: / { left_out++ } # libcheck knows no skipping: such a test has passed
        /^Ran [0-9]+ tests? in / { ran = $2; seen = 1 }
        ran != "" && /^(OK|FAILED)/ {
            bad = number("failures") + number("errors") + number("unexpected successes")
            passed += ran - bad - number("skipped")
            failed += bad
            skipped += number("skipped")
            ran = ""
        }
        /^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ {
            passed += $1
            failed += $3
            skipped += $5
            seen = 1
        }
        END {
            if (ran != "")
                failed += ran
            if (seen) {
                passed -= left_out
                skipped += left_out
            }
            if (!seen) {
                passed += result == "PASS"
                skipped += result == "SKIP"
                failed += result != "PASS" && result != "SKIP"
            } else if (result != "PASS" && !failed)
                failed = 1
            print passed + 0, failed + 0, skipped + 0
        }' "$log"
done | awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }'
