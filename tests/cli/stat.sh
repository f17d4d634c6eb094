#!/bin/bash
# reckon stat: counting a command, its exit status, its errors.
set -u
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; cat err 2>/dev/null; exit 1; }

# Exit statuses are the command's; its output is left alone.
"$RECKON" stat -e page-faults sh -c 'echo hello; exit 7' >out 2>err
[ $? = 7 ] || fail "exit 7 was not passed on"
[ "$(cat out)" = hello ] || fail "stdout is not the command's"
grep -qE '^ +[0-9,]+  page-faults' err || fail "no count"
grep -q 's wall' err || fail "no times"
"$RECKON" stat -e page-faults sh -c 'kill -TERM $$' 2>err
[ $? = 143 ] || fail "128 + signal"
grep -q 'ended by signal 15' err || fail "the signal is not said"
"$RECKON" stat -e page-faults no-such-command-here 2>err
[ $? = 127 ] || fail "127 for a command that is not there"
grep -q 'no-such-command-here' err || fail "its name is not said"
touch plain
"$RECKON" stat -e page-faults ./plain 2>err
[ $? = 126 ] || fail "126 for a file that can't be executed"

# The first word that is no option starts the command; -- is optional.
"$RECKON" stat -e page-faults -- sh -c 'exit 3' 2>err
[ $? = 3 ] || fail "--"
"$RECKON" stat -epage-faults -o stat.txt sh -c 'exit 0' -e x 2>err || fail "options behind the command are its own"
grep -q page-faults stat.txt || fail "-o FILE"
[ ! -s err ] || fail "-o FILE still writes to stderr"
"$RECKON" stat -e page-faults -e task-clock -o - true >out 2>err || fail "-e twice"
grep -q page-faults out && grep -q task-clock out || fail "-e repeats"
"$RECKON" stat -e page-faults -o no/such/dir/x true 2>err
[ $? = 1 ] || fail "an output that can't be written"
grep -q 'no/such/dir/x' err || fail "its name"

# Children and threads are counted, unless -i: the child touches 2000 pages, the shell few.
touch='import mmap; m = mmap.mmap(-1, 2000 * mmap.PAGESIZE); [m.__setitem__(i * mmap.PAGESIZE, 1) for i in range(2000)]'
value() { python3 -c 'import json, sys; print(json.load(sys.stdin)["events"][0]["value"])'; }
with=$("$RECKON" stat --json -o - -e page-faults sh -c "python3 -c '$touch'; true" | value)
without=$("$RECKON" stat --json -o - -i -e page-faults sh -c "python3 -c '$touch'; true" | value)
[ "$with" -ge 2000 ] || fail "children: $with faults, not 2000 and more"
[ "$without" -lt 1500 ] || fail "-i: $without faults"

# JSON: numbers are numbers; what was not counted is null with its reason.
"$RECKON" stat --json -o - -e page-faults,task-clock,cycles sh -c 'exit 5' >out 2>err
[ $? = 5 ] || fail "--json: status"
python3 - <<'PY' || fail "--json"
import json
with open("out") as f:
    d = json.load(f)
events = {e["event"]: e for e in d["events"]}
assert list(events) == ["page-faults", "task-clock", "cycles"], events
assert isinstance(events["page-faults"]["value"], int) and events["page-faults"]["value"] > 0
assert events["page-faults"]["running_ns"] > 0
assert d["exit_status"] == 5 and d["wall_ns"] > 0 and d["peak_rss_bytes"] > 0
c = events["cycles"]
assert c["value"] is None and c["reason"] and c["cause"] or c["value"] > 0, c
PY

# A mistake, or nothing that is known: status 2, a caret below it, the nearest name.
"$RECKON" stat -e cycels true 2>err
[ $? = 2 ] || fail "a wrong event: status"
grep -q cycles err || fail "the nearest name"
grep -qE '^  \^' err || fail "the caret"
# ... under its column, whatever the bytes; and of a long text the part around it.
"$RECKON" stat -e 'cs,ümlaut,cs:q' true 2>err && fail "an event that is not there"
grep -qxF '  cs,ümlaut,cs:q' err && grep -qx ' \{15\}^' err || fail "the caret under a letter of two bytes"
"$RECKON" stat -e "$(printf '\200')x,cs:q" true 2>err && fail "an event that is not there"
grep -qxF '  \x80x,cs:q' err && grep -qx ' \{11\}^' err || fail "the caret under a byte that is no letter"
"$RECKON" stat -e "$(printf 'cs,%.0s' $(seq 100))cs:q$(printf ',cs%.0s' $(seq 100))" true 2>err && fail "an event that is not there"
python3 - <<'PY' || fail "the caret in a long text"
lines = open("err", encoding="utf-8").read().split("\n")
at = next(i for i, line in enumerate(lines) if line.startswith("  …") and line.endswith("…"))
assert lines[at].index("cs:q") + 3 == lines[at + 1].index("^") and len(lines[at]) < 120
PY

# Counting begins at the first instruction: exec itself, the loader's faults are in it.
n=$("$RECKON" stat --json -o - -e page-faults:u true | value)
[ "$n" -ge 10 ] || fail "only $n faults for true"
# Switches happen in the kernel: a plain user can't measure them, and is told so, never 0.
plain= && ! "$ROOM" nobody >/dev/null || plain="setpriv --reuid=65534 --regid=65534 --clear-groups"
if $plain test -x "$RECKON" && ! $plain "$ROOM" all >/dev/null && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 ]; then
    $plain "$RECKON" stat -e context-switches,page-faults sleep 0.01 2>err || fail "context-switches: status"
    grep -qE '^ +not counted  context-switches' err || fail "context-switches of a plain user are counted"
    grep -q 'a plain user may not count in the kernel' err || fail "context-switches: no reason"
    $plain "$RECKON" stat --json -o - -e context-switches,page-faults sleep 0.01 >out || fail "context-switches: --json"
    python3 -c 'import json; e = json.load(open("out"))["events"][0]; assert e["value"] is None and e["reason"] and e["remedy"], e' ||
        fail "context-switches: not null with its reason"
fi
"$RECKON" stat -e context-switches:u true 2>err
[ $? = 1 ] && grep -q 'happens in the kernel alone' err || fail "context-switches:u"
# A program that breakpoints watched and SIGTRAP ended may have had it from one; of others nothing is said.
if "$RECKON" stat -e mem:0x1000:w true 2>err && ! grep -q 'not counted' err; then
    "$RECKON" stat -e mem:0x1000:w sh -c 'kill -TRAP $$' 2>err
    [ $? = 133 ] && grep -q 'note: some virtual processors lose' err || fail "SIGTRAP, watched"
    "$RECKON" stat -e page-faults sh -c 'kill -TRAP $$' 2>err
    [ $? = 133 ] && ! grep -q 'virtual processors' err || fail "SIGTRAP, not watched"
fi
# libpfm4, which takes 2 ms to start, is loaded for a name that nothing else knows, and for no other.
LD_DEBUG=files "$RECKON" stat -o out -e page-faults,task-clock,cycles true 2>err
grep -q libpfm err && fail "libpfm4 is loaded for names of the kernel's"
grep -q 'file=libc' err && told=1 || told= # glibc's loader tells; musl's does not
LD_DEBUG=files "$RECKON" stat -o out -e NOT_AN_EVENT true 2>err
[ -z "$told" ] || grep -q libpfm err || fail "libpfm4 is not asked for a name that nothing else knows"
exit 0
