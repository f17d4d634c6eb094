#!/bin/bash
# reckon dump: branches by the names of where they come from and go to, beside perf script's brstacksym. No machine here
# records branches, so the recording is written byte by byte: a mapping of a real program, and samples with branches in it.
set -u
fail() { echo "FAIL: $*"; cat err 2>/dev/null; exit 1; }
cat >prog.c <<'C'
volatile int x;
__attribute__((noinline)) void leaf(void) { x++; x++; x++; x++; }
__attribute__((noinline)) void caller_of_it(void) { leaf(); x++; }
int main(void) { caller_of_it(); return 0; }
C
cc -g -O1 -o prog prog.c 2>err || fail "cc"
python3 - <<'PY' || fail "no recording could be made"
import os, struct, subprocess
where = {l.split()[2]: int(l.split()[0], 16) for l in
         subprocess.run(["nm", "prog"], stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines() if len(l.split()) == 3}
for line in subprocess.run(["readelf", "-lW", "prog"], stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines():
    words = line.split()
    if words[:1] == ["LOAD"] and "E" in words[6:8]:
        offset, address = int(words[1], 16), int(words[2], 16)
BASE, PAGE, PID = 0x7f0000000000, 4096, 0x7fffff00 # no process: perf would look into the mounts of one
text_at = BASE + address
def at(name, more=0): return BASE + where[name] + more
IP, TID, TIME, BRANCHES, IDENTIFIER, ID_ALL = 1, 2, 4, 1 << 11, 1 << 16, 1 << 18
attr = struct.pack("<IIQQQQQIIQQQ", 0, 112, 0, 1000, IDENTIFIER | IP | TID | TIME | BRANCHES, 0, ID_ALL | 1 << 8, 0, 0, 0, 0, 8 | 1)
attr += bytes(112 - len(attr))
def record(kind, misc, body): return struct.pack("<IHH", kind, misc, 8 + len(body)) + body
def identity(time): return struct.pack("<iiQQ", PID, PID, time, 7)
path = os.path.abspath("prog").encode()
path += bytes(8 - len(path) % 8)
comm = record(3, 0, struct.pack("<ii", PID, PID) + b"prog\0\0\0\0" + identity(1))
inode = os.stat("prog").st_ino # the recording says of no machine, but of this file
mmap = record(10, 2, struct.pack("<iiQQQIIQQII", PID, PID, text_at, PAGE, offset, 0, 0, inode, 0, 5, 2) + path + identity(2))
# mispredicted, predicted, in_tx, abort, cycles:16, type:4, spec:2, new_type:4, priv:3
def flags(m, p, tx, abort, cycles, kind, spec=0, priv=0): return m | p << 1 | tx << 2 | abort << 3 | cycles << 4 | kind << 20 | spec << 24 | priv << 30
branches = [(at("leaf", 9), at("caller_of_it", 5), flags(0, 1, 0, 0, 12, 6, 3, 1)),
            (at("caller_of_it"), at("leaf"), flags(1, 0, 1, 0, 0, 4)),
            (0xdead0000, at("main", 1), flags(0, 0, 0, 1, 0, 0))]
samples = b""
for time, n in ((10, 3), (20, 0), (30, 1)):
    body = struct.pack("<QQiiQQ", 7, at("leaf", 4), PID, PID, time, n) + b"".join(struct.pack("<QQQ", *b) for b in branches[:n])
    samples += record(9, 2, body)
data = comm + mmap + samples
ids = 104 + 128
front = struct.pack("<8sQQQQQQQQQ", b"PERFILE2", 104, 128, 104, 128, ids + 8, len(data), 0, 0, 0) + bytes(24)
open("branches.data", "wb").write(front + attr + struct.pack("<QQ", ids, 8) + struct.pack("<Q", 7) + data)
PY

"$RECKON" dump -F brstacksym branches.data >names 2>err || fail "-F brstacksym"
cat >expected <<'T'
 brstacksym leaf+0x9/caller_of_it+0x5/predicted,return,correct-path,user,cycles:12 caller_of_it+0x0/leaf+0x0/mispredicted,call,in-transaction 0xdead0000/main+0x1/aborted
 brstacksym
 brstacksym leaf+0x9/caller_of_it+0x5/predicted,return,correct-path,user,cycles:12
T
cmp -s names expected || { diff expected names; fail "the names of branches"; }
"$RECKON" dump -F brstacksym,dso --type sample branches.data 2>err | grep -q ' caller_of_it+0x0(prog)/leaf+0x0(prog)/mispredicted' || fail "with dso"
"$RECKON" dump -F brstack branches.data 2>err | grep -q '^ branches 0x7f[0-9a-f]*/0x7f[0-9a-f]*/P/-/-/12/return 0x' || fail "-F brstack are addresses"
"$RECKON" dump -F brstacksym --json branches.data 2>err | head -n 1 | python3 -c '
import json, sys
r = json.load(sys.stdin)["branches"]
assert r[0]["from_name"] == {"symbol": "leaf", "offset": 9} and r[0]["to_name"] == {"symbol": "caller_of_it", "offset": 5}, r
assert r[2]["from_name"] == {} and r[2]["aborted"] is True, r' || fail "--json"
"$RECKON" dump -F symoff branches.data 2>err | grep -q '^ leaf+0x4$' || fail "-F symoff alone has names"

# perf's own words: the same places in the same order; what has no name is an address here and [unknown] there.
if command -v perf >/dev/null && perf script -F brstacksym -i branches.data >perf.out 2>/dev/null && [ -s perf.out ]; then
    grep -o '[^ ]*+0x[0-9a-f]*/[^ ]*' perf.out | cut -d/ -f1,2 >perf.names
    grep -o '[^ ]*+0x[0-9a-f]*/[^ ]*' names | cut -d/ -f1,2 | sed 's/0xdead0000/[unknown]/' >our.names
    cmp -s perf.names our.names || { diff perf.names our.names; fail "perf names other places"; }
fi
exit 0
