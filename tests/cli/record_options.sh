#!/bin/bash
# reckon record: who, what, when and where to. record_user.sh runs it as a plain user.
set -u
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; cat err 2>/dev/null; exit 1; }
busy='i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done'
short='i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done' # at the highest rate a virtual machine hardly gets on
long='while kill -0 $PPID; do i=0; while [ $i -lt 10000 ]; do i=$((i + 1)); done; done' # ended by the tests, or with its parent
samples() { "$RECKON" dump --json "$1" 2>/dev/null | grep -c '"type":"SAMPLE"'; }
perf_agrees() { # perf reads as many samples as we do
    command -v perf >/dev/null && perf --version >/dev/null 2>&1 || return 0
    [ "$(perf script -F tid,time,ip -G -i "$1" 2>perf.err | grep -c .)" = "$(samples "$1")" ] || { cat perf.err; false; }
}
worked() { # waits until the recorder's command has run for a while, however busy the machine is
    local begin='' ticks try
    for try in $(seq 600); do
        ticks=$(cut -d ' ' -f 14 "/proc/$(pgrep -P "$1" -x sh)/stat" 2>/dev/null)
        [ -z "$ticks" ] || [ $((ticks - ${begin:=$ticks})) -lt 30 ] || return 0
        sleep 0.1
    done
    fail "the command does not get on"
}
header() { ! command -v perf >/dev/null || perf report --header-only -I -i "$1" 2>/dev/null | grep "$2" >/dev/null; }

# Mistakes, each with status 2 and nothing made.
while read -r words; do
    "$RECKON" record $words >out 2>err
    [ $? = 2 ] && [ ! -s out ] || fail "$words: status"
    [ ! -e perf.data ] || fail "$words made a file"
done <<'W'
-p 1 -a true
-a -C 0 true
-F 10 -c 10 true
-F fast true
--call-graph magic true
--call-graph fp,100 true
--stack-size 100 true
--call-graph dwarf --stack-size 12 true
--keep-stacks true
--user-callchains true
--regs both true
--regs user:nonsense true
-j nonsense true
-k sundial true
-m 3X true
-m 2G true
--switch-output sometimes true
--duration never true
-D -1 true
--filter x==1 true
-o - --overwrite true
-g
W
grep -q 'no command' err || fail "no command"

# One that won't end is killed at last: looked at below, when it has had its time.
stubborn() { # a busy machine needs more time until it begins
    local seconds status
    for seconds in 1 10 50; do
        "$RECKON" record -q -e cpu-clock:u --duration $seconds -o stubborn.data sh -c \
            'trap "" TERM; echo $$ >stubborn.pid; while :; do sleep 0.05; done' 2>stubborn.err
        status=$?
        [ ! -s stubborn.pid ] || return $status
    done
}
stubborn & stubborn=$!

# Rings adapt to what this user may lock, and it says so; a size that was asked for does not.
if ! "$ROOM" lock >/dev/null; then
    # All processes of a user share what it may lock: those that run beside this may hold all of it for a while.
    for try in 1 2 3 4 5 6 7 8 9 10; do
        (ulimit -l 0 && "$RECKON" record -q -e cpu-clock:u -g -o locked.data sh -c "$busy") 2>err && break
        grep -q 'more locked memory than this user may have' err && [ "$try" -lt 10 ] || fail "little locked memory"
        sleep 2
    done
    grep -qE 'rings have [0-9]+ KiB each, not [0-9]+: the limit on locked memory' err &&
        grep -q 'fix: sudo sysctl -w kernel.perf_event_mlock_kb=' err || fail "smaller rings: not said"
    [ "$(samples locked.data)" -gt 5 ] || fail "smaller rings: few samples"
    (ulimit -l 0 && "$RECKON" record -q -e cpu-clock:u -m 1G -o asked.data true) 2>err
    [ $? = 1 ] && grep -q 'more locked memory than this user may have' err && [ ! -e asked.data ] || fail "-m 1G"
fi

# Where there is nothing to record branches with, that is what is said, not what cpu-clock can't.
if ! "$RECKON" record -q -e cycles:u -o hw.data true 2>err && grep -q 'no hardware PMU' err; then
    for words in "-b" "-j any_call,u" "--call-graph lbr"; do
        "$RECKON" record $words true 2>err
        [ $? = 1 ] && grep -q '^reckon record: cycles: no hardware PMU.*branches' err && grep -q '^  fix:' err ||
            fail "$words without a PMU"
    done
fi
"$RECKON" record -b -e page-faults:u true 2>err
[ $? = 1 ] && grep -q "only a processor's own PMU records branches" err || fail "-b of a software event"

