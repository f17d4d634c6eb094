#!/bin/bash
# reckon report against perf report on perf's own file, function by function; every JSON against its schema.
set -u
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; cat err 2>/dev/null; exit 1; }
validate="$SOURCE/tests/unit/export/validate.py"

"$RECKON" record -q -e cpu-clock -g -o ours.data sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done' 2>err || fail "record"
"$RECKON" export --format json ours.data >profile.json 2>err || fail "export --format json"
"$RECKON" dump --json ours.data >records.json 2>err || fail "dump --json"
"$RECKON" stat --json -o counts.json true 2>err || fail "stat --json"
"$RECKON" doctor --json >doctor.json 2>err # its status is the verdict
"$validate" profile <profile.json >err 2>&1 || fail "the profile is not as its schema says"
"$validate" record --lines <records.json >err 2>&1 || fail "a record is not as its schema says"
"$validate" counts <counts.json >err 2>&1 || fail "the counts are not as their schema says"
"$validate" doctor <doctor.json >err 2>&1 || fail "the diagnosis is not as its schema says"

perf --version >/dev/null 2>&1 || { echo "perf is not installed"; exit 77; }
command -v cc >/dev/null || { echo "no C compiler"; exit 77; }
# Recursion; and a call that is a function's last instruction, so that it returns into the next function: perf
# believes that one, reckon must not.
cat >hot.c <<'C'
#include <stdlib.h>
static void burn(unsigned long n) { for (; n; n--) __asm__ volatile("" : "+r"(n)); }
static void middle(unsigned long n) { burn(n); }
static void again(int depth, unsigned long n) { if (depth) again(depth - 1, n); else middle(n); }
__attribute__((noreturn)) static void last(unsigned long n) { burn(n); exit(0); }
__attribute__((noreturn)) void run(void) { for (int i = 0; i < 200; i++) { again(i % 5, 500000); burn(200000); } last(20000000); }
void behind(void) { abort(); }
int main(int argc, char **argv) { (void)argv; if (argc > 5) behind(); run(); }
C
cc -O0 -fno-omit-frame-pointer -o hot hot.c || fail "cc"
"$SOURCE"/tests/perf-record -q -e cpu-clock:u -F 2000 -g -o perf.data ./hot 2>err || { echo "perf can't record here: $(tail -n 1 err)"; exit 77; }
"$RECKON" report --csv perf.data >ours.csv 2>err || fail "report --csv"
perf report -i perf.data --children --stdio -g none -F overhead_children,overhead,dso,sym -t '|' >theirs.txt 2>err || fail "perf report"
python3 - <<'PY' || fail "perf report and reckon report disagree"
import csv
ours = {(r["symbol"], r["module"]): (float(r["total_percent"]), float(r["self_percent"])) for r in csv.DictReader(open("ours.csv"))}
theirs = {}
for line in open("theirs.txt"):
    word = [w.strip() for w in line.split("|")]
    if len(word) == 4 and word[0].endswith("%"):
        theirs[word[3].split("] ", 1)[-1], word[2]] = (float(word[0][:-1]), float(word[1][:-1]))
for name in "burn", "middle", "again":
    key = (name, "hot")
    for a, b in zip(ours[key], theirs[key]):
        assert abs(a - b) <= 0.011, (name, ours[key], theirs[key])
assert ours["burn", "hot"][1] > 90 and ours["run", "hot"][0] > 95 and 1 < ours["last", "hot"][0] < 50, ours
assert ("behind", "hot") not in ours, ours
PY
