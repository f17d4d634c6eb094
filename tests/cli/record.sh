#!/bin/bash
# reckon record, report, dump, export on a busy command; perf reads the same file.
set -u
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; cat err 2>/dev/null; exit 1; }
busy='i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done'

"$RECKON" record -e cpu-clock -g sh -c "$busy; exit 6" 2>err
[ $? = 6 ] || fail "exit 6 was not passed on"
lost=0
"$ROOM" all >/dev/null || lost='[0-9,]+' # a plain user's rings are small, and fill where reckon has to wait for a CPU
grep -qE "^reckon record: [0-9,]+ samples in perf.data \(.*\), $lost lost" err || fail "the closing line"
[ "$(stat -c %a perf.data)" = 600 ] || fail "mode $(stat -c %a perf.data), not 600"
"$RECKON" record -q -e cpu-clock:u true 2>err || fail "a second recording"
[ ! -s err ] || fail "-q is not quiet"
[ -f perf.data.old ] || fail "the previous one was not kept"
mv perf.data.old perf.data

# report: what the figures stand on comes first.
"$RECKON" report >out 2>err || fail "report"
[ ! -s err ] || fail "report says something on stderr"
head -n 1 out | grep -qE '^[0-9,]+ samples kept, [0-9,]+ lost, [0-9,]+ skipped; cpu-clock' || { cat out; fail "the first line"; }
kept=$(head -n 1 out | sed 's/ .*//; s/,//g')
[ "$kept" -gt 20 ] || fail "only $kept samples"
"$RECKON" report --csv >csv 2>err || fail "report --csv"
"$RECKON" export --format folded -o folded 2>err || fail "export"
"$RECKON" dump --json >json 2>err || fail "dump --json"
"$RECKON" dump >text 2>err || fail "dump"
python3 - "$kept" <<'PY' || fail "report, dump and export disagree"
import csv, json, sys
kept = int(sys.argv[1])
rows = list(csv.DictReader(open("csv")))
assert list(rows[0]) == ["symbol", "module", "self", "self_percent", "total", "total_percent"], rows[0]
assert abs(sum(float(r["self_percent"]) for r in rows) - 100) < 0.1
assert all(int(r["self"]) <= int(r["total"]) for r in rows)
assert [int(r["self"]) for r in rows] == sorted((int(r["self"]) for r in rows), reverse=True)
records = [json.loads(line) for line in open("json")]
samples = [r for r in records if r["type"] == "SAMPLE"]
assert len(samples) == kept, (len(samples), kept)
times = [r["time"] for r in records if r.get("time") is not None]
assert times == sorted(times)
for s in samples:
    assert s["event"] == "cpu-clock" and int(s["ip"], 16) > 0 and s["chain"], s
    assert {"pid", "tid", "cpu"} <= set(s)
assert any(r["type"] == "MMAP2" and r["path"].endswith("sh") for r in records)
assert any(r["type"] == "COMM" for r in records)
folded = [line.rsplit(" ", 1) for line in open("folded")]
assert sum(int(n) for _, n in folded) == sum(s["period"] for s in samples)
assert all(";" in stack for stack, _ in folded)
PY
[ "$(wc -l <text)" = "$(wc -l <json)" ] || fail "dump: text and JSON have different lines"

# perf reads it, sample by sample the same. perf 6.1 looks at a file's owner.
if command -v perf >/dev/null && perf --version >/dev/null 2>&1; then
    perf script -F tid,time,ip -G --ns -i perf.data >perf.txt 2>perf.err || { cat perf.err; fail "perf script"; }
    python3 - <<'PY' || fail "perf script and reckon dump disagree"
import json
ours = [(r["tid"], r["time"], int(r["ip"], 16)) for r in map(json.loads, open("json")) if r["type"] == "SAMPLE"]
theirs = []
for line in open("perf.txt"):
    word = line.replace(":", " ").split()
    if len(word) >= 3:
        seconds, ns = word[1].split(".")
        theirs.append((int(word[0]), int(seconds) * 10**9 + int(ns), int(word[2], 16)))
