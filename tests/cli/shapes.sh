#!/bin/bash
# Recordings in other forms than our own, of the same records: the other byte order, of before 2012, gzip and zstd around
# it, a directory of perf record --threads, a pipe, simpleperf's tracing data, a damaged record. Each reads alike.
set -u
fail() { echo "FAIL: $*"; cat err 2>/dev/null; exit 1; }
python3 - "$RECKON" "$SOURCE/tests" <<'PY' || fail "see above"
import gzip, os, shutil, subprocess, sys
reckon, tests = sys.argv[1:]
sys.dont_write_bytecode = True
sys.path.insert(0, tests)
from made import *

def dump(path, status=0, stdin=None, words=("dump", "--json")):
    p = subprocess.run([reckon, *words, path], input=stdin, capture_output=True)
    said = p.stderr.decode()
    assert p.returncode == status, f"{path}: status {p.returncode}, wanted {status}\n{said}"
    return p.stdout.decode().splitlines(), said

def write(path, data):
    with open(path, "wb") as f:
        f.write(data)
    return path

# One of each kind of record that has fields of several widths.
def each(order, magic=b"PERFILE2"):
    m = Recording(order, PLAIN | CALLCHAIN | BRANCH | READ, magic)
    m.event(0, 0, "cycles:u", [7, 8], flags=SAMPLE_ID_ALL | 1 << 5 | 2 << 15, read_format=4)
    m.event(1, 2, "faults", [9], read_format=4)
    m.comm(5, "prog", time=1)
    m.mmap2(5, 0x400000, 0x1000, "/bin/nothing", time=2, inode=77)
    m.mmap2(5, 0x600000, 0x1000, "/bin/known", time=2, build_id=bytes(range(1, 21)))
    m.mmap(5, 0x500000, 0x1000, "/bin/other", time=2)
    m.record(7, m.pack("IIIIQ", 6, 5, 6, 5, 3) + m.trailer(6, 6, 3, 7))
    m.record(16, m.pack("IIQQQQQ", 5, 5, 2, 1, 2, 3, 4) + m.trailer(5, 5, 3, 7))
    m.record(17, m.pack("QIHH", 0xffffffffc0001000, 64, 1, 0) + padded(b"bpf_prog_x\0") + m.trailer(5, 5, 3, 7))
    m.record(18, m.pack("HHI", 1, 0, 33) + bytes(8) + m.trailer(5, 5, 3, 7))
    m.record(19, m.pack("Q", 77) + padded(b"/a/b\0") + m.trailer(5, 5, 3, 7))
    m.record(20, m.pack("QHH", 0xffffffff81000000, 1, 1) + b"\1\2\0\0" + m.trailer(5, 5, 3, 7))
    m.record(11, m.pack("QQQ", 1, 2, 3) + m.trailer(5, 5, 3, 7))
    m.record(15, m.pack("II", 8, 9) + m.trailer(5, 5, 3, 7))
    m.record(2, m.pack("QQ", 7, 12) + m.trailer(5, 5, 4, 7))
    for i in range(20):
        m.sample(0x400100 + i, time=10 + i, id=7 + i % 3, cpu=i % 2, period=100 + i, read=[i, 7],
                 chain=[0xfffffffffffffe00, 0x400100 + i, 0x400200], branches=[(1, 2, 1 | 5 << 4), (3, 4, 2 | 9 << 20)])
    m.record(4, m.pack("IIIIQ", 5, 5, 5, 5, 99) + m.trailer(5, 5, 99, 7))
    m.build_ids((2, b"0123456789abcdefghij", "/bin/nothing"))
    m.feature(SAMPLE_TIME, m.pack("QQ", 10, 29))
    m.machine(host="elsewhere")
    m.names()
    return m

wanted, _ = dump(write("little", each("<").file()))
assert len(wanted) == 34 and '"type":"SAMPLE","time":29,"pid":5,"tid":5,"cpu":1,"event":"cycles:u"' in wanted[-2], wanted
for name, data in (("big", each(">").file()), ("old", each("<", b"PERFFILE").file()), ("big and old", each(">", b"PERFFILE").file()),
                   ("pipe", each("<").pipe()), ("big pipe", each(">").pipe()), ("gzip", gzip.compress(each("<").file())),
                   ("gzip of a big pipe", gzip.compress(each(">").pipe()))):
    assert dump(write("other", data))[0] == wanted, f"{name}: not the same"
    # From a pipe, what is made for one, or compressed
    if "pipe" in name or "gzip" in name:
        assert dump("-", stdin=data)[0] == wanted, f"{name}, piped: not the same"
if shutil.which("zstd"):
    data = subprocess.run(["zstd", "-qc"], input=each(">").file(), stdout=subprocess.PIPE).stdout
    assert dump(write("other", data))[0] == wanted, "zstd: not the same"
    report = [dump(write("x", d), words=("export", "--event", "faults", "-o", "-"))[0] for d in (data, each("<").file())]
    assert report[0] == report[1] and report[0], "zstd, exported"
    _, said = dump(write("cut", data[:-40]), status=1)
    assert "damaged zstd" in said, said

