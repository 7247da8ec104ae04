#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: analyse.sh BUILD-DIRECTORY [TOOL...] - cppcheck, clang-tidy (.clang-tidy) and gcc -fanalyzer over src/ and ui/
# of a configured tree whose headers are made. Prints the findings; then the status is 1. A finding that is none is
# answered at its line: NOLINT(check) or cppcheck-suppress, and why.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd -P)
build=$(cd "${1:?usage: analyse.sh BUILD-DIRECTORY [TOOL...]}" && pwd -P)
shift
[ $# -gt 0 ] || set -- cppcheck clang-tidy gcc
cd "$top"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)

# The two parts see different headers, some of the same name.
flags_of() {
    case $1 in
        src/*) printf '%s\n' -Isrc -Isrc/api "-DHERMES_PKGLIBEXECDIR=\"/usr/libexec\"" ;;
        *) find ui -type d | sed 's/^/-I/'; echo -Isrc/api ;;
    esac
    printf '%s\n' -std=gnu11 -D_GNU_SOURCE "-I$build/generated"
    pkg-config --cflags libcjson libpcre2-8 vterm libpng readline sqlite3 ncursesw | tr ' ' '\n' | grep -E '^-[ID]' || :
}

# look_at FOLDER TOOL: the findings of all its files, several at a time.
look_at() {
    flags_of "$1/" >"$work/flags"
    case $2 in
        cppcheck)
            # shellcheck disable=SC2046
            cppcheck -q -j "$jobs" --std=c11 --enable=warning,portability,performance --inline-suppr \
                --suppress=missingIncludeSystem --error-exitcode=1 \
                $(grep -E '^-I(src|ui|/.*/generated)' "$work/flags") "$1" ;;
        clang-tidy)
            find "$1" -name '*.c' | sort | xargs -P "$jobs" -n 1 sh -c \
                'flags=$1; shift; clang-tidy --quiet "$@" -- $(cat "$flags") 2>/dev/null' sh "$work/flags" ;;
        gcc)
            # gcc 12 loses sight of structs that are returned by value (valgrind and clang's analyser do not), and takes
            # the (iconv_t)-1 of a failure for something to be freed (leaks are LeakSanitizer's).
            quiet='-Wno-analyzer-use-of-uninitialized-value -Wno-analyzer-malloc-leak'
            find "$1" -name '*.c' | sort | xargs -P "$jobs" -I{} sh -c \
                'gcc -O1 -g -fanalyzer $4 -Werror -c -o "$3/$$.o" $(cat "$1") "$2" && rm -f "$3/$$.o"' \
                sh "$work/flags" "{}" "$work" "$quiet" ;;
        *)
            echo "no such tool: $2" >&2
            return 2 ;;
    esac
}

status=0
for tool; do
    command -v "$tool" >/dev/null || { echo "analyse: there is no $tool"; status=1; continue; }
    for folder in src ui; do
        if look_at $folder "$tool" >"$work/found" 2>&1 && ! grep -qE '(warning|error):' "$work/found"; then
            echo "analyse: $tool finds nothing in $folder/"
        else
            cat "$work/found"
            echo "analyse: $tool has findings in $folder/"
            status=1
        fi
    done
done
exit $status
