#!/bin/bash
# reckon compare: words, hooks, parameters, failures, formats, and that nothing is left behind.
set -u
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; cat out err 2>/dev/null; exit 1; }
compare() { timeout 250 "$RECKON" compare -e page-faults "$@" >out 2>err; }

# A difference that is there is seen, one that is not there is not said to be; results on stdout alone.
touch='import mmap; m = mmap.mmap(-1, 2000 * 4096); [m.__setitem__(i * 4096, 1) for i in range(2000)]'
compare -r 6 "python3 -S -c 'pass'" "python3 -S -c '$touch'" || fail "two commands"
[ ! -s err ] || fail "something on stderr"
grep -qE '^  page-faults .*more page-faults$' out || fail "2000 more faults are not seen"
grep -qE '^1: .*\(reference\)$' out && grep -q 'in random order (--seed ' out || fail "the table"
compare -r 3 true || fail "one command alone"
grep -q 'wall time' out && ! grep -q ratio out || fail "one command: its summary"

# Words as in sh: what is taken apart is exactly what sh would make of it.
cat >words.sh <<'W'
#!/bin/sh
for w; do printf '<%s>' "$w"; done >>words.txt
W
chmod +x words.sh
while IFS= read -r text; do
    rm -f words.txt
    sh -c "./words.sh $text" || fail "sh: $text"
    mv words.txt want.txt
    compare -r 1 "./words.sh $text" || fail "words: $text"
    cmp words.txt want.txt || fail "words of: $text"
done <<'W'
a  b	c
'a b' "c d" e\ f
'it'\''s' "a\"b\\c\$d\`e" "\n"
'' "" x''y
"a'b" 'a"b' \a\\\"
a{b}c %s a=b --x=~ a#b \| \* '$HOME' "*?[" "|&;"
W
refused() { # column of the caret, then the text
    compare -r 1 "$2"
    [ $? = 2 ] || fail "not refused: $2"
    [ ! -s out ] || fail "something on stdout: $2"
    grep -qE "^ {$(($1 + 2))}\^" err || fail "the caret under: $2"
}
refused 5 'echo $HOME'
refused 5 'echo *.c'
refused 3 'ls | wc'
refused 5 'echo "abc'
refused 6 "echo a'bc"
refused 5 'true & false'
refused 0 'A=b true'
refused 5 'echo \'
refused 6 'echo "$x"'
refused 0 '   '
compare -r 1 --shell 'test $((1 + 1)) = 2 && echo | cat' || fail "--shell"

# Failures: the command's status and the end of what it said; nothing is printed as a result.
compare -r 3 true "sh -c 'echo first; echo the reason >&2; exit 5'"
[ $? = 5 ] || fail "status of a command that fails"
grep -q 'exit status 5' err && grep -qx '  the reason' err && [ ! -s out ] || fail "a failure's message"
compare -r 3 "sh -c 'kill -KILL \$\$'"
[ $? = 137 ] && grep -q 'ended by signal 9' err || fail "a command that is killed"
compare -r 3 --ignore-failure 'false' 'true' || fail "--ignore-failure"
grep -q '(3 of 3 runs failed)' out || fail "failures are counted"
compare -r 2 true no-such-command-here
[ $? = 127 ] && grep -q no-such-command-here err || fail "a command that is not there"
touch plain
compare -r 2 ./plain
[ $? = 126 ] && grep -q plain err || fail "a command that can't be executed"
compare -r 2 --input no-such-file cat
[ $? = 1 ] && grep -q no-such-file err || fail "an input that is not there"

# Hooks, in their order, with parameters; cleanup also after a failure.
log() { echo "sh -c 'echo $1 >>log'"; }
rm -f log
compare -r 2 -w 1 --setup "$(log 'setup {n}')" --prepare "$(log 'prepare {n}')" --cleanup "$(log 'cleanup {n}')" \
    -L n a,b "$(log 'run {n}')" || fail "hooks"
[ "$(head -n 2 log | tr '\n' ' ')" = 'setup a setup b ' ] || fail "setup: $(cat log)"
[ "$(tail -n 2 log | tr '\n' ' ')" = 'cleanup a cleanup b ' ] || fail "cleanup: $(cat log)"
for n in a b; do
    [ "$(grep -c "run $n" log)" = 3 ] && [ "$(grep -c "prepare $n" log)" = 3 ] || fail "runs and warm-up: $(cat log)"