# Stacks, registers, addresses, clocks: perf reads them all.
"$RECKON" record -q -e cpu-clock:u --call-graph dwarf,4096 --keep-stacks -F 2000 -o dwarf.data sh -c "$busy" 2>err || fail "dwarf"
"$RECKON" dump --json dwarf.data 2>err | grep -q '"stack' || fail "no stacks"
"$RECKON" record -q -e cpu-clock:u --regs user:ip,sp --regs intr -o regs.data sh -c "$busy" 2>err || fail "--regs"
"$RECKON" record -q -e cpu-clock:u -g --regs user:ip,sp -o frames.data sh -c "$busy" 2>err || fail "-g --regs"
"$RECKON" record -q -e page-faults:u -c 1 -d -W -k mono -o data.data sh -c "$busy" 2>err || fail "-d -W -k"
"$RECKON" record -q -e cpu-clock:u --call-graph fp --max-stack 2 --user-callchains -F max -m 16 -o few.data sh -c "$short" 2>err ||
    fail "--max-stack"
"$RECKON" record -q -e cpu-clock:u -i --per-thread -z -o z.data sh -c "$busy" 2>err || fail "-z"
# Frames in place of stacks, and the registers that were asked for beside them: these, and no others.
"$RECKON" dump --json --type sample frames.data | python3 -c '
import json, sys
samples = [json.loads(line) for line in sys.stdin]
inside = [s for s in samples if s["regs_user"]["abi"]]
assert len(inside) > 5, len(samples)
for s in inside:
    assert set(s["regs_user"]["registers"]) == {"ip", "sp"} and "stack" not in s, s
    assert s["chain"] and s["regs_user"]["registers"]["ip"] == s["ip"], s
' 2>err || fail "-g --regs: $(tail -n 1 err)"
if command -v perf >/dev/null && perf --version >/dev/null 2>&1; then
    perf script -F ip,uregs -i frames.data 2>err | grep 'ABI:2.*SP:0x.*IP:0x' >/dev/null || fail "-g --regs: perf script -F uregs"
fi
for file in dwarf regs data few z frames; do
    [ "$(samples $file.data)" -gt 5 ] || fail "$file: few samples"
    perf_agrees $file.data || fail "$file: perf reads other samples"
done

# Time stamps by each clock that the kernel takes lie between this clock's own before and after.
python3 - "$RECKON" "$short" <<'PY' 2>err || fail "-k: $(tail -n 1 err)"
import json, subprocess, sys, time
reckon, short = sys.argv[1:]
for name, clock in [("monotonic", 1), ("monotonic_raw", 4), ("realtime", 0), ("boottime", 7), ("tai", 11)]:
    before = time.clock_gettime_ns(clock)
    subprocess.run([reckon, "record", "-q", "-e", "page-faults:u", "-c", "1", "-k", name, "-o", "clock.data", "sh", "-c", ":"], check=True)
    after = time.clock_gettime_ns(clock)
    lines = subprocess.run([reckon, "dump", "--json", "--type", "sample", "clock.data"], stdout=subprocess.PIPE, check=True).stdout
    times = [json.loads(line)["time"] for line in lines.splitlines()]
    assert times and before <= min(times) and max(times) <= after, (name, before, min(times), max(times), after)
PY

# A group's samples carry all its counts, those of children too (inherit with SAMPLE_READ wants the thread's id sampled).
# What the other member counted since is a sample of its own, as perf has it.
if "$RECKON" record -q -e '{cpu-clock:u,page-faults:u}:S' -o group.data sh -c "sh -c '$short'; $busy" 2>err; then
    "$RECKON" dump --json --type sample group.data | python3 -c '
import json, sys
samples = [json.loads(line) for line in sys.stdin]
leaders = [s for s in samples if "read" in s]
assert len(leaders) > 5 and all(len(s["read"]["values"]) == 2 for s in leaders), samples[:2]
assert all(s["event"].startswith("cpu-clock") == ("read" in s) for s in samples), samples[:2]
most = {}
for s in leaders:
    most[s["tid"]] = max(most.get(s["tid"], 0), s["read"]["values"][1]["value"])
others = [s for s in samples if "read" not in s]
assert others and sum(most.values()) == sum(s["period"] for s in others) > 0, (most, others)
' 2>err || fail ":S: $(tail -n 1 err)"
fi
header z.data 'cmdline : sh -c' && header z.data 'CPU_TOPOLOGY\|sibling' || fail "what the header tells"

