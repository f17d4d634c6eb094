#!/bin/bash
# Names from a debuginfod server (Debian's, on loopback, in a network of its own): where DEBUGINFOD_URLS is set, and never
# without it; kept once fetched; a server that hangs costs a minute, and only once.
set -u
if [ "${1:-}" != inside ]; then
    "$ROOM" self || exit 77
    command -v debuginfod >/dev/null || { echo "debuginfod is not installed"; exit 77; }
    own="unshare -n"
    $own true 2>/dev/null || own="unshare -rn"
    $own true 2>/dev/null || { echo "no network namespace here"; exit 77; }
    $own bash "$0" inside
    exit $?
fi
server= hang=
trap '[ "$server$hang" ] && kill $server $hang 2>/dev/null' EXIT
fail() { echo "FAIL: $*"; cat out err log 2>/dev/null; exit 1; }
python3 - <<'PY' || { echo "loopback can't be switched on"; exit 77; }
import fcntl, socket, struct
with socket.socket() as s: # SIOCGIFFLAGS, SIOCSIFFLAGS: IFF_UP
    flags = struct.unpack("16sh", fcntl.ioctl(s, 0x8913, struct.pack("16sh14x", b"lo", 0))[:18])[1]
    fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", b"lo", flags | 1))
PY
export HOME="$PWD/home" DEBUGINFOD_CACHE_PATH="$PWD/cache"
url=http://127.0.0.1:8002
unset DEBUGINFOD_URLS PERF_BUILDID_DIR http_proxy HTTP_PROXY
mkdir home served

cat >prog.c <<'C'
volatile unsigned sink;
__attribute__((noinline, noipa)) void mix(unsigned n) { for (unsigned i = 0; i < n; i++) sink ^= i; }
int main(void) { for (int i = 0; i < 300; i++) mix(200000); return 0; }
C
${CC:-cc} -g -O2 -Wl,--build-id -o whole prog.c 2>err || { echo "no C compiler"; exit 77; }
objcopy --only-keep-debug whole served/prog.debug && strip -o prog whole && cp prog served/prog || fail "strip"
"$RECKON" record -q --no-names -e cpu-clock:u -F 999 -o data ./prog 2>err || fail "record"

debuginfod -v -p 8002 -d "$PWD/files.sqlite" -F served >log 2>&1 &
server=$!
python3 - $url "$(readelf -nW whole | sed -n 's/.*Build ID: //p')" <<'PY' || fail "the server does not begin"
import sys, time, urllib.request
end = time.monotonic() + 60
for what in "debuginfo", "executable":
    while True:
        try:
            urllib.request.urlopen(f"{sys.argv[1]}/buildid/{sys.argv[2]}/{what}", timeout=5).read()
            break
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.05)
PY

named() { "$RECKON" report --by line data >out 2>err && grep -q "mix.*prog.c:2" out || fail "$1"; }
unnamed() { "$RECKON" report data >out 2>err && ! grep -q "  mix" out || fail "$1"; }
asked() { grep -c 'UA:.*GET /buildid' log; }

before=$(asked)
unnamed "a name without DEBUGINFOD_URLS"
"$RECKON" record -q -e cpu-clock:u -F 999 -o own ./prog 2>err || fail "record"
DEBUGINFOD_URLS=$url "$RECKON" record -q -e cpu-clock:u -F 999 -o own ./prog 2>err || fail "record"
[ ! -e cache ] && [ "$(asked)" = "$before" ] || fail "a server was asked without DEBUGINFOD_URLS, or by record"
export DEBUGINFOD_URLS=$url
named "debug information of the server"
"$RECKON" report own >out 2>err && grep -q "  mix" out || fail "what had no name when it was stored is asked for"
rm -r cache
mv prog gone
named "program and debug information of the server"
kill $server
wait $server
server=
named "what was fetched before is kept"
[ "$(stat -c %a cache)" ] || fail "no cache"
rm -r cache
mv gone prog
unnamed "no server"

# It takes the call and says nothing. A minute passes at once: the clock is a hundred times as fast.
cat >fast.c <<'C'
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t which, struct timespec *t)
{
    static long long begin;
    long rc = syscall(SYS_clock_gettime, which, t);
    if (rc == 0 && which == CLOCK_MONOTONIC) {
        long long now = t->tv_sec * 1000000000LL + t->tv_nsec;
        begin = begin ? begin : now;
        now = begin + (now - begin) * 100;
        t->tv_sec = now / 1000000000;
        t->tv_nsec = now % 1000000000;
    }
    return (int)rc;
}
C
${CC:-cc} -O2 -shared -fPIC -o fast.so fast.c 2>err || fail "fast.c"
case $(nm -D "$RECKON") in *asan*) exit 0 ;; esac # it wants to be the first library
python3 - >calls 2>err <<'PY' &
import select, socket, time
listener = socket.create_server(("127.0.0.1", 8002))
print("ready", flush=True)
kept, end = [], time.monotonic() + 120
while time.monotonic() < end:
    if select.select([listener], [], [], 1)[0]:
        kept.append(listener.accept())
        print("call", flush=True)
PY
hang=$!
until grep -q ready calls; do kill -0 $hang 2>/dev/null || fail "no listener"; done
DEBUGINFOD_TIMEOUT=100000 LD_PRELOAD="$PWD/fast.so" timeout 60 "$RECKON" report data >out 2>err || fail "a server that hangs: $?"
! grep -q "  mix" out || fail "a name from nowhere"
[ "$(grep -c call calls)" = 1 ] || fail "asked $(grep -c call calls) times"
exit 0
