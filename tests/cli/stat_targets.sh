#!/bin/bash
# reckon stat on processes, threads, CPUs and cgroups; rows; targets that end at every step.
set -u
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; cat err 2>/dev/null; exit 1; }
place=$(mktemp -d) || exit 1
# Where a check fails, what runs beside it would keep the output open, and whoever reads that would wait.
leave() {
    running=$(jobs -p)
    [ -z "$running" ] || kill $running 2>/dev/null
    rm -rf "$place"
}
trap leave EXIT
trap 'exit 1' HUP INT TERM
field() { python3 -c "import json, sys; d = json.loads(sys.stdin.readlines()[-1]); print($1)"; }

# A program with threads that touches pages when it is told to: one line in, 100 pages, one line out.
cat >pages.py <<'PY'
import mmap, sys, threading
n = int(sys.argv[1])
gates = [threading.Semaphore(0) for _ in range(n)]
done = threading.Semaphore(0)
def work(i):
    while True:
        gates[i].acquire()
        m = mmap.mmap(-1, 100 * mmap.PAGESIZE)
        for p in range(100):
            m[p * mmap.PAGESIZE] = 1
        done.release()
for i in range(n):
    threading.Thread(target=work, args=(i,), daemon=True).start()
print("ready", flush=True)
for line in sys.stdin:
    for g in gates:
        g.release()
    for g in gates:
        done.acquire()
    print("done", flush=True)
PY
mkfifo to from
python3 pages.py 4 <to >from & pid=$!
exec 5>to 6<from
read -r word <&6
[ "$word" = ready ] || fail "pages.py"

# -p counts every thread of the process, while a command runs; the command itself is not counted.
echo 'echo go >&5; read -r word <&6; [ "$word" = done ]' >poke.sh
"$RECKON" stat -p "$pid" -j -o out -e page-faults bash poke.sh 2>err || fail "-p while a command runs"
n=$(field 'd["events"][0]["value"]' <out)
[ "$n" -ge 400 ] && [ "$n" -lt 1400 ] || fail "-p: $n faults, not 400 and few more"

# --per-thread: a row for each that ran, named, four of them with 100 and more.
"$RECKON" stat -p "$pid" --per-thread -j -o out -e page-faults bash poke.sh 2>err || fail "--per-thread"
n=$(field 'sum(1 for e in d["events"] if e["value"] is not None and e["value"] >= 100)' <out)
[ "$n" = 4 ] || fail "--per-thread: $n threads with 100 faults, not 4"
field 'd["events"][0]["where"]' <out | grep -qE "^python.*-$pid\$" || fail "--per-thread: the thread's name"
"$RECKON" stat -p "$pid" --per-thread -e page-faults sleep 0.05 2>err || fail "--per-thread, idle"
n=$(grep -cE -- '-[0-9]+ +0  page-faults$' err)
[ "$n" = 5 ] || fail "--per-thread: $n of 5 idle threads have counted 0"
! grep -qE 'did not run|not counted' err || fail "--per-thread: an idle thread is not told from one that is unknown"

# -t counts one of them.
tid=$(ls "/proc/$pid/task" | sort -n | tail -n 1)
"$RECKON" stat -t "$tid" -j -o out -e page-faults bash poke.sh 2>err || fail "-t"
n=$(field 'd["events"][0]["value"]' <out)
[ "$n" -ge 100 ] && [ "$n" -lt 200 ] || fail "-t: $n faults, not 100 and few more"

# Several processes are one sum.
sleep 100 5>&- 6<&- & other=$!
"$RECKON" stat -p "$pid,$pid,$(ls "/proc/$pid/task" | sort -n | tail -n 1)" -j -o out -e page-faults bash poke.sh 2>err || fail "-p twice"
n=$(field 'd["events"][0]["value"]' <out)
[ "$n" -ge 400 ] && [ "$n" -lt 800 ] || fail "-p of one that is named three times: $n faults, not 400 and few more"
"$RECKON" stat -p "$pid,$other" -j -o out -e page-faults bash poke.sh 2>err || fail "-p of two"
n=$(field 'd["events"][0]["value"]' <out)
[ "$n" -ge 400 ] || fail "-p of two: $n faults"

