#!/bin/bash
# A BPF program that was loaded, ran and was unloaded while the recording ran has its name in the report: records of the
# kernel's own code are asked for wherever the kernel has them, those of changed code (TEXT_POKE) are not.
set -u
fail() { echo "FAIL: $*"; cat err out 2>/dev/null; exit 1; }

cat >bpf.c <<'C2'
#include "bpf.h"
int main(void)
{
    int program = load_bpf("passing");
    if (program < 0 || run_bpf(program, 300) < 0)
        return 77;
    close(program);
    return 0;
}
C2
cc -D_GNU_SOURCE -I"$SOURCE/tests/live" -o bpf bpf.c || { echo "no compiler"; exit 77; }
case $(cat /proc/sys/net/core/bpf_jit_enable 2>/dev/null) in
'' | 0) echo "BPF programs are not compiled here"; exit 77 ;;
esac
./bpf || { echo "BPF programs can't be loaded here"; exit 77; }

"$RECKON" record -e cpu-clock ./bpf >out 2>err || fail "record"
"$RECKON" dump --stat >out 2>err || fail "dump --stat"
grep -q TEXT_POKE out && fail "changes of the kernel's code are recorded"
"$RECKON" report >out 2>err || fail "report"
grep -E '^ *[0-9.]+ .*bpf_prog_[0-9a-f]{16}_passing' out >line || fail "the program has no name"
awk '{ sub("%", "", $1); exit !($1 > 25) }' line || fail "the program had most of the time"
"$RECKON" report --by module >out 2>err && grep -q '\[bpf\]' out || fail "its module"

# The same with the whole machine, where another's program is seen too.
"$RECKON" record -a -e cpu-clock -o all.data ./bpf >out 2>err || fail "record -a"
"$RECKON" report all.data >out 2>err || fail "report"
grep -Eq 'bpf_prog_[0-9a-f]{16}_passing' out || fail "the program has no name in a machine's recording"

# perf names it by the same records.
if perf --version >/dev/null 2>&1; then
    perf script -F ip,sym -i perf.data >out 2>err || fail "perf script"
    grep -q 'bpf_prog_[0-9a-f]*_passing' out || fail "perf has no name for it"
fi
exit 0
