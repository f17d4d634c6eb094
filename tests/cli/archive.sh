#!/bin/bash
# One file to carry to another machine: reckon's recording and perf's, plain and packed; what they show stays byte for byte
# when the program is gone; perf reads the copy; what can't be copied is refused in words.
set -u
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; cat out err 2>/dev/null; exit 1; }
export HOME="$PWD/home" LC_ALL=C
unset DEBUGINFOD_URLS PERF_BUILDID_DIR

cat >prog.c <<'C'
volatile unsigned sink;
static inline __attribute__((always_inline)) void inlined(unsigned n) { for (unsigned i = 0; i < n; i++) sink ^= i; }
__attribute__((noinline, noipa)) void mix(unsigned n) { inlined(n); }
int main(void) { for (int i = 0; i < 300; i++) mix(200000); return 0; }
C
${CC:-cc} -g -O2 -o prog prog.c 2>err || { echo "no C compiler"; exit 77; }
kinds="own names packed"
"$RECKON" record -q --no-names -e cpu-clock:u -F 999 -g -o own ./prog 2>err &&
    "$RECKON" record -q -e cpu-clock:u -F 999 -o names ./prog 2>err &&
    "$RECKON" record -q -z --no-names -e cpu-clock:u -F 999 -o packed ./prog 2>err || fail "record"
perf record -q -e cpu-clock:u -F 999 -o perf -- ./prog >out 2>err && kinds="$kinds perf"
for kind in $kinds; do
    "$RECKON" report $kind >$kind.report 2>err && "$RECKON" report --by line $kind >$kind.lines 2>err || fail "report $kind"
    grep -q inlined $kind.report || fail "$kind has no names at all"
    "$RECKON" archive $kind >out 2>err || fail "archive $kind"
    grep -qE "^$kind.archive: of [0-9]+ addresses [0-9]+ have a name, [0-9]+ a line$" err || fail "archive $kind says"
    [ "$(stat -c %a $kind.archive)" = 600 ] || fail "mode of $kind.archive"
    perf script -i $kind 2>/dev/null >before && { perf script -i $kind.archive 2>err | cmp -s before - || fail "perf script of $kind.archive"; }
done
mv prog gone
for kind in $kinds; do
    "$RECKON" report $kind.archive >out 2>err && cmp out $kind.report || fail "report $kind.archive"
    "$RECKON" report --by line $kind.archive >out 2>err && cmp out $kind.lines || fail "lines of $kind.archive"
    "$RECKON" archive -q -o again $kind.archive >out 2>err && [ ! -s out ] && [ ! -s err ] || fail "archive -q"
    "$RECKON" report again >out 2>err && cmp out $kind.report || fail "an archive of an archive: $kind"
done
"$RECKON" report own >out 2>err && ! grep -q inlined out || fail "own has names without the program"

"$RECKON" archive -o own own 2>err; [ $? = 1 ] && grep -q 'the recording itself' err || fail "over itself"
ln own hard && "$RECKON" archive -o hard own 2>err; [ $? = 1 ] || fail "over another name of itself"
cmp -s own hard && "$RECKON" report own >out 2>err || fail "the recording is gone"
"$RECKON" archive nothing 2>err; [ $? = 1 ] && grep -q 'nothing: No such file' err || fail "no file"
"$RECKON" archive - 2>err; [ $? = 2 ] || fail "a pipe"
"$RECKON" archive own names 2>err; [ $? = 2 ] || fail "two"
mv gone prog
"$RECKON" record -q -e cpu-clock:u -F 999 -o - ./prog >pipe 2>err && "$RECKON" archive pipe 2>err
[ $? = 1 ] && grep -q 'reckon export --format pprof' err && [ ! -e pipe.archive ] || fail "a pipe's format"
head -c "$(($(stat -c %s own) / 2))" own >cut && "$RECKON" archive cut 2>err
[ $? = 1 ] && [ ! -e cut.archive ] || fail "a recording that was cut"
"$RECKON" record -q --no-names --keep-stacks -e cpu-clock:u -F 999 --call-graph dwarf -o stacks ./prog 2>err &&
    "$RECKON" archive stacks >out 2>err || fail "stacks"
grep -q 'unwound when it is read' err || fail "stacks that the reader unwinds are not told of"
exit 0
