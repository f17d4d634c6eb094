# Regions, armed by the environment: what is counted, and what is said at the end.
"$ROOM" self || exit 77
program=$BUILD/tests/region/region-program
plugin=$BUILD/tests/region/libregion-plugin.so
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
RECKON_REGIONS=page-faults "$program" nest >out 2>&1
grep -q 'not counted' out && { grep 'not counted' out; exit 77; }

fail() {
    echo "$1"
    [ ! -f err ] || sed 's/^/stderr: /' err
    exit 1
}

# measured WORD...: runs it with page faults counted into out.json
measured() {
    rm -f out.json
    RECKON_REGIONS=page-faults RECKON_REGIONS_OUTPUT=out.json "$program" "$@" >out 2>err
    status=$?
    [ -s err ] && fail "$*: speaks on stderr"
    [ -s out.json ] || fail "$*: writes no out.json, and ends with $status"
}

# check EXPRESSION: python's, true of out.json. r("a/b"): the region b in a, or None; i(), s(): its faults, inclusive and
# self; t: the threads; about(n, m): n is m, and a few that somebody else's pages cost
check() {
    python3 - "$1" <<'PY' || fail "not so: $1 in $(cat out.json)"
import json, sys
d = json.load(open("out.json"))
def tree(regions):
    paths = []
    for x in regions:
        paths.append((paths[x["parent"]] + "/" if x["parent"] is not None else "") + x["region"])
    return dict(zip(paths, regions))
R = tree(d["regions"])
r = R.get
i = lambda p: r(p)["inclusive"][0]["value"]
s = lambda p: r(p)["self"][0]["value"]
t = d["threads"]
notes = " ".join(d["notes"])
about = lambda n, m: m <= n <= m + 12
sys.exit(0 if eval(sys.argv[1]) else 1)
PY
}

# Off: nothing happens, nothing is said, nothing is opened.
"$program" nest recurse many threads fork jump mismatch armed >out 2>err || fail "off: $?"
[ ! -s err ] && [ "$(cat out)" = 0 ] || fail "off: speaks: $(cat out)"
RECKON_REGIONS='' "$program" armed >out 2>err && [ "$(cat out)" = 0 ] || fail "an empty RECKON_REGIONS arms"
"$program" export json >out 2>err
grep -q 'regions are off' out || fail "export while off: $(cat out)"

measured nest armed
[ "$(cat out)" = 1 ] || fail "not armed"
check 'about(i("outer"), 160) and about(s("outer"), 100) and about(i("outer/inner"), 60)'
check 'i("outer") == s("outer") + i("outer/inner") and s("outer/inner") == i("outer/inner")'
check 'r("outer")["calls"] == 1 and r("outer/inner")["calls"] == 3 and len(R) == 2 and not notes.count("not")'
check 'd["events"][0]["event"].startswith("page-faults") and d["program"] == "region-program" and len(t) == 1'

measured recurse
check 'list(R) == ["recurse"] and r("recurse")["calls"] == 5 and about(i("recurse"), 50) and i("recurse") == s("recurse")'

measured many
check 'len(R) == 10000 and all(x["calls"] == 2 for x in R.values())'

measured threads nest
check 'len(t) == 4 and sum(x["ended"] for x in t) == 3 and len({x["tid"] for x in t}) == 4'
check 'about(i("thread"), 30) and all(about(x["regions"][0]["inclusive"][0]["value"], 10) for x in t if x["ended"])'

measured 1100-threads
check 'r("thread")["calls"] == 1100 and i("thread") >= 11000 and sum(x["threads"] for x in t) == 1100'
check 'len(t) == 1001 and [x["threads"] for x in t if x["tid"] is None] == [100]'

# What is open at the end is counted until then, in this thread and in others, and says so.
measured exit
[ $status = 3 ] || fail "exit(3) became $status"
check 'about(i("exits"), 40) and r("exits")["unended"] == 1'
measured stuck nest
check 'about(i("waits"), 30) and r("waits")["unended"] == 1 and r("outer")["unended"] == 0'
measured cancel
check 'about(i("waits"), 30) and t[0]["ended"]'

# A child is no part of it, and does not write over it.
measured fork nest
check 'list(R) == ["parent", "outer", "outer/inner"] and i("parent") < 1000 and r("parent")["calls"] == 1'

measured jump
check 'r("around/left")["unended"] == 1 and about(i("around"), 12) and r("around")["unended"] == 0'
measured mismatch
check 'r("a")["calls"] == 2 and "1 end of a region that was not open" in notes'

measured plugin "$plugin" nest
check 'r("plugin")["calls"] == 2'
# … and where the plugin alone has brought the library in
case $(readelf -d "$plugin") in
*san.so*) ;; # can't be loaded into a program without
*)
    RECKON_REGIONS=task-clock RECKON_REGIONS_OUTPUT=out.json python3 - "$plugin" 2>err <<'PY' || fail "unloading: $?"
import ctypes, _ctypes, sys, threading
for _ in range(2):
    library = ctypes.CDLL(sys.argv[1])
    library.plugin_work()
    thread = threading.Thread(target=library.plugin_work)
    thread.start()
    thread.join()
    _ctypes.dlclose(library._handle)
