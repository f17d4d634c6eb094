#!/bin/bash
# What reckon stat writes, and what becomes of it where it can't be written.
set -u
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; cat err 2>/dev/null; exit 1; }

# Without a terminal: no colour, lines of any length, thousands separated, times and memory.
touch='import mmap; m = mmap.mmap(-1, 3000 * mmap.PAGESIZE); [m.__setitem__(i * mmap.PAGESIZE, 1) for i in range(3000)]'
"$RECKON" stat python3 -c "$touch" 2>err || fail "status"
grep -q $'\033' err && fail "colour without a terminal"
grep -qE '^ +[0-9]{1,3},[0-9]{3}  page-faults +[0-9,.]+/s of task-clock$' err || fail "the page faults' line"
grep -qE '^ +[0-9.]+ (ms|ns)  task-clock +[0-9.]+ CPUs utilised$' err || fail "the clock's line"
grep -qE '[0-9.]+ s wall   [0-9.]+ s user   [0-9.]+ s sys   [0-9.]+ [KMG]B peak memory' err || fail "the times"
grep -qE ' $' err && fail "white space at a line's end"

# What this machine has no hardware for is said once, not line by line; named by hand it has its line.
if [ ! -e /sys/bus/event_source/devices/cpu ] && grep -q 'no hardware PMU' err; then
    [ "$(grep -c 'no hardware PMU' err)" = 1 ] || fail "more than one word about what is not there"
    grep -q 'not counted  cycles' err && fail "a line for what is not there"
    "$RECKON" stat -e task-clock,cycles true 2>err
    grep -qE '^ +not counted  cycles$' err && grep -q '  not counted: cycles' err || fail "cycles by hand"
fi
"$RECKON" stat -ddd true 2>err || fail "-ddd"
grep -q 'minor-faults' err && grep -q 'alignment-faults\|emulation-faults' err || fail "-ddd: no more events"

# On a terminal of 40 columns no line of the table is longer, but for a word that is; on one of 80 none is broken.
python3 - "$RECKON" <<'PY' || fail "a terminal's width"
import fcntl, os, pty, re, struct, sys, termios
def run(columns, *words, **env):
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execve(sys.argv[1], [sys.argv[1], "stat", *words], {**os.environ, "TERM": "xterm", **env})
    text = b""
    try:
        while chunk := os.read(fd, 65536):
            text += chunk
    except OSError:
        pass
    assert os.waitpid(pid, 0)[1] == 0
    return text.decode()
plain = lambda text: re.sub(r"\033\[[0-9;]*m", "", text).replace("\r", "")
for columns in (40, 80):
    for words in (["sleep", "0.01"], ["-r", "2", "true"], ["-e", "page-faults,cycles", "true"]):
        text = plain(run(columns, *words))
        assert "page-faults" in text
        for line in text.splitlines():
            assert len(line) <= columns or " " not in line.strip(), (columns, line)
assert re.search(r" page-faults +[0-9.,]+/s of task-clock$", plain(run(80, "-e", "page-faults,task-clock", "true")), re.M)
assert "\033" not in run(80, "true", NO_COLOR="1")
PY

# -o: the file is made before the command runs, appended to where asked; - is stdout.
"$RECKON" stat -e page-faults -o no/such/dir/x touch made 2>err
[ $? = 1 ] && [ ! -e made ] || fail "an output that can't be written is told too late"
"$RECKON" stat -e page-faults -o two true 2>err && "$RECKON" stat --append -e task-clock -o two true 2>err || fail "--append"
grep -q page-faults two && grep -q task-clock two || fail "--append: the first is gone"
"$RECKON" stat -e task-clock -o two true 2>err && ! grep -q page-faults two || fail "-o does not begin anew"

# JSON and CSV go where the table goes.
"$RECKON" stat --json -e page-faults true 2>err >out || fail "--json"
[ ! -s out ] && python3 -c 'import json; json.load(open("err"))' || fail "--json: not on stderr alone"
"$SOURCE/tests/unit/export/validate.py" counts <err >out 2>&1 || fail "the schema"
"$RECKON" stat --csv -e page-faults,task-clock,cycles true 2>err || fail "--csv"
python3 - <<'PY' || fail "--csv"
import csv
rows = list(csv.DictReader(open("err", newline="")))
assert [r["event"] for r in rows] == ["page-faults", "task-clock", "cycles", "wall-time", "user-time", "system-time", "peak-rss"], rows
assert int(rows[0]["value"]) > 0 and float(rows[0]["scaled"]) == int(rows[0]["value"]) and rows[0]["reason"] == ""
assert rows[1]["unit"] == "ns" and rows[1]["metric_unit"] == "CPUs utilised"
assert rows[2]["value"] or rows[2]["reason"]
PY
"$RECKON" stat -x ';' -e page-faults true 2>err || fail "-x"
head -n 1 err | grep -qE '^[0-9]+;;page-faults(:u)?;[0-9]+;100.00;;$' || fail "-x: perf's columns"
"$RECKON" stat -x '\t' -e page-faults true 2>err && head -n 1 err | grep -qE $'page-faults(:u)?\t' || fail "-x '\\t'"

