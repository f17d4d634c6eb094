#!/bin/bash
# Recordings that others made, as they lie beside the checkout (RECKON_FOREIGN: elsewhere): perf's samples in each, or a
# difference whose reason stands here; and no name by this machine's kernel, vDSO or libraries.
set -u
foreign=${RECKON_FOREIGN:-$SOURCE/../shared/foreign}
[ -r "$foreign/perf-says.tsv" ] || { echo "no recordings of others at $foreign: set RECKON_FOREIGN"; exit 77; }
python3 - "$RECKON" "$foreign" <<'PY' || { echo "FAIL: see above"; exit 1; }
import collections, json, os, subprocess, sys
reckon, foreign = sys.argv[1:]
sys.dont_write_bytecode = True
# file: (samples that reckon finds, its status, why they are not perf's)
DIFFERENT = {
    "mstp.perf": (539, 0, "the digest of tracepoints is of their user payload's time, which dump has as a field"),
    "mstp.pipe": (551, 0, "as mstp.perf"),
    "quipper.armv7.perf_3.14-3.8": (700, 0, "perf 7.2 stops at the event types of 3.8's header"),
    "quipper.intel_pt-4.14": (15, 0, "perf decodes Intel PT and makes samples of it"),
    "quipper.piped.header_features-4.16": (2, 0, "perf 7.2 stops at a feature that it does not know"),
    "simpleperf.perf_sched_stat_runtime": (2430, 0, "perf does not read simpleperf's tracing data"),
    "simpleperf.perf_with_tracepoint_event": (45, 0, "as perf_sched_stat_runtime"),
}
DAMAGED = {"quipper.piped.corrupted.zero_size_sample-3.2"}
digest = os.path.join(foreign, "digest.py")
own = set()
try:
    for line in open("/proc/kallsyms"):
        words = line.split()
        if words[1] in "tT" and int(words[0], 16):
            own.add(words[2])
except OSError:
    pass
wrong = []
for line in open(os.path.join(foreign, "perf-says.tsv")).read().splitlines()[1:]:
    name, tracepoints, samples, wanted = line.split("\t")[:4]
    path = os.path.join(foreign, "perf", name)
    p = subprocess.run([reckon, "dump", "--json", "-F", "time,tid,ip", path], capture_output=True)
    status = 1 if name in DAMAGED else 0
    got = subprocess.run([sys.executable, digest], input=p.stdout, capture_output=True, text=False).stdout.decode().split()
    if name in DIFFERENT:
        n, status, why = DIFFERENT[name]
        right = int(got[0]) == n and got != [samples, wanted]
    else:
        right = got == [samples, wanted]
    if not right or p.returncode != status:
        wrong.append(f"{name}: {got}, perf says {samples} {wanted}; status {p.returncode}: {p.stderr.decode()[:200]}")
    # Names: those of this kernel that the recording does not hold itself
    p = subprocess.run([reckon, "report", "--by", "function", "--lines", "0", path], capture_output=True)
    held = open(path, "rb").read()
    for row in p.stdout.decode(errors="replace").splitlines():
        words = row.split()
        if len(words) < 3 or not words[-1].startswith("["):
            continue
        symbol = words[-2].rstrip(",")
        if symbol in own and symbol.encode() not in held:
            wrong.append(f"{name}: named by this machine: {row}")
            break
assert not wrong, "\n".join(wrong)
PY
