#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: prove-bare-debian.sh [-k] [-s SUITE] [-m MIRROR] [-d DIRECTORY] [CHECK-ARGUMENT...]
# Makes a Debian root (default: bookworm) that has nothing but git, clones the committed state of this repository
# there and runs README's two commands: ./run --batch examples/tour.py and ./check. Needs root and debootstrap.
#   -k  keep the root afterwards, and use it again if it is there
set -eu
keep=no suite=bookworm mirror=http://deb.debian.org/debian root=
while getopts ks:m:d: option; do
    case $option in
        k) keep=yes ;;
        s) suite=$OPTARG ;;
        m) mirror=$OPTARG ;;
        d) root=$OPTARG ;;
        *) sed -n 's/^# usage: /usage: /p' "$0" >&2; exit 2 ;;
    esac
done
shift $((OPTIND - 1))
top=$(cd "$(dirname "$0")/.." && pwd -P)
[ "$(id -u)" -eq 0 ] || { echo "needs root" >&2; exit 2; }
command -v debootstrap >/dev/null || { echo "needs debootstrap" >&2; exit 2; }
root=${root:-$(mktemp -d)/root}

unmount() {
    for place in /dev/shm /dev/pts /dev /proc ''; do
        ! mountpoint -q "$root$place" || umount "$root$place"
    done
}
leave() {
    unmount
    [ $keep = yes ] || rm -rf "$root"
}
trap leave EXIT
trap 'exit 1' INT TERM

say() { printf '== %s (%s)\n' "$*" "$(date +%T)"; }

if [ ! -x "$root/usr/bin/git" ]; then
    say "debootstrap $suite in $root"
    mkdir -p "$root"
    debootstrap --variant=minbase --include=git,ca-certificates "$suite" "$root" "$mirror" >"$root.log" 2>&1 ||
        { tail "$root.log"; exit 1; }
fi
cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || :
# A root that is a mount, as everywhere but in a bare chroot: unshare(1) wants it.
mount --bind "$root" "$root"
mkdir -p "$root/dev/pts" "$root/dev/shm"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mkdir "$root/dev/pts" "$root/dev/shm"
for node in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0; do
    mknod -m 666 "$root/dev/${node%%:*}" c "$(echo "$node" | cut -d: -f2)" "$(echo "$node" | cut -d: -f3)"
done
ln -s /proc/self/fd "$root/dev/fd"
ln -s /proc/self/fd/0 "$root/dev/stdin"
ln -s /proc/self/fd/1 "$root/dev/stdout"
ln -s /proc/self/fd/2 "$root/dev/stderr"
mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
mount -t tmpfs tmpfs "$root/dev/shm"

say "what is there: $(chroot "$root" dpkg-query -f '.\n' -W | wc -l) packages; gcc: $(chroot "$root" sh -c \
    'command -v gcc || echo none'), make: $(chroot "$root" sh -c 'command -v make || echo none'), python3: $(
    chroot "$root" sh -c 'command -v python3 || echo none')"
rm -rf "$root/root/origin.git" "$root/root/hermes-repl"
git clone -q --bare "$top" "$root/root/origin.git"

cat >"$root/root/prove.sh" <<'INSIDE'
set -eu
cd /root
git clone -q /root/origin.git hermes-repl
cd hermes-repl
say() { printf '== %s (%s)\n' "$*" "$(date +%T)"; }
say "commit $(git rev-parse --short HEAD); ./run --batch examples/tour.py"
./run --batch examples/tour.py </dev/null
say "exit status $?; again, with nothing to build"
./run --batch examples/tour.py </dev/null >/dev/null
say "./check $*"
status=0
./check "$@" </dev/null || status=$?
say "exit status $status"
[ -z "$(git status --porcelain)" ] || { git status --short; echo "the commands left files behind"; status=1; }
exit $status
INSIDE
status=0
env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TERM=dumb \
    chroot "$root" sh /root/prove.sh "$@" || status=$?
exit $status
