#!/bin/bash
# Code made at run time is named by what its maker writes to jit-PID.dump: also where an address is used twice, where it
# moves, and where the recording has another clock. node writes one.
set -u
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; cat err out 2>/dev/null; exit 1; }

cat >jit.c <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
static const unsigned char code[] = {0xb8, 0, 0, 0, 0x20, 0xff, 0xc8, 0x75, 0xfc, 0xc3}; /* count down, return */
#elif defined(__aarch64__)
static const unsigned code[] = {0x52a40000, 0x71000400, 0x54ffffe1, 0xd65f03c0};
#else
static const unsigned char code[] = {0};
#endif
static FILE *dump;
static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}
static void u32(uint32_t v) { fwrite(&v, sizeof v, 1, dump); }
static void u64(uint64_t v) { fwrite(&v, sizeof v, 1, dump); }
static void prefix(uint32_t id, size_t bytes) { u32(id), u32((uint32_t)bytes), u64(now()); }
static void load(const char *name, void *at, uint64_t index, uint32_t line)
{
    uint64_t a = (uint64_t)(uintptr_t)at;
    prefix(2, 16 + 16 + 16 + 9);
    u64(a), u64(1), u64(a), u32(line), u32(0), fwrite("source.x", 9, 1, dump);
    prefix(0, 56 + strlen(name) + 1 + sizeof code);
    u32((uint32_t)getpid()), u32((uint32_t)getpid()), u64(a), u64(a), u64(sizeof code), u64(index);
    fwrite(name, strlen(name) + 1, 1, dump);
    fwrite(code, sizeof code, 1, dump);
    fflush(dump);
}
static void run(void *at)
{
    memcpy(at, code, sizeof code);
    mprotect(at, 4096, PROT_READ | PROT_EXEC);
    __builtin___clear_cache(at, (char *)at + 4096);
    ((void (*)(void))at)();
    mprotect(at, 4096, PROT_READ | PROT_WRITE);
}
int main(void)
{
    char path[64];
    if (sizeof code < 10)
        return 77;
    char *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    snprintf(path, sizeof path, "jit-%d.dump", (int)getpid());
    dump = fopen(path, "w+e");
    if (mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED)
        return 77;
    u32(0x4a695444), u32(1), u32(40), u32(62), u32(0), u32((uint32_t)getpid()), u64(now()), u64(0);
    load("an earlier one", at, 0, 5);
    run(at);
    load("a later one", at, 1, 7);
    run(at);
    prefix(1, 64); /* the later one moves */
    u32((uint32_t)getpid()), u32((uint32_t)getpid()), u64((uint64_t)(uintptr_t)at), u64((uint64_t)(uintptr_t)at);
    u64((uint64_t)(uintptr_t)at + 4096), u64(sizeof code), u64(1);
    fflush(dump);
    load("a third one", at, 2, 9);
    run(at + 4096);
    puts("done");
    return fclose(dump);
}
C
cc -o jit jit.c || { echo "no compiler"; exit 77; }
./jit >out || { echo "no code can be made at run time here"; exit 77; }
rm -f jit-*.dump

shares() { # of the two, in per cent of the samples
    "$RECKON" report --json "$1" 2>err >json || fail "report $1"
    python3 - <<'PY' || fail "$1: shares"
import json
functions = json.load(open("json"))["functions"]
share = {f["symbol"]: f["self_percent"] for f in functions}
assert 25 < share["an earlier one"] < 42, share
assert 50 < share["a later one"] < 75, share # once at the same address, once where it moved
assert "a third one" not in share and not any(f["symbol"] == "[unknown]" and f["self_percent"] > 1 for f in functions), share
assert all(f["module"].startswith("jit-") for f in functions if f["symbol"].endswith(" one")), functions
PY
}
for clock in "" "-k monotonic" "-k realtime"; do
    "$RECKON" record -q $clock -e cpu-clock:u -o data ./jit >out 2>err || fail "record $clock"
    shares data
    "$RECKON" report --by line data >out 2>err || fail "report --by line"
    grep -q 'an earlier one.*source.x:5' out && grep -q 'a later one.*source.x:7' out || fail "lines $clock"
    marker=$("$RECKON" dump data 2>err | sed -n 's,.* \(/.*/jit-[0-9]*\.dump\)$,\1,p' | head -n 1)
    [ -f "$marker" ] && [ "$marker" -ef "${marker##*/}" ] || fail "the recording does not say where the file is"
    marker=${marker##*/} # no blanks
    cp "$marker" other
    [ "$clock" = "-k realtime" ] || rm "$marker"
done
# Another file in its place is not believed, nor is one behind a link; without one there is no name.
mv "$marker" real
for what in "mv other $marker" "ln -sf real $marker" "rm $marker"; do
    $what
    "$RECKON" report data >out 2>err || fail "report: $what"
    grep -q '\[unknown\]' out && ! grep -q 'a later one' out || fail "a name from nowhere: $what"
done
mv real "$marker" && "$RECKON" report data >out 2>err && grep -q 'a later one' out || fail "the file is back"
rm "$marker"

# node, where it is one that writes them.
cat >work.js <<'JS'
function inner(n) {
    let s = 1;
    for (let i = 0; i < n; i++)
        s = (s * 31 + i) | 0;
    return s;
}
let sum = 0;
for (let i = 0; i < 3000; i++)
    sum += inner(50000);
console.log(sum);
JS
if command -v node >/dev/null && node --perf-prof -e 0 2>/dev/null && ls jit-*.dump >/dev/null 2>&1; then
    rm -f jit-*.dump
    unset MALLOC_PERTURB_ # node 20 writes names of files that it has freed
    "$RECKON" record -q -e cpu-clock:u -o data node --perf-prof work.js >out 2>err || fail "record node"
    "$RECKON" report --json data >json 2>err || fail "report node"
    python3 - <<'PY' || fail "node's function has no name"
import json
functions = json.load(open("json"))["functions"]
share = sum(f["self_percent"] for f in functions if "inner" in f["symbol"] and "work.js" in f["symbol"])
assert share > 30, functions[:5]
PY
    "$RECKON" report --by line data >out 2>err && grep -qE 'inner .*work\.js:[3-5]( |$)' out || fail "node's lines"
fi
exit 0
