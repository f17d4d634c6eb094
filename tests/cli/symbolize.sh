#!/bin/bash
# reckon symbolize: as addr2line has it for files; addresses of running processes, in other mount namespaces, deleted
# and replaced; bad input; many addresses; a dialogue.
set -u
fail() { echo "FAIL: $*"; cat out err 2>/dev/null; exit 1; }
command -v cc >/dev/null || { echo "no C compiler"; exit 77; }

cat >inlined.c <<'C'
#include <stdio.h>
#include <unistd.h>
static volatile int sink;
static inline __attribute__((always_inline)) void innermost(int n)
{
    sink = n * 3;
    sink /= 7;
}
static inline __attribute__((always_inline)) void middle(int n)
{
    innermost(n);
    sink += n;
}
__attribute__((noinline)) void outermost(int n)
{
    sink++;
    middle(n);
}
int main(int argc, char **argv)
{
    (void)argv;
    outermost(argc);
    printf("%p\n", (void *)outermost);
    fflush(stdout);
    pause();
    return 0;
}
C
cc -O2 -g -o inlined inlined.c || { echo "the C compiler does not work"; exit 77; }
start=$(nm inlined | sed -n 's/ T outermost$//p')

# Every byte of the function, as addr2line tells it.
"$RECKON" symbolize -e inlined -a $(for i in $(seq 0 40); do printf '%x ' $((0x$start + i)); done) >out 2>err || fail "symbolize -e"
if command -v addr2line >/dev/null; then
    addr2line -fiCa -e inlined $(for i in $(seq 0 40); do printf '%x ' $((0x$start + i)); done) |
        sed 's/ (discriminator [0-9]*)//; s/:?$/:0/' >wanted
    # What lies behind the function's end may be anything: no line there for us, the last one for addr2line.
    size=$((0x$(nm -S inlined | sed -n 's/^[^ ]* \([^ ]*\) T outermost$/\1/p')))
    lines() { awk -v end=$((0x$start + size)) '/^0x/ { on = strtonum($1) < end } on' "$1"; }
    awk 'BEGIN { exit strtonum("0x10") != 16 }' 2>/dev/null && { diff <(lines out) <(lines wanted) || fail "addr2line differs"; }
fi
grep -qx innermost out && grep -qx middle out && grep -qx outermost out || fail "inlined functions"

"$RECKON" symbolize -e inlined -P "$start" >out 2>err || fail "pretty"
grep -q "^outermost at .*inlined.c:1[56]$" out || fail "pretty output"
"$RECKON" symbolize -e inlined -s "0x$start" >out 2>err || fail "basenames"
grep -qx "inlined.c:1[56]" out || fail "basenames"
"$RECKON" symbolize -e inlined --no-inline $(for i in $(seq 0 12); do printf '%x ' $((0x$start + i)); done) >out 2>err || fail "--no-inline"
[ "$(awk 'NR % 2' out | sort -u)" = outermost ] || fail "--no-inline: other functions"
"$RECKON" symbolize -e inlined 0 >out 2>err || fail "an address without a name"
[ "$(cat out)" = $'??\n??:0' ] || fail "an address without a name"

# JSON: a line each.
"$RECKON" symbolize -e inlined --json "$start" 0 >out 2>err || fail "--json"
python3 - <<'PY' || fail "JSON"
import json
found, missed = map(json.loads, open("out"))
assert found["symbol"] == "outermost" and found["distance"] == 0, found
assert found["frames"][-1]["function"] == "outermost" and found["frames"][-1]["line"] in (15, 16), found
assert missed["symbol"] is None and missed["miss"] and missed["frames"][0]["line"] == 0, missed
PY

# A process: its own addresses.
process() { # of a program: pid and address
    "$@" >address &
    pid=$!
    until [ -s address ]; do kill -0 $pid || fail "$* ended"; sleep 0.05; done
    address=$(cat address)
}
finish() { kill $pid; wait $pid 2>/dev/null; rm -f address; }
process ./inlined
"$RECKON" symbolize -p $pid "$address" >out 2>err || fail "symbolize -p"
[ "$(head -1 out)" = outermost ] || fail "symbolize -p"
"$RECKON" symbolize -p $pid 1 >out 2>err || fail "an address in no mapping"
[ "$(head -1 out)" = '??' ] || fail "an address in no mapping"
finish

# Deleted, and another file in its place: what runs is named, or nothing.
cp inlined gone
process ./gone
rm gone
cp "$RECKON" gone
"$RECKON" symbolize -p $pid -P "$address" >out 2>err || fail "a deleted program"
grep -q '^outermost at .*inlined.c:1[56]$' out || fail "a deleted program, by /proc/PID/exe"
finish

