#!/bin/bash
# Every format of every kind of event weighs as report does: time of clocks and of waiting, numbers of events, what others
# wrote; and numbers of samples for who asks for them.
set -u
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; cat err 2>/dev/null; exit 1; }
skip() { echo "$*" && exit 77; }
command -v cc >/dev/null || skip "no compiler"

cat >work.c <<'C'
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
volatile unsigned sum;
__attribute__((noinline)) void spin(unsigned n) { for (unsigned i = 0; i < n; i++) sum += i; }
__attribute__((noinline)) void touch(void)
{
    char *p = mmap(NULL, 1 << 22, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < 1 << 22; i += 4096) p[i] = 1;
    munmap(p, 1 << 22);
}
__attribute__((noinline)) void wait_long(void) { usleep(60000); }
__attribute__((noinline)) void wait_short(void) { usleep(2000); }
int main(void)
{
    for (int i = 0; i < 20; i++) { spin(2000000); wait_short(); }
    touch();
    wait_long();
    return 0;
}
C
cc -O0 -g -fno-omit-frame-pointer work.c -o work 2>err || fail "the compiler"

formats="folded csv json pprof speedscope firefox perf-script"
pages=0
# A recording's event in every format: as the event weighs, and as samples.
each() {
    local file=$1 event=$2 weight format
    for weight in event samples; do
        "$RECKON" report --json --weight $weight -e "$event" "$file" >report.json 2>err || fail "report of $event in $file"
        for format in $formats; do
            "$RECKON" export --format $format --weight $weight -e "$event" -o out.$format "$file" 2>err || fail "export --format $format of $event"
        done
        python3 "$SOURCE/tests/formats" report.json out 2>err || fail "$event of $file by $weight"
        "$RECKON" report --html out.html --weight $weight -e "$event" "$file" 2>err || fail "page of $event"
        sed -n 's/.*id="data">\([^<]*\)<.*/\1/p' out.html | base64 -d | gzip -dc >page
        python3 - $weight <<'PY' || fail "the page of $event by $weight"
import json, re, sys
s = json.load(open("report.json"))["summary"]
page = open("page", "rb").read()
assert b'"unit":"%s","samples":%d,"weight":%d,' % (s["unit"].encode(), s["samples"], s["weight"]) in page, (s, page[:400])
if sys.argv[1] == "samples":
    assert s["unit"] == "samples" and s["weight"] == s["samples"], s
else:
    assert s["unit"] != "samples" and s["weight"], s
PY
    done
    cmp -s <("$RECKON" export -e "$event" "$file" 2>err) <("$RECKON" export --weight event -e "$event" "$file" 2>err) || fail "the default is the event's weight"
    pages=$((pages + 1))
}

"$RECKON" record -q -g -e cpu-clock:u -F 1000 -o clock.data ./work 2>err || { grep -q 'perf_event_paranoid\|not permitted' err && skip "no sampling here: $(head -n 1 err)"; fail "record"; }
each clock.data cpu-clock:u
"$RECKON" record -q -g -e page-faults:u -c 10 -o faults.data ./work 2>err || fail "record page-faults"
each faults.data page-faults:u
"$RECKON" report --json faults.data | python3 -c 'import json, sys; s = json.load(sys.stdin)["summary"]; assert s["weight"] == 10 * s["samples"], s' || fail "a fixed period"
"$RECKON" merge clock.data clock.data faults.data -o merged.pprof 2>err || fail "merge"
each merged.pprof cpu-clock:u
each merged.pprof page-faults:u
if "$RECKON" record -q -g -e cpu-clock:u --off-cpu -o off.data ./work 2>err && "$RECKON" export -e off-cpu off.data >waits.folded 2>err; then
    each off.data off-cpu
    # What waits long is wide, though what waits often is sampled more.
    python3 - <<'PY' || fail "a flame graph of waiting: $(cat waits.folded)"
sums = dict.fromkeys(("wait_long", "wait_short"), 0)
for line in open("waits.folded"):
    stack, n = line.rsplit(" ", 1)
    for name in sums:
        sums[name] += int(n) if name in stack.split(";") else 0
assert sums["wait_long"] >= 60_000_000 and sums["wait_short"] >= 40_000_000, sums
PY
    "$RECKON" merge off.data off.data -o off.pprof 2>err || fail "merge off-cpu"
    each off.pprof off-cpu
else
    grep -q "no event 'off-cpu'" err || fail "--off-cpu"
fi
if "$ROOM" all >/dev/null && [ -r "$("$ROOM" tracefs)/events/sched/sched_stat_runtime/format" ]; then
    "$RECKON" record -q -g -e sched:sched_stat_runtime -o trace.data ./work 2>err || fail "record sched_stat_runtime"
    each trace.data sched:sched_stat_runtime
    "$RECKON" record -q -g -e sched:sched_waking -c 2 -o waking.data ./work 2>err || fail "record sched_waking -c 2"
    each waking.data sched:sched_waking
fi
printf 'main;a;b 1000\nmain;a 20\nmain;[libx.so];c_[k] 3\n' >stacks.folded
each stacks.folded samples
# pprof of others: bytes are no nanoseconds.
python3 - <<'PY' || fail "no pprof"
import gzip
text = ["", "alloc_space", "bytes", "main", "grow"]
number = lambda n: bytes([n & 127 | 128]) + number(n >> 7) if n > 127 else bytes([n])
field = lambda f, v: number(f << 3) + number(v) if isinstance(v, int) else number(f << 3 | 2) + number(len(v)) + v
out = field(1, field(1, 1) + field(2, 2))
for ids, n in (([2, 1], 4096), ([1], 100)):
    out += field(2, field(1, b"".join(map(number, ids))) + field(2, number(n)))
for i, name in ((1, 3), (2, 4)):
    out += field(5, field(1, i) + field(2, name)) + field(4, field(1, i) + field(4, field(1, i)))
out += b"".join(field(6, t.encode()) for t in text)
open("heap.pprof", "wb").write(gzip.compress(out))
PY
each heap.pprof alloc_space
"$RECKON" report --json heap.pprof | grep -q '"unit":"bytes","events":1,"samples":2,"weight":4196,' || fail "bytes: $("$RECKON" report --json heap.pprof)"
"$RECKON" export --weight seconds clock.data 2>err; [ $? = 2 ] && grep -q "none of event, samples" err || fail "--weight seconds"
echo "$pages events in eight formats"
