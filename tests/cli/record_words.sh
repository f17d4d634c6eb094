#!/bin/bash
# What reckon record and reckon dump say: of mistakes with the cause and the smallest fix, of names that a shell would
# take for something else, of several files, of chains that were asked to be short.
set -u
fail() { echo "FAIL: $*"; cat err 2>/dev/null; exit 1; }
busy='i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done'
"$RECKON" record -q -e cpu-clock:u -o here.data sh -c "$busy" 2>err || { echo "no recording here: $(tail -n 1 err)"; exit 77; }

# Of a name of any length the reason is told, and what to do.
for length in 250 300 5000; do
    "$RECKON" record -q -e cpu-clock:u -o "$(head -c $length /dev/zero | tr '\0' a)" true 2>err
    [ $? = 1 ] && grep -q 'File name too long$' err && grep -q '^  fix: choose a shorter name' err || fail "a name of $length bytes"
done
"$RECKON" record -q -e cpu-clock:u -o '' true 2>err
[ $? = 1 ] && grep -q 'name is empty' err && grep -q '^  fix:' err || fail "-o ''"
"$RECKON" record -q -e cpu-clock:u -o /dev/null true 2>err
[ $? = 1 ] && grep -q 'not a regular file' err && grep -q '^  fix: .*-o - >FILE' err || fail "-o /dev/null"

# A mistake in an option is 2, however late it is seen.
for words in "-p abc" "-p 1,,2" "-t 0" "-C x" "-C 1-0" "--control bogus" "--control fd:x"; do
    "$RECKON" record -q -e cpu-clock:u $words true 2>err
    [ $? = 2 ] && [ -s err ] || fail "$words: not a mistake"
done
"$RECKON" record -q -e cpu-clock:u --control fifo:nowhere true 2>err
[ $? = 1 ] && grep -q 'make it: mkfifo nowhere' err || fail "--control: a FIFO that is not there"
"$RECKON" record -e cpu-clock:u -D 99999 -o late.data true 2>err || fail "-D"
grep -q 'nothing was sampled: it ended before the delay' err || fail "-D: why there is nothing"

# Names that a shell or an option would take otherwise can be pasted.
for name in "it's here" '-dash' 'a;b' 'plain.data'; do
    "$RECKON" record -e cpu-clock:u -o "$name" sh -c "$busy" 2>err || fail "-o $name"
    line=$(sed -n 's/^  see it:  reckon report //p' err)
    eval "set -- $line"
    [ $# = 1 ] && [ "${1#./}" = "$name" ] && "$RECKON" dump --stat "$1" >/dev/null 2>&1 || fail "-o $name: $line"
done
"$RECKON" record -e cpu-clock:u -o "$(printf 'two\nlines\033[31m')" sh -c "$busy" 2>err || fail "a name with a newline"
! grep -q "$(printf '\033')" err && grep -q 'samples in two' err || fail "a name drives the terminal"

# Several files: the sums are of all, and small ones are made small.
"$RECKON" record -e cpu-clock:u -F 20000 --switch-output 40K -o many.data sh -c "$busy; $busy; $busy; $busy" 2>err || fail "--switch-output"
files=$(ls many.data.2* | wc -l)
grep -q "samples in many.data and $files files\{0,1\} before it (" err || fail "--switch-output: how many files"
[ "$(stat -c %s many.data.2* | sort -n | head -n 1)" -lt 200000 ] || fail "--switch-output 40K: $(stat -c %s many.data.2*)"

# No chain is longer than asked for, wherever its frames come from, and bytes are not what it wants.
for mode in fp dwarf auto; do
    "$RECKON" record -e cpu-clock --call-graph $mode --max-stack 2 -o short.data sh -c "$busy" 2>err || fail "--max-stack $mode"
    "$RECKON" dump --json --type sample short.data | python3 -c '
import json, sys
lengths = [len(json.loads(line).get("chain", [])) for line in sys.stdin]
assert len(lengths) > 5 and max(lengths) == 2, lengths' || fail "--max-stack 2 of $mode"
    ! grep -q 'fix: --call-graph' err || fail "--max-stack: more bytes would not help"
    [ $mode = fp ] || grep -q 'cut after 16384 bytes or 2 frames' err || fail "--max-stack of $mode: what cut them"
done

# A script's background jobs ignore SIGINT; where nothing else ends a recording, it does, as perf's.
sh -c 'while kill -0 $PPID; do :; done' & spinner=$!
"$RECKON" record -e cpu-clock:u -p $spinner -o background.data 2>err & recorder=$!
until "$RECKON" dump --type sample background.data 2>/dev/null | grep -q SAMPLE; do # it has flushed once
    kill -0 $recorder || fail "it ended"
    sleep 0.1
done
kill -INT $recorder
wait $recorder
[ $? = 130 ] || { kill $spinner; fail "SIGINT in the background"; }
kill $spinner
wait $spinner 2>/dev/null
grep -q 'samples in background.data' err || fail "SIGINT: the closing line"

# dump: an event that is not there, and which are.
"$RECKON" dump -e nosuch here.data 2>err >out
[ $? = 2 ] && grep -q "no event 'nosuch'; it has: cpu-clock:u$" err && [ ! -s out ] || fail "dump -e nosuch"
"$RECKON" dump -e 'cpu*' here.data 2>err | grep -q SAMPLE && [ ! -s err ] || fail "dump -e 'cpu*'"
"$RECKON" record -q -e 'cpu-clock:u/name=a-name-that-is-longer-than-the-column-for-it/' -e page-faults:u -o wide.data sh -c "$busy" 2>err ||
    "$RECKON" record -q -e 'cpu-clock/name=a-name-that-is-longer-than-the-column-for-it/u' -e page-faults:u -o wide.data sh -c "$busy" 2>err || fail "name="
"$RECKON" dump --stat wide.data >out 2>err || fail "--stat"
[ "$(awk 'NF { print length($0) }' out | sort -u | wc -l)" = 1 ] || { cat out; fail "--stat: columns"; }

# A cgroup that is named twice is sampled once: one id for one CPU.
if "$RECKON" record -q -e cpu-clock -G / -C 0 --duration 0.1 -o once.data 2>err; then
    "$RECKON" record -q -e cpu-clock -G /,/ -C 0 --duration 0.1 -o twice.data 2>err || fail "-G twice"
    python3 -c '
import struct
data = open("twice.data", "rb").read()
size, attrs = struct.unpack_from("<QQ", data, 16)
assert struct.unpack_from("<Q", data, attrs + size - 8)[0] == 8, "ids"' || fail "-G /,/ is sampled twice"
fi
exit 0
