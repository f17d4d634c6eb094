#!/bin/bash
# Recordings of another machine: nothing here names what ran there, unless a build-id shows that it is the same, or the
# caller says where that machine's files are. Kernels of 32 bits. Members of a group that the leader sampled.
set -u
fail() { echo "FAIL: $*"; cat err 2>/dev/null; exit 1; }
cat >prog.c <<'C'
__attribute__((noinline)) int spin(int n) { volatile int i = 0; while (i < n) i++; return i; }
int main(void) { return spin(10) != 10; }
C
cc -O1 -g -Wl,--build-id -o prog prog.c 2>err || fail "cc"
python3 - "$RECKON" "$SOURCE/tests" <<'PY' || fail "see above"
import os, shutil, subprocess, sys
reckon, tests = sys.argv[1:]
sys.dont_write_bytecode = True
sys.path.insert(0, tests)
from made import *

host, release = os.uname().nodename, os.uname().release
prog = os.path.realpath("prog")
notes = subprocess.run(["readelf", "-n", prog], capture_output=True, text=True).stdout
build_id = bytes.fromhex(notes.split("Build ID:")[1].split()[0])
symbols = {l.split()[2]: int(l.split()[0], 16) for l in
           subprocess.run(["nm", prog], capture_output=True, text=True).stdout.splitlines() if len(l.split()) == 3}
spin = symbols["spin"]
inode = os.stat(prog).st_ino

def run(made, *words, verb="report", status=0):
    with open("data", "wb") as f:
        f.write(made if isinstance(made, bytes) else made.file())
    p = subprocess.run([reckon, verb, *words, "data"], capture_output=True, text=True)
    assert p.returncode == status, (p.returncode, p.stdout, p.stderr)
    return p.stdout + p.stderr

def user(host=host, kernel=release, build_id=b"", inode=0, path=prog, pipe=False):
    m = Recording()
    m.event(1, 0, "cpu-clock", [7])
    m.comm(5, "prog", time=1)
    m.mmap2(5, 0x400000, 0x10000, path, time=2, build_id=build_id, inode=inode)
    m.sample(0x400000 + spin + 1, time=3)
    m.machine(host or "", kernel if host else "")
    return m

# A program at a path that is here too
MAYBE = "perhaps recorded on another machine"
assert "spin" in run(user()), "of this machine"
assert MAYBE in run(user(host="elsewhere")) and "spin" not in run(user(host="elsewhere")), "of another"
assert MAYBE in run(user(host=None)), "nobody knows of which"
assert "spin" in run(user(host="elsewhere", build_id=build_id)), "the same build-id"
assert "has changed" in run(user(host="elsewhere", build_id=b"x" * 20)), "another build-id"
assert "spin" in run(user(host=None, inode=inode)), run(user(host=None, inode=inode))
assert MAYBE in run(user(host="elsewhere", inode=inode)), "another machine, by chance the same inode"
assert "spin" not in run(user(host="elsewhere"), "-F", "ip,sym", verb="dump")
assert "spin" in run(user(), "-F", "ip,sym", verb="dump")

# --symfs: a copy of that machine's files, in every verb
os.makedirs("copy/opt/there")
shutil.copy(prog, "copy/opt/there/prog")
there = user(host="elsewhere", path="/opt/there/prog")
assert "spin" not in run(there)
assert "spin" in run(there, "--symfs", "copy")
assert "spin" in run(there, "--symfs", "copy", "-F", "ip,sym", verb="dump")
assert "spin" in run(there, "--symfs", "copy", "--format", "folded", "-o", "-", verb="export")
twice = user(host="elsewhere", path="/opt/there/prog")
twice.sample(0x400000 + spin + 2, time=4)
with open("before", "wb") as f:
    f.write(twice.file())
twice.sample(0x400000 + symbols["main"] + 1, time=5)
with open("after", "wb") as f:
    f.write(twice.file())
p = subprocess.run([reckon, "diff", "--symfs", "copy", "before", "after", "--json"], capture_output=True, text=True)
assert p.returncode == 0 and '"spin"' in p.stdout, (p.stdout, p.stderr)
assert "prog.c:1" in run(there, "--symfs", "copy", "--by", "line")
assert "has changed" in run(user(host="elsewhere", path="/opt/there/prog", build_id=b"x" * 20), "--symfs", "copy")
assert "gone" in run(there, "--symfs", "gone", status=1) or "No such" in run(there, "--symfs", "gone", status=1)

