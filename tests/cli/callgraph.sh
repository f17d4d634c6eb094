#!/bin/sh
# Call chains of a program without frame pointers: whole, by --call-graph dwarf and auto, live and from stored stacks; the
# same frames as perf finds in the same stacks; honest where they are not whole.
set -u
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; cat err out 2>/dev/null; exit 1; }

case $(uname -m) in x86_64 | aarch64) ;; *) echo "stacks of this machine are not unwound"; exit 77 ;; esac
cat >plain.c <<'C'
/* Frame pointers, and no tables. */
static volatile long ticks;
void tick(void) { ticks++; }
int through(int (*call)(int), int n) { int r = call(n); ticks++; return r; }
C
cat >deep.c <<'C'
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
void tick(void);
int through(int (*call)(int), int n);
static volatile long sum;
static volatile int sink;
static int ticking;
__attribute__((noinline)) void burn(void)
{
    struct timespec t;
    do {
        for (int i = 0; i < 20000; i++) {
            if (ticking)
                tick();
            sum += i;
        }
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    } while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < 250);
}
__attribute__((noinline)) int down(int depth)
{
    char room[16];
    memset(room, depth, sizeof room);
    sink += room[depth % 16];
    int n = 0;
    if (depth > 1)
        n = down(depth - 1);
    else
        burn();
    sink += n;
    return n + 1;
}
__attribute__((noinline)) void caught(int s) { burn(); sink += s; }
int main(int argc, char **argv)
{
    int n = atoi(argv[2]);
    if (!strcmp(argv[1], "signal")) {
        signal(SIGUSR1, caught);
        raise(SIGUSR1);
    } else if (!strcmp(argv[1], "mixed")) {
        sink = through(down, n);
    } else {
        ticking = !strcmp(argv[1], "plt");
        sink = down(n);
    }
    return argc != 3;
}
C
flags='-O2 -g -fno-optimize-sibling-calls'
cc $flags -fPIC -shared -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables plain.c -o libplain.so &&
    cc $flags -fomit-frame-pointer -fasynchronous-unwind-tables -Wl,-z,lazy deep.c -L. -lplain -Wl,-rpath,"$PWD" -o deep ||
    { echo "no compiler"; exit 77; }

# Every sample in burn was called by main, and those through `$2` (of which there are $3) make up nearly all.
whole() {
    "$RECKON" export --weight samples "$1" >folded 2>err || fail "export $1"
    awk -v function_="$2" -v times="$3" '
        { n = $NF; k = split($0, frame, ";"); sub(/ [0-9]+$/, "", frame[k]); burns = mains = through = 0
          for (i = 1; i <= k; i++) { burns += frame[i] == "burn"; mains += frame[i] == "main"; through += frame[i] == function_ }
          if (!burns) next
          all += n; if (mains != 1) bad += n; if (through == times) right += n }
        END { printf "%d in burn, %d without main, %d with %d of %s\n", all, bad, right, times, function_
              exit !(all > 0 && bad == 0 && right > 0.98 * all) }' folded || { cat folded; fail "$1 is not whole"; }
}

"$RECKON" record -e cpu-clock:u --call-graph dwarf -o first.data ./deep deep 25 2>err
case $? in
0) ;;
*) grep -q "can't be sampled\|not permitted\|paranoid" err && { cat err; echo "no sampling here"; exit 77; }; fail "record" ;;
esac
all_whole() { # nothing is said of stacks when all are
    ! grep -q stacks: err || grep -Eq 'stacks:  9[89]\.[0-9] % whole' err || { cat err; fail "$1: not all stacks are whole"; }
}
! grep -q 'unwind tables' err || fail "what the manual says is said"
all_whole first
whole first.data down 25
for mode in dwarf auto; do
    for what in 'deep 25 down 25' 'deep 100 down 100' 'mixed 20 through 1' 'signal 0 caught 1' 'plt 3 down 3'; do
        set -- $what
        "$RECKON" record -F 2000 -e cpu-clock:u --call-graph $mode -o $mode.data ./deep $1 $2 2>err || fail "record $mode"
        all_whole "$mode $1"
        whole $mode.data $3 $4
    done
done
"$RECKON" record -F 2000 -e cpu-clock:u -g -o default.data ./deep deep 30 2>err || fail "record -g"
whole default.data down 30

# Through a handler of musl's, whose restorer has no table: what was interrupted, and main. Its libc has none either, so
# that the stacks are not whole.
if command -v musl-gcc >/dev/null; then
    cat >interrupted.c <<'C'
#include <signal.h>
#include <sys/time.h>
#include <time.h>
static volatile long sum;
static volatile int done;
__attribute__((noinline)) void burn(void)
{
    struct timespec t;
    do {
        for (int i = 0; i < 20000; i++)
            sum += i;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    } while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < 250);
}
__attribute__((noinline)) void caught(int s) { burn(); done = s; }
__attribute__((noinline)) void interrupted(void) { while (!done) sum++; }
int main(void)
{
    struct itimerval soon = {{0, 0}, {0, 1000}};
    signal(SIGPROF, caught);
    setitimer(ITIMER_PROF, &soon, 0);
    interrupted();
    return 0;
}
C
    for how in '' -static; do
        musl-gcc -O2 -fomit-frame-pointer -fasynchronous-unwind-tables $how interrupted.c -o musl || fail "musl-gcc"
        "$RECKON" record -F 2000 -e cpu-clock:u --call-graph dwarf -o musl.data ./musl 2>err || fail "record musl"
        whole musl.data interrupted 1
        whole musl.data caught 1
    done
