#!/bin/bash
# reckon report, diff, merge and export: what they show of one recording agrees, whatever the way; and when things go wrong.
set -u
fail() { echo "FAIL: $*"; cat err 2>/dev/null; exit 1; }
cat >work.c <<'C'
#include <pthread.h>
static volatile long sum;
__attribute__((noinline, noclone)) void leaf(long n) { for (long i = 0; i < n; i++) sum += i; }
__attribute__((noinline, noclone)) void middle(long n) { leaf(n); sum++; }
static void *worker(void *unused) { (void)unused; leaf(40000000); return 0; }
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    middle(80000000);
    pthread_join(thread, 0);
    return 0;
}
C
cc -O0 -g -fno-omit-frame-pointer work.c -o work -lpthread || { echo "no compiler"; exit 77; }
"$RECKON" record -q -e cpu-clock:u -F 2000 --call-graph fp ./work 2>err || { echo "no recording here: $(tail -n 1 err)"; exit 77; }

# What can be chosen, and what comes of it.
"$RECKON" report >out 2>err || fail "report"
head -n 1 out | grep -qE '^[0-9,]+ samples? kept, [0-9,]+ lost, .* skipped; cpu-clock:u, 2 threads, [0-9.]+ s; 100 % is [0-9.]+ s$' || fail "head: $(head -n 1 out)"
grep -qE '^ *[0-9.]+ +[0-9.]+ +[0-9.,]+ m?s +[0-9,]+ +#+ +leaf, work$' out || fail "leaf, with its time and samples"
grep -qE 'thread, process/thread' out || fail "shares of threads"
grep -q "$(printf '\033')" out && fail "colour in a pipe"
for by in function line module thread process comm cgroup cpu event source; do
    "$RECKON" report --by $by --csv >$by.csv 2>err || fail "--by $by --csv"
    "$RECKON" report --by $by --json >$by.json 2>err || fail "--by $by --json"
    "$RECKON" report --by $by >out 2>err || fail "--by $by"
done
python3 - <<'PY' || fail "sums"
import csv, json
sums = {}
for by in "function line module thread process comm cgroup cpu event source".split():
    rows = list(csv.DictReader(open(by + ".csv")))
    sums[by] = sum(int(r["self"]) for r in rows)
    js = json.load(open(by + ".json"))
    assert sum(r["self"] for r in js["functions" if by == "function" else "rows"]) == sums[by], by
    assert js["summary"]["weight"] == sums[by], by
