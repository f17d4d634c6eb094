#!/bin/bash
# pprof, beside what was recorded and beside go tool pprof: addresses, mappings, build-ids and times are kept, so that
# what has no name here may be named elsewhere; what others wrote is read as it stands.
set -u
fail() { echo "FAIL: $*"; cat err 2>/dev/null; exit 1; }
export PPROF_TMPDIR=$PWD
cat >prog.c <<'C'
static inline __attribute__((always_inline)) int inner(int n) { volatile int i = 0; while (i < n) i++; return i; }
__attribute__((noinline)) int spin(int n) { return inner(n) + 1; }
int main(void) { return spin(10) != 11; }
C
cc -O1 -g -Wl,--build-id -o prog prog.c 2>err || fail "cc"
SELF=$("$ROOM" self >/dev/null && echo yes)
export SELF
python3 - "$RECKON" "$SOURCE/tests" <<'PY' || fail "see above"
import gzip, os, re, shutil, subprocess, sys, time
reckon, tests = sys.argv[1:]
sys.dont_write_bytecode = True
sys.path.insert(0, tests)
from made import *
CLOCK_DATA = 29

def run(verb, *words, status=0):
    p = subprocess.run([reckon, verb, *words], capture_output=True, text=True)
    assert p.returncode == status, (words, p.returncode, p.stdout, p.stderr)
    return p.stdout + p.stderr