# Another mount namespace: the file is not to be seen from here, or another one is.
if unshare -m true 2>/dev/null; then
    mkdir room
    cp "$RECKON" room/program
    unshare -m sh -c 'mount -t tmpfs none room && cp inlined room/program && exec room/program' >address &
    pid=$!
    until [ -s address ]; do kill -0 $pid || fail "it ended in its namespace"; sleep 0.05; done
    "$RECKON" symbolize -p $pid -P "$(cat address)" >out 2>err || fail "another mount namespace"
    grep -q '^outermost at .*inlined.c:1[56]$' out || fail "another mount namespace, by /proc/PID/root"
    finish
fi

# Bad input: status 2, a reason, and what came before it is answered.
bad() { # status, reason, words …
    local status=$1 reason=$2
    shift 2
    "$RECKON" symbolize "$@" >out 2>err </dev/null
    local got=$?
    [ $got -eq "$status" ] || fail "symbolize $*: status $got, not $status"
    grep -q -- "$reason" err || fail "symbolize $*: no word of '$reason'"
}
bad 2 "'zz' is not a hexadecimal address" -e inlined zz
bad 2 "'./inlined' is not a hexadecimal address: a program is named by --exe" ./inlined 0x1000
bad 2 "'0x' is not a hexadecimal address" -e inlined 0x
bad 2 "'-5' is not a hexadecimal address" -e inlined -- -5
bad 2 "more than 64 bits" -e inlined 10000000000000000
bad 2 "say whose it is" 1000
bad 2 "exclude each other" -e inlined -p 1 0
bad 2 "its own form" -e inlined --json -a 0
bad 1 "none: No such file" -e ./none 0
bad 1 "not an ELF file\|no ELF file\|damaged" -e inlined.c 0
bad 1 "there is none" -p 2147483647 0
printf '%s\nhello\n%s\n' "$start" "$start" | "$RECKON" symbolize -e inlined >out 2>err
[ $? -eq 2 ] || fail "a bad line: status"
grep -q "line 2: 'hello' is not" err || fail "a bad line: which"
[ "$(grep -cx outermost out)" = 1 ] || fail "a bad line: what came before"

"$RECKON" symbolize -e inlined "$start" zz >out 2>err
[ $? -eq 2 ] && [ "$(grep -cx outermost out)" = 1 ] || fail "a bad word: what came before"

# The same lines wherever their parts are found: split, and moved with the program, where what was compiled since has
# taken their place; told from a directory that is relative; what dwz moved out, told from where a link leads.
chain() { # of a program: each byte of the function
    local at=$(nm "$1" | sed -n 's/ T outermost$//p')
    "$RECKON" symbolize -e "${2:-$1}" -s $(for i in $(seq 0 40); do printf '%x ' $((0x$at + i)); done) >out 2>err || fail "symbolize -e $1"
    grep -qx innermost out && grep -qx middle out
}
mkdir -p was/objects
cp inlined.c was
if (cd was && cc -O2 -g -gsplit-dwarf -c -o objects/part.o inlined.c && cc -o split objects/part.o && [ -e objects/part.dwo ]) 2>err; then
    chain was/split || fail "split"
    mv was is
    chain is/split || fail "split, moved"
    mkdir -p was/objects
    sed 's/n \* 3/n * 5/' inlined.c >was/inlined.c
    (cd was && cc -O2 -g -gsplit-dwarf -c -o objects/part.o inlined.c) || fail "cc -gsplit-dwarf"
    chain is/split || fail "split, moved, and compiled anew"
    mv is/objects/part.dwo is
    chain is/split || fail "split, beside the program"
    mv is/part.dwo part.away
    chain is/split && fail "another one's .dwo is believed"
fi
mkdir -p relative
cp inlined.c relative
if (cd relative && cc -O2 -g -gsplit-dwarf -fdebug-prefix-map="$PWD"=. -c -o part.o inlined.c && cc -o split part.o && [ -e part.dwo ]) 2>err; then
    chain relative/split || fail "split, in a relative directory"
fi
mkdir -p dwz/debug dwz/far
cp inlined dwz/debug/one
cp inlined dwz/debug/two
if (cd dwz/debug && dwz -m common -M ./common one two && cp one ../whole && objcopy --only-keep-debug one real.debug &&
    ln -s debug/real.debug ../link && ln -s ../link ../far/one.debug &&
    objcopy -S -R .note.gnu.build-id --add-gnu-debuglink=../far/one.debug one ../far/one) >/dev/null 2>err; then
    chain dwz/debug/one || fail "dwz"
    chain dwz/debug/one dwz/far/one || fail "dwz, behind links: $(cat out)"
fi

