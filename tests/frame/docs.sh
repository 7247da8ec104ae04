#!/bin/sh
# SPDX-License-Identifier: MIT
# The manual pages are clean, and complete: every function of the header, every option and exit status of the program.
. "${srcdir:?}/tests/frame/common.sh"
command -v mandoc >/dev/null || skip "no mandoc"

cd "$src/man"
for page in hermes-repl.1 hermes-kernel.3 hermes-kernel-protocol.7; do
    [ -e $page ] || fail "no man/$page"
    mandoc -Tlint -Wwarning $page || fail "man/$page: mandoc -Tlint"
    mandoc -Tutf8 $page | sed 's/.\x08//g' >"$work/$page"
    [ -s "$work/$page" ] || fail "man/$page renders to nothing"
done

status=0
# The functions.
for name in $(tr '\n' ' ' <../src/api/hermes-kernel.h | grep -oE 'HERMES_API [^;{]*\(' |
        grep -oE 'hermes_[a-z0-9_]+ ?\(' | tr -d ' (' | sort -u); do
    grep -qE "^\.F[no] (\"[^\"]*\" )?$name( |\$)|^\.Fo $name\$" hermes-kernel.3 ||
        { echo "hermes-kernel.3 has no synopsis of $name"; status=1; }
    grep -qE "^\.(It )?(Fn|Nm) $name" hermes-kernel.3 ||
        { echo "hermes-kernel.3 does not explain $name"; status=1; }
done
for name in $(sed -n 's/^ *X(\(E[A-Z]*\), -[0-9]*,.*/HERMES_\1/p' ../src/api/hermes-kernel.h); do
    grep -q "$name" hermes-kernel.3 || { echo "hermes-kernel.3 lacks $name"; status=1; }
done

# What the pages for readers of the repository link to is there, and ships.
for page in README.md CONTRIBUTING.md docs/architecture.md docs/ui.md docs/tools.md docs/performance.md \
        docs/reliability.md; do
    grep -oE '\]\([^)#]+' "../$page" | cut -c3- | grep -v '^[a-z]*:' | while read -r target; do
        [ -e "../$(dirname "$page")/$target" ] || echo "$page links to $target, which there is not"
    done
done >"$work/links"
for picture in ../docs/pictures/*.svg; do
    grep -q "docs/pictures/${picture##*/}" ../Makefile.am || echo "Makefile.am lacks ${picture##*/}"
done >>"$work/links"
[ ! -s "$work/links" ] || { cat "$work/links"; status=1; }

# The options, which the program lists from its own table: one a line, the name first.
"$build/hermes-repl" --list-options >"$work/options" || fail "--list-options: exit status $?"
[ "$(wc -l <"$work/options")" -gt 10 ] || fail "--list-options lists $(wc -l <"$work/options") lines"
awk '{ print $1 }' "$work/options" | sort -u | while read -r name; do
    case $name in
        --*) form="Fl -${name#--}" ;;
        -*) form="Fl ${name#-}" ;;
        *) form="$name" ;;
    esac
    grep -qE -e "$form([^a-z_-]|\$)" hermes-repl.1 || echo "$name"
done >"$work/missing"
[ ! -s "$work/missing" ] || { sed 's/^/hermes-repl.1 lacks /' "$work/missing"; status=1; }

# --help and the page tell of the same flags.
"$build/hermes-repl" --help all >"$work/help" || fail "--help all: exit status $?"
grep -oE '(^|[ ,])--[a-z][a-z-]+' "$work/help" | tr -d ' ,' | sort -u >"$work/flags"
while read -r flag; do
    grep -qE -e "Fl -${flag#--}([^a-z-]|\$)" hermes-repl.1 || { echo "hermes-repl.1 lacks $flag"; status=1; }
done <"$work/flags"
grep -oE 'Fl -[a-z][a-z-]+' hermes-repl.1 | sed 's/^Fl -/--/' | sort -u | while read -r flag; do
    grep -qx -e "$flag" "$work/flags" || echo "$flag"
done >"$work/unknown"
[ ! -s "$work/unknown" ] || { sed 's/^/hermes-repl.1 tells of the unknown /' "$work/unknown"; status=1; }

# The commands and the keys, one a line, as the program lists them from its tables.
"$build/hermes-repl" --list-commands >"$work/commands" || fail "--list-commands: exit status $?"
[ "$(wc -l <"$work/commands")" -gt 50 ] || fail "--list-commands lists $(wc -l <"$work/commands") lines"
awk '{ print $1 }' "$work/commands" | while read -r name; do
    grep -qE "^\.It Cm :$name( |\$)" hermes-repl.1 || echo ":$name"
done >"$work/missing"
grep -oE '^\.It Cm :[a-z-]+' hermes-repl.1 | sed 's/.*://' | while read -r name; do
    grep -qE "^$name( |\$)" "$work/commands" || echo ":$name, which there is not"
done >>"$work/missing"
HERMES_REPL_KEYS=/dev/null "$build/hermes-repl" --list-keys >"$work/keys" || fail "--list-keys: exit status $?"
[ "$(wc -l <"$work/keys")" -gt 70 ] || fail "--list-keys lists $(wc -l <"$work/keys") lines"
# "table  keys       command           help", the columns 6, 10 and 16 wide
awk '{
    keys = substr($0, 9, 10); sub(/ +$/, "", keys); gsub(/\\/, "\\e", keys)
    command = substr($0, 21, 16); sub(/ +$/, "", command)
    print ".It Li \"" keys "\" Ta " command
}' "$work/keys" | sort >"$work/rows"
grep '^\.It Li ".*" Ta ' hermes-repl.1 | sed 's/\\&//' | sort >"$work/told"
diff "$work/rows" "$work/told" >"$work/difference" ||
    { sed 's/^/keys, hermes-repl.1 against the table: /' "$work/difference"; status=1; }
[ ! -s "$work/missing" ] || { sed 's/^/hermes-repl.1 lacks /' "$work/missing"; status=1; }
exit $status
