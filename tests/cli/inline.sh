#!/bin/bash
# Functions that were inlined are frames of a report; --no-inline gives what the symbol table has; --sort line gives
# lines. Sums stay what was sampled. A recording without kernel addresses is named without /proc/kallsyms.
set -u
fail() { echo "FAIL: $*"; cat out err 2>/dev/null; exit 1; }
command -v cc >/dev/null || { echo "no C compiler"; exit 77; }

cat >hot.c <<'C'
static volatile long sink;
static inline __attribute__((always_inline)) void deep(long i)
{
    for (int k = 0; k < 20; k++)
        sink += i * k;
}
static inline __attribute__((always_inline)) void middle(long i)
{
    deep(i);
    sink ^= i;
}
__attribute__((noinline)) void outer(long n)
{
    for (long i = 0; i < n; i++)
        middle(i);
}
int main(void)
{
    for (int i = 0; i < 60; i++)
        outer(200000);
    return 0;
}
C
cc -O2 -g -o hot hot.c || { echo "the C compiler does not work"; exit 77; }
"$RECKON" record -q -e cpu-clock:u -F 2000 -g ./hot 2>err || { echo "can't record here: $(tail -n 1 err)"; exit 77; }
"$RECKON" report --csv >inline.csv 2>err || fail "report"
"$RECKON" report --csv --no-inline >plain.csv 2>err || fail "report --no-inline"
"$RECKON" report --csv --sort line >lines.csv 2>err || fail "report --sort line"
"$RECKON" report --csv --sort srcline --no-inline >plain_lines.csv 2>err || fail "report --sort srcline --no-inline"
"$RECKON" export --format folded >folded 2>err || fail "export"
"$RECKON" export --format folded --no-inline >plain.folded 2>err || fail "export --no-inline"
"$RECKON" export --format json >json 2>err || fail "export --format json"
"$RECKON" report --json --sort line >lines.json 2>err || fail "report --json --sort line"
"$SOURCE/tests/unit/export/validate.py" profile <json >err 2>&1 || fail "json is not as its schema says"
"$SOURCE/tests/unit/export/validate.py" rows <lines.json >err 2>&1 || fail "lines.json is not as its schema says"
python3 - <<'PY' || fail "rows"
import csv
def rows(name):
    return list(csv.DictReader(open(name)))
def of(table, symbol, **more):
    found = [r for r in table if r["symbol"] == symbol and all(r[k] == v for k, v in more.items())]
    assert found, (symbol, more, table[:5])
    return found
inline, plain, lines, plain_lines = (rows(n) for n in ("inline.csv", "plain.csv", "lines.csv", "plain_lines.csv"))
weight = sum(int(r["self"]) for r in inline)
for table in inline, plain, lines, plain_lines:
    assert sum(int(r["self"]) for r in table) == weight, "a sum differs"
deep, outer = of(inline, "deep")[0], of(inline, "outer")[0]
assert float(deep["self_percent"]) > 60 and float(outer["total_percent"]) > 90, (deep, outer)
assert float(of(inline, "middle")[0]["total_percent"]) >= float(deep["total_percent"])
assert not [r for r in plain if r["symbol"] in ("deep", "middle")], plain
assert of(plain, "outer")[0]["self"] == outer["total"], (plain, outer)
hot = of(lines, "deep", line="5") + of(lines, "deep", line="4") if any(r["line"] == "4" and r["symbol"] == "deep" for r in lines) else of(lines, "deep", line="5")
assert all(r["file"].endswith("hot.c") for r in hot) and sum(float(r["self_percent"]) for r in hot) > 60, hot
assert sum(float(r["self_percent"]) for r in of(plain_lines, "outer") if r["line"] in ("4", "5")) > 50, plain_lines[:5]
folded, plain = open("folded").read(), open("plain.folded").read()
assert ";outer;middle;deep " in folded and "deep" not in plain, folded[:300]
assert sum(int(l.rsplit(" ", 1)[1]) for l in folded.splitlines()) == sum(int(l.rsplit(" ", 1)[1]) for l in plain.splitlines())
PY
"$RECKON" report --sort colour >out 2>err
[ $? -eq 2 ] || fail "--sort colour: status"
grep -q "is none of self, total, name" err || fail "--sort colour: reason"

# perf, told the same, agrees on every function.
if perf --version >/dev/null 2>&1; then
    perf report --no-inline --no-children --stdio -g none -F overhead,dso,sym -t '|' >theirs 2>err || fail "perf report"
    python3 - <<'PY' || fail "perf report --no-inline disagrees"
import csv
ours = {(r["symbol"], r["module"]): float(r["self_percent"]) for r in csv.DictReader(open("plain.csv"))}
n = 0
for line in open("theirs"):
    word = [w.strip() for w in line.split("|")]
    if len(word) == 3 and word[0].endswith("%") and word[1] == "hot":
        n += 1
        assert abs(ours[word[2].split("] ", 1)[-1], word[1]] - float(word[0][:-1])) <= 0.011, (word, ours)
assert n, "perf shows nothing"
PY
fi

# No kernel address, no kernel's names, also where the recording has no names of its own.
"$RECKON" record -q --no-names -e cpu-clock:u -F 2000 -g ./hot 2>err || fail "record --no-names"
if command -v strace >/dev/null && strace -o trace true 2>/dev/null; then
    # LeakSanitizer can't look into a process that is traced; what leaks is seen above.
    ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" \
        strace -f -e trace=open,openat,openat2 -o trace "$RECKON" report >out 2>err || fail "strace report"
    grep -q kernel out && { echo "cpu-clock:u has kernel samples here"; exit 77; }
    grep -q hot trace || fail "strace saw no file"
    grep -q kallsyms trace && fail "kallsyms was opened"
fi
exit 0