# A section that unpacks to a thousand times its size is not unpacked: memory goes by the size of the file.
python3 -c 'import sys, zlib; n = 100 << 20; sys.stdout.buffer.write(b"ZLIB" + n.to_bytes(8, "big") + zlib.compress(bytes(n)))' >bomb.bytes
if objcopy -R .debug_info --add-section .zdebug_info=bomb.bytes inlined bomb 2>err; then
    "$RECKON" symbolize -e bomb --json "$start" >out 2>err || fail "a bomb"
    grep -q '"symbol":"outermost".*"line_miss":".*damaged"' out || fail "a bomb is unpacked"
fi

# 400 functions inlined into each other: the last 255, and the outermost at the line where it calls the first.
{
    echo 'volatile int sink; static inline __attribute__((always_inline)) void f0(int x) { sink = x; }'
    for i in $(seq 399); do echo "static inline __attribute__((always_inline)) void f$i(int x) { f$((i - 1))(x + 1); }"; done
    echo 'void most(int x) { f399(x); }'
} >deep.c
cc -O1 -g -shared -fPIC -o deep deep.c || fail "cc"
at=$(nm -S deep | sed -n 's/ T most$//p')
for i in $(seq 0 $((0x${at#* } - 1))); do printf '%x\n' $((0x${at% *} + i)); done | "$RECKON" symbolize -e deep -a -s >out 2>err || fail "deep"
awk '/^0x/ { frames = 0; next } /^deep.c/ { if (++frames == 256) { whole++; if (name != "most" || $0 != "deep.c:401") exit bad = 1 } } { name = $0 }
    END { exit bad || !whole }' out || fail "a deep chain"

# Nobody's standard input or output is another file's: what was closed stays closed.
"$RECKON" symbolize -e inlined <&- >out 2>err
[ $? -eq 1 ] && grep -q 'standard input: Bad file descriptor' err || fail "no standard input"
"$RECKON" symbolize -e inlined "$start" >&- 2>err
[ $? -eq 1 ] && grep -q 'Bad file descriptor' err || fail "no standard output"

# An object file that is not linked yet: what its lines refer to is filled in.
cc -O2 -g -c -o inlined.o inlined.c || fail "cc -c"
"$RECKON" symbolize -e inlined.o -P "$(nm inlined.o | sed -n 's/ T outermost$//p')" >out 2>err || fail "an object file"
"$RECKON" symbolize -e inlined -P "$start" >linked 2>err && cmp -s linked out || fail "an object file: $(cat linked out)"

# More than a batch; the last line has no end.
{ yes "$start" | head -n 300000; printf '%s' "$start"; } | "$RECKON" symbolize -e inlined >out 2>err || fail "many"
[ "$(grep -cx outermost out)" = 300001 ] || fail "many: $(grep -cx outermost out)"

# A dialogue: the answer comes before the next question.
mkfifo ask answers
"$RECKON" symbolize -e inlined <ask >answers &
pid=$!
exec 5>ask 6<answers
echo "$start" >&5
read -r -t 20 line <&6 && [ "$line" = outermost ] || fail "a dialogue"
exec 5>&-
wait $pid || fail "a dialogue's end"
exec 6<&-

# However large it is unpacked, the file is read once: what is asked next is answered without it.
python3 -c 'import os, sys, zlib
n, packer, out = 264 << 20, zlib.compressobj(1), sys.stdout.buffer
out.write(b"ZLIB" + n.to_bytes(8, "big"))
for i in range(264):
    out.write(packer.compress(os.urandom(1 << 15) + bytes((1 << 20) - (1 << 15))))
out.write(packer.flush())' >large.bytes
if objcopy -R .debug_ranges --add-section .zdebug_ranges=large.bytes inlined large 2>err; then
    "$RECKON" symbolize -s -e large <ask >answers &
    pid=$!
    exec 5>ask 6<answers
    echo "$start" >&5
    read -r -t 60 line <&6 && read -r -t 60 line <&6 && grep -qx "inlined.c:1[56]" <<<"$line" || fail "a large one: $line"
    rm large
    echo "$start" >&5
    read -r -t 60 line <&6 && read -r -t 60 line <&6 && grep -qx "inlined.c:1[56]" <<<"$line" || fail "a large one is read anew: $line"
    exec 5>&-
    wait $pid || fail "a large one's end"
    exec 6<&-
fi

# The kernel's.
text=$(awk '$3 == "_text" { print $1 }' /proc/kallsyms)
if [ -n "$text" ] && [ "$text" != 0000000000000000 ]; then
    "$RECKON" symbolize "$text" >out 2>err || fail "the kernel"
    [ "$(head -1 out)" = '??' ] && fail "the kernel's _text has no name"
fi
[ ! -w /dev/full ] || ! "$RECKON" symbolize -e inlined "$start" >/dev/full 2>err || fail "a full disk is no failure"
exit 0