# Compressed, and not whole; too much of nothing
for data in (gzip.compress(each("<").file())[:-30], b"\x1f\x8b" + b"x" * 100, b"\x28\xb5\x2f\xfd" + b"x" * 100):
    _, said = dump(write("other", data), status=1)
    assert "damaged" in said, said

# A directory: the threads' files have their records in time, one file's later than another's.
def parts(order="<"):
    main = Recording(order)
    main.event(1, 0, "cpu-clock", [7])
    main.comm(5, "prog", time=1)
    main.feature(24, main.pack("Q", 1))
    whole = Recording(order)
    whole.event(1, 0, "cpu-clock", [7])
    whole.comm(5, "prog", time=1)
    rest = [Recording(order) for _ in range(3)]
    for r in rest:
        r.event(1, 0, "cpu-clock", [7])
    for i in range(30):
        for r in (whole, rest[i % 3]):
            r.sample(0x400000 + i, time=10 + i, id=7, cpu=i % 3)
    return main, rest, whole

for order in "<>":
    main, rest, whole = parts(order)
    shutil.rmtree("threads", ignore_errors=True)
    os.mkdir("threads")
    write("threads/data", main.file())
    for i, r in enumerate(rest):
        write(f"threads/data.{i}", r.data())
    assert dump("threads")[0] == dump(write("whole", whole.file()))[0], "a directory"
    assert len(dump("threads")[0]) == 31
write("threads/data.1", rest[1].data()[:-4]) # cut inside its last sample
got, said = dump("threads")
assert len(got) == 30 and "cut" in said, (len(got), said)
os.mkdir("none")
_, said = dump("none", status=1)
assert "directory" in said, said

# A size below 8: all that is intact comes, then where the damage is.
m = Recording()
m.event(1, 0, "cpu-clock", [7])
for i in range(500):
    m.sample(0x400000 + i, time=10 + i)
good = m.file(), m.pipe()
at = len(m.data())
m.record(9, b"", size=4)
m.sample(0x400000, time=9999)
for before, data in zip(good, (m.file(), m.pipe())):
    place = (104 + 8 + 144 if data is not before and data[8:12] == b"\x68\0\0\0" else len(before) - at) + at
    got, said = dump(write("damaged", data), status=1)
    assert len(got) == 500, f"{len(got)} of 500"
    assert f"makes no sense at offset {place}" in said, (place, said)
    got, said = dump("damaged", status=1, words=("report", "--json"))
    assert '"samples":500' in "".join(got).replace(" ", ""), got
    assert f"makes no sense at offset {place}" in said, said

# Tracing data: perf's behind a record of 12 bytes, simpleperf's inside of it. In both the samples behind come, and their
# names are those of the formats. Without tracing data a number is all there is.
form = "name: ticked\nID: 1329\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
       "\n\tfield:int n;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"%d\", REC->n\n"
def traced(kind):
    m = Recording(sample_type=PLAIN | RAW)
    m.event(2, 1329, None, [7])
    data = tracing({"clock": [form]})
    if kind == "simpleperf":
        body = m.pack("I", len(data)) + data
        m.record(66, body + b"\0" * (-len(body) % 8))
    elif kind == "perf":
        m.feature(TRACING_DATA, data)
    for i in range(44):
        m.sample(0x400000, time=10 + i, raw=struct.pack("<HHII", 1329, 0, 0, i))
    return m
for kind, data in (("perf", traced("perf").pipe()), ("simpleperf", traced("simpleperf").file()), ("perf", traced("perf").file())):
    got, _ = dump(write("traced", data))
    assert len(got) == 44 and '"event":"clock:ticked"' in got[43] and '"n":43' in got[43], (kind, len(got), got[-1:])
assert '"event":"tracepoint-1329"' in dump(write("traced", traced("").pipe()))[0][0]

# A pipe has no names: the attrs show the modifiers.
for flags, name in ((2 << 15 | 1 << 20, "cycles:pp"), (1 << 5 | 1 << 6 | 1 << 20, "cycles:u"), (1 << 4 | 1 << 6 | 3 << 15, "cycles:kppp"),
                    (1 << 20, "cycles"), (1 << 19, "cycles:G")):
    m = Recording()
    m.event(0, 0, None, [7], flags=SAMPLE_ID_ALL | flags)
    m.sample(0x400000)
    for data in (m.pipe(), m.file()):
        assert f'"event":"{name}"' in dump(write("named", data))[0][0], name
    if shutil.which("perf"):
        p = subprocess.run(["perf", "evlist", "-i", write("named", m.file())], capture_output=True, text=True)
        # perf adds that the host alone was asked for, which is usual
        assert p.returncode or p.stdout.split()[0].replace("H", "") == name, (p.stdout, name)
PY