done
sed -n '3,14p' log | paste -d' ' - - | grep -vE '^prepare (.) run \1$' && fail "prepare stands before its run"
rm -f log
compare -r 2 --cleanup "$(log cleanup)" false
[ $? = 1 ] && grep -q cleanup log || fail "cleanup after a failure"
compare -r 2 --setup 'sh -c "exit 4"' true
[ $? = 4 ] && grep -q 'setup of true' err || fail "a setup that fails"
compare -r 1 --prepare true --prepare false true true
[ $? = 1 ] || fail "--prepare for each command"

# Parameters and names.
compare -r 1 --csv -P n 0.5 1.5 -D 0.5 -L s x,y 'echo {n} {s} {other}' || fail "a scan and a list"
cut -d, -f1 out | uniq | tr '\n' '|' | grep -qxF 'command|echo 0.5 x {other}|echo 0.5 y {other}|echo 1.0 x {other}|echo 1.0 y {other}|echo 1.5 x {other}|echo 1.5 y {other}|' || fail "combinations"
head -n 1 out | grep -q '^command,parameter_n,parameter_s,quantity,unit,n,mean' || fail "the columns of CSV"
compare -r 1 -n one,two --reference two true 'sh -c true' || fail "names"
grep -q '^1: one$' out && grep -q '^2: two  (reference)$' out || fail "names and reference"
compare -r 1 --reference 'sh -c :' true || fail "a reference of its own"
grep -q '^1: sh -c :  (reference)$' out && grep -q '^2: true$' out || fail "it is the first"

# Input and output.
printf 'input' >in.txt
compare -r 2 --input in.txt "sh -c 'cat >>got.txt'" || fail "--input"
[ "$(cat got.txt)" = inputinput ] || fail "the input, from its beginning each time"
compare -r 1 --json "sh -c 'echo loud; echo louder >&2'" || fail "output is discarded"
! grep -q loud err || fail "output is discarded"
compare -r 1 --json --show-output "sh -c 'echo loud; echo louder >&2'" || fail "--show-output"
[ "$(cat err)" = "$(printf 'loud\nlouder')" ] && python3 -m json.tool out >json || fail "--show-output goes to stderr"

# JSON has every run; what was not counted is null with its reason. Its figures are those of its runs.
"$RECKON" compare -r 4 --seed 7 --json -e page-faults,cycles true 'sh -c "exit 0"' >out 2>err || fail "--json"
python3 - <<'PY' || fail "--json"
import json, statistics
d = json.load(open("out"))
assert d["seed"] == "7" and len(d["commands"]) == 2
places = []
for c in d["commands"]:
    names = c["quantities"]
    assert names == ["wall", "user", "system", "peak_rss", "page-faults", "cycles"], names
    assert len(c["runs"]) == 4
    places += [r["place"] for r in c["runs"]]
    assert [r["round"] for r in c["runs"]] == [0, 1, 2, 3]
    for i, f in enumerate(c["figures"]):
        values = [r["values"][i] for r in c["runs"]]
        if f["n"] == 0:
            assert f["mean"] is None and f["reason"] and values == [None] * 4, f
            continue
        assert abs(f["mean"] - statistics.mean(values)) <= 1e-9 * abs(f["mean"]) and f["n"] == 4
        assert abs(f["sd"] - statistics.stdev(values)) <= 1e-9 * f["sd"] + 1e-9
        assert c["reference"] or f["verdict"] and f["outcome"], f
assert sorted(places) == list(range(8)), places
order = sorted((r["place"], i) for i, c in enumerate(d["commands"]) for r in c["runs"])
assert all({order[k][1], order[k + 1][1]} == {0, 1} for k in range(0, 8, 2)), order
json.dump([i for _, i in order], open("order", "w"))
PY
cp order first-order
"$RECKON" compare -r 4 --seed 7 --json -e page-faults true 'sh -c "exit 0"' >out 2>err || fail "--seed"
python3 -c 'import json
d = json.load(open("out"))
order = [i for _, i in sorted((r["place"], i) for i, c in enumerate(d["commands"]) for r in c["runs"])]
assert order == json.load(open("first-order"))' || fail "the same seed, the same order"
compare -r 3 --markdown true 'a|b' ; [ $? = 2 ] || fail "an operator"
compare -r 3 --markdown true "sh -c ': | :'" || fail "--markdown"
[ "$(grep -c '^| ' out)" = 11 ] && grep -qF 'sh -c '"'"': \| :' out || fail "--markdown"
compare --time 200ms true || fail "--time"