# A pipe, read by ourselves; the command's own output is not in it.
"$RECKON" record -q -e cpu-clock:u -o - sh -c "echo between; $busy" 2>err >pipe.data || fail "-o -"
grep -q between err || fail "the command's output is lost"
[ "$("$RECKON" dump --json - <pipe.data | grep -c '"type":"SAMPLE"')" -gt 5 ] || fail "the pipe"

# Two processes that run already; one of them by its thread.
sh -c "$long" & first=$!
sh -c "$long" & second=$!
of() { "$RECKON" dump --json pids.data | grep '"type":"SAMPLE"' | grep -c "\"pid\":$1,"; }
for seconds in 0.3 3 30; do # a busy machine needs more time until both have run
    "$RECKON" record -e cpu-clock:u --duration $seconds -p $first,$second -o pids.data 2>err || fail "-p"
    "$RECKON" record -q -e cpu-clock:u --duration $seconds -t $first -o tid.data 2>err || fail "-t"
    [ "$(of $first)" = 0 ] || [ "$(of $second)" = 0 ] || [ "$(samples tid.data)" -le 2 ] || break
done
kill $first $second
wait $first $second 2>/dev/null
for pid in $first $second; do
    [ "$(of $pid)" != 0 ] || fail "-p: nothing of $pid"
done
"$RECKON" dump --json pids.data | grep '"type":"MMAP2"' | grep -q "\"pid\":$first," || fail "-p: no mappings"
[ "$(samples tid.data)" -gt 2 ] || fail "-t: few samples"
"$RECKON" record -q -e cpu-clock:u -p 999999999 2>err
[ $? = 1 ] && grep -q 'no process' err || fail "-p of nobody"

# Later, and when it is told to; what was mapped before is known.
for seconds in 0.4 4 40; do
    "$RECKON" record -q -e cpu-clock:u -D 100 --duration $seconds -o late.data sh -c "$long" 2>err
    [ $? = 143 ] || fail "--duration: the command's status"
    [ "$(samples late.data)" -le 5 ] || break
done
[ "$(samples late.data)" -gt 5 ] || fail "-D: few samples"
"$RECKON" report late.data 2>err | grep -qE 'sh|dash|bash' || fail "-D: no mappings"
rm -f ctl ack
mkfifo ctl ack
"$RECKON" record -q -e cpu-clock:u -D -1 --control fifo:ctl,ack -o told.data sh -c "$long" 2>err & told=$!
for word in enable ping; do
    echo $word >ctl
    [ "$(timeout 200 head -c 4 ack)" = ack ] || fail "--control $word"
    timeout 200 head -c 1 ack >/dev/null
    worked $told
done
echo stop >ctl
wait $told
[ "$(samples told.data)" -gt 2 ] || fail "--control: few samples"

# A flight recorder, and files that follow one another.
rm -f ring.data* part.data*
"$RECKON" record -e cpu-clock:u -g --overwrite -o ring.data sh -c "$long" 2>err &
recorder=$!
worked $recorder
kill -USR2 $recorder
worked $recorder
kill -TERM $recorder
wait $recorder
[ "$(ls ring.data.2* | wc -l)" = 1 ] || fail "--overwrite: no snapshot"
for file in ring.data*; do
    [ "$(samples $file)" -gt 5 ] && perf_agrees $file || fail "--overwrite: $file"
done
"$RECKON" record -e cpu-clock:u -F 5000 --switch-output 16K --duration 60 -o part.data sh -c "$long" 2>err &
recorder=$!
until ls part.data.2* >/dev/null 2>&1; do
    kill -0 $recorder 2>/dev/null || fail "--switch-output: one file only"
    sleep 0.1
done
kill -TERM $recorder
wait $recorder
total=0
for file in part.data*; do
    perf_agrees $file || fail "--switch-output: $file"
    "$RECKON" report $file >out 2>&1 || fail "--switch-output: report of $file"
    ! grep -q 'cut off' out || fail "--switch-output: $file is not whole"
    total=$((total + $(samples $file)))
done
grep -q "^reckon record: $(printf "%'d" $total | tr -d ,) samples" <(tr -d , <err) || fail "--switch-output: $total samples"

# Progress comes on a terminal, and the closing line says what it must.
if command -v script >/dev/null; then
    for seconds in 1.3 5 20; do # it comes each second
        script -qec "'$RECKON' record --progress -e cpu-clock:u --duration $seconds -o shown.data sh -c '$long'" tty >/dev/null
        ! grep -q 'samples, .* lost, ' tty || break
    done
    grep -qE '[0-9,]+ samples, [0-9,]+/s, 0 lost, [0-9.]+ [KM]?B' tty || { cat tty; fail "no progress"; }