fi

# Too small a dump: said, with what to do; with frame pointers auto goes on by them.
"$RECKON" record -F 2000 -e cpu-clock:u --call-graph dwarf,512 -o small.data ./deep deep 100 2>err || fail "record dwarf,512"
grep -q 'cut after 512 bytes' err && grep -q 'fix: --call-graph dwarf,2048' err || fail "cut stacks are not told"
"$RECKON" report small.data >out 2>err || fail "report"
grep -q 'of the stacks were cut' out || fail "report says nothing of cut stacks"
cc $flags -fno-omit-frame-pointer deep.c -L. -lplain -Wl,-rpath,"$PWD" -o framed || fail "cc"
"$RECKON" record -F 2000 -e cpu-clock:u --call-graph auto,512 -o joined.data ./framed deep 60 2>err || fail "record auto,512"
grep -q 'go on by frame pointers' err || fail "nothing was joined"
whole joined.data down 60
"$RECKON" record -F 500 -e cpu-clock:u -g -o long.data ./framed deep 3000 2>err || fail "record -g of long stacks"
grep -q 'cut after 16384 bytes' err && grep -q 'fix: --call-graph auto,65528' err || { cat err; fail "-g is auto, with 16384 bytes"; }
"$RECKON" record -F 2000 -e cpu-clock:u --call-graph fp -o fp.data ./framed deep 60 2>err || fail "record fp"
! grep -q stacks: err || fail "fp unwinds"

# Stored as they are, and unwound when read: the same.
for mode in dwarf auto; do
    "$RECKON" record -F 2000 -e cpu-clock:u --call-graph $mode --keep-stacks -o keep.$mode ./deep deep 25 2>err || fail "keep"
    whole keep.$mode down 25
done
[ "$(wc -c <keep.dwarf)" -gt $((25 * $(wc -c <dwarf.data))) ] || fail "frames are no smaller than stacks"
"$RECKON" record -F 2000 -e cpu-clock:u --call-graph dwarf -o - ./deep deep 25 2>err >pipe && whole pipe down 25

for bad in dwarf,7 dwarf, dwarf,70000 fp,8 nothing ''; do
    "$RECKON" record --call-graph "$bad" true 2>err
    [ $? = 2 ] && grep -q 'a multiple of 8' err || fail "--call-graph '$bad'"
done

# perf shows of each file what it has found itself in the same stacks.
perf --version >/dev/null 2>&1 || { echo "perf is not installed: not compared"; exit 0; }
perf script --no-inline -F ip,sym -i keep.dwarf >theirs 2>perf.err || fail "perf script"
awk '/ main$/ { main++ } / burn$/ { burn++ } END { print burn + 0, "in burn,", main + 0, "with main"; exit !(burn > 100 && main == burn) }' theirs || fail "perf on kept stacks"
# … sample by sample, from burn to main: as many of each stack
ours() {
    "$RECKON" export --weight samples "$1" 2>err | awk '{ n = $NF; sub(/ [0-9]+$/, ""); k = split($0, f, ";"); s = ""
        for (i = k; i > 0; i--) { s = s " " f[i]; if (f[i] == "main") { if (s ~ / burn /) all[s] += n; break } } }
        END { for (s in all) print all[s] s }' | sort
}
perfs() {
    perf script --no-inline -F ip,sym -i "$1" 2>perf.err | awk '
        NF == 0 { if (done && s ~ / burn /) all[s]++; s = ""; done = 0; next }
        !done { sub(/@+[A-Z].*/, "", $2) # a version
            s = s " " $2; done = $2 == "main" }
        END { if (done && s ~ / burn /) all[s]++; for (s in all) print all[s] s }' | sort
}
for file in first.data keep.dwarf dwarf.data; do
    ours $file >a
    perfs $file >b
    [ -s a ] && cmp -s a b || { diff a b | cut -c -200 | head -20; fail "$file: perf's stacks are others"; }
done
perf script --no-inline -F ip,sym -i first.data >theirs 2>perf.err || fail "perf script"
awk '/ main$/ { main++ } / burn$/ { burn++ } END { print burn + 0, "in burn,", main + 0, "with main"; exit !(burn > 100 && main == burn) }' theirs || fail "perf on frames"
if "$SOURCE"/tests/perf-record -q -F 2000 -e cpu-clock:u --call-graph dwarf -o perf.own ./deep deep 25 2>perf.err; then
    whole perf.own down 25
    # perf has the vDSO from its cache below HOME, and without that ends such a stack in it.
    ours perf.own | grep -v __vdso_ >a
    perfs perf.own | grep -v __vdso_ >b
    [ -s a ] && cmp -s a b || { diff a b | cut -c -200 | head -20; fail "perf's own stacks are others"; }
fi
exit 0
