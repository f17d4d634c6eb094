#!/bin/bash
# Files that results go to: private, and never where somebody else wants them.
set -u
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; cat err 2>/dev/null; exit 1; }
umask 022
"$RECKON" record -q -e page-faults -c 1 -o perf.data true 2>err || fail record
ways="report --html FILE perf.data|export --format json -o FILE perf.data|export --format pprof -o FILE perf.data\
|stat -e page-faults -o FILE true|stat -e page-faults --append -o FILE true|stat -e page-faults --json -o FILE true"
each() { # each FUNCTION: calls it with each way, FILE standing for out
    local way
    IFS='|'
    for way in $ways; do
        IFS=' '
        "$1" ${way//FILE/out}
        rm -rf out target
    done
    IFS=$' \t\n'
}

fresh() {
    "$RECKON" "$@" >/dev/null 2>err && [ -s out ] && [ "$(stat -c %a out)" = 600 ] || fail "$*: mode $(stat -c %a out)"
}
each fresh

kept() { # an existing file keeps the mode that its owner gave it
    echo old >out && chmod 640 out
    "$RECKON" "$@" >/dev/null 2>err && [ "$(stat -c %a out)" = 640 ] && [ "$(wc -c <out)" -gt 4 ] || fail "$*: an existing file"
    case " $* " in *" --append "*) grep -q old out ;; *) ! grep -q '^old' out ;; esac || fail "$*: what it contained"
}
each kept

linked() { # one's own link is followed, also to what does not exist yet
    ln -s target out && "$RECKON" "$@" >/dev/null 2>err && [ -s target ] && [ -L out ] && [ "$(stat -c %a target)" = 600 ] || fail "$*: a link"
}
each linked

named_twice() {
    echo old >target && ln target out
    "$RECKON" "$@" >/dev/null 2>err && fail "$*: wrote to a file that has two names"
    [ "$(cat target)" = old ] && grep -q 'other names' err && grep -q 'name another file' err || fail "$*: $(cat target)"
}
each named_twice

for device in /dev/null /dev/stdout /dev/fd/1; do
    "$RECKON" export --format json -o $device perf.data >out 2>err || fail "to $device"
    [ $device = /dev/null ] || [ -s out ] || fail "nothing came through $device"
done
"$RECKON" stat -e page-faults -o >(cat >through) true 2>err || fail "to a pipe of the shell's"
while ! grep -q page-faults through; do sleep 0.1; done

[ "$(id -u)" = 0 ] && "$ROOM" nobody 2>/dev/null || exit 0
somebody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
mkdir theirs && chmod 1777 theirs && chmod 755 . || fail theirs
cd theirs || fail theirs
strange_link() {
    somebody ln -s ../target out && "$RECKON" "$@" >/dev/null 2>../err && fail "$*: followed somebody's link"
    [ ! -e ../target ] && grep -q 'a link that belongs to user 65534' ../err || fail "$*: $(cat ../err)"
}
ways=${ways//perf.data/../perf.data}
each strange_link
strange_file() {
    somebody sh -c 'echo theirs >out && chmod 666 out' && "$RECKON" "$@" >/dev/null 2>../err && fail "$*: wrote into somebody's file"
    [ "$(cat out)" = theirs ] && grep -q 'a file that belongs to user 65534' ../err || fail "$*: $(cat ../err)"
}
each strange_file
strange_pipe() { # with nobody at its other end: refused, not waited for
    somebody mkfifo out && "$RECKON" "$@" >/dev/null 2>../err && fail "$*: wrote into somebody's pipe"
    grep -q 'a pipe that belongs to user 65534' ../err || fail "$*: $(cat ../err)"
}
each strange_pipe
