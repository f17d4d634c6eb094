#!/bin/bash
# The process that names what was recorded has limits; whatever becomes of it costs names alone, and is said. A program in a
# mount namespace that has ended is named.
set -u
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; cat out err log 2>/dev/null; exit 1; }
export HOME="$PWD"
unset DEBUGINFOD_URLS PERF_BUILDID_DIR

cat >prog.c <<'C'
volatile unsigned sink;
__attribute__((noinline, noipa)) void mix(unsigned n) { for (unsigned i = 0; i < n; i++) sink ^= i; }
int main(void) { for (int i = 0; i < 300; i++) mix(200000); return 0; }
C
${CC:-cc} -g -O2 -o prog prog.c 2>err || { echo "no C compiler"; exit 77; }

# Its mounts are gone with it. The last of it ends once what it did was read: the recording has grown twice.
own="unshare -m"
$own true 2>/dev/null || own="unshare -rm"
cat >contained.sh <<'SH'
mount -t tmpfs none inside && cp prog inside/ && inside/prog || exit 1
size=$(stat -c %s gone) grown=0 tries=0
while [ $grown -lt 2 ] && [ $((tries += 1)) -lt 600 ]; do
    sleep 0.05
    now=$(stat -c %s gone)
    [ "$now" -gt "$size" ] && size=$now grown=$((grown + 1))
done
exit 0
SH
mkdir inside
if $own mount -t tmpfs none inside 2>/dev/null; then
    "$RECKON" record -q -e cpu-clock:u -F 999 -o gone $own sh contained.sh 2>err || fail "record in a namespace"
    [ ! -e inside/prog ] || fail "the namespace is ours"
    "$RECKON" report --by line gone >out 2>err && grep -q 'mix.*prog.c:2' out || fail "a namespace that has ended"
fi

# The child is the one that calls setrlimit(): there it is made to fail.
cat >shim.c <<'C'
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static int limits(int what, const struct rlimit *to)
{
    struct rlimit limit = *to;
    const char *mode = getenv("SHIM") ? getenv("SHIM") : "";
    FILE *log = fopen("log", "ae");
    if (log) {
        fprintf(log, "%s %llu\n", what == RLIMIT_CPU ? "cpu" : what == RLIMIT_CORE ? "core" : "memory", (unsigned long long)to->rlim_cur);
        fclose(log);
    }
    if (what == RLIMIT_CPU && strcmp(mode, "cpu") == 0)
        limit.rlim_cur = 1;
    int rc = (int)syscall(SYS_prlimit64, 0, what, &limit, NULL);
    if (what == RLIMIT_AS && strcmp(mode, "memory") == 0) {
        limit.rlim_cur = 1 << 20; /* less than it has: nothing is added */
        rc = (int)syscall(SYS_prlimit64, 0, what, &limit, NULL);
    }
    if (what == RLIMIT_AS && strcmp(mode, "cpu") == 0)
        for (;;)
            ;
    if (what == RLIMIT_AS && strcmp(mode, "crash") == 0)
        abort();
    if (what == RLIMIT_AS && strcmp(mode, "wall") == 0)
        for (;;)
            pause();
    return rc;
}
int setrlimit(__rlimit_resource_t what, const struct rlimit *to) { return limits((int)what, to); }
int setrlimit64(__rlimit_resource_t what, const struct rlimit64 *to) { return limits((int)what, (const struct rlimit *)to); }
int poll(struct pollfd *fds, nfds_t n, int ms)
{
    struct timespec wait = {ms / 1000, ms % 1000 * 1000000L};
    if (ms > 50000) /* the end of its time */
        wait = (struct timespec){0, 300000000};
    return (int)syscall(SYS_ppoll, fds, n, ms < 0 ? NULL : &wait, NULL, 8);
}
int clock_gettime(clockid_t which, struct timespec *t)
{
    static int child;
    int rc = (int)syscall(SYS_clock_gettime, which, t);
    const char *mode = getenv("SHIM");
    if (rc == 0 && which == CLOCK_MONOTONIC && mode && strcmp(mode, "wall") == 0 && access("log", F_OK) == 0 && child++ > 0)
        t->tv_sec += 61; /* once the child is there */
    return rc;
}
C
case $(nm -D "$RECKON") in *asan*) exit 0 ;; esac # it wants to be the first library
${CC:-cc} -O2 -shared -fPIC -o shim.so shim.c 2>err || { echo "no glibc"; exit 77; }
try() { # MODE WHAT IS SAID
    rm -f log
    SHIM=$1 LD_PRELOAD="$PWD/shim.so" timeout 60 "$RECKON" record -e cpu-clock:u -F 999 -o data ./prog >out 2>err || fail "$1: record ends with $?"
    grep -q "$2" err || fail "$1: it is not said"
    LC_ALL=C "$RECKON" report data >out 2>err && grep -q '  mix' out || fail "$1: the recording can't be read" # by the program
}
try none 'samples in data'
grep -qx 'cpu 30' log && grep -qx 'core 0' log && grep -q '^memory [0-9]*$' log || fail "limits"
! grep -q 'not stored' err || fail "names were not stored, without a reason"
most=$(($(sed -n 's/^memory //p' log | tail -n 1) >> 20))
[ $most -ge 256 ] && [ $most -le 5200 ] || fail "memory: $most MB"
try memory 'names were not stored with it, because Cannot allocate memory: keep the programs'
try cpu 'names were not stored with it, because it took too long'
try crash 'names were not stored with it, because it crashed'
try wall 'names were not stored with it, because it took too long'
exit 0