# A process that sleeps has counted 0, in each interval and in all.
"$RECKON" stat -p "$other" -I 20 -e page-faults sleep 0.1 2>err || fail "-I, idle"
n=$(grep -cE '^ *[0-9]+\.[0-9]+ +0  page-faults$' err)
[ "$n" -ge 1 ] || fail "-I: no interval of an idle process has counted 0"
! grep -qE 'did not run|not counted' err || fail "-I: an idle process is not told from one that is unknown"
"$RECKON" stat -p "$other" -j -o out -e page-faults sleep 0.01 2>err || fail "-j, idle"
field '(d["events"][0]["value"], d["events"][0]["state"])' <out | grep -qx "(0, 'idle')" || fail "-j: idle: $(cat out)"
"$RECKON" stat -p "$other" --csv -o out -e page-faults sleep 0.01 2>err || fail "--csv, idle"
grep -qx '0,,page-faults\(:u\)\?,0,100,,,0,0,0,idle,,.*' out || fail "--csv: idle: $(cat out)"
kill "$other"; wait "$other" 2>/dev/null

# It ends with the process, and so it does for a thread; no command, status 0.
rm out
"$RECKON" stat -p "$pid" -I 10 -e page-faults -o out 2>err 5>&- & stat=$!
"$RECKON" stat -t "$tid" -I 10 -e page-faults -o out2 2>err2 5>&- & stat2=$!
until [ -s out ] && [ -s out2 ]; do sleep 0.05; done # both count
exec 5>&-
wait "$stat" || fail "-p: status $? at the process's end"
wait "$stat2" || fail "-t: status $? at the thread's end"
grep -q 's wall' out && grep -q 's wall' out2 || fail "no result at the process's end"
wait "$pid" 2>/dev/null

# One that is gone already.
"$RECKON" stat -p "$pid" true 2>err
[ $? = 1 ] || fail "a process that has ended: status"
grep -q "no process $pid" err || fail "a process that has ended: message"
"$RECKON" stat -p 12x true 2>err
[ $? = 2 ] && grep -q "'12x'" err || fail "-p 12x"

# Wrong mixtures.
wrong() { "$RECKON" stat "$@" >/dev/null 2>err; [ $? = 2 ] || fail "$*: not status 2"; }
wrong -p 1 -a true
wrong -t 1 -a -C 0 true
wrong -A true
wrong --per-socket -p 1 true
wrong --per-thread true
wrong -r 2 -p 1
wrong -r 2 -I 10 true
wrong --interval-count 3 true
wrong -D -1 true
wrong --append true
wrong --null -e page-faults true
wrong -x '' true
wrong --freeze true

# A dry run says needed and allowed, and runs nothing.
"$RECKON" stat --dry-run -e page-faults,task-clock touch made 2>err || fail "--dry-run: status"
grep -qE '2 events on 1 slot: 2 descriptors needed, [0-9,]+ allowed' err || fail "--dry-run: text"
[ ! -e made ] || fail "--dry-run ran the command"
# What does not fit says what would, also where each of several targets would fit alone.
many=$(python3 -c 'print(",".join(["page-faults"] * 99))')
(ulimit -n 40; "$RECKON" stat --dry-run -e "$many" true) 2>err
[ $? = 1 ] || fail "--dry-run: what does not fit: status"
grep -q 'it does not fit' err && grep -qE 'cheaper: .*[0-9]+ of 99 fit' err || fail "--dry-run: no cheaper way"
sleep 30 & one=$!
sleep 30 & two=$!
(ulimit -n 40; "$RECKON" stat --dry-run -e "$(printf %s "$many" | cut -d, -f1-25)" -p "$one,$two") 2>err
[ $? = 1 ] && grep -qE 'cheaper: measure fewer of them at a time, or fewer events: [0-9]+ of 25 fit' err || fail "--dry-run: -p of two"
kill $one $two