PY
    [ -s err ] && fail "unloading: speaks"
    check 'r("plugin")["calls"] == 4 and len(t) == 3'
    ;;
esac

# Where it goes.
rm -f out.json
RECKON_REGIONS=page-faults RECKON_REGIONS_OUTPUT=o%pp.json "$program" nest chdir 2>err || fail "output: $?"
set -- o*p.json
[ $# = 1 ] && [ "$1" != 'o*p.json' ] || fail "%p: $(ls)"
mv "$1" out.json
check "f'o{d[\"pid\"]}p.json' == '$1'"
RECKON_REGIONS=page-faults "$program" nest exit >out 2>err
[ $? = 3 ] && [ ! -s out ] || fail "text: $(cat out)"
grep -Eq '^  inner +3 +6[0-9] +6[0-9]$' err || fail "text: no inner"
grep -Eq '^exits +1 +.*\(1 unended\)$' err || fail "text: no exits"
RECKON_REGIONS=page-faults "$program" threads 2>err || fail "text: threads: $?"
[ "$(grep -c '^thread [1-9]' err)" = 3 ] || fail "text: no threads"
RECKON_REGIONS=page-faults "$program" export json >out.json 2>err || fail "export: $?"
check 'about(i("export"), 3) and r("export")["unended"] == 1'
RECKON_REGIONS=page-faults "$program" export xml >out 2>err
grep -q 'Invalid argument: .*"json"' out || fail "export xml: $(cat out)"
RECKON_REGIONS=page-faults "$program" nest armed armed >out 2>err || fail "text: $?"
RECKON_REGIONS=page-faults "$program" armed 2>err >out
grep -q 'no region was begun' err || fail "text without a region"

# What can't be: told, with what was counted, and the program's own status.
RECKON_REGIONS=page-faults RECKON_REGIONS_OUTPUT=no/such/file "$program" nest exit >out 2>err
[ $? = 3 ] || fail "an unwritable file changes the status"
grep -q 'no/such/file: No such file or directory' err && grep -q '^  inner' err || fail "unwritable"
if [ -c /dev/full ]; then
    RECKON_REGIONS=page-faults RECKON_REGIONS_OUTPUT=/dev/full "$program" nest 2>err || fail "full: $?"
    grep -q '/dev/full: no space left' err && grep -q '^  inner' err || fail "disk full"
fi
RECKON_REGIONS=page-faults "$program" nest exit 2>&- >out
[ $? = 3 ] && [ ! -s out ] || fail "a closed stderr changes the status"
RECKON_REGIONS=page-faults "$program" nest close-stderr 2>err || fail "stderr closed later: $?"
grep -q '^  inner' err || fail "stderr closed later: nothing is said"
[ -f mine ] && [ ! -s mine ] || fail "writes into the program's own file"
rm mine
RECKON_REGIONS=page-faults "$program" nest close-all 2>err || fail "everything closed: $?"
[ -f mine ] && [ ! -s mine ] || fail "everything closed: writes into the program's own file"
RECKON_REGIONS=page-faults RECKON_REGIONS_OUTPUT=/nowhere/x "$program" nest close-all 2>err || fail "everything closed: $?"
[ ! -s mine ] || fail "everything closed: tells it in the program's own file"
{ RECKON_REGIONS=page-faults "$program" nest exit; echo $? >status; } 2>&1 | true
[ "$(cat status)" = 3 ] || fail "a reader of stderr that has gone: $(cat status)"
RECKON_REGIONS=1 "$program" nest >out 2>err || fail "RECKON_REGIONS=1: $?"
grep -q 'RECKON_REGIONS=default will do' err || fail "RECKON_REGIONS=1: what to write"
RECKON_REGIONS=task-clock,cycles,instructions "$program" nest >out 2>err || fail "cycles: $?"
if grep -q '^not counted:' err; then # each reason once, with all that it stopped, behind an empty line
    grep -qx 'not counted: cycles, instructions' err && [ "$(grep -c '^  fix: ' err)" = 1 ] || fail "reasons are repeated"
    grep -B1 '^not counted' err | head -n 1 | grep -qx '' || fail "reasons stand close to the table"
fi
RECKON_REGIONS=no-such-event "$program" nest armed >out 2>err || fail "no such event: $?"
grep -q '^reckon: RECKON_REGIONS: .*no-such-event' err && [ "$(cat out)" = 0 ] || fail "no such event"
RECKON_REGIONS=page-faults,no-such-pmu/x/ "$program" nest >out 2>err || fail "no such pmu: $?"
[ "$(wc -l <err)" = 1 ] || fail "no such pmu"
RECKON_REGIONS=page-faults prlimit --nofile=5:5 "$program" nest 2>err || fail "no descriptors: $?"
grep -Eq 'RECKON_REGIONS|no counters' err || fail "no descriptors"
RECKON_REGIONS=page-faults "$program" nest _exit 2>err
[ $? = 4 ] && [ ! -s err ] || fail "_exit"
exit 0
