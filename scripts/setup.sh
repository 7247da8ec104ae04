# SPDX-License-Identifier: MIT
# Sourced by ./run and ./check: packages and build directories. The caller sets `top`, the source tree.
# Everything here talks on stderr only, since stdout belongs to the program that ./run starts.

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() { say "$*"; exit 125; }

missing=

# want PACKAGE COMMAND...: remember the package unless the command succeeds.
want() {
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}

want_for_build() {
    want gcc sh -c 'command -v "${CC:-gcc}"'
    want libc6-dev test -e /usr/include/stdio.h
    want make command -v make
    want autoconf command -v autoconf
    want automake command -v automake
    want libtool command -v libtoolize
    want pkg-config command -v pkg-config
    want libncurses-dev pkg-config --exists ncursesw
    want libcjson-dev pkg-config --exists libcjson
    want libreadline-dev pkg-config --exists readline
    want libpcre2-dev pkg-config --exists libpcre2-8
    want libvterm-dev pkg-config --exists 'vterm >= 0.1.4'
    want libpng-dev pkg-config --exists libpng
    want libsqlite3-dev pkg-config --exists sqlite3
    want python3 command -v python3
}

# For the test with the official MCP client: large packages, so only where nothing of the kind is there.
want_node() {
    command -v node >/dev/null 2>&1 || missing="$missing nodejs npm"
}

# What install_missing cannot find out by itself: the packages have Debian's names.
install_missing() {
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null 2>&1 ||
        die "needed, and not found (Debian's names):$missing - install them and try again"
    if [ "$(id -u)" -eq 0 ]; then
        root=
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        root='sudo -n'
    else
        say "some packages are missing; as root, run this line and try again:"
        die "apt-get install -y --no-install-recommends$missing"
    fi
    say "installing with apt-get:$missing"
    setup_log=$(mktemp) || exit 125
    {
        $root env DEBIAN_FRONTEND=noninteractive apt-get update -q </dev/null &&
            $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
                $missing </dev/null
    } >"$setup_log" 2>&1 || {
        tail -n 20 "$setup_log" >&2
        rm -f "$setup_log"
        die "apt-get failed; the lines above are the end of its output"
    }
    rm -f "$setup_log"
    missing=
}

jobs() { getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1; }

make_configure() {
    [ -x "$top/configure" ] && [ -e "$top/Makefile.in" ] && [ -e "$top/build-aux/ltmain.sh" ] && return 0
    say "making configure"
    (cd "$top" && autoreconf -fi) >"$1/autoreconf.log" 2>&1 || {
        tail -n 20 "$1/autoreconf.log" >&2
        die "autoreconf failed ($1/autoreconf.log)"
    }
}

# configure_in DIRECTORY ARGUMENT...: once, and again when the arguments are others.
configure_in() {
    dir=$1
    shift
    mkdir -p "$dir" || exit 125
    [ -f "$dir/Makefile" ] && [ "$(cat "$dir/.configured" 2>/dev/null)" = "$*" ] && return 0
    make_configure "$dir"
    # Objects do not know with which flags they were made.
    [ ! -f "$dir/Makefile" ] || make -C "$dir" clean >/dev/null 2>&1 || :
    say "configuring ${dir#"$top"/}${*:+ ($*)}"
    rm -f "$dir/.configured" "$dir/.built"
    (cd "$dir" && "$top/configure" -q "$@") >"$dir/configure.log" 2>&1 || {
        tail -n 20 "$dir/configure.log" >&2
        die "configure failed ($dir/config.log)"
    }
    printf '%s\n' "$*" >"$dir/.configured"
}

# Whether a source is newer than the last build: much quicker to tell than by make.
is_stale() {
    [ -e "$1/.built" ] && [ -x "$1/hermes-repl" ] || return 0
    [ -n "$(cd "$top" && find configure.ac Makefile.am hermeskernel.pc.in src ui runner scripts man docs examples \
        -newer "$1/.built" -print -quit 2>&1)" ]
}

# build_in DIRECTORY [TARGET...]: make, quiet unless it fails.
build_in() {
    dir=$1
    shift
    say "building ${dir#"$top"/}"
    : >"$dir/.building"
    make -C "$dir" -j"$(jobs)" "$@" >"$dir/build.log" 2>&1 || {
        grep -E -A3 '(error|warning|undefined reference|\*\*\*)' "$dir/build.log" | head -n 40 >&2
        say "the build failed ($dir/build.log)"
        return 1
    }
    mv "$dir/.building" "$dir/.built"
}