# The whole machine, as far as this user may.
if ! "$RECKON" stat -a -e cpu-clock -o out true 2>err; then
    grep -q 'fix:' err || fail "-a: no remedy"
    exit 0
fi
cpus=$(getconf _NPROCESSORS_ONLN)
"$RECKON" stat -a -A -j -o out -e cpu-clock sleep 0.1 2>err || fail "-A"
[ "$(field 'len(d["events"])' <out)" = "$cpus" ] || fail "-A: not a row for each CPU"
field 'd["events"][0]["where"]' <out | grep -q '^CPU[0-9]' || fail "-A: the CPU's name"
for by in core die socket node; do
    "$RECKON" stat -a --per-$by -j -o out -e cpu-clock sleep 0.05 2>err || fail "--per-$by"
    [ "$(field 'sum(e["slots"] for e in d["events"])' <out)" = "$cpus" ] || fail "--per-$by: CPUs are missing"
done
first=$(cut -d, -f1 /sys/devices/system/cpu/online | cut -d- -f1)
"$RECKON" stat -C "$first" -o out -e cpu-clock sleep 0.05 2>err || fail "-C"
grep -q "CPU $first while this ran: sleep" out || fail "-C: the title"
# A process on some CPUs, a line for each; only there is it counted.
cpus=$(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0))[:2], sep=",")')
case $cpus in
*,*)
    sh -c 'while kill -0 $PPID; do :; done' &
    busy=$!
    taskset -p -c "${cpus#*,}" $busy >out 2>&1
    "$RECKON" stat -p $busy -C "$cpus" -A -x , -e task-clock -o out --timeout 300 2>err || fail "-p -C: $(cat err)"
    [ "$(grep -c '^CPU' out)" = 2 ] || fail "-p -C -A: not a line for each CPU: $(cat out)"
    "$RECKON" stat -p $busy -C "$cpus" -e task-clock --dry-run >out 2>&1 || fail "-p -C --dry-run: $(cat out)"
    grep -q '2 slots: 4 descriptors' out || fail "-p -C --dry-run: $(cat out)"
    kill $busy
    "$RECKON" stat -p 1,2 -C 0 -A true 2>err
    [ $? = 2 ] && grep -q 'one process' err || fail "-p 1,2 -A is taken"
    ;;
esac
"$RECKON" stat --cgroup no/such/cgroup true 2>err
[ $? = 1 ] && grep -q 'cgroup' err || fail "--cgroup: no such"
if "$RECKON" stat --cgroup / -e cpu-clock -o out true 2>err; then
    "$RECKON" stat --cgroup /,/ -j -o out -e cpu-clock true 2>err || fail "two cgroups"
    [ "$(field 'len(d["events"])' <out)" = 2 ] || fail "two cgroups: not a row for each"
else
    grep -q 'fix:' err || fail "--cgroup: no remedy"
fi

