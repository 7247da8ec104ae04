#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: boot-header.sh BOOT.PY [MACRO] - writes a C header to stdout whose MACRO (HR_BOOT_SOURCE) is the program's text
# without comment lines and blank lines. A text with triple quotes is refused: a line inside one could look
# like a comment.
set -eu
[ $# -eq 1 ] || [ $# -eq 2 ] || { echo "usage: boot-header.sh BOOT.PY [MACRO]" >&2; exit 2; }
LC_ALL=C exec "${AWK:-awk}" -v macro="${2:-HR_BOOT_SOURCE}" '
    BEGIN {
        print "/* Made from a file of runner/ by scripts/boot-header.sh; do not edit. */"
        print "#ifndef " macro "_H"
        print "#define " macro "_H"
        print ""
        printf "#define %s", macro
    }
    /"""|\047\047\047/ {
        print FILENAME ":" FNR ": triple quotes" | "cat >&2"
        bad = 1
        exit
    }
    /^[ \t]*(#.*)?$/ { next }
    {
        sub(/[ \t\r]+$/, "")
        gsub(/[\\"]/, "\\\\&")
        gsub(/\t/, "\\\\t")
        printf " \\\n    \"%s\\n\"", $0
        lines++
    }
    END {
        if (!bad && !lines) {
            print FILENAME ": no program text" | "cat >&2"
            bad = 1
        }
        if (bad)
            exit 1
        print ""
        print ""
        print "#endif"
    }' "$1"
