#!/bin/bash
# Different functions of one name are rows of their own, called by where they are declared: statics of C in two files,
# inlined or not, also in two files of one name; two lambdas. diff finds them again when their lines move.
set -u
fail() { echo "FAIL: $*"; cat out err 2>/dev/null; exit 1; }
command -v cc >/dev/null || { echo "no C compiler"; exit 77; }

mkdir x y
static() { # the function that calls them, the times that the loops run
    cat <<C
extern volatile long sum;
static __attribute__((noinline)) void step(long n) { for (long i = 0; i < n; i++) sum += i; }
static inline __attribute__((always_inline)) void inner(long n) { for (long i = 0; i < n; i++) sum ^= i; }
void $1(void) { step($2); inner($2); }
C
}
static run_a 4000000 >x/step.c
static run_b 8000000 >y/other.c
(echo; static run_c 2000000) >y/step.c
cat >main.c <<'C'
volatile long sum;
void run_a(void), run_b(void), run_c(void);
int main(void)
{
    for (int i = 0; i < 10; i++) {
        run_a();
        run_b();
#ifdef THREE
        run_c();
#endif
    }
    return 0;
}
C
cc -O1 -g x/step.c y/other.c main.c -o two && cc -O1 -g -DTHREE x/step.c y/other.c y/step.c main.c -o three || fail "cc"
record() { "$RECKON" record -q -e cpu-clock:u -F 1999 -o $1.data ./$1 2>err || { echo "can't record here: $(tail -n 1 err)"; exit 77; }; }
record two
record three
"$RECKON" report --csv two.data >two.csv 2>err || fail "report two"
"$RECKON" report --csv --no-inline two.data >plain.csv 2>err || fail "report --no-inline"
"$RECKON" report --csv three.data >three.csv 2>err || fail "report three"
python3 - <<'PY' || fail "rows"
import csv
def names(path):
    return {r["symbol"]: float(r["self_percent"]) for r in csv.DictReader(open(path)) if r["symbol"].startswith(("step", "inner"))}
two, plain, three = names("two.csv"), names("plain.csv"), names("three.csv")
assert set(two) == {"step (step.c)", "step (other.c)", "inner (step.c)", "inner (other.c)"}, two
assert set(plain) == {"step (step.c)", "step (other.c)"}, plain
assert set(three) == {"step (step.c:2)", "step (step.c:3)", "step (other.c)", "inner (step.c:3)", "inner (step.c:4)", "inner (other.c)"}, three
for name in "step", "inner":
    ratio = two[f"{name} (other.c)"] / two[f"{name} (step.c)"]
    assert 1.4 < ratio < 2.8, (name, two)
PY

# The lines move; what is alone in its file and name is found again.
sed -i '1i // one\n// more' x/step.c y/other.c y/step.c
cc -O1 -g -DTHREE x/step.c y/other.c y/step.c main.c -o three || fail "cc"
mv three.data before.data
record three
"$RECKON" diff --json before.data three.data >json 2>err || fail "diff"
python3 - <<'PY' || fail "diff: rows"
import json
rows = {r["name"]: r for r in json.load(open("json"))["rows"]}
for name in "step (other.c)", "inner (other.c)":
    assert rows[name]["before"] and rows[name]["after"], rows[name]
PY

if command -v c++ >/dev/null; then
    cat >lambdas.cc <<'C'
volatile long sum;
int main()
{
    for (int k = 0; k < 10; k++) {
        auto more = [](long n) { for (long i = 0; i < n; i++) sum = sum + i; };
        auto less = [](long n) { for (long i = 0; i < n; i++) sum = sum - i; };
        more(4000000);
        less(8000000);
    }
}
C
    c++ -O2 -g lambdas.cc -o lambdas || fail "c++"
    record lambdas
    "$RECKON" report --csv lambdas.data >lambdas.csv 2>err || fail "report lambdas"
    python3 - <<'PY' || { cat lambdas.csv; fail "lambdas"; }
import csv
rows = [r["symbol"] for r in csv.DictReader(open("lambdas.csv"))]
assert len([r for r in rows if "lambdas.cc:5" in r]) == 1 and len([r for r in rows if "lambdas.cc:6" in r]) == 1, rows
PY
fi
exit 0