# Ctrl-C: what was gathered is shown; no process is left.
cat >slow.sh <<'S'
#!/bin/sh
echo x >>ran
[ "$(wc -l <ran)" -lt 5 ] && exit 0
echo $$ >pid
exec sleep 60
S
chmod +x slow.sh
for signal in INT TERM; do
    rm -f ran pid
    # A shell's background jobs ignore SIGINT; setsid and python undo that, as a terminal has it.
    python3 - $signal <<'PY' >status || fail "Ctrl-C ($signal)"
import os, signal, subprocess, sys, time
name = getattr(signal, "SIG" + sys.argv[1])
p = subprocess.Popen([os.environ["RECKON"], "compare", "-e", "page-faults", "-r", "50", "./slow.sh"], stdout=open("out", "w"),
                     stderr=open("err", "w"), start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
while not os.path.exists("pid") or not open("pid").read().strip():
    time.sleep(0.01)
    assert p.poll() is None
if name == signal.SIGINT:
    os.killpg(p.pid, name)
else:
    os.kill(p.pid, name)
print(p.wait())
PY
    want=143
    [ $signal = INT ] && want=130
    [ "$(cat status)" = $want ] || fail "status after $signal: $(cat status)"
    grep -q '^4 runs; interrupted' out || fail "what was gathered before $signal"
    kill -0 "$(cat pid)" 2>/dev/null && fail "the command is left after $signal"
done

# Progress with the time left, only on a terminal.
python3 - <<'PY' || fail "progress on a terminal"
import os, pty, sys
def read(fd):
    got = b""
    while True:
        try:
            part = os.read(fd, 4096)
        except OSError:
            return got
        if not part:
            return got
        got += part
pid, fd = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execv(os.environ["RECKON"], ["reckon", "compare", "-e", "page-faults", "-r", "4", "sleep 0.15"])
got = read(fd)
_, status = os.waitpid(pid, 0)
assert status == 0 and b"run 3 of 4: sleep 0.15, about" in got and b" s left" in got, got
last = got.rindex(b"\r\x1b[K")
assert b"4 runs" in got[last:], got[last:]
PY

# Wrong usage.
usage() {
    expect=$1
    shift
    compare "$@"
    [ $? = 2 ] && [ ! -s out ] && grep -qF -e "$expect" err || fail "usage: $*"
}
usage 'no command to run' -r 3
usage 'exclude each other' -r 3 --time 1s true
usage 'is not a time' --time 5x true
usage 'is not a number from 1' -r 0 true
usage '-P wants NAME MIN MAX' -P n 1
usage 'step is above 0' -P n 1 5 -D 0 'echo {n}'
usage 'from a number' -P n 1 x 'echo {n}'
usage 'at most 10000 values' -P n 1 1000000 'echo {n}'
usage '-D stands after' -D 1 true
usage 'more names' -n a,b true
usage 'two parameters' -L n a -L n b 'echo {n}'
usage '--prepare is given' --prepare true --prepare true true
usage "parameter 'x' is used nowhere" -L x a,b 'echo {y}'
usage 'numbered from 1 to 2' --reference 9 true 'true 2'
usage 'one of them' --json --csv true
usage 'one of them' --markdown --json true

# A parameter in a hook alone multiplies the command, as hyperfine does it.
compare -r 2 -L x a,b --prepare 'touch made-{x}' true && [ -e made-a ] && [ -e made-b ] || fail "a parameter of a hook"
grep -q '^2 runs of each of 2 commands' out || fail "a parameter of a hook: two commands"

# Counts are whole numbers; what lies between them is the mean.
compare -r 3 true && grep -qE '^  page-faults  [0-9.]+ ± [0-9.]+ +[0-9]+  [0-9]+ … [0-9]+' out || fail "counts are not whole"

# Where the locale has only ASCII, nothing else is printed: in the table, in markdown, beside a verdict. 
ascii() { ! LC_ALL=C grep -q '[^ -~]' out; }
for format in '' --markdown; do
    LC_ALL=C compare -r 6 $format "python3 -S -c 'pass'" "python3 -S -c '$touch'" || fail "C locale $format"
    ascii && grep -q 'mean +- 95 %' out && grep -q 'min \.\.\. max' out && grep -q '[0-9] +- [0-9]' out &&
        grep -qE '[0-9] \.\.\. [0-9]' out || fail "C locale $format: what is not ASCII"
done
LC_ALL=C compare -r 2 true && ascii || fail "C locale: one command"

# Time on the CPU, which a busy machine changes least, is counted unless other events are asked for.
timeout 250 "$RECKON" compare -r 2 true >out 2>err && grep -qE '^  task-clock  +[0-9.,]+ (ns|us|µs|ms|s) ' out || fail "no task-clock by default"

# A failure does not lose what was measured before it, once there is something of each; the remedy is named.
compare -r 6 "sh -c 'echo >>tries; [ \$(wc -l <tries) -lt 5 ]'" true
[ $? = 1 ] && grep -q 'fix: --ignore-failure' err || fail "a command that fails later: message"
grep -qE '^[345] or [456] runs of each of 2 commands, .*; one failed$|^4 runs of each of 2 commands, .*; one failed$' out &&
    grep -q 'wall time' out || fail "a command that fails later: what was measured is lost"
compare -r 3 --cleanup false true
[ $? = 1 ] && grep -q 'cleanup of true: exit status 1' err && grep -q 'wall time' out || fail "a cleanup that fails: it is all lost"

# Too few runs: how many would do is said. With three of each nothing can be seen, whatever it is.
compare -r 3 true 'ls -l /' && grep -q 'too few runs to tell: with -r [5-9] or more' out || fail "too few runs: how many"

# A reference that may be 0 gives no ratio: the difference has its unit.
compare -r 10 -e dummy,page-faults true 'dd if=/dev/zero of=/dev/null bs=1M count=400'
grep -qE '  system time .*e\+0' out && fail "a difference without its unit"

# On a narrow terminal columns that don't fit stand below; no line of the table is longer. A dumb one sees no progress.
python3 - <<'PY' || fail "a terminal's width"
import fcntl, os, pty, re, struct, termios
def run(columns, term):
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.environ["TERM"] = term
        os.execv(os.environ["RECKON"], ["reckon", "compare", "-e", "page-faults", "-r", "3", "sleep 0.05", "ls /"])
    got = b""
    try:
        while part := os.read(fd, 4096):
            got += part
    except OSError:
        pass
    assert os.waitpid(pid, 0)[1] == 0
    return got.decode()
for columns in (50, 80):
    text = run(columns, "xterm").split("\033[K")[-1]
    table = [l for l in re.sub(r"\033\[[0-9;]*m", "", text).replace("\r", "").splitlines() if re.match("  (wall|user|page|peak)", l)]
    assert len(table) > 8 and all(len(l) <= columns for l in table), table
assert "\033" not in run(80, "dumb")
PY
if [ -w /dev/full ]; then
    timeout 250 "$RECKON" compare -e page-faults -r 2 true >/dev/full 2>err
    [ $? = 1 ] && grep -q stdout err || fail "a full disk"
fi
# The JSON is as its schema says, and each member is in the man page.
"$RECKON" compare --json -r 4 -e page-faults,cycles -L n 1,2 'echo {n}' >out 2>err || fail "--json of parameters"
"$SOURCE/tests/unit/export/validate.py" compare <out >err 2>&1 || fail "--json: not by the schema"
python3 - "$SOURCE/tests/data/schema/compare.json" "$SOURCE/man/reckon-compare.1" <<'PY' || fail "reckon-compare(1): JSON"
import json, re, sys
def names(node):
    for key, value in node.get("properties", {}).items():
        yield key
        yield from names(value)
        yield from names(value.get("items", {}))
with open(sys.argv[1]) as f:
    wanted = set(names(json.load(f)))
with open(sys.argv[2]) as f:
    said = set(re.findall(r"[a-z0-9_]+", " ".join(re.findall(r"^(?:\.It )?\.?Li (.*)", f.read(), re.M))))
assert not wanted - said, wanted - said
PY
exit 0