assert sorted(ours) == sorted(theirs), (len(ours), len(theirs), ours[:2], theirs[:2])
PY
    # and its own files are read here
    if "$SOURCE"/tests/perf-record -q -e cpu-clock -g -o theirs.data sh -c "$busy" 2>perf.err; then
        n=$(perf script -F tid,time,ip -G -i theirs.data 2>/dev/null | grep -c .)
        m=$("$RECKON" dump --json theirs.data 2>err | grep -c '"type":"SAMPLE"')
        [ "$n" = "$m" ] || fail "perf's own file: perf sees $n samples, reckon $m"
        "$SOURCE"/tests/perf-record -q -e cpu-clock -o - sh -c "$busy" 2>/dev/null >pipe.data
        m=$("$RECKON" dump --json - <pipe.data 2>err | grep -c '"type":"SAMPLE"')
        n=$(perf script -F tid,time,ip -G -i - <pipe.data 2>/dev/null | grep -c .)
        [ "$n" = "$m" ] && [ "$m" -gt 0 ] || fail "perf's pipe: perf sees $n samples, reckon $m"
        "$RECKON" report theirs.data >out 2>err || fail "report of perf's file"
    fi
fi

# Several events: a section for each, never summed; machine formats want one chosen.
"$RECKON" record -q -e page-faults -F 5000 -e cpu-clock -o two.data python3 -c 'x = bytearray(9000000); sum(range(10**6))' \
    2>err || fail "two events"
"$RECKON" report two.data >out 2>err || fail "report of two events"
[ "$(grep -cE '^[0-9,]+ samples? kept, .*; (page-faults|cpu-clock)' out)" = 2 ] || { cat out; fail "not a section for each"; }
"$RECKON" report --csv two.data >out 2>err
[ $? = 2 ] && [ ! -s out ] && grep -q -e "--event 'page-faults'" err || fail "--csv of two events"
"$RECKON" export two.data >out 2>err
[ $? = 2 ] && [ ! -s out ] || fail "export of two events"
"$RECKON" report --csv -e page-faults two.data >csv 2>err || fail "--csv -e"
"$RECKON" dump --json two.data >json 2>err || fail "dump of two events"
python3 - <<'PY' || fail "the sum of page-faults is not that of its samples"
import csv, json
ours = sum(int(r["self"]) for r in csv.DictReader(open("csv")))
samples = [r for r in map(json.loads, open("json")) if r["type"] == "SAMPLE"]
assert ours == sum(r["period"] for r in samples if r["event"] == "page-faults"), ours
assert {r["event"] for r in samples} == {"page-faults", "cpu-clock"}
PY
"$RECKON" report -e nonsense two.data >out 2>err
[ $? = 2 ] && grep -q 'it has: page-faults, cpu-clock' err || fail "an event that it does not have"

# A size that can't be: said once, status 1, and it ends.
cp perf.data broken.data
python3 - <<'PY'
import struct
with open("broken.data", "r+b") as f:
    f.seek(40)
    at = struct.unpack("<Q", f.read(8))[0]
    f.seek(at + 6)
    f.write(b"\0\0")
PY
for verb in dump report export; do
    timeout 200 "$RECKON" $verb broken.data >out 2>err
    [ $? = 1 ] || fail "$verb of a broken file: status"
    [ "$(grep -c 'makes no sense' err)" = 1 ] && [ ! -s out ] || fail "$verb of a broken file"
done

# A recording that grows beyond the limit on files is an error like a full disk.
(ulimit -f 16; exec "$RECKON" record -q -g -e cpu-clock -o limit.data sh -c "$busy") 2>err
[ $? = 1 ] && grep -q limit.data err || fail "a limit on the size of files"
"$RECKON" dump limit.data >out 2>/dev/null
grep -q SAMPLE out || fail "what was written up to there"

# What can't be read is said, with status 1 and the file's name.
for file in absent.data empty.data text.data; do
    : >empty.data
    echo 'not a recording' >text.data
    "$RECKON" report $file >out 2>err
    [ $? = 1 ] || fail "$file: status"
    grep -q $file err || fail "$file: its name is not said"
done
"$RECKON" export --format nonsense >out 2>err
[ $? = 2 ] && grep -q folded err || fail "an unknown format names those there are"

# Output that can't be written.
"$RECKON" record -o no/such/dir/perf.data true 2>err
[ $? = 1 ] || fail "no directory: status"
grep -q 'no/such/dir' err || fail "no directory: name"
if [ -w /dev/full ]; then
    "$RECKON" dump >/dev/full 2>err
    [ $? = 1 ] || fail "a full disk under dump"
    "$RECKON" report >/dev/full 2>err
    [ $? = 1 ] || fail "a full disk under report"
fi

# By default cycles; where there are none, cpu-clock, said in one line.
"$RECKON" record -o default.data sh -c "$busy" 2>err || fail "record"
if grep -q 'sampling cpu-clock' err; then
    [ "$(grep -c 'sampling cpu-clock, because' err)" = 1 ] || fail "the step down is not said once"
fi
"$RECKON" report default.data | head -n 1 | grep -qE '; (cycles|cpu-clock)' || fail "the default event"
exit 0