# The kernel: this one's names are for its own recordings
try:
    lines = [l.split() for l in open("/proc/kallsyms")]
except OSError:
    lines = []
text = [int(l[0], 16) for l in lines if l[2] == "_text"]
known = [l for l in lines if l[1] == "T" and l[2] == "vfs_read" and int(l[0], 16)]
def kernel(start, ip, host=host, kernel=release, path="[kernel.kallsyms]_text", ids=(), length=0x7effffff):
    m = Recording()
    m.event(1, 0, "cpu-clock", [7])
    m.mmap(-1, start, length, path, offset=start, misc=KERNEL)
    m.mmap(5, 0x10000, 0x1000, "[vdso]")
    m.sample(ip, misc=KERNEL)
    m.sample(0x10a00)
    m.machine(host or "", kernel if host else "")
    if ids:
        m.build_ids(*ids)
    return m
if text and known:
    ip = int(known[0][0], 16) + 4
    assert "vfs_read" in run(kernel(text[0], ip)), "this kernel"
    for how in (dict(kernel="4.10.0"), dict(host="elsewhere"), dict(host=None),
                dict(ids=[(KERNEL, b"y" * 20, "/usr/lib/debug/boot/vmlinux-4.10")])):
        for start in (text[0], 0):
            said = run(kernel(start, ip, **how))
            assert "vfs_read" not in said and ("another kernel" in said or MAYBE in said), (how, said)
    said = run(kernel(text[0], ip, kernel="4.10.0"), "--json")
    assert "__vdso" not in said and "clock_gettime" not in said, said

# … and its names by a copy of its kallsyms, or its vmlinux, wherever a boot has put it
with open("copy.kallsyms", "w") as f:
    f.write("ffffffff81000000 T _text\nffffffff81001000 T do_there\nffffffff81002000 T do_more\nffffffff81003000 T _etext\n")
there = kernel(0xffffffff9a000000, 0xffffffff9a001010, "elsewhere", "4.10.0")
assert "do_there" not in run(there)
assert "do_there" in run(there, "--kallsyms", "copy.kallsyms")
assert "do_there" in run(there, "--kallsyms", "copy.kallsyms", "-F", "ip,sym", verb="dump")
p = subprocess.run([reckon, "symbolize", "--kallsyms", "copy.kallsyms", "ffffffff81001010"], capture_output=True, text=True)
assert p.stdout.startswith("do_there"), (p.stdout, p.stderr)
with open("k.c", "w") as f:
    f.write('__asm__(".globl _text\\n.text\\n_text:\\n.skip 0x1000\\n");\nint do_linked(int a) { return a * 3; }\n')
subprocess.run(["cc", "-O1", "-g", "-fno-toplevel-reorder", "-nostdlib", "-static", "-Wl,-Ttext=0x100000,--build-id,-e,_text", "-o", "vmlinux", "k.c"], check=True)
at = next(int(l.split()[0], 16) for l in subprocess.run(["nm", "vmlinux"], capture_output=True, text=True).stdout.splitlines() if l.endswith("do_linked"))
there = kernel(0xffffffff9a000000, 0xffffffff9a000000 + at - 0x100000 + 1, "elsewhere", "4.10.0")
assert "do_linked" not in run(there)
assert "do_linked" in run(there, "--vmlinux", "vmlinux")
assert "k.c:2" in run(there, "--vmlinux", "vmlinux", "--by", "line")
p = subprocess.run([reckon, "symbolize", "--vmlinux", "vmlinux", f"{at + 1:x}"], capture_output=True, text=True)
assert p.stdout.startswith("do_linked"), (p.stdout, p.stderr)
other = kernel(0xffffffff9a000000, 0xffffffff9a000000 + at - 0x100000 + 1, "elsewhere", "4.10.0", ids=[(KERNEL, b"z" * 20, "[kernel.kallsyms]")])
assert "has changed" in run(other, "--vmlinux", "vmlinux"), "another vmlinux"

