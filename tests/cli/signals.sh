#!/bin/bash
# Signals that were ignored when reckon was started: what a shell does to background jobs, nohup, and careless parents.
set -u
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; cat err out 2>/dev/null; exit 1; }
cat >ignoring.py <<'PY'
import os, signal, sys
for mine in signal.SIGPIPE, signal.SIGXFSZ: # Python ignores them
    signal.signal(mine, signal.SIG_DFL)
signal.signal(getattr(signal, "SIG" + sys.argv[1]), signal.SIG_IGN)
os.execv(sys.argv[2], sys.argv[2:])
PY
ignoring() { python3 ignoring.py "$@"; }

# Whatever is ignored, how the command ended is known.
for signal in CHLD PIPE INT QUIT HUP TERM ALRM USR1 USR2; do
    ignoring $signal "$RECKON" stat -e page-faults -o out sh -c 'exit 3' 2>err
    [ $? = 3 ] || fail "stat, $signal ignored"
    ignoring $signal "$RECKON" record -q -e page-faults -c 1 -o data sh -c 'exit 3' 2>err
    [ $? = 3 ] || fail "record, $signal ignored"
    ignoring $signal "$RECKON" compare -e page-faults -r 2 true >out 2>err || fail "compare, $signal ignored"
done
ignoring CHLD "$RECKON" stat --timeout 50 -e page-faults -o out sleep 1000 2>err
[ $? = 143 ] && grep -q 'ended by signal 15' out && grep -q 'peak memory' out || fail "--timeout, CHLD ignored"

# A command gets what reckon got; but for CHLD, which it would not expect.
for signal in PIPE:13 INT:2 HUP:1; do
    ignoring ${signal%:*} "$RECKON" stat -e page-faults -o out grep SigIgn /proc/self/status >ignored || fail "${signal%:*}"
    printf 'SigIgn:\t%016x\n' $((1 << (${signal#*:} - 1))) | cmp -s - ignored || fail "${signal%:*} is not handed on: $(cat ignored)"
done
ignoring CHLD "$RECKON" stat -e page-faults -o out grep SigIgn /proc/self/status >ignored || fail "CHLD"
grep -qE '\s0+$' ignored || fail "CHLD is handed on: $(cat ignored)"

# Interrupts: ignored with a command, as the shell wanted it; without one they are the only end.
"$RECKON" record -q -e page-faults -c 1 -o data sh -c 'exit 0' || fail "record"
python3 - "$RECKON" <<'PY' || fail "interrupts"
import os, signal, subprocess, sys
reckon = sys.argv[1]
def ignoring(number):
    return lambda: signal.signal(number, signal.SIG_IGN)
for number in signal.SIGINT, signal.SIGHUP:
    p = subprocess.Popen([reckon, "stat", "-e", "page-faults", "sh", "-c", "echo on; read end; exit 5"], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=ignoring(number))
    p.stdout.readline()
    p.send_signal(number)
    out, err = p.communicate(b"end\n")
    assert p.returncode == 5 and b"page-faults" in err, (number, p.returncode, err)
p = subprocess.Popen([reckon, "stat", "-p", str(os.getpid()), "-I", "10", "-e", "page-faults"], stderr=subprocess.PIPE,
                     preexec_fn=ignoring(signal.SIGINT))
p.stderr.readline()
p.send_signal(signal.SIGINT)
out, err = p.communicate()
assert p.returncode == 130 and b"s wall" in err, (p.returncode, err)

# An interrupt that reckon alone is sent ends the recording, and then the command, which has not had one: also a shell that
# waits for its child.
for deaf, status in ("", 130), ("trap '' INT; ", 143):
    p = subprocess.Popen([reckon, "record", "-q", "-e", "page-faults:u", "-c", "1", "-o", "alone", "sh", "-c",
                          deaf + "echo on; read end; exit 5"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    p.stdout.readline()
    p.send_signal(signal.SIGINT)
    assert p.wait() == status, (deaf, p.returncode)
    p.communicate()
    done = subprocess.run([reckon, "report", "alone"], stdout=subprocess.PIPE)
    assert done.returncode == 0 and b"cut off" not in done.stdout, done

# A pipe without a reader: the signal's end where it is not ignored, else a message and status 1.
for words in ["--help"], ["list"], ["dump", "data"], ["report", "data"], ["report", "--json", "data"], ["stat", "--help"]:
    for ignored in False, True:
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([reckon, *words], stdout=writer, stderr=subprocess.PIPE,
                              preexec_fn=ignoring(signal.SIGPIPE) if ignored else None)
        os.close(writer)
        assert done.returncode == (1 if ignored else -signal.SIGPIPE), (words, ignored, done)
        assert bool(done.stderr) == ignored, (words, ignored, done)

# SIGUSR2, which a snapshot was promised for.
p = subprocess.Popen([reckon, "record", "-q", "-e", "page-faults:u", "-c", "1", "--overwrite", "-o", "ring", "sh", "-c",
                      "echo on; read end"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=ignoring(signal.SIGUSR2))
p.stdout.readline()
p.send_signal(signal.SIGUSR2)
while not [name for name in os.listdir() if name.startswith("ring.2")] and p.poll() is None:
    pass
p.communicate(b"end\n")
assert p.returncode == 0 and len([name for name in os.listdir() if name.startswith("ring.2")]) == 1, os.listdir()
PY

# Binary is refused where it would show on a terminal, however that is named; text is not.
python3 - "$RECKON" <<'PY' || fail "a terminal"
import os, pty, subprocess, sys
reckon = sys.argv[1]
open("folded", "w").write("main;a 3\nmain;b 5\n")
for words, status in ((["export", "--format", "pprof", "folded"], 2), (["merge", "folded", "folded"], 2),
                      (["export", "--format", "pprof", "-o", "/dev/stdout", "folded"], 2), (["export", "folded"], 0)):
    ours, theirs = pty.openpty()
    done = subprocess.run([reckon, *words], stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    try:
        shown = os.read(ours, 4096)
    except OSError: # EIO: nothing came, and its other end is closed
        shown = b""
    os.close(ours)
    assert done.returncode == status and (b"-o FILE" in done.stderr) == (status == 2), (words, done)
    assert (shown == b"") == (status == 2), (words, shown)
PY
exit 0
