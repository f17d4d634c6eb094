#!/bin/bash
# Code without symbols: each function that the unwind tables describe is a row of its own, called by where it lies, in report,
# diff, page and exports; also when the program is gone.
set -u
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; cat out err 2>/dev/null; exit 1; }
command -v strip >/dev/null || { echo "no strip(1)"; exit 77; }

cat >prog.c <<'C'
volatile unsigned sink;
__attribute__((noinline, noipa)) void add(unsigned n) { for (unsigned i = 0; i < n; i++) sink += i; }
__attribute__((noinline, noipa)) void mix(unsigned n) { for (unsigned i = 0; i < n; i++) sink ^= i; }
int main(void) { for (int i = 0; i < 2000; i++) { add(200000); mix(200000); } return 0; }
C
${CC:-cc} -O2 -o whole prog.c 2>err || { echo "no C compiler"; exit 77; }
add=prog+0x$(nm whole | sed -n 's/^0*\([0-9a-f]*\) T add$/\1/p')
mix=prog+0x$(nm whole | sed -n 's/^0*\([0-9a-f]*\) T mix$/\1/p')
main=prog+0x$(nm whole | sed -n 's/^0*\([0-9a-f]*\) T main$/\1/p')
strip -o prog whole || fail "strip"
"$RECKON" record -q -e cpu-clock:u -F 999 --call-graph dwarf -o data ./prog 2>err &&
    "$RECKON" record -q --no-names -e cpu-clock:u -F 999 -o bare ./prog 2>err || fail "record"

"$RECKON" symbolize -e prog --json "0x${add#*0x}" >out 2>err || fail "symbolize --json"
grep -q "\"symbol\":\"$add\",\"distance\":0,.*\"miss\":" out || fail "symbolize --json: a place and the reason"
"$RECKON" symbolize -e prog --pretty "0x${add#*0x}" >out 2>err && grep -q "^$add at .*stripped" out || fail "symbolize --pretty"
"$RECKON" symbolize -e prog "0x${add#*0x}" >out 2>err && [ "$(head -n 1 out)" = '??' ] || fail "symbolize: others read ??"

check() { # FILE
    "$RECKON" report --csv "$1" >out 2>err || fail "report $1"
    python3 - "$add" "$mix" <<'PY' || fail "$1: rows"
import csv, sys
self = {r["symbol"]: float(r["self_percent"]) for r in csv.DictReader(open("out"))}
assert all(25 < self.get(name, 0) < 75 for name in sys.argv[1:]), self
assert self.get("[unknown]", 0) < 5, self
PY
    "$RECKON" report "$1" >out 2>err && grep -q 'could not be named' out || fail "$1: it is not said"
}
check data
check bare
grep -q '^  fix: build it without -s and strip(1)$' out || fail "what to do about it"
mv prog gone
check data
"$RECKON" report --csv bare >out 2>err && ! grep -q "$add" out || fail "a place in a file that is not there"
mv gone prog

for format in folded json speedscope; do
    "$RECKON" export --format $format data >out 2>err || fail "export $format"
    grep -qF "$add" out && grep -qF "$mix" out && grep -qF "$main" out || fail "export $format"
done
"$RECKON" report --html page data >out 2>err && [ -s page ] || fail "page"
for format in folded pprof; do # they come back, as what has no name
    "$RECKON" export --format $format -o back data >out 2>err || fail "export $format"
    check back
done
# A library of a package: that package's names. (dpkg's lists say which, of either name of its folder.)
lib=$(ldd prog | sed -n 's/.*=> \(.*libc.so.6\) .*/\1/p')
if [ -d /var/lib/dpkg/info ] && ls /var/lib/dpkg/info/libc6*.list >/dev/null 2>&1 && [ -r "$lib" ]; then
    cat >random.c <<'C'
#include <stdlib.h>
int main(void) { int sum = 0; for (int i = 0; i < 30000000; i++) sum += rand(); return sum == 3; }
C
    ${CC:-cc} -O1 -o random random.c && "$RECKON" record -q --no-names -e cpu-clock:u -F 999 -o library ./random 2>err || fail "record random"
    "$RECKON" report library >out 2>err || fail "report library"
    ! grep -q 'libc.so.6: its file is stripped' out || grep -q '^  fix: sudo apt install libc6-dbg$' out || fail "the package of libc.so.6"
fi
"$RECKON" diff --percent-limit 0 bare data >out 2>err || fail "diff"
grep -qF "$add" out && grep -q 'could not be named' out || fail "diff: rows, and what has no name"
exit 0
