#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: lint.sh - the rules of CONTRIBUTING.md that a script can see. Prints what breaks one; then the status is 1.
set -eu
cd "$(dirname "$0")/.."
found=$(mktemp)
trap 'rm -f "$found"' EXIT INT TERM
tab=$(printf '\t')

engine=$(find src -name '*.[ch]' | sort)
library=$(find src -name '*.[ch]' ! -path 'src/guard/*' | sort)
program=$(find ui -name '*.[ch]' 2>/dev/null | sort)
tests=$(find tests -name '*.[ch]' 2>/dev/null | sort)
python=$(find runner tests examples -name '*.py' ! -path 'tests/cases/*' ! -path 'tests/contract/*' 2>/dev/null | sort)
shell="run check .ci/run $(find scripts tests -name '*.sh' | sort)"
prose=$(find . -maxdepth 2 -name '*.md' ! -path './build*' ! -path './tests/*' | sort)

for list in engine program tests python; do
    eval "[ -n \"\$$list\" ]" || echo "lint: no $list files" >>"$found"
done

# say TITLE: every line of stdin breaks this rule.
say() { sed "s|\$| - $1|" >>"$found"; }

# calls TITLE NAMES FILES...: calls of these functions, outside comments and strings.
calls() {
    title=$1 names=$2
    shift 2
    [ $# -gt 0 ] || return 0
    awk -v names="$names" '
        {
            line = $0
            gsub(/\\["\\]/, "", line)
            gsub(/"[^"]*"/, "\"\"", line)
            gsub(/\/\*.*\*\//, "", line)
            sub(/\/\/.*/, "", line)
            if (line ~ /^ *\*/ || line ~ /^ *\/\*/)
                next
            if (match(line, "(^|[^A-Za-z0-9_>.])(" names ") *\\("))
                print FILENAME ":" FNR ": " substr(line, RSTART, RLENGTH)
        }' "$@" | say "$title"
}

# shellcheck disable=SC2086
{
    calls "not to be called anywhere" \
        'strcpy|strcat|sprintf|vsprintf|strtok|atoi|atol|gets|system|signal|select|tmpnam|mktemp|alloca' \
        $engine $program
    calls "no sleeping: wait for the thing itself" 'sleep|usleep' $engine $program
    calls "the library does not print" 'printf|vprintf|fprintf|vfprintf|puts|fputs|putchar|perror|syslog' $library
    calls "the library does not end or change its host" \
        'exit|_exit|setlocale|chdir|setrlimit|sigaction|fork|wait|putenv|setenv|unsetenv' \
        $library
    calls "allocate by alloc.h" 'malloc|calloc|realloc|strdup|strndup|asprintf|vasprintf' \
        $(echo "$library" | grep -v '^src/alloc\.[ch]$')
    calls "allocate by xalloc.h" 'malloc|calloc|realloc|strdup|strndup|asprintf|vasprintf' \
        $(echo "$program" | grep -v '^ui/xalloc\.[ch]$')
    calls "not close-on-exec from birth" 'pipe|accept|dup|creat|epoll_create|eventfd0|mkstemp' $library
    awk '/[^A-Za-z_](open|openat|socket|socketpair|pipe2|accept4|epoll_create1|eventfd|mkostemp) *\(/ {
            text = $0
            for (i = 0; i < 3 && text !~ /;/ && (getline line) > 0; i++)
                text = text line
            if (text !~ /CLOEXEC|FLAGS|flags/ && text !~ /^ *(\/?\*|#)/)
                print FILENAME ":" FNR
        }' $(echo "$library" | grep '\.c$') | say "a descriptor without CLOEXEC"

    # The wall: ui/ includes its own headers, the public one and config.h.
    for file in $program; do
        grep -nE '^ *# *include *"' "$file" | while IFS=: read -r number text; do
            name=$(echo "$text" | sed 's/.*"\(.*\)".*/\1/')
            case $name in
                config.h | hermes-kernel.h) ;;
                */*) echo "$file:$number: $name" ;;
                *) find ui -name "$name" | grep -q . || echo "$file:$number: $name" ;;
            esac
        done
    done | say "ui/ may include its own headers and hermes-kernel.h only"
    grep -nE '# *include *[<"](curses|ncurses|readline|.*ui/)' $engine | say "the library knows no terminal"
    grep -nE '^ *typedef +(struct|enum|union)' $engine $program | say "no typedef for structs and enums"

    # Form.
    awk 'length($0) > 120 { print FILENAME ":" FNR ": " length($0) " columns" }' $engine $program $tests $python \
        $shell Makefile.am configure.ac | say "over 120 columns"
    grep -nE ' +$' $engine $program $tests $python $shell $prose | cut -d: -f1,2 | say "space at the end of the line"
    grep -n "$tab" $engine $program $tests $python | cut -d: -f1,2 | say "tab"
    for file in $engine $program $tests $python; do
        [ -z "$(tail -c 1 "$file")" ] || echo "$file"
    done | say "no newline at the end"
    for file in $engine $program $tests $python $shell; do
        head -n 3 "$file" | grep -q 'SPDX-License-Identifier: ' || echo "$file"
    done | say "no SPDX line"
    for file in $program; do
        head -n 3 "$file" | grep -q 'SPDX-License-Identifier: GPL-3.0-or-later' || echo "$file"
    done | say "ui/ is GPL-3.0-or-later"
    wc -l $engine $program | awk '$2 != "total" && $1 > 600 { print $2 ": " $1 " lines" }' |
        grep -vE '^(src/api/hermes-kernel\.h|src/engine\.c):' | say "over 600 lines"
    awk '
        FNR == 1 { start = 0 }
        /^\{/ { start = FNR }
        /^}/ && start {
            if (FNR - start - 1 > 60)
                print FILENAME ":" start ": " FNR - start - 1 " lines"
            start = 0
        }' $(echo $engine $program | tr ' ' '\n' | grep '\.c$') | say "a function over 60 lines"
    marks='TO''DO|FIX''ME|XX''X|HA''CK|not imple''mented|place''holder'
    grep -nwE "$marks" $engine $program $tests $python $shell $prose Makefile.am configure.ac | cut -c1-120 |
        say "unfinished"

    # The makefile names every file.
    for file in $engine $program $(find tests -name '*.c' 2>/dev/null); do
        name=$file
        case $file in
            tests/check_*.c | tests/fuzz/fuzz_*.c | tests/bench/bench_*.c) name=${file%.c} ;;
        esac
        grep -qE "(^|[ =])$name( |\$)" Makefile.am || echo "$file"
    done | say "not in Makefile.am"

    for file in $shell; do
        sh -n "$file" || echo "$file"
    done 2>&1 | say "syntax"
    for file in run check .ci/run $(find scripts tests/frame -name '*.sh' ! -name setup.sh ! -name 'check-full.sh' \
            ! -name common.sh); do
        [ -x "$file" ] || echo "$file"
    done | say "not executable"
}

# The runner is for Python 3.8 and later; boot.py has to be read by any Python, to say so.
/usr/bin/env python3 - $python <<'PY' 2>&1 | say "syntax of Python 3.8" || :
import ast, sys
for name in sys.argv[1:]:
    try:
        with open(name, encoding="utf-8") as stream:
            ast.parse(stream.read(), name, feature_version=(3, 8))
    except SyntaxError as error:
        print("%s:%s: %s" % (name, error.lineno, error.msg))
PY

if [ -s "$found" ]; then
    sort -u "$found"
    echo "lint: $(sort -u "$found" | wc -l) finding(s)"
    exit 1
fi
echo "lint: nothing found in $(echo $engine $program $tests $python $shell | wc -w) files"