def varint(b, at):
    value = shift = 0
    while True:
        byte = b[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at

def message(b):
    at, out = 0, []
    while at < len(b):
        key, at = varint(b, at)
        value, at = varint(b, at)
        if key & 7 == 2:
            value, at = b[at:at + value], at + value
        out.append((key >> 3, value))
    return out

def decode(path):
    top = message(gzip.open(path).read())
    strings = [v.decode() for k, v in top if k == 6]
    functions = {f[1]: strings[f.get(2, 0)] for f in (dict(message(v)) for k, v in top if k == 5)}
    mappings = {}
    for m in (dict(message(v)) for k, v in top if k == 3):
        mappings[m[1]] = (m.get(2, 0), m.get(3, 0), m.get(4, 0), strings[m.get(5, 0)], strings[m.get(6, 0)], bool(m.get(7)))
    locations = {}
    for body in (message(v) for k, v in top if k == 4):
        m = dict(body)
        names = [functions[dict(message(v))[1]] for k, v in body if k == 4]
        locations[m[1]] = (m.get(3, 0), mappings.get(m.get(2, 0)), names)
    return locations, mappings, next((v for k, v in top if k == 9), None)

def raw(path):
    if not shutil.which("go"):
        return None
    p = subprocess.run(["go", "tool", "pprof", "-raw", "-symbolize=none", path], capture_output=True, text=True)
    return p.stdout if p.returncode == 0 else None

# A program that is here, and one that is not; both with build-ids, recorded elsewhere at a known time
prog = os.path.realpath("prog")
notes = subprocess.run(["readelf", "-n", prog], capture_output=True, text=True).stdout
build_id = bytes.fromhex(notes.split("Build ID:")[1].split()[0])
symbols = {l.split()[2]: int(l.split()[0], 16) for l in
           subprocess.run(["nm", prog], capture_output=True, text=True).stdout.splitlines() if len(l.split()) == 3}
spin, main = symbols["spin"], symbols["main"]
MADE = 1700000000123456789
m = Recording()
m.event(1, 0, "cpu-clock", [7])
m.comm(5, "prog", time=1)
m.mmap2(5, 0x555500000000, 0x10000, prog, time=2, build_id=build_id)
m.mmap2(5, 0x7f0000001000, 0x5000, "/opt/there/lib.so", offset=0x1000, time=2, build_id=b"z" * 20)
for i, ip in enumerate([0x555500000000 + spin + 4, 0x555500000000 + main, 0x7f0000002010, 0x7f0000002010, 0x7f0000003020, 0x10]):
    m.sample(ip, time=10 + i)
m.machine("elsewhere", "4.10.0")
m.feature(CLOCK_DATA, m.pack("IIQQ", 1, 1, MADE, 10))
with open("data", "wb") as f:
    f.write(m.file())
run("export", "--format", "pprof", "-o", "out.gz", "data")

def check(path, made=MADE):
    locations, mappings, when = decode(path)
    there = next(v for v in mappings.values() if v[3] == "/opt/there/lib.so")
    assert there == (0x7f0000001000, 0x7f0000006000, 0x1000, "/opt/there/lib.so", (b"z" * 20).hex(), False), there
    here = next(v for v in mappings.values() if v[3] == prog)
    assert here == (0x555500000000, 0x555500010000, 0, prog, build_id.hex(), True), here
    assert sorted(a for a, where, _ in locations.values() if where == there) == [0x7f0000002010, 0x7f0000003020], locations
    named = {tuple(names): a for a, where, names in locations.values() if where == here}
    assert named[("main",)] == 0x555500000000 + main, named
    assert named[("inner", "spin")] == 0x555500000000 + spin + 4, named
    assert when == made, when
check("out.gz")
run("merge", "-o", "again.gz", "out.gz")
check("again.gz")
run("merge", "-o", "both.gz", "data", "out.gz")
check("both.gz")
said = raw("out.gz")
if said:
    assert "Time: 2023-11-14" in said, said[:300]
    assert "0x7f0000001000/0x7f0000006000/0x1000 /opt/there/lib.so " + (b"z" * 20).hex() + "\n" in said.replace(" \n", "\n"), said
    assert f"0x555500000000/0x555500010000/0x0 {prog} {build_id.hex()} [FN]" in said, said
    assert re.search(r"0x7f0000002010 M=\d", said) and re.search(r"0x7f0000003020 M=\d", said), said

# Where it is unknown when, nothing is said of it
del m.features[CLOCK_DATA]
with open("data", "wb") as f:
    f.write(m.file())
run("export", "--format", "pprof", "-o", "none.gz", "data")
check("none.gz", None)
# Runs of two boots: the time of both, not the days between
for name, begin in (("first", 10**9), ("second", 332318 * 10**9)):
    boot = Recording()
    boot.event(1, 0, "cpu-clock", [7])
    boot.comm(5, "prog", time=begin)
    for i in range(5):
        boot.sample(0x400100, time=begin + i * 500_000_000)
    with open(name, "wb") as f:
        f.write(boot.file())
run("merge", "-o", "boots.gz", "first", "second")
assert '"duration":4000000000,' in run("report", "--json", "boots.gz")
run("merge", "-o", "more.gz", "boots.gz", "first")
assert '"duration":6000000000,' in run("report", "--json", "more.gz")
said = raw("boots.gz")
assert not said or "Duration: 4" in said, said[:400]

# Folded stacks have one type: their weights are what they count
with open("folded", "w") as f:
    f.write("main;work 12\nmain;rest 3\n")
run("export", "--format", "pprof", "-o", "folded.gz", "folded")
def types(path):
    top = message(gzip.open(path).read())
    strings = [v.decode() for k, v in top if k == 6]
    return [tuple(strings[x] for _, x in message(v)) for k, v in top if k == 1]
assert types("folded.gz") == [("samples", "count")], types("folded.gz")
assert run("report", "--csv", "folded.gz") == run("report", "--csv", "folded")
run("merge", "-o", "twice.gz", "folded.gz", "folded.gz")
assert types("twice.gz") == [("samples", "count")] and "24" in run("report", "--csv", "twice.gz")

# A difference: what has values below 0 is left out with the reason, the rest is as it stands
def put(*rows):
    out = b""
    for field, value in rows:
        if isinstance(value, int):
            value &= (1 << 64) - 1
            out += bytes([field << 3])
            while value > 127:
                out, value = out + bytes([value & 127 | 128]), value >> 7
            out += bytes([value])
        else:
            out += bytes([field << 3 | 2, len(value)]) + value
    return out
def delta(*samples):
    words = [b"", b"alloc", b"count", b"inuse", b"bytes", b"work"]
    return put((1, put((1, 1), (2, 2))), (1, put((1, 3), (2, 4))), *((2, put((1, 1), *((2, v) for v in values))) for values in samples),
               (4, put((1, 1), (4, put((1, 1))))), (5, put((1, 1), (2, 5))), *((6, w) for w in words))
with open("delta", "wb") as f:
    f.write(delta((3, -100), (4, 200), (5, 0)))
said = run("report", "--csv", "delta")
assert "work,,12,100.0000,12,100.0000" in said, said
assert "inuse has negative values, as a difference of two profiles has, and is left out" in said and "damaged" not in said, said
with open("delta", "wb") as f:
    f.write(delta((-3, -100), (4, 200)))
said = run("report", "--csv", "delta", status=1)
assert "alloc and 1 more have negative values" in said and "damaged" not in said, said

# What others wrote, beside go tool pprof -raw
folder = os.path.join(os.environ.get("RECKON_FOREIGN", os.path.join(tests, "..", "..", "shared", "foreign")), "pprof")
compared = 0
for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
    path = os.path.join(folder, name)
    lines = (raw(path) or "").splitlines()
    if "Samples:" not in lines:
        continue
    at = lines.index("Samples:") + 1
    kinds = [kind.split("[")[0] for kind in lines[at].split()]
    rows = [[int(v) for v in line.split(":")[0].split()] for line in lines[at + 1:lines.index("Locations")] if re.match(r" *-?\d+[ :]", line)]
    sums = {kind.split("/")[0]: None if min(r[i] for r in rows) < 0 else sum(r[i] for r in rows) for i, kind in enumerate(kinds)}
    for event, sum_ in sums.items():
        if event == "samples":
            continue
        p = subprocess.run([reckon, "report", "--csv", "--event", event, path], capture_output=True, text=True)
        if sum_ is None:
            assert "negative values" in p.stderr and "damaged" not in p.stderr, (name, event, p.stderr)
            continue
        assert p.returncode == 0, (name, event, p.stderr)
        got = sum(int(line.rsplit(",", 4)[1]) for line in p.stdout.splitlines()[1:])
        assert got == sum_, (name, event, got, sum_)
        compared += 1

# A recording of reckon's says when it was made
if os.environ["SELF"]:
    before = time.time_ns()
    run("record", "-q", "-e", "cpu-clock:u", "-o", "own.data", prog)
    run("export", "--format", "pprof", "-o", "own.gz", "own.data")
    assert before <= decode("own.gz")[2] <= time.time_ns(), (before, decode("own.gz")[2])
print("ok" if compared else "ok, but shared/foreign/pprof or go tool pprof is not here: nothing was compared with it")
PY