# 32 bits: arm has its modules below the kernel, some machines divide at 2 GiB
for base in (0xc0100000, 0x810010e0, 0xb1000000):
    m = kernel(base, base + 0x73b60, "arm", "3.8", "[kernel.kallsyms]_stext", length=0xffffffff - base)
    below = (base & 0xf0000000) - 0x1000000
    m.mmap(-1, below, 0x9000, "/lib/modules/3.8.11/kernel/drivers/input/joydev.ko", misc=KERNEL)
    m.sample(below + 0x10, misc=KERNEL)
    said = run(m)
    assert "no known mapping" not in said and "[unknown], [kernel]" in said and "[unknown], [joydev]" in said, said
    m = kernel(0xffffffff81000000, base + 0x10, "box", "6.1")
    assert "no known mapping" in run(m), "64 bits: what lies so low is a program's"

# {a,b}:S: the members' counts are samples, the differences their periods
m = Recording(sample_type=PLAIN | READ)
m.event(0, 0, "cycles", [7], read_format=4 | 8)
m.event(0, 1, "instructions", [8], read_format=4 | 8)
for i, (a, b) in enumerate([(100, 30), (200, 70), (300, 70), (300, 75)]):
    m.sample(0x400100 + i, time=10 + i, id=7, period=1, read=[2, a, 7, b, 8])
m.names()
m.machine()
got = [(l.split('"event":"')[1].split('"')[0], int(l.split('"period":')[1].split(",")[0].rstrip("}\n")))
       for l in run(m, "--json", verb="dump").splitlines() if '"SAMPLE"' in l]
assert got == [("cycles", 100), ("instructions", 30), ("cycles", 100), ("instructions", 40), ("cycles", 100), ("instructions", 5)], got
said = run(m)
assert "3 samples kept" in said and "instructions" in said, said

# A plain pprof whose fields stand in another order than most writers': each of them first
import gzip
p = subprocess.run([reckon, "export", "--format", "pprof", "-o", "plain.gz", "data"], capture_output=True, text=True)
assert p.returncode == 0, p.stderr
def number(b, at):
    value = shift = 0
    while True:
        byte = b[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at
plain, fields, at = gzip.open("plain.gz").read(), [], 0
while at < len(plain):
    begin = at
    key, at = number(plain, at)
    size, behind = number(plain, at)
    at = behind + (size if key & 7 == 2 else 0)
    fields.append((key >> 3, plain[begin:at]))
if not any(n == 11 for n, _ in fields): # period_type: what it is does not matter
    fields.append((11, b"\x5a\x04\x08\x01\x10\x02"))
wanted = None
for first in sorted({n for n, _ in fields}):
    moved = b"".join(b for n, b in fields if n == first) + b"".join(b for n, b in fields if n != first)
    with open("moved", "wb") as f:
        f.write(moved)
    p = subprocess.run([reckon, "report", "--event", "cycles", "--csv", "moved"], capture_output=True, text=True)
    wanted = wanted or p.stdout
    assert p.returncode == 0 and p.stdout == wanted and wanted, (first, p.stdout, p.stderr)

# perf-script: the Firefox Profiler takes what begins so, and steps over lines with #
p = subprocess.run([reckon, "export", "--event", "cycles", "--format", "perf-script", "-o", "-", "data"], capture_output=True, text=True)
lines = p.stdout.splitlines()
assert p.stdout.startswith("# ========\n# captured on"), p.stdout[:200]
first = next(i for i, line in enumerate(lines) if not line.startswith("#"))
assert any("lost" in line or "samples" in line for line in lines[:first]) and "cycles" in lines[first], lines[:first + 1]

# A trace of the processor's is not decoded, which is said wherever its samples are shown
for kind, called in ((1, "Intel PT"), (3, "CoreSight"), (77, "unknown")):
    m = user()
    m.record(70, m.pack("IIQ", kind, 0, 0))
    for size in (16, 24):
        m.record(71, m.pack("QQQIIII", size, 0, 0, 0, 5, 0, 0))
        m.records.append(b"t" * size)
    m.sample(0x400000 + spin + 2, time=9)
    for verb, words in (("report", ()), ("export", ("--format", "folded", "-o", "-")), ("export", ("--format", "pprof", "-o", "traced.gz"))):
        said = run(m, *words, verb=verb)
        assert "40 bytes of a trace" in said and called in said and "does not decode" in said, (kind, verb, said)
assert "does not decode" not in run(user()), "there is none"
PY
