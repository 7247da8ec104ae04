#!/bin/sh
# SPDX-License-Identifier: MIT
# The completion scripts in the shells that are here: each completes options, choices, files and session names.
. "${srcdir:?}/tests/frame/common.sh"
HERMES_REPL_CONFIG=
export HERMES_REPL_CONFIG
PATH=$build:$PATH
mkdir "$work/in" "$work/fpath"
cd "$work/in"
touch script.py notebook.ipynb
mkdir folder
ran=0
XDG_STATE_HOME=$work/state
export XDG_STATE_HOME
for name in kept-one kept-two; do
    hermes-repl --session $name --python "${TEST_PYTHON:-python3}" -c 1 || fail "--session $name: exit status $?"
done

# expect SHELL TYPED WORD...: every WORD is offered.
expect() {
    shell=$1 typed=$2
    shift 2
    "offer_$shell" "$typed" >"$work/offered" 2>&1
    for word in "$@"; do
        grep -qx -e "$word" "$work/offered" ||
            fail "$shell: '$typed' does not offer $word but: $(tr '\n' ' ' <"$work/offered")"
    done
}

all() {
    ran=$((ran + 1))
    expect "$1" "hermes-repl --mo" --mode
    expect "$1" "hermes-repl --mode " project strict
    expect "$1" "hermes-repl --on-error c" continue
    expect "$1" "hermes-repl --batch scr" script.py
    expect "$1" "hermes-repl --cwd fol" folder
    expect "$1" "hermes-repl --max-session" --max-session-kernels
    expect "$1" "hermes-repl --session kept-" kept-one kept-two
    expect "$1" "hermes-repl --replay kept-t" kept-two
}

offer_bash() {
    bash --norc -c '
        . "$1"
        COMP_LINE=$2 COMP_POINT=${#2}
        read -ra COMP_WORDS <<<"$2"
        [[ $2 == *" " ]] && COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        compopt() { :; }
        _hermes_repl
        printf "%s\n" "${COMPREPLY[@]}"' bash "$build/completions/hermes-repl" "$1"
}

# zsh completes on a terminal only: one of its own (zpty), in which each match is written down.
cat >"$work/zshrc" <<'EOF'
PS1= fpath=($ZDOTDIR/fpath $fpath)
stty -echo
autoload -Uz compinit
compinit -u -D
zstyle ':completion:*' insert-tab false
compadd() {
    local -a matches
    builtin compadd -O matches "$@"
    print -rl -- "${matches[@]}" >>$ZDOTDIR/matches
    builtin compadd "$@"
}
finish() { zle kill-whole-line; print -r -- done >>$ZDOTDIR/matches }
zle -N finish
bindkey '^X' finish
print -r -- ready >$ZDOTDIR/matches
EOF
cat >"$work/drive.zsh" <<'EOF'
zmodload zsh/zpty zsh/zselect
wait_for() {
    local i
    for ((i = 0; i < 400; i++)); do
        grep -qx "$1" $ZDOTDIR/matches 2>/dev/null && return
        zpty -r -t shell line >/dev/null 2>&1 || zselect -t 2
    done
}
zpty shell zsh -d -i
wait_for ready
zpty -n -w shell "$1"$'\t\x18'
wait_for done
zpty -d shell
EOF

offer_zsh() {
    rm -f "$work/matches"
    cp "$work/zshrc" "$work/.zshrc"
    ZDOTDIR=$work zsh -f "$work/drive.zsh" "$1" >/dev/null 2>&1
    cat "$work/matches"
}

offer_fish() {
    XDG_CONFIG_HOME=$work XDG_DATA_HOME=$work fish --no-config -c 'source $argv[1]; complete -C $argv[2]' \
        "$build/completions/hermes-repl.fish" "$1" | cut -f1 | sed 's,/$,,'
}

cp "$build/completions/_hermes-repl" "$work/fpath/_hermes-repl"
for shell in bash zsh fish; do
    if command -v $shell >/dev/null; then
        all $shell
    else
        echo "$shell is not here"
    fi
done
[ $ran -gt 0 ] || skip "none of bash, zsh and fish is here"