"$RECKON" stat -x ';' -I 10 -e page-faults sleep 0.05 2>err || fail "-x -I"
grep -q scaled err && fail "-x -I: a line of names"
"$RECKON" stat --json --csv true 2>err
[ $? = 2 ] && grep -q 'one of them' err || fail "--json --csv"
# Appended, the line of names is not repeated.
rm -f table && for i in 1 2; do "$RECKON" stat --csv --append -o table -e page-faults true || fail "--csv --append"; done
[ "$(grep -c scaled table)" = 1 ] && [ "$(grep -c page-faults table)" = 2 ] || fail "--csv --append: the names"
# Of several runs perf's first column is the mean, and so is ours; value stays the sum.
"$RECKON" stat -r 3 --csv -o out -e page-faults true || fail "-r --csv"
python3 - <<'PY' || fail "-r --csv: the mean"
import csv
row = next(csv.DictReader(open("out", newline="")))
assert float(row["scaled"]) == float(row["mean"]) and abs(float(row["scaled"]) * 3 - int(row["value"])) < 1e-6, row
PY

# The command stands in the heading as it would be typed, and a long one is cut.
"$RECKON" stat -e page-faults sh -c 'exit 0' "it's" '' 'a b' $'t\tab' plain 2>err || fail "a heading"
grep -qxF "  sh -c 'exit 0' 'it'\\''s' '' 'a b' t\\x09ab plain" err || fail "the heading is not as it would be typed"
"$RECKON" stat -e page-faults true $(seq 20000) 2>err || fail "a long command"
[ "$(wc -L <err)" -lt 1000 ] && grep -q '…$' err || fail "a long command is not cut"

# Nothing counted: no empty lines where the table would be.
"$RECKON" stat --null true 2>err && ! grep -Pzoq '\n\n\n' err || fail "--null: empty lines"

# The same remedy is told once.
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
if "$ROOM" nobody >/dev/null && $nobody test -x "$RECKON" && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 ]; then
    $nobody "$RECKON" stat -e context-switches,page-faults true 2>err
    [ "$(grep -c 'perf_event_paranoid=1' err)" = 1 ] && grep -q 'note: counts user space only' err || fail "a remedy twice"
fi

# Nobody reads any more, and there is no command to wait for: it ends.
timeout 250 "$RECKON" stat -p $$ -I 10 -e page-faults 2>&1 >/dev/null | head -n 2 >out
[ "${PIPESTATUS[0]}" = 1 ] || fail "stderr's reader is gone, and it went on"
timeout 250 "$RECKON" stat -p $$ -I 10 -e page-faults -o - 2>err | head -n 2 >out
[ "${PIPESTATUS[0]}" = 1 ] && grep -q 's wall' err || fail "stdout's reader is gone, and it went on"

# A full disk, a reader that is gone: said, status 1, and the counts are on stderr.
for format in "" --json --csv "-I 10"; do
    if [ -w /dev/full ]; then
        "$RECKON" stat $format -e page-faults -o /dev/full sleep 0.05 2>err
        [ $? = 1 ] || fail "a full disk ($format): status"
        grep -q '/dev/full: No space left' err && grep -q 'page-faults' err || fail "a full disk ($format): the counts are lost"
    fi
    mkfifo fifo
    rm -f closed
    { head -c 0 fifo; : >closed; } &
    "$RECKON" stat $format -e page-faults -o fifo sh -c 'until [ -e closed ]; do sleep 0.01; done' 2>err
    [ $? = 1 ] || fail "a reader that is gone ($format): status"
    grep -q 'fifo: Broken pipe' err && grep -q 'page-faults' err || fail "a reader that is gone ($format): the counts are lost"
    wait
    rm fifo
done
"$RECKON" stat -e page-faults true 2>/dev/full
[ $? = 1 ] || fail "stderr is full: status"

# The command's own signals are as they were: a pipe without a reader still ends it, also in later runs.
"$RECKON" stat -r 2 -e page-faults -o out sh -c 'yes | head -n 1 >/dev/null; (trap) >/dev/null; kill -PIPE $$' 2>err
[ $? = 141 ] || fail "SIGPIPE is not the command's own"

# Little memory of its own: below 4 MB, as reckon itself measures it. A sanitizer's has more.
if ! grep -qaE '__(a|t|m)san_init|__ubsan' "$RECKON"; then
    "$RECKON" stat --json -o outer -e page-faults "$RECKON" stat -o out true 2>err || fail "reckon in reckon"
    python3 -c 'import json; n = json.load(open("outer"))["peak_rss_bytes"]; assert 0 < n < 4 << 20, n' ||
        fail "peak memory is 4 MB or more"
fi
exit 0
