#!/bin/bash
# reckon stat in time: runs, intervals, delay, limits, signals, --control.
set -u
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; cat err 2>/dev/null; exit 1; }
told='until [ -s out ]; do sleep 0.01; done' # a command that runs until the first interval was told
json() { python3 -c "
import json, sys
lines = [json.loads(line) for line in open('out')]
last = lines[-1]
assert $1, lines"; }

stubborn() { # a command that won't end when its time is over; a busy machine needs more of it until it begins
    local ms status
    for ms in 1000 10000 50000; do
        "$RECKON" stat --timeout $ms -e page-faults -o stubborn.out sh -c \
            'trap "" TERM; echo $$ >stubborn.pid; while :; do sleep 0.05; done' 2>stubborn.err
        status=$?
        [ ! -s stubborn.pid ] || return $status
    done
}
stubborn & stubborn=$!

# Runs: the command ran so often; mean and deviation.
"$RECKON" stat -r 4 -j -o out -e page-faults sh -c 'echo x >>ran' 2>err || fail "-r"
[ "$(wc -l <ran)" = 4 ] || fail "-r 4 ran $(wc -l <ran) times"
json 'len(lines) == 1 and last["runs"] == 4 and last["events"][0]["runs"] == 4' || fail "-r: runs"
json 'abs(last["events"][0]["mean"] * 4 - last["events"][0]["value"]) < 0.01' || fail "-r: mean"
json 'last["events"][0]["stdev"] >= 0 and last["wall_stdev_ns"] >= 0' || fail "-r: stdev"
"$RECKON" stat -r 3 -e page-faults true 2>err || fail "-r, text"
grep -q 'true, 3 times' err && grep -qE '± +[0-9.]+ %  page-faults' err && grep -qE 's ± [0-9.]+ % wall' err || fail "-r: text"
grep -q '   ± one standard deviation of a run$' err || fail "-r: what ± is"
LC_ALL=C "$RECKON" stat -r 2 -e page-faults true 2>err || fail "-r, C locale"
grep -q '   +- one standard deviation of a run$' err && ! LC_ALL=C grep -q '[^ -~]' err || fail "-r, C locale: not ASCII"
"$RECKON" stat -r 3 -e page-faults sh -c 'exit 9' 2>err
[ $? = 9 ] || fail "-r: the status"
grep -q "sh -c 'exit 9', 3 times, 3 of them failed" err || fail "-r: that runs failed"

# -r that Ctrl-C ends early says how far it came, and so does its status; the run that was cut short is not in the mean.
cat >interrupted.py <<'PY'
import os, signal, subprocess, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
p = subprocess.Popen(sys.argv[1:] + ["sh", "-c", "echo on; sleep 0.05"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                     start_new_session=True)
for i in range(4):
    p.stdout.readline()
os.killpg(p.pid, signal.SIGINT)
print(p.communicate()[1].decode())
sys.exit(p.returncode)
PY
python3 interrupted.py "$RECKON" stat -r 1000 -e page-faults >err 2>&1
[ $? = 130 ] && grep -qE 'sh -c .*, [34] of 1,000 times: interrupted' err || fail "-r 1000, interrupted"
python3 interrupted.py "$RECKON" stat -r 0 -e page-faults >err 2>&1
[ $? = 130 ] && grep -qE 'sh -c .*, [34] times$' err || fail "-r 0, interrupted"

# Intervals lie on the grid of their length, whatever each takes, and add up to the total.
"$RECKON" stat -I 50 -j -o out -e page-faults,task-clock sh -c 'until [ "$(wc -l <out)" -ge 4 ]; do sleep 0.01; done' 2>err || fail "-I"
json 'len(lines) >= 5 and last["totals"] and "exit_status" in last' || fail "-I: lines"
json 'sum(l["events"][0]["value"] or 0 for l in lines[:-1]) == last["events"][0]["value"]' || fail "-I: the sum"
json 'all(a["time_ns"] < b["time_ns"] for a, b in zip(lines, lines[1:-1]))' || fail "-I: the order"
json 'all(l["time_ns"] >= 50000000 * (i + 1) for i, l in enumerate(lines[:-2]))' || fail "-I: an interval is early"
"$RECKON" stat -I 20 --interval-count 2 -o out -j -e page-faults sleep 100 2>err
[ $? = 143 ] || fail "--interval-count: the command is not ended"
json 'len(lines) == 3' || fail "--interval-count"
"$RECKON" stat -I 20 --csv -o out -e page-faults sh -c "$told" 2>err || fail "-I --csv"
head -n 1 out | grep -q '^time_s,scaled' && [ "$(grep -c time_s out)" = 1 ] || fail "-I --csv: one line of names"

# Nothing is counted before the delay; then it is.
"$RECKON" stat -D 300000 -j -o out -e page-faults true 2>err || fail "-D"
json 'last["events"][0]["value"] is None and last["events"][0]["reason"]' || fail "-D: counted before"
"$RECKON" stat -D 50 -I 10 -j -o out -e page-faults sh -c "$told; exec ls" >/dev/null 2>err || fail "-D"
json '(last["events"][0]["value"] or 0) > 0' || fail "-D: not counted after"
begin=$(date +%s%N)
"$RECKON" stat -D 200 -j -o out -e task-clock sleep 0.5 2>err || fail "-D: figures"
took=$(($(date +%s%N) - begin))
json "0 < last['wall_ns'] <= $took - 200000000" || fail "-D: the time before it is counted"
json 'abs(last["events"][0]["metric"]["value"] * last["wall_ns"] / last["events"][0]["value"] - 1) < 1e-6' || fail "-D: divided by other time"
"$RECKON" stat -D 300000 -e page-faults true 2>err || fail "-D, text"
grep -q 'it had ended before counting began' err || fail "-D: why nothing was counted"
# … and no interval is told before it, or while counting is off.
"$RECKON" stat -D 100 -I 20 -j -o out -e page-faults sh -c "$told" 2>err || fail "-D -I"
json 'len(lines) > 1 and lines[0]["time_ns"] >= 120000000' || fail "-D -I: an interval before the delay is over"
"$RECKON" stat -D -1 --control fd:0 -I 20 -j -o out -e page-faults sleep 0.1 2>err </dev/null || fail "-D -1 -I"
json 'len(lines) == 1 and last["totals"]' || fail "-D -1 -I: intervals while it is off"

# A time limit ends the command, and what was counted is told; no process is left.
"$RECKON" stat --timeout 50 -e page-faults sleep $((100000 + $$)) 2>err
[ $? = 143 ] || fail "--timeout: status"
grep -qE '[0-9]  page-faults' err && grep -q 'ended by signal 15' err || fail "--timeout: the counts"
pgrep -x -f "sleep $((100000 + $$))" >/dev/null && fail "--timeout: the command still runs"

# Signals to reckon: passed on to the command; without one they end the counting, and it is told.
"$RECKON" stat -e page-faults -o out sleep 100 2>err & stat=$!
until pgrep -P "$stat" -x sleep >/dev/null; do sleep 0.05; done
kill -TERM "$stat"
wait "$stat"
[ $? = 143 ] && grep -q page-faults out || fail "SIGTERM with a command"
rm out
"$RECKON" stat -p $$ -I 10 -e page-faults -o out --control fd:0 </dev/null 2>err & stat=$!
until [ -s out ]; do sleep 0.05; done
kill -TERM "$stat"
wait "$stat"
[ $? = 143 ] && grep -q 's wall' out || fail "SIGTERM without a command"
python3 - "$RECKON" <<'PY' || fail "Ctrl-C"
import os, signal, subprocess, sys, time
# As from a terminal: the whole group gets it. The command ignores the first one; the second makes it SIGTERM.
signal.signal(signal.SIGINT, signal.default_int_handler)
p = subprocess.Popen([sys.argv[1], "stat", "-e", "page-faults", "sh", "-c", "trap '' INT; echo on; while :; do sleep 0.05; done"],
                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
p.stdout.readline()
os.killpg(p.pid, signal.SIGINT)
def pending(pid):
    with open("/proc/%d/status" % pid) as f:
        words = dict(line.split(":", 1) for line in f)
    return (int(words["SigPnd"], 16) | int(words["ShdPnd"], 16)) & 2
while pending(p.pid): # two that wait would be one
    time.sleep(0.01)
assert p.poll() is None
os.kill(p.pid, signal.SIGINT)
out, err = p.communicate()
assert p.returncode == 143, (p.returncode, err)
assert b"page-faults" in err, err
# Without a command it ends at once, as a shell would say it.
p = subprocess.Popen([sys.argv[1], "stat", "-p", str(os.getpid()), "-I", "10", "-e", "page-faults"], stderr=subprocess.PIPE)
p.stderr.readline()
p.send_signal(signal.SIGINT)
out, err = p.communicate()
assert p.returncode == 130 and b"s wall" in err, (p.returncode, err)
PY

# --control: every word is answered; nothing is counted until "enable".
mkfifo ctl ack
exec 8<>ctl 9<>ack
say() { echo "$1" >&8; IFS= read -r -t 200 -d '' answer <&9; [ "$answer" = $'ack\n' ] || fail "--control: $1 was answered by '$answer'"; }
"$RECKON" stat -D -1 --control fifo:ctl,ack -j -o out -e page-faults,task-clock \
    sh -c 'while :; do ls / >/dev/null; echo >>ran; done' 2>err & stat=$!
say ping
say snapshot
rm -f ran
say enable
until [ -s ran ]; do sleep 0.01; done
rm ran
until [ -s ran ]; do sleep 0.01; done # it has run from beginning to end since
say disable
say snapshot
say snapshot
echo nonsense >&8
say stop
wait "$stat"
[ $? = 143 ] || fail "--control: stop"
json 'len(lines) == 4' || fail "--control: snapshots"
json 'lines[0]["events"][0]["value"] is None and lines[1]["events"][0]["value"] > 0' || fail "--control: enable"
json 'not lines[2]["events"][0]["value"]' || fail "--control: disable"
grep -q "no word 'nonsense'" err || fail "--control: a word that there is not"
"$RECKON" stat --control fd:8,9 -e page-faults -o out true 2>err || fail "--control fd:"
for bad in "1 fifo:none" "1 fd:77" "2 fd:x" "2 pipe:ctl" "1 fifo:$0" "2 fd:8,x"; do # 2: a mistake in the option
    "$RECKON" stat --control "${bad#* }" true 2>err
    [ $? = "${bad%% *}" ] && grep -q -e --control err || fail "--control $bad"
done

# Only times; only the cost of measuring.
"$RECKON" stat --null -j -o out sh -c 'exit 4' 2>err
[ $? = 4 ] || fail "--null: status"
json 'last["events"] == [] and last["wall_ns"] > 0 and last["peak_rss_bytes"] > 0' || fail "--null"
"$RECKON" stat --overhead -j -o out -e page-faults,task-clock 2>err || fail "--overhead"
json 'last["runs"] == 1000 and last["wall_ns"] > 0 and last["events"][0]["mean"] < 1' || fail "--overhead"
"$RECKON" stat --overhead -e page-faults,task-clock 2>err || fail "--overhead, text"
grep -qE '/s|CPUs' err && fail "--overhead: figures that say nothing"
for with in true "-p $$" "-r 2 true" "-I 10" "--timeout 10"; do
    "$RECKON" stat --overhead $with 2>err
    [ $? = 2 ] && grep -q 'measures reckon itself' err || fail "--overhead $with"
done
# One that won't end when its time is over is killed after 10 s (it has run since the beginning of this script).
wait "$stubborn"
[ $? = 137 ] || fail "--timeout: status of a command that won't end"
kill -0 "$(cat stubborn.pid)" 2>/dev/null && fail "--timeout: it goes on"
grep -q 'sh did not end when asked to: killed' stubborn.err || fail "--timeout: that it was killed"
grep -qE '^ +[0-9,]+  page-faults' stubborn.out || fail "--timeout: its counts"
# … and at once by Ctrl-C; Python's patience is longer than ours.
python3 - "$RECKON" <<'PY' || fail "--timeout: Ctrl-C"
import signal, subprocess, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
p = subprocess.Popen([sys.argv[1], "stat", "--timeout", "1", "-e", "page-faults", "sh", "-c", "trap 'echo told' TERM; trap '' INT; echo on; while :; do sleep 0.05; done"],
                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
line = p.stdout.readline()
if line: # it lived long enough to be told
    while b"told" not in line and line:
        line = p.stdout.readline()
    p.send_signal(signal.SIGINT)
out, err = p.communicate()
assert p.returncode in (137, 143), (p.returncode, err)
assert b"page-faults" in err, err
PY
exit 0