fi
"$RECKON" record -e page-faults:u -c 1 -o closing.data true 2>err || fail "closing"
grep -qE '^reckon record: [0-9,]+ samples? in closing.data \([0-9.]+ K?B\), 0 lost, 0 skipped by the kernel$' err ||
    fail "the closing line"

# Where threads stopped: with stacks for who may look into the kernel, else times, which is said.
"$RECKON" record -e cpu-clock:u --off-cpu -o off.data sh -c 'sleep 0.1; sleep 0.1' 2>err || fail "--off-cpu"
"$RECKON" dump --json off.data >json || fail "dump of off.data"
grep -q '"type":"SWITCH"' json || fail "--off-cpu: no switches"
if grep -q 'times only' err; then
    ! grep -q '"event":"off-cpu"' json || fail "--off-cpu: says that there are no stacks, and there are"
else
    grep '"event":"off-cpu"' json | grep -q '"chain"' || fail "--off-cpu: no stacks"
fi

if "$ROOM" all >/dev/null; then
    # The machine, CPUs; tracepoints with their filters; a probe's name outlives its address.
    "$RECKON" record -q -a -e cpu-clock -g -o all.data --duration 0.3 2>err || fail "-a"
    "$RECKON" record -q -C 0 -e cpu-clock -o cpu.data sleep 0.3 2>err || fail "-C"
    ! "$RECKON" dump --json cpu.data | grep '"type":"SAMPLE"' | grep -qv '"cpu":0' || fail "-C 0: other CPUs"
    perf_agrees all.data && perf_agrees cpu.data || fail "-a, -C: perf reads other samples"
    if "$RECKON" record -q -e uprobe:/bin/sh:0x4000 -c 1 -o probe.data sh -c : 2>err; then
        python3 - <<'PY' || fail "a probe's address is in the file"
import struct
data = open("probe.data", "rb").read()
size, attrs = struct.unpack_from("<QQ", data, 16)
assert struct.unpack_from("<Q", data, attrs + 56)[0] == 0, "config1"
assert b"uprobe:/bin/sh:0x4000" in data
PY
    fi
    if [ -r "$("$ROOM" tracefs)/events/sched/sched_switch/format" ]; then
        "$RECKON" record -q -e sched:sched_switch --filter 'prev_pid==0' -c 1 -a -o filter.data sleep 0.2 2>err || fail "--filter"
        perf_agrees filter.data || fail "--filter: perf reads other samples"
        # Each time, where nothing is said of how often: 40,000 calls are no 3999 a second. Kept or lost, none is left out.
        "$RECKON" record -q -e raw_syscalls:sys_enter -o each.data dd if=/dev/zero of=/dev/null bs=1 count=20000 2>err ||
            fail "a tracepoint without -F and -c: $(cat err)"
        "$RECKON" dump --stat --json each.data | python3 -c '
import json, sys
sums = json.load(sys.stdin)
assert sums["samples"] + sums["lost"] >= 40000, sums
assert sums.get("skipped", 0) == 0, sums' || fail "a tracepoint is not sampled each time"
        # One that counts nanoseconds has skipped none of them.
        "$RECKON" record -e sched:sched_stat_runtime -o weight.data sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; sleep 0.01' 2>err ||
            fail "sched_stat_runtime: $(cat err)"
        ! grep -q '[1-9][0-9,]* skipped' err || fail "nanoseconds are told as samples that were skipped: $(cat err)"
        # In a pipe too a tracepoint's fields have their names: ours, and perf's.
        "$RECKON" record -q -e sched:sched_switch -c 1 -a -o - sleep 0.2 2>err >trace.pipe || fail "-o - of a tracepoint"
        "$RECKON" dump --type sample - <trace.pipe 2>err | grep -q 'prev_comm=' || fail "a tracepoint's fields in a pipe: $(cat err)"
        # perf itself finds no tracefs whose path has spaces.
        "$SOURCE"/tests/perf-record -q -e sched:sched_switch -c 1 -a -o - sleep 0.2 2>/dev/null >trace.pipe
        [ ! -s trace.pipe ] || "$RECKON" dump --type sample - <trace.pipe 2>err | grep -q 'prev_comm=' || fail "a tracepoint's fields in perf's pipe: $(cat err)"
    fi
fi

wait $stubborn
[ $? = 137 ] || fail "--duration: status of a command that won't end"
grep -q 'did not end when asked to: killed' stubborn.err || fail "--duration: $(cat stubborn.err)"
kill -0 "$(cat stubborn.pid)" 2>/dev/null && fail "--duration: it goes on"
exit 0
