#!/bin/bash
# A recording that is killed stays readable up to its last flush, for reckon and for perf; one that is interrupted is whole.
set -u
"$ROOM" self || exit 77
busy='while kill -0 $PPID; do i=0; while [ $i -lt 10000 ]; do i=$((i + 1)); done; done' # it ends even where this test is killed
fail() { echo "FAIL: $*"; cat err 2>/dev/null; kill -9 $recorder 2>/dev/null; exit 1; }

"$RECKON" record -e cpu-clock sh -c "$busy" 2>err &
recorder=$!
until [ "$("$RECKON" dump perf.data 2>/dev/null | grep -c SAMPLE)" -gt 100 ]; do # a flush is in the file
    kill -0 $recorder || fail "it ended"
    sleep 0.1
done
command=$(pgrep -P $recorder)
kill -9 $recorder
wait $recorder 2>/dev/null
kill -9 $command
n=$("$RECKON" dump --json perf.data 2>dump.err | grep -c '"type":"SAMPLE"')
[ "$n" -gt 100 ] || fail "only $n samples survived"
grep -q 'cut off' dump.err || fail "dump does not say that the file was cut off"
"$RECKON" report perf.data | grep -q 'cut off' || fail "report does not say so"
if command -v perf >/dev/null && perf --version >/dev/null 2>&1; then
    m=$(perf script -F tid,time,ip -G -i perf.data 2>/dev/null | grep -c .)
    [ "$m" = "$n" ] || fail "perf script sees $m samples, reckon $n"
fi

# Killed at any moment, plain and packed: what is there is read, by reckon and by perf the same. A file is whole records
# from its first moment on.
for i in 1 2 3 4 5 6 7 8; do
    pack=$([ $((i % 2)) = 0 ] && echo -z)
    rm -f any.data*
    "$RECKON" record -q $pack -e cpu-clock -F 9999 --call-graph fp -o any.data sh -c "$busy" 2>err &
    recorder=$!
    sleep 0.$((RANDOM % 90 + 10))
    command=$(pgrep -P $recorder)
    kill -9 $recorder
    wait $recorder 2>/dev/null
    [ -z "$command" ] || kill -9 $command 2>/dev/null
    [ -e any.data ] || continue # it had not begun
    "$RECKON" dump --json any.data >json 2>dump.err || { cat dump.err; fail "dump of a killed recording ($pack)"; }
    n=$(grep -c '"type":"SAMPLE"' json)
    if command -v perf >/dev/null && perf --version >/dev/null 2>&1; then
        m=$(perf script -F tid,time,ip -G -i any.data 2>perf.err | grep -c .)
        [ "$m" = "$n" ] || { cat perf.err; fail "killed ($pack): perf script sees $m samples, reckon $n"; }
    fi
done

# Ctrl-C ends the command (a terminal sends it to both); what was recorded is written.
rm -f perf.data
python3 - "$RECKON" "$busy" 2>&1 <<'PY' || fail "an interrupt"
import os, signal, subprocess, sys, time
def samples():
    return b"SAMPLE" in subprocess.run([sys.argv[1], "dump", "perf.data"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
with open("err", "wb") as err: # python and not `&`: a shell's background job ignores SIGINT
    p = subprocess.Popen([sys.argv[1], "record", "-e", "cpu-clock", "sh", "-c", sys.argv[2]],
                         stderr=err, start_new_session=True)
while not samples() and p.poll() is None:
    time.sleep(0.1)
os.killpg(p.pid, signal.SIGINT)
status = p.wait()
assert status == 130, status
PY
grep -qE '[0-9,]+ samples in perf.data' err || fail "no closing line after an interrupt"
"$RECKON" report perf.data >out 2>err || fail "report"
! grep -q 'cut off' out || fail "an interrupted recording is whole"
exit 0
