#!/bin/bash
# Programs that are gone, or built anew, are named by the copy with their build-id in perf's cache (~/.debug); a stripped one
# by the debug file there. What lies there under another build-id is ignored.
set -u
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; cat out err 2>/dev/null; exit 1; }
command -v strip >/dev/null && command -v readelf >/dev/null || { echo "no binutils"; exit 77; }
export HOME="$PWD/home"
unset DEBUGINFOD_URLS PERF_BUILDID_DIR
mkdir home

cat >prog.c <<'C'
volatile unsigned sink;
__attribute__((noinline, noipa)) void mix(unsigned n) { for (unsigned i = 0; i < n; i++) sink ^= i; }
int main(void) { for (int i = 0; i < 300; i++) mix(200000); return 0; }
C
build() { ${CC:-cc} -g -O2 -Wl,--build-id -o "$@" prog.c 2>err; }
build whole || { echo "no C compiler"; exit 77; }
id=$(readelf -nW whole | sed -n 's/.*Build ID: //p')
[ "$id" ] || { echo "the linker makes no build-id"; exit 77; }
build other -DOTHER -O1 || fail "another build"

named() { "$RECKON" report --by line "$1" >out 2>err && grep -q "mix.*prog.c:2" out || fail "$1: $2"; }
unnamed() { "$RECKON" report "$1" >out 2>err && ! grep -q "  mix" out || fail "$1: $2"; }
cached() { # DIRECTORY FILE AS: as perf lays them out
    mkdir -p "$1/.build-id/${id:0:2}" "$1/somewhere/prog/$id"
    ln -sfn "../../somewhere/prog/$id" "$1/.build-id/${id:0:2}/${id:2}"
    cp "$2" "$1/somewhere/prog/$id/$3"
}

cp whole prog
"$RECKON" record -q --no-names -e cpu-clock:u -F 999 -o data ./prog 2>err || fail "record"
strip -o prog whole && "$RECKON" record -q --no-names -e cpu-clock:u -F 999 -o stripped ./prog 2>err || fail "record stripped"
unnamed stripped "a name from nowhere"
objcopy --only-keep-debug whole whole.debug && cached home/.debug whole.debug debug || fail "objcopy"
named stripped "the debug file in the cache"
rm -r home/.debug

mv other prog # built anew
unnamed data "the other build's name"
cached home/.debug whole elf
named data "built anew"
rm prog
named data "gone"
cached home/.debug /bin/true elf
unnamed data "a file with another build-id is taken"
rm -r home/.debug
cached elsewhere whole elf
PERF_BUILDID_DIR="$PWD/elsewhere" named data "PERF_BUILDID_DIR"
unnamed data "a cache that was not named"
mkdir -p "home/.debug/.build-id/${id:0:2}" && ln -s "$PWD/whole" "home/.debug/.build-id/${id:0:2}/${id:2}"
named data "as perf had it before Linux 4.5"
rm -r home/.debug

if perf --version >/dev/null 2>&1; then # perf itself keeps it
    cp whole prog
    perf --buildid-dir "$PWD/home/.debug" buildid-cache -a prog >out 2>err || fail "perf buildid-cache"
    rm prog
    named data "in perf's own cache"
fi
exit 0
