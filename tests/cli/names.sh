#!/bin/bash
# Names against nm and elfutils: the first and the last byte of every function of ten binaries of this system, and of
# programs by GNU ld, gold, lld and mold, position-independent and not. Parts that compilers split off (.cold, .isra,
# .constprop), ifuncs, stubs of the PLT, symbols without a size; names in a debug file beside the program.
set -u
fail() { echo "FAIL: $*"; cat out err 2>/dev/null; exit 1; }
command -v nm >/dev/null || { echo "nm is not installed"; exit 77; }

cat >check.py <<'PY'
import bisect, json, os, shutil, subprocess, sys
reckon, path = sys.argv[1:3]
def nm(*words):
    found = []
    for line in subprocess.run(["nm", "-S", "--defined-only", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode(errors="replace").splitlines():
        word = line.split(None, 3)
        if len(word) == 4 and word[2] in "tTwWi" and int(word[1], 16):
            found.append((int(word[0], 16), int(word[1], 16), word[3].split("@")[0]))
    return found
def debug_file():
    notes = subprocess.run(["readelf", "-nW", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode(errors="replace")
    for line in notes.splitlines():
        if "Build ID:" in line:
            id = line.split()[-1]
            name = f"/usr/lib/debug/.build-id/{id[:2]}/{id[2:]}.debug"
            return name if os.path.exists(name) else None
debug = debug_file()
functions = nm(path) or (nm(debug) if debug else []) or nm("-D", path)
if not functions:
    sys.exit(f"{path}: nm has no function")
functions.sort()
names = {}
for start, size, name in functions:
    names.setdefault(start, []).append((size, name))
starts = sorted(names)
longest = max(size for _, size, _ in functions)
def wanted(address):  # the innermost that covers it
    at = bisect.bisect_right(starts, address)
    while at > 0:
        at -= 1
        covering = [n for size, n in names[starts[at]] if address - starts[at] < size]
        if covering:
            return starts[at], covering
        if address - starts[at] > longest:
            break
asked = sorted({start for start, _, _ in functions} | {start + size - 1 for start, size, _ in functions})
answers = subprocess.run([reckon, "symbolize", "-e", path, "--json", "--no-inline", "--no-demangle"],
    input="\n".join(map(hex, asked)).encode(), stdout=subprocess.PIPE, check=True).stdout.splitlines()
assert len(answers) == len(asked), (len(answers), len(asked))
bad = aliases = 0
theirs = {}
if shutil.which("eu-addr2line"):  # name+0xdistance, then the line; last bytes alone, since it takes its time
    last = sorted({start + size - 1 for start, size, _ in functions})
    lines = subprocess.run(["eu-addr2line", "-S", "-e", path], input="\n".join(map(hex, last)).encode(),
        stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()[::2]
    assert len(lines) == len(last), (len(lines), len(last))
    theirs = dict(zip(last, lines))
for address, line in zip(asked, answers):
    answer, other = json.loads(line), theirs.get(address)
    start, covering = wanted(address)
    if answer["symbol"] not in covering or address - answer["distance"] != start:
        bad += 1
        if bad < 5:
            print(f"{path}: {address:#x}: {answer['symbol']}+{answer.get('distance')}, but nm has {covering}+{address - start}")
    if other:  # of names for one address they may choose another
        name, _, distance = other.rpartition("+0x") if "+0x" in other else (other, "", "0")
        name, distance = name.split("@")[0], int(distance, 16)
        aliases += name != answer["symbol"]
        if distance != answer["distance"] or name != answer["symbol"] and name not in covering:
            bad += 1
            if bad < 5:
                print(f"{path}: {address:#x}: {answer['symbol']}+{answer.get('distance')}, but elfutils has {other}")
by = "nm and elfutils" if theirs else "nm"
print(f"{path}: {len(functions)} functions, {len(asked)} addresses, {bad} wrong by {by}, {aliases} other names of elfutils for the same")
sys.exit(bad > 0)
PY

n=0
for path in /usr/lib/*-linux-gnu/lib{c.so.6,m.so.6,stdc++.so.6,crypto.so.3,python3.11.so.1.0,zstd.so.1,z.so.1,elf.so.1,dw.so.1,gcc_s.so.1,ssl.so.3,ncursesw.so.6,tinfo.so.6,glib-2.0.so.0} \
    /usr/bin/{bash,python3,perf,as,ld} "$RECKON"; do
    [ -r "$path" ] && readelf -h "$path" >/dev/null 2>&1 || continue
    python3 check.py "$RECKON" "$path" >out 2>err || { grep -q 'nm has no function' err && continue; fail "$path"; }
    cat out
    n=$((n + 1))
    [ $n -ge 10 ] && break
done
[ $n -ge 3 ] || { echo "only $n binaries of this system have names"; exit 77; }

command -v cc >/dev/null || { echo "no C compiler"; exit 77; }
cat >parts.c <<'C'
#include <stdio.h>
#include <stdlib.h>
static int plus(int a) { return a + 1; }
static int (*choose(void))(int) { return plus; }
int chosen(int) __attribute__((ifunc("choose")));
volatile int sink;
__attribute__((noinline)) static int scaled(int a, int by) { for (int i = 0; i < by; i++) sink += a; return sink * by; }
struct pair { int a, b, c; };
__attribute__((noinline)) static int first_of(struct pair *p) { sink++; return p->a * sink; }
__attribute__((cold, noinline)) void rare(void) { abort(); }
int hot(int a) { if (__builtin_expect(a == 77, 0)) { puts("rare"); rare(); } return a * sink; }
__asm__(".text\n.globl sizeless\nsizeless:\n nop\n nop\n nop\n"); /* up to the next one, never beyond its section */
__asm__(".text\n.type called$pltgot, %function\ncalled$pltgot:\n nop\n"); /* mold's for the stub of an ifunc */
int main(int argc, char **argv)
{
    struct pair p = {argc, 2, 3};
    (void)argv;
    return scaled(argc, 7) + first_of(&p) + hot(argc) + chosen(argc);
}
C
linkers=0
for linker in bfd gold lld mold; do
    for kind in -pie -no-pie; do
        pie=$([ $kind = -pie ] && echo -fPIE || echo -fno-pie)
        cc -O2 -g $pie $kind -fuse-ld=$linker -o "parts-$linker$kind" parts.c 2>/dev/null || continue
        "./parts-$linker$kind" >/dev/null 2>&1 || true
        linkers=$((linkers + 1))
        python3 check.py "$RECKON" "./parts-$linker$kind" >out 2>err || fail "$linker $kind"
        cat out
        for name in hot rare main chosen sizeless 'called$pltgot'; do
            at=$(nm "parts-$linker$kind" | awk -v n=$name '$3 == n { print $1; exit }')
            [ -n "$at" ] || fail "$linker $kind: nm has no $name"
            got=$("$RECKON" symbolize -e "parts-$linker$kind" --no-inline "$at" | head -1)
            case $name:$got in
            chosen:chosen | chosen:choose | $name:"${name%\$pltgot}") ;;
            *) fail "$linker $kind: $name is called $got" ;;
            esac
        done
        for part in $(nm "parts-$linker$kind" | awk '$2 ~ /[tT]/ && $3 ~ /\.(cold|isra|constprop|part)/ { print $1 ":" $3 }'); do
            got=$("$RECKON" symbolize -e "parts-$linker$kind" --no-inline "${part%%:*}" | head -1)
            [ "$got" = "${part#*:}" ] || fail "$linker $kind: ${part#*:} is called $got"
        done
        # Stubs: none is _init, as symbolizers say that only know where the last symbol was.
        objdump -d -j .plt -j .plt.sec "parts-$linker$kind" 2>/dev/null | sed -n 's/^\([0-9a-f]*\) <\(puts\|abort\)@plt>:$/\1 \2@plt/p' >stubs
        while read -r at name; do
            got=$("$RECKON" symbolize -e "parts-$linker$kind" "$at" | head -1)
            [ "$got" = "$name" ] || fail "$linker $kind: $name is called $got"
        done <stubs
    done
done
[ $linkers -gt 0 ] || { echo "the C compiler does not work"; exit 77; }
echo "$linkers programs of linkers"

# A debug file that only .gnu_debuglink tells of, since there is no build-id.
cc -O2 -g -Wl,--build-id=none -o linked parts.c && at=$(nm linked | awk '$3 == "rare" { print $1 }') &&
    objcopy --only-keep-debug linked linked.debug &&
    objcopy --strip-all --add-gnu-debuglink=linked.debug linked || fail "objcopy"
"$RECKON" symbolize -e linked --no-inline "$at" >out 2>err
[ "$(head -1 out)" = rare ] || fail "by debuglink: rare"
mv linked.debug elsewhere.debug
"$RECKON" symbolize -e linked --no-inline "$at" >out 2>err
[ "$(head -1 out)" != rare ] || fail "a name without a table"
exit 0