# Programs whose counters the kernel ends at their exec: refused with the reason, never counted as 0.
hidden() { # what, name, words…
    what=$1; shift
    "$@" 2>err
    [ $? = 1 ] && grep -q "$what" err && grep -q 'fix: ' err || fail "$what: $*"
    grep -qE '[0-9]  page-faults' err && fail "$what: counted all the same"
}
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
chmod 755 "$place"
cp "$(command -v id)" "$place/own" && cp "$place/own" "$place/shut" && chmod 755 "$place/own"
if "$ROOM" nobody >/dev/null && $nobody test -x "$RECKON" && [ "$(cat /proc/sys/fs/suid_dumpable)" != 1 ] && chown 65534 "$place/own" && chmod 4755 "$place/own" &&
    [ "$("$place/own" -u)" = 65534 ]; then
    hidden 'rights of its own' "$RECKON" stat -e page-faults "$place/own"
    hidden 'rights of its own' "$RECKON" stat -D 10 -e page-faults "$place/own"
    "$RECKON" compare -r 2 -e page-faults "'$place/own'" >out 2>err || fail "compare of a program with rights of its own"
    grep -q 'not counted: page-faults' out && grep -q 'wall time' out || fail "compare: its time is measured all the same"
    "$RECKON" stat -n "$place/own" -u >out 2>err && grep -qx 65534 out || fail "--null of a program with rights of its own"
    chown 0 "$place/own" && chmod 4755 "$place/own"
    "$RECKON" stat -e page-faults "$place/own" >out 2>err || fail "its rights are the caller's: it is counted"
    hidden 'rights of its own' $nobody "$RECKON" stat -e page-faults "$place/own"
    $nobody setpriv --no-new-privs "$RECKON" stat -e page-faults "$place/own" >out 2>err &&
        grep -qE '[1-9][0-9]*  page-faults' err || fail "no_new_privs: it is counted"
    chmod 711 "$place/shut"
    hidden 'may not be read' $nobody "$RECKON" stat -e page-faults "$place/shut"
    printf '#!/bin/sh\nexit 0\n' >"$place/script" && chmod 4755 "$place/script"
    $nobody "$RECKON" stat -e page-faults "$place/script" >out 2>err &&
        grep -qE '[1-9][0-9]*  page-faults' err || fail "a script's bits count for nothing: it is counted"
    if setcap cap_net_raw+ep "$place/shut" 2>/dev/null && chmod 755 "$place/shut"; then
        hidden 'rights of its own' $nobody "$RECKON" stat -e page-faults "$place/shut"
        "$RECKON" stat -e page-faults "$place/shut" >out 2>err || fail "capabilities that the caller has: it is counted"
    fi
fi

# A CPU that comes while a command runs is counted and has its line, in the intervals as in the end. Which CPUs are online is
# told by a file of our own, in a mount namespace of our own: nobody's CPU is taken off.
cat >come.sh <<'SH'
printf '0-1\n' >online
until [ "$(ls -l /proc/$PPID/fd | grep -c perf_event)" = 2 ]; do sleep 0.1; done # reckon has seen it
touch='import mmap; m = mmap.mmap(-1, 500 * mmap.PAGESIZE); [m.__setitem__(i * mmap.PAGESIZE, 1) for i in range(500)]'
taskset -c 0 python3 -S -c "$touch"
exec taskset -c 1 python3 -S -c "$touch"
SH
cat >plug.sh <<'SH'
printf '0\n' >online
mount --bind online /sys/devices/system/cpu/online || exit 99
"$RECKON" stat -A -a -j -o out "$@" -e page-faults sh come.sh
SH
if "$ROOM" all >/dev/null && taskset -c 0,1 true 2>/dev/null && unshare -m mount --bind out /sys/devices/system/cpu/online 2>/dev/null; then
    for with in "" "-I 300"; do
        unshare -m sh plug.sh $with 2>err || fail "-A: a CPU that comes ($with)"
        python3 - <<'PY' || fail "-A: a CPU that comes ($with)"
import json
lines = [[e for e in json.loads(line)["events"]] for line in open("out")]
assert [e["where"] for e in lines[-1]] == ["CPU0", "CPU1"], lines[-1]
assert all(e["value"] >= 500 for e in lines[-1]), lines[-1]
for cpu in ("CPU0", "CPU1"): # what intervals tell adds up
    parts = sum(e["value"] or 0 for l in lines[:-1] for e in l if e["where"] == cpu)
    assert len(lines) == 1 or parts == [e for e in lines[-1] if e["where"] == cpu][0]["value"], (cpu, parts, lines[-1])
PY
    done
fi
exit 0
