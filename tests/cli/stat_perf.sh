#!/bin/bash
# reckon stat -x beside perf stat -x, line by line: as many columns, of the same kind each, the same places, names, units
# and words; as this user and as one who may count in user space only.
set -u
perf --version >/dev/null 2>&1 || { echo "perf is not here, or not for this kernel"; exit 77; }
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; cat err 2>/dev/null; exit 1; }

cat >shape.py <<'PY'
"""Lines of perf stat -x, each number as what it is: its decimals, for they are different in every run."""
import re, sys
def shape(field):
    field = field.strip()
    if re.fullmatch(r"[0-9]+", field):
        return "n"
    if re.fullmatch(r"[0-9]+\.[0-9]+%?", field):
        return "n." + re.sub(r"[0-9]", "n", field.split(".")[1])
    field = field.removesuffix(" [software]") # perf 6.12's, of rows by CPU
    return re.sub(r"^[KMG]/sec$", "/sec", field) # how many there were is another matter
names = sys.argv[2:]
for line in open(sys.argv[1]):
    fields = line.rstrip("\n").split(";")
    if line.strip() and not line.startswith("#") and not line.startswith("Events"):
        print(";".join(shape(field) for field in fields))
PY
both() { # options and a command
    for _ in 1 2 3 4 5; do # perf prints nothing where a program ends before the first interval is looked at
        perf stat -x ';' "$@" >out 2>perf.err || fail "perf stat $*"
        [ -s perf.err ] && break
    done
    "$RECKON" stat -x ';' "$@" >out 2>err || fail "stat $*"
}
compare() { # what was run by both
    python3 shape.py perf.err >theirs
    python3 shape.py err >ours
    [ -s theirs ] && cmp -s theirs ours && return
    echo "stat -x $*: perf's lines, then reckon's:"
    diff perf.err err
    diff theirs ours
    exit 1
}
beside() {
    both "$@"
    compare "$@"
}

clocks=task-clock,page-faults,context-switches,cpu-migrations,minor-faults,alignment-faults
# perf says 0 of what happens in the kernel alone where it counts in user space only; reckon says that it can't count it.
"$RECKON" stat -x ';' -e task-clock,context-switches true 2>err && grep -q 'not supported' err &&
    clocks=task-clock,page-faults,minor-faults,alignment-faults
beside -e $clocks true
beside -e page-faults true
beside -e page-faults:u,task-clock:u true
beside -r 3 -e task-clock,page-faults,cycles true
beside -I 1000 -e page-faults,task-clock true # one interval, which the end cuts short
beside -p $$ -e page-faults,task-clock sleep 0.01 # which does not run
for time in 0.02 0.2 2 20; do # on a busy machine it ends before anybody has switched its counters on
    both -D 10 -e page-faults,task-clock sleep "$time"
    grep -q 'not counted' perf.err err || break
done
compare -D 10 -e page-faults,task-clock sleep "$time"
# What is not there has its own word. (perf leaves out more where it knows of a machine's events.)
beside -e cycles,instructions,task-clock true
if "$ROOM" all >/dev/null; then
    beside -a -e cpu-clock,page-faults sleep 0.02
    beside -a -A -e cpu-clock,page-faults,cpu-migrations sleep 0.02
    beside -C 0 -A -e page-faults sleep 0.02
    for by in core socket die node; do
        beside -a --per-$by -e cpu-clock,page-faults sleep 0.02
    done
    beside -a -A -r 2 -e page-faults sleep 0.02
    beside -a -A -I 1000 -e cpu-clock,page-faults sleep 0.02
    if group=$(sed -n 's/^[0-9]*:[^:]*perf_event[^:]*:\/*//p' /proc/self/cgroup | head -n 1) && [ -n "$group" ]; then
        beside -a -e page-faults -G "$group" sleep 0.02
    fi
fi

# Values agree where they are exact.
perf stat -x ';' -e page-faults true 2>perf.err && "$RECKON" stat -x ';' -e page-faults true 2>err || fail "faults"
[ "$(cut -d';' -f3 err)" = "$(cut -d';' -f3 perf.err)" ] && grep -qE '^[0-9]+;;page-faults(:u)?;[0-9]+;100.00;;$' err || fail "-x: a line"
[ "$(wc -l <err)" = 1 ] || fail "-x: lines that perf has not"
"$RECKON" stat -x ';' --null true 2>err && [ ! -s err ] || fail "-x of nothing"

# Who may count in user space only sees that, in -x as perf says it, in CSV and JSON in words.
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
if "$ROOM" nobody >/dev/null && $nobody test -x "$RECKON" && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" = 2 ]; then
    mkdir plain && chmod 777 plain && cp shape.py plain && cd plain || exit 1
    for events in page-faults,task-clock page-faults:u,page-faults; do
        $nobody perf stat -x ';' -e $events true 2>perf.err && $nobody "$RECKON" stat -x ';' -e $events true 2>err || fail "$events"
        [ "$(python3 shape.py perf.err)" = "$(python3 shape.py err)" ] || { diff perf.err err; fail "as a plain user: $events"; }
    done
    $nobody "$RECKON" stat --csv -e page-faults true 2>err || fail "--csv"
    python3 -c '
import csv
row = next(csv.DictReader(open("err", newline="")))
assert row["note"] == "counts user space only: kernel.perf_event_paranoid is 2", row' || fail "--csv says nothing of a step down"
fi
exit 0
