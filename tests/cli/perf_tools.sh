#!/bin/bash
# perf's other tools on recordings of ours: inject, annotate, diff, sched, script -g. (record.sh has script, tests/perf-report
# has report.) Each reads the whole file, header too, in a way of its own.
set -u
perf --version >/dev/null 2>&1 || { echo "perf is not here, or not for this kernel"; exit 77; }
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; cat err 2>/dev/null; exit 1; }
export LC_ALL=C PERF_BUILDID_DIR="$PWD/buildid" HOME="$PWD"

cat >busy.c <<'C'
#include <time.h>
unsigned seed = 1;
__attribute__((noinline)) unsigned inner(unsigned n)
{
    unsigned s = seed;
    for (unsigned i = 0; i < n; i++)
        s = s * 31 + i;
    return s;
}
__attribute__((noinline)) unsigned outer(unsigned n)
{
    return inner(n) + 1;
}
int main(void)
{
    const struct timespec pause = {0, 1000000};
    for (int i = 0; i < 10; i++) {
        seed += outer(5000000);
        nanosleep(&pause, NULL);
    }
    return 0;
}
C
${CC:-cc} -g -O1 -fno-omit-frame-pointer -o busy busy.c 2>err || { echo "no C compiler for the program to look at"; exit 77; }

kinds="dwarf off two"
"$RECKON" record -q -e cpu-clock --call-graph dwarf -o dwarf.data ./busy 2>err &&
    "$RECKON" record -q -e cpu-clock --call-graph fp -o fp.data ./busy 2>err &&
    "$RECKON" record -q -e cpu-clock --off-cpu -o off.data ./busy 2>err &&
    "$RECKON" record -q -e cpu-clock,page-faults -o two.data ./busy 2>err || fail "record"
"$RECKON" record -q -z -e cpu-clock --call-graph fp -o packed.data ./busy 2>err && kinds="$kinds packed"

# What lies in front of the first sample is there, whichever thread empties the rings: else perf has no name of the kernel's.
for kind in dwarf fp; do
    "$RECKON" dump $kind.data >dumped 2>err || fail "dump"
    kernel=$(grep -c 'MMAP.*\[kernel.kallsyms\]' dumped)
    [ $kind = dwarf ] && first=$kernel
done
[ "$first" = "$kernel" ] || fail "the kernel's mappings: $first with stacks, $kernel without"

# inject writes the file anew, header and all, with each of its ways of reading.
for kind in $kinds; do
    perf script -i $kind.data >before 2>err || fail "script: $kind"
    [ -s before ] || fail "script: nothing in $kind"
    for how in -b $([ $kind = dwarf ] && echo -s --jit); do
        perf inject $how -i $kind.data -o injected.data 2>err
        status=$?
        [ $status = 0 ] || fail "inject $how: $kind ends with $status"
        perf script -i injected.data 2>err | cmp -s before - || fail "inject $how: $kind: other samples than before"
        "$RECKON" report injected.data >out 2>err || fail "what inject $how has made of $kind can't be read"
        grep -q inner out || fail "inject $how: $kind: no names"
    done
done
"$RECKON" record -q -e cpu-clock -o - ./busy 2>err | perf inject -b -o injected.data 2>err || fail "inject from a pipe"
perf script -i injected.data >out 2>err && grep -q inner out || fail "inject from a pipe: nothing in it"

# annotate leaves its copy of the vDSO in /tmp: it gets one of its own, where that can be.
own="unshare -m"
$own true 2>/dev/null || own="unshare -rm"
case $PWD in /tmp/*) here=tmp/${PWD#/tmp/} ;; *) here=tmp ;; esac
mkdir -p "$here"
export here
private='if [ "$here" != tmp ]; then mount --bind . "$here"; fi && mount --rbind tmp /tmp && "$@"'
if $own sh -c "$private" sh true 2>/dev/null; then
    for kind in dwarf fp; do
        $own sh -c "$private" sh perf annotate --stdio -i $kind.data inner >out 2>err || fail "annotate: $kind"
        grep -q 's \* 31' out && grep -qE '^ +[0-9]+\.[0-9]+ +' out || fail "annotate: $kind: no per cent beside the code"
    done
fi

perf diff dwarf.data fp.data >out 2>err || fail "diff"
grep -qE '[0-9.]+% +[+-][0-9.]+% +busy +\[\.\] inner' out || fail "diff: inner is not in both"
perf report --stdio -g caller -i dwarf.data >out 2>err && grep -q -- '--inner\|---inner\|inner' out || fail "report -g"

# Tracepoints: their formats travel along, for sched and for the script that script -g writes.
"$ROOM" tracefs >/dev/null || exit 0
"$RECKON" record -q -e sched:sched_switch,sched:sched_waking,sched:sched_wakeup -o sched.data ./busy 2>err || exit 0
perf sched latency -i sched.data >out 2>err || fail "sched latency"
grep -qE '^ +busy:[0-9]+|^ +:[0-9]+' out || fail "sched latency: no task"
perf sched timehist -i sched.data >out 2>err || fail "sched timehist"
grep -qE 'busy\[[0-9]+' out || fail "sched timehist: not our task"
perf inject -s -i sched.data -o injected.data 2>err || fail "inject -s of sched:sched_switch"
if perf script -i sched.data -g python >out 2>err; then
    grep -q 'def sched__sched_switch' perf-script.py || fail "script -g: no handler for sched:sched_switch"
    perf script -i sched.data -s perf-script.py >out 2>err || fail "the script of script -g"
    grep -q 'prev_comm=busy' out || fail "the script of script -g: no field of sched_switch"
fi
exit 0
