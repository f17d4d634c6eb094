#!/bin/bash
# Files that lie: truncated, bits flipped, sizes of nothing and of more than there is, millions of attributes. Each is read
# to its end or refused with the place, in bounded memory and time; none ends dump by a signal.
set -u
fail() { echo "FAIL: $*"; cat err 2>/dev/null; exit 1; }
case $(readelf -d "$RECKON" 2>/dev/null; nm -C "$RECKON" 2>/dev/null | grep -m1 __asan_init) in
*asan*) limit=unlimited ;; # AddressSanitizer reserves terabytes
*) limit=400000 ;;
esac
[ -z "${ASAN_OPTIONS:-}${TSAN_OPTIONS:-}" ] || limit=unlimited
"$RECKON" record -q -e cpu-clock:u -e page-faults:u -g sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done' 2>err ||
    { echo "no recording here: $(tail -n 1 err)"; exit 77; }
python3 - "$RECKON" "$limit" <<'PY' || fail "see above"
import os, random, re, resource, struct, subprocess, sys
reckon, limit = sys.argv[1:]
whole = open("perf.data", "rb").read()
data_at, data_size = struct.unpack_from("<QQ", whole, 40)
attrs_at, attrs_size = struct.unpack_from("<QQ", whole, 24)
if len(whole) > 60000: # as it was killed: small enough to go through 500 times
    keep = data_at + min(data_size, 50000)
    at = data_at
    while at < keep:
        at += struct.unpack_from("<H", whole, at + 6)[0]
    whole = bytearray(whole[:at])
    struct.pack_into("<Q", whole, 48, at - data_at)
    whole = bytes(whole)
    data_size = at - data_at

def bounded():
    if limit != "unlimited":
        resource.setrlimit(resource.RLIMIT_AS, (int(limit) << 10,) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))

def dump(name, data):
    with open("hostile.data", "wb") as f:
        f.write(data)
    p = subprocess.run([reckon, "dump", "--json", "hostile.data"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                       timeout=250, preexec_fn=bounded)
    said = p.stderr.decode("utf-8", "replace")
    assert p.returncode in (0, 1), f"{name}: status {p.returncode}\n{said[-2000:]}"
    assert p.returncode == 0 or said.startswith("reckon dump: "), f"{name}: {said!r}"
    return p.returncode, said

def changed(*writes):
    data = bytearray(whole)
    for at, form, value in writes:
        struct.pack_into(form, data, at, value)
    return bytes(data)

assert dump("as it is", whole)[0] == 0
# Sizes that can't be: said, with where it is where a record is meant.
for name, data, wants in [
    ("a record of size 0", changed((data_at + 6, "<H", 0)), rf"\b{data_at}\b"),
    ("a record smaller than its header", changed((data_at + 6, "<H", 4)), rf"\b{data_at}\b"),
    ("attributes beyond the file", changed((24, "<Q", len(whole) + 8)), "offset 24$"),
    ("millions of attributes", changed((32, "<Q", 136 * 10**7)), "offset 24$"),
    ("more attributes than bytes", changed((32, "<Q", 2**63)), "offset 24$"),
    ("attributes of size 0", changed((16, "<Q", 0)), "offset 16$"),
    ("attributes of size 2^60", changed((16, "<Q", 2**60)), "offset 16$"),
    ("data at the end of numbers", changed((40, "<Q", 2**64 - 8)), "offset 40$"),
    ("ids beyond the file", changed((attrs_at + struct.unpack_from("<Q", whole, 16)[0] - 16, "<Q", 2**62)), r"offset \d+$"),
    ("ids without end", changed((attrs_at + struct.unpack_from("<Q", whole, 16)[0] - 8, "<Q", 2**62)), r"offset \d+$"),
]:
    status, said = dump(name, data)
    assert status == 1 and re.search(wants, said, re.MULTILINE), f"{name}: status {status}, {said!r}"
# Data beyond the end, or none said: as much as there is.
for name, data in [("data beyond the file", changed((48, "<Q", 2**62))), ("data of size 0", changed((48, "<Q", 0))),
                   ("a record longer than the rest", changed((data_at + 6, "<H", 65528)))]:
    status, said = dump(name, data)
    assert status == 1 or "cut off" in said, f"{name}: {status} {said!r}"
random.seed(5)
told = 0
for i in range(500):
    data = bytearray(whole)
    kind = i % 4
    if kind == 0:
        data = data[:random.randrange(len(data))]
    else:
        low = 0 if kind == 1 else data_at
        for _ in range(1 << random.randrange(6)):
            at = random.randrange(low, min(len(data), 600) if kind == 1 else len(data))
            data[at] ^= 1 << random.randrange(8) if kind < 3 else random.randrange(256)
    told += dump(f"mutation {i}", bytes(data))[0]
print(f"500 mutations of {len(whole)} bytes: {told} told, the others read")
PY

# Recordings of every kind, ours and perf's, by thousands: in one process each 25.
mutate=$BUILD/tests/fuzz/mutate_recording
[ -x "$mutate" ] || exit 0
busy='i=0; while [ $i -lt 5000 ]; do i=$((i + 1)); done'
"$RECKON" record -q -e cpu-clock:u -F 2000 -g -z -o packed.data sh -c "$busy" 2>err || fail "-z"
"$RECKON" record -q -e cpu-clock:u -F 2000 -o - sh -c "$busy" 2>err >piped.data || fail "-o -"
"$RECKON" record -q -e cpu-clock:u -F 2000 -g -o plain.data sh -c "$busy" 2>err || fail "-g"
"$RECKON" record -q -e page-faults:u -c 50 --call-graph dwarf,1024 --keep-stacks --regs user -d -o stacks.data sh -c : 2>err || fail "stacks"
files=(plain.data packed.data piped.data stacks.data)
if command -v perf >/dev/null && perf --version >/dev/null 2>&1; then
    "$SOURCE"/tests/perf-record -q -e cpu-clock:u -F 2000 -g -o perfs.data sh -c "$busy" >/dev/null 2>&1 && files+=(perfs.data)
    "$SOURCE"/tests/perf-record -q -e cpu-clock:u -F 2000 -o - sh -c "$busy" 2>/dev/null >perfs.pipe
    [ ! -s perfs.pipe ] || files+=(perfs.pipe)
fi
"$mutate" 2000 "${files[@]}" 2>err || fail "mutate_recording 2000 ${files[*]}"
exit 0
