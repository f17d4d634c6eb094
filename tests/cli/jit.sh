#!/bin/bash
# Code made at run time is named by /tmp/perf-PID.map, and said to be without a name where there is none.
set -u
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; cat err out 2>/dev/null; exit 1; }

cat >jit.c <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char **argv)
{
#if defined(__x86_64__)
    static const unsigned char code[] = {0xb8, 0, 0, 0, 0x10, 0xff, 0xc8, 0x75, 0xfc, 0xc3}; /* count down, return */
#elif defined(__aarch64__)
    static const unsigned code[] = {0x52a20000, 0x71000400, 0x54ffffe1, 0xd65f03c0};
#else
    return 77;
#endif
    char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(at, code, sizeof code);
    if (mprotect(at, 4096, PROT_READ | PROT_EXEC) < 0)
        return 77;
    __builtin___clear_cache(at, at + 4096);
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
    puts(path);
    FILE *map = argc > 1 ? fopen(path, "we") : NULL;
    if (map) {
        fprintf(map, "%lx 10 an older one\n%lx 40 %s\n", (unsigned long)at, (unsigned long)at, argv[1]);
        fclose(map);
    }
    ((void (*)(void))at)();
    return 0;
}
C
cc -o jit jit.c || { echo "no compiler"; exit 77; }

"$RECKON" record --no-names -e cpu-clock:u ./jit 'LazyCompile:~sum /srv/add up.js:3' >map 2>err
status=$?
[ $status = 77 ] && { echo "no code can be made at run time here"; exit 77; }
[ $status = 0 ] || fail "record: $status"
trap 'rm -f "$(cat map)"' EXIT
grep -q 'code made at run time is named by 1 file /tmp/perf-PID.map: keep it' err || fail "the map is not noted"
"$RECKON" report >out 2>err || fail "report"
grep -q 'LazyCompile:~sum /srv/add up.js:3' out || fail "the name in perf-PID.map"
! grep -q 'an older one' out || fail "a line that another one overrode"
rm "$(cat map)"

# Its names are stored: the map is not needed any more.
"$RECKON" record -e cpu-clock:u ./jit 'LazyCompile:~sum /srv/add up.js:3' >map 2>err || fail "record"
! grep -q 'perf-PID.map' err || fail "a map whose names are stored is to be kept"
rm "$(cat map)"
"$RECKON" report >out 2>err || fail "report"
grep -q 'LazyCompile:~sum /srv/add up.js:3' out || fail "the name that is stored"

"$RECKON" record -e cpu-clock:u ./jit >no 2>err || fail "record"
! grep -q 'perf-PID.map' err || fail "a map is noted where there is none"
"$RECKON" report >out 2>err || fail "report"
grep -q 'no /tmp/perf-PID.map names it' out || fail "no reason is given"
grep -q '^  fix: let what made the code write /tmp/perf-PID.map' out || fail "no remedy"
cp jit node && "$RECKON" record -e cpu-clock:u ./node >no 2>err && "$RECKON" report >out 2>err || fail "record node"
grep -q '^  fix: node --perf-basic-prof$' out || fail "the remedy for node"
