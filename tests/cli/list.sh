#!/bin/bash
# reckon list: groups, words, encodings; what it says can be opened opens, and what it says can't does not.
set -u
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; head -50 out err 2>/dev/null; exit 1; }
"$RECKON" list >out 2>err || fail "list"
[ ! -s err ] || fail "something on stderr"
grep -q '^software: ' out && grep -qE '^  page-faults +page faults' out || fail "software events"
"$RECKON" list PAGE_fault >out 2>err || fail "list PAGE_fault"
grep -qE '^  page-faults ' out || fail "words are found in any case, with _ for -"
! grep -qE '^  cpu-clock ' out || fail "words limit the list"
"$RECKON" list fault --long minor >out 2>err || fail "options between words"
grep -q 'type 1, config 0x5   software/config=0x5/' out || fail "--long"
"$RECKON" list no-such-event-here >out 2>err
[ $? = 1 ] && [ ! -s out ] && grep -q "no event has 'no-such-event-here'" err || fail "nothing found"
"$RECKON" list "$(printf '\033[31m')" "$(printf '%0100000d' 0)" >out 2>err
[ $? = 1 ] && [ "$(wc -c <err)" -lt 600 ] && ! grep -q "$(printf '\033')" err || fail "words are shown as plain text, and cut"
"$RECKON" list --pmu "$(printf '\033[31m')" >out 2>err
[ $? = 1 ] && ! grep -q "$(printf '\033')" err || fail "a PMU's name is shown as plain text"
# A source that this user can't read is not taken for one that has no such name.
"$RECKON" list sched_switch >out 2>err
status=$?
if tracefs=$("$ROOM" tracefs); then
    [ $status = 0 ] && [ ! -s err ] || fail "list sched_switch"
else
    [ $status = 1 ] && grep -q 'not searched: tracepoints' err && grep -q 'fix: ' err || fail "tracefs that can't be read"
fi
"$RECKON" list --pmu no-such-pmu >out 2>err
[ $? = 1 ] && grep -q "no PMU 'no-such-pmu'" err || fail "no such PMU"
"$RECKON" list --pmu >out 2>err
[ $? = 2 ] || fail "--pmu without a value"
if [ -w /dev/full ]; then
    "$RECKON" list >/dev/full 2>err
    [ $? = 1 ] || fail "a full disk"
fi
"$RECKON" list --json >json 2>err || fail "--json"
"$SOURCE/tests/unit/export/validate.py" list <json || fail "--json: not by the schema"
# Its verdicts are true: each event that is no form is counted by stat where it says so.
python3 - "$RECKON" <<'PY' || fail "verdicts"
import json, subprocess, sys
with open("json") as f:
    events = json.load(f)["events"]
tried = 0
for e in events:
    if e["form"] or e["group"] not in ("software", "hardware") or e["openable"] is None:
        continue
    out = subprocess.run([sys.argv[1], "stat", "--json", "-o", "-", "-e", e["name"], "true"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    counted = out.returncode == 0 and json.loads(out.stdout)["events"][0]["value"] is not None
    assert counted == e["openable"], (e, out)
    tried += 1
assert tried >= 20, tried
PY
# Each member of the JSON is in the man page.
for verb in list doctor; do
    python3 - "$SOURCE/tests/data/schema/$verb.json" "$SOURCE/man/reckon-$verb.1" <<'PY' || fail "reckon-$verb(1): JSON"
import json, re, sys
with open(sys.argv[1]) as f:
    schema = json.load(f)["properties"]
with open(sys.argv[2]) as f:
    said = set(re.findall(r"[a-z0-9]+", " ".join(re.findall(r"^\.It Va (.*)", f.read(), re.M))))
inner = next(value["items"]["properties"] for value in schema.values() if "items" in value)
missing = (set(schema) | set(inner)) - said - {"config2", "config3"}
assert not missing, missing
PY
done
# What was searched for has its fields beside it, where this user may read them; nothing has blanks at its end.
if [ -r "$tracefs/events/sched/sched_switch/format" ]; then
    "$RECKON" list sched_switch >out 2>err || fail "list sched_switch"
    grep -qE '^  sched:sched_switch +prev_comm, prev_pid' out || fail "fields"
    "$RECKON" list --all >out 2>err || fail "list --all"
    ! grep -q ' $' out || fail "blanks at the end of a line"
    # Of ftrace's own what has a number, as perf has it.
    "$RECKON" list ftrace: >out 2>err || fail "list ftrace:"
    for name in $(sed -n 's/^  ftrace:\([a-z_]*\).*/\1/p' out); do
        [ -r "$tracefs/events/ftrace/$name/id" ] || fail "ftrace:$name has no number"
    done
fi
# Vendors' names are there with --all where libpfm4 is, and each is an event or has the reason why not.
"$RECKON" list --all --json >json 2>err || fail "--all"
python3 - "$RECKON" <<'PY' || fail "vendors' names"
import json, subprocess, sys
with open("json") as f:
    events = [e for e in json.load(f)["events"] if e["group"].startswith("libpfm4 ")]
for e in events[::20]:
    out = subprocess.run([sys.argv[1], "stat", "--json", "-o", "-", "-e", e["name"], "true"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    counted = out.returncode == 0 and json.loads(out.stdout)["events"][0]["value"] is not None
    assert counted == bool(e["openable"]) and (counted or e["reason"]), (e, out)
PY
# ... without a core PMU they are one line, which says so.
if python3 -c 'import json; exit(any(e["group"] == "hardware" and e["openable"] for e in json.load(open("json"))["events"]))'; then
    "$RECKON" list --all >out 2>err || fail "--all"
    ! grep -q '::' out || grep -q 'pmu cpu' out || fail "vendors' names that can't be opened"
fi
exit 0
