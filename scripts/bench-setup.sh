#!/bin/sh
# SPDX-License-Identifier: MIT
# bench-setup.sh PYTHON DIRECTORY: the programs that make bench compares with. Each is looked for in PYTHON, then
# asked of pip for a virtual environment in DIRECTORY, then, by root on Debian, of apt. What cannot be had is named.
set -eu
python=$1 directory=$2

has() { # MODULE
    for interpreter in "$python" "$directory/bin/python"; do
        [ -x "$(command -v "$interpreter")" ] && "$interpreter" -c "import $1" 2>/dev/null && return 0
    done
    return 1
}

by_pip() { # PACKAGE...
    [ -x "$directory/bin/pip" ] || "$python" -m venv "$directory" || return 1
    "$directory/bin/pip" install --quiet --timeout 20 --retries 1 "$@"
}

by_apt() { # PACKAGE
    { [ "$(id -u)" = 0 ] && apt-cache show "$1"; } || return 1
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$1"
}

get() { # MODULE, package of Debian, packages of pip
    module=$1 package=$2
    shift 2
    if has "$module"; then
        echo "$module: is here"
    elif by_pip "$@" >/dev/null 2>&1 && has "$module"; then
        echo "$module: in $directory"
    elif by_apt "$package" >/dev/null 2>&1 && has "$module"; then
        echo "$module: package $package"
    else
        echo "$module: cannot be had here; its rows are left out"
    fi
}

get IPython python3-ipython ipython
get ptpython ptpython ptpython
get jupyter_console jupyter-console jupyter-console
get ipykernel python3-ipykernel ipykernel
get nbconvert jupyter-nbconvert nbconvert ipykernel
get papermill python3-papermill papermill ipykernel