assert len(set(sums.values())) == 1 and sums["function"] > 0, sums
threads = list(csv.DictReader(open("thread.csv")))
assert len(threads) == 2 and len({t["tid"] for t in threads}) == 2, threads
functions = {r["symbol"]: r for r in csv.DictReader(open("function.csv"))}
assert float(functions["leaf"]["self_percent"]) > 90, functions["leaf"]
assert 50 < float(functions["middle"]["total_percent"]) < 85, functions["middle"]
lines = [r for r in csv.DictReader(open("line.csv")) if r["symbol"] == "leaf"]
assert all(r["file"].endswith("work.c") and r["line"] == "3" for r in lines if r["file"]), lines
open("tid", "w").write(threads[0]["tid"])
open("self", "w").write(threads[0]["self"])
PY
weight() { "$RECKON" report --json "$@" 2>err | python3 -c 'import json, sys; s = json.load(sys.stdin)["summary"]; print(s["weight"], s["samples"])'; }
all=$(weight)
[ "$(weight --thread "$(cat tid)" | cut -d' ' -f1)" = "$(cat self)" ] || fail "--thread"
[ "$(weight --comm '^work$')" = "$all" ] || fail "--comm"
[ "$(weight --comm nobody)" = "0 0" ] || fail "--comm of nobody"
"$RECKON" report --comm nobody >out 2>err && grep -qE '^No sample matches; the recording has [0-9,]+ samples.$' out || fail "nothing matches: $(cat out)"
grep -qE "^reckon report: nothing matches --comm 'nobody'; the recording has [0-9,]+ samples$" err || fail "what matches nothing: $(cat err)"
"$RECKON" export --comm nobody -C 0-99 2>err >out && [ ! -s out ] && grep -q "nothing matches --cpu and --comm 'nobody'" err || fail "export of nothing: $(cat err)"
[ "$(weight --symbol '^middle$')" != "$all" ] && [ "$(weight --symbol '.')" = "$all" ] || fail "--symbol"
[ "$(weight --module '^work$' | cut -d' ' -f2)" -gt 0 ] || fail "--module"
[ "$(weight --time 0,1000)" = "$all" ] && [ "$(weight --time 0%,100%)" = "$all" ] || fail "--time: all"
first=$(weight --time ,50% | cut -d' ' -f2) second=$(weight --time 50%, | cut -d' ' -f2)
[ $((first + second)) -ge "$(echo "$all" | cut -d' ' -f2)" ] && [ "$first" -gt 0 ] && [ "$second" -gt 0 ] || fail "--time: halves"
[ "$(weight --event cpu-clock:u)" = "$all" ] || fail "--event"
"$RECKON" report --symbol '(' >out 2>err; [ $? -eq 2 ] || fail "a bad pattern: status"
grep -q 'is no regular expression' err || fail "a bad pattern"
"$RECKON" report --tree >out 2>err || fail "--tree"
grep -qE '^ *[0-9.]+ +[0-9.]+ m?s  (│ |  )*(├─|└─)?middle, work' out || fail "--tree: middle: $(cat out)"
[ "$(grep -n 'middle, work' out | head -n 1 | cut -d: -f1)" -lt "$(grep -n 'leaf, work' out | tail -n 1 | cut -d: -f1)" ] || fail "--tree: order"
"$RECKON" report --callers '^leaf$' >out 2>err || fail "--callers"
sed -n 4p out | grep -qE '^100.00 +[0-9.]+ m?s  leaf' || fail "--callers begins with it: $(sed -n 4p out)"
grep -qE '(├|└)─middle' out && grep -qE '(├|└)─worker' out || fail "--callers: both"
"$RECKON" report --callees '^middle$' >out 2>err || fail "--callees"
sed -n 4p out | grep -qE '^100.00 +[0-9.]+ m?s  middle' || fail "--callees begins with it"
"$RECKON" report --no-children --percent-limit 50 >out 2>err || fail "--no-children"
grep -q 'leaf' out && ! grep -q 'middle' out || fail "--no-children --percent-limit"
"$RECKON" report --percent-limit 50 >out 2>err || fail "--percent-limit"
[ "$(sed -n '/thread, process/,$p' out | grep -c '^ *[0-9]')" = 1 ] && tail -n 1 out | grep -q '… 1 more: reckon report --percent-limit 50 --percent-limit 0$' || fail "--percent-limit of threads: $(cat out)"
"$RECKON" report --lines 1 >out 2>err && grep -q '… [0-9]* more: reckon report --lines 1 --lines 0$' out || fail "--lines 1 says what shows the rest"
# Relations at a glance: who is alone stands below its caller, several are on branches. What is typed again shows the rest.
printf 'p;main;parse;read;token 3\np;main;parse;read;hash 2\np;main;sort 4\nq;start 1\n' >tree.folded
"$RECKON" report --tree tree.folded >out 2>err || fail "--tree of folded stacks"
[ "$(sed '1,3d; s/^ *[0-9.]* *[0-9]*  //' out)" = "├─p
│ main
│ ├─parse
│ │ read
│ │ ├─token
│ │ └─hash
│ └─sort
└─q
  start" ] || fail "the tree: $(cat out)"
LC_ALL=C "$RECKON" report --tree --lines 3 tree.folded >out 2>err || fail "--tree in ASCII"
[ "$(sed '1,3d; s/^ *[0-9.]* *[0-9]*  //' out)" = '|-p
| main
| |-parse
... 6 more: reckon report --tree --lines 3 tree.folded --lines 0' ] || fail "the tree in ASCII: $(cat out)"
PATH=${RECKON%/*}:$PATH sh -c "$(sed -n 's/.*more: //p' out)" >again 2>err && [ "$(grep -c '[a-z]$' again)" = 11 ] || fail "the hint, typed: $(cat again err)"
LC_ALL=C "$RECKON" report --lines 2 --by line tree.folded >out 2>err && ! LC_ALL=C grep -q '[^ -~]' out || fail "no letter that C has not: $(cat out)"
"$RECKON" report --sort total --lines 1 >out 2>err && ! sed -n 4p out | grep -q '  leaf' || true

# Every format has the same samples; pprof has all of it, and comes back.
for format in folded csv json pprof speedscope firefox perf-script; do
    "$RECKON" export --format $format -o out.$format 2>err || fail "export --format $format"
    "$RECKON" export --format $format perf.data >again 2>err || fail "export --format $format to a pipe"
    cmp -s out.$format again || fail "$format: not the same twice"
done
"$RECKON" report --json out.pprof >back.json 2>err || fail "report of pprof"
"$RECKON" diff perf.data out.pprof >out 2>err || fail "diff with pprof"
grep -q 'No difference' out || fail "pprof differs: $(cat out)"
"$RECKON" diff --by line --csv perf.data out.pprof >out 2>err && [ "$(wc -l <out)" -eq 1 ] || fail "pprof differs by line"
"$RECKON" export --format folded out.pprof >back.folded 2>err || fail "folded of pprof"
diff <(sort out.folded) <(sort back.folded) >/dev/null || fail "folded stacks of pprof differ"
"$RECKON" report --json out.folded >folded.json 2>err || fail "report of folded stacks"
python3 "$SOURCE/tests/formats" function.json out || fail "formats"
python3 - <<'PY' || fail "folded, read"
import json
a, b = json.load(open("function.json")), json.load(open("folded.json"))
ours = {f["symbol"]: f["self"] for f in a["functions"] if f["self"] and not f.get("miss")}
back = {f["symbol"]: f["self"] for f in b["functions"] if f["self"] and not f.get("miss")}
assert ours == back, (ours, back)
PY

# Merged: sums; in any order; by file.
"$RECKON" merge perf.data out.pprof -o both.pprof 2>err || fail "merge"
[ "$(weight both.pprof)" = "$(echo "$all" | awk '{ print 2 * $1, 2 * $2 }')" ] || fail "merge: $(weight both.pprof), $all"
"$RECKON" diff perf.data both.pprof | grep -q 'No difference' || fail "twice the same has other shares"
"$RECKON" diff --normalise none --json perf.data both.pprof >out 2>err || fail "diff --json"
python3 -c 'import json; d = json.load(open("out")); assert d["rows"] and all(r["change"] == r["before"] for r in d["rows"]), d' || fail "diff --normalise none"
"$RECKON" merge --label perf.data out.folded -o labelled.pprof 2>err || fail "merge --label"
"$RECKON" report --by source --csv -e cpu-clock:u labelled.pprof >out 2>err && grep -q '^perf.data,' out || fail "--by source"
"$RECKON" report --json "$DATA/nothing" >out 2>err; [ $? -eq 1 ] || fail "no such file: status"

# Two builds in two folders, under two names: their functions are the same. What chance does is marked; the hint can be typed.
mkdir old new && for at in old/work-1 new/work-2; do
    cp work $at && "$RECKON" record -q -e cpu-clock:u -F 2000 --call-graph fp -o ${at%/*}.data $at 2>err || fail "record $at"
done
"$RECKON" diff old.data new.data --percent-limit 0 >out 2>err || fail "diff of two builds"
grep -qE '^whole   [0-9.]+ (m|)s, now [0-9.]+ m?s: [+-][0-9.]+ %; shares are compared' out || fail "by how much the whole changed: $(cat out)"
grep -qE '^rows    [0-9]+ in both, [0-9]+ only before, [0-9]+ only after$' out || fail "how many matched: $(cat out)"
grep -q '^before %  after %   points' out || fail "points: $(cat out)"
"$RECKON" diff --json old.data new.data >out 2>err && python3 - <<'PY' || fail "matched"
import json
d = json.load(open("out"))
rows = {r["name"]: r for r in d["rows"]}
assert d["matched"] >= 3, d
assert "work-1" not in json.dumps(d) and abs(rows["leaf"]["change"]) < 0.2 * d["after_weight"] if "leaf" in rows else True, d
PY
printf 'm;a 100\nm;b 100\nm;c 1000\n' >x.folded && printf 'm;a 110\nm;b 290\nm;c 1000\n' >y.folded
"$RECKON" diff --normalise none x.folded y.folded >out 2>err || fail "diff of folded stacks"
grep -qE ' ~ .* a$' out && grep -qE '[+][0-9.]+    .* b$' out && tail -n 1 out | grep -q '^~ no more than chance' || fail "chance: $(cat out)"
PATH=${RECKON%/*}:$PATH sh -c "$("$RECKON" diff --lines 1 x.folded y.folded | sed -n 's/.*more: //p')" >again 2>err && grep -q ' a$' again || fail "diff's hint, typed"

# Two runs, one after the other, last as long as both, not as long as from the first to the last.
"$RECKON" merge old.data new.data -o runs.pprof 2>err && python3 - "$RECKON" <<'PY' || fail "how long merged runs last"
import json, subprocess, sys
length = lambda f: json.loads(subprocess.run([sys.argv[1], "report", "--json", f], stdout=subprocess.PIPE, check=True).stdout)["summary"]
old, new, both = map(length, ["old.data", "new.data", "runs.pprof"])
assert both["duration"] == old["duration"] + new["duration"] < both["last_time"] - both["first_time"], (old, new, both)
PY

# What goes wrong: cut and foreign files, a full disk, a closed pipe, narrow and plain terminals.
head -c $(($(wc -c <out.pprof) / 2)) out.pprof >cut.pprof
head -c $(($(wc -c <perf.data) * 2 / 3)) perf.data >cut.data
for words in "report cut.data" "report --json cut.data" "export cut.data" "export --format pprof -o cut.out cut.data" "diff cut.data perf.data" \
    "merge -o merged.pprof cut.data" "report --html cut.html cut.data" "report --by thread cut.data"; do
    "$RECKON" $words >out 2>err; [ $? -eq 1 ] && grep -q 'cut.data was cut off before its end' err || fail "$words of a cut recording: $(cat err)"
done
"$RECKON" report cut.pprof >out 2>err; [ $? -eq 1 ] && grep -q damaged err || fail "half of a gzip"
gunzip -c <out.pprof >plain.pprof 2>err && head -c $(($(wc -c <plain.pprof) / 2)) plain.pprof >half.pprof
"$RECKON" report plain.pprof >out 2>err || fail "pprof that is not packed"
"$RECKON" report half.pprof >out 2>err; [ $? -le 1 ] || fail "half of pprof"
# What would turn a line's order round, or hide in it, is shown as its bytes.
printf 'main;x\342\200\256gnp 5\nmain;\343\202\242 2\n' >turned.folded
"$RECKON" report turned.folded >out 2>err && grep -qF 'x\xe2\x80\xaegnp' out && grep -q "$(printf '\343\202\242')" out || fail "names that turn round: $(cat out)"

# Inlined functions of another's file are left out too; one that has none is not copied to leave out nothing.
printf 'main;outer;deep_[i] 5\nmain 2\n' >inlined.folded
"$RECKON" export --format folded --no-inline inlined.folded >out 2>err || fail "export --no-inline of folded stacks"
[ "$(sort out)" = "$(printf 'main 2\nmain;outer 5')" ] || fail "--no-inline of folded stacks: $(cat out)"
"$RECKON" export --format folded out >again 2>err && cmp out again || fail "folded stacks, read and written, differ: $(cat again)"
printf 'a;b 1\nnonsense\nc 2\n' >some.folded
"$RECKON" report some.folded >out 2>err; [ $? -eq 1 ] && grep -q '  c' out && grep -q damaged err || fail "a damaged line"
printf 'no profile at all' >foreign
"$RECKON" report foreign >out 2>err; [ $? -eq 1 ] && grep -q 'not a perf.data recording' err || fail "no profile"
if [ -w /dev/full ]; then
    for words in report "report --tree" "report --json" "export --format firefox" "export --format pprof" "diff perf.data out.pprof" \
        "merge perf.data" "export --format folded -o /dev/full"; do
        "$RECKON" $words >/dev/full 2>err; [ $? -eq 1 ] && [ -s err ] || fail "$words to a full disk"
    done
fi
for words in "report --lines 0" "export --format perf-script" "export --format json"; do
    "$RECKON" $words 2>err | head -c 10 >/dev/null
    case ${PIPESTATUS[0]} in 0 | 1 | 141) ;; *) fail "$words | head: status ${PIPESTATUS[0]}" ;; esac
done
python3 - "$RECKON" <<'PY' || fail "terminals"
import fcntl, os, re, struct, subprocess, sys, termios
def typed(width, words, **env):
    """What reckon writes to a terminal of that width."""
    ours, its = os.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("4H", 24, width, 0, 0))
    p = subprocess.Popen([sys.argv[1], *words.split()], stdout=its, stderr=its, stdin=subprocess.DEVNULL,
                         env={k: v for k, v in {**os.environ, "TERM": "xterm", **env}.items() if v is not None})
    os.close(its)
    text = b""
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        text += more
    p.wait()
    os.close(ours)
    return text.decode("utf-8", "replace").replace("\r", "")
for width in 20, 40, 60, 80, 120:
    for words in "report", "report --tree", "report --by line", "diff perf.data some.folded":
        plain = re.sub(r"\x1b\[[0-9;]*m", "", typed(width, words))
        table = [l for l in plain.split("\n") if re.match(r" *-?[0-9]+\.[0-9]+ ", l)]
        assert table, (width, words, plain)
        for line in table:
            assert len(line) <= max(width, 45), (width, words, len(line), line)
    if width >= 40:  # the line is what was asked for: the path goes first, then the function is cut
        assert re.search(r"leaf, (work, )?\S*work.c:3$", re.sub(r"\x1b\[[0-9;]*m", "", typed(width, "report --by line")), re.M), width
os.environ.pop("NO_COLOR", None)
assert "\x1b[" in typed(80, "report"), "no colour on a terminal"
assert "\x1b[" not in typed(80, "report", NO_COLOR="1"), "NO_COLOR"
assert "\x1b[" not in typed(80, "report", TERM="dumb"), "TERM=dumb"
PY
# Missing binaries: their names are in the recording; where they are not, that is told, and nothing invented.
"$RECKON" report >with 2>err || fail "report with the binary"
"$RECKON" record -q --no-names -e cpu-clock -o bare.data ./work 2>err || fail "record --no-names"
rm work
"$RECKON" report >out 2>err || fail "report without the binary"
cmp -s with out || fail "without the binary the report is another"
"$RECKON" report bare.data >out 2>err || fail "report without the binary and names"
grep -q 'could not be named' out && grep -qE 'work: ' out || fail "the binary is gone"

# A long name is cut to what tells most: its parameters, template arguments and folders go first.
cat >long.folded <<'F'
main;std::vector<int, std::allocator<int> >::push_back(int const&) 5
main;core::slice::cmp::<impl core::cmp::PartialEq<[U]> for [T]>::eq 4
main;github.com/somebody/something/deep/crypto/sha256.(*digest).checkSum 3
F
python3 - <<'PY' || fail "names on a narrow terminal"
import fcntl, os, pty, struct, termios
def run(columns):
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.environ["TERM"] = "dumb"
        os.execv(os.environ["RECKON"], ["reckon", "report", "long.folded"])
    got = b""
    try:
        while part := os.read(fd, 4096):
            got += part
    except OSError:
        pass
    assert os.waitpid(pid, 0)[1] == 0
    return [line.split("  ")[-1].strip() for line in got.decode().splitlines()]
short = ["std::vector::push_back", "<[T] as PartialEq>::eq", "sha256.(*digest).checkSum"]
lines = run(76)
assert all(name in lines for name in short), lines
lines = run(200)
assert "std::vector<int, std::allocator<int> >::push_back(int const&)" in lines and short[0] not in lines, lines
PY
exit 0
