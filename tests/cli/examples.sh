# The examples run and say what they are there to say.
"$ROOM" self || exit 77
fail() { echo "$1"; exit 1; }
examples=$BUILD/examples

"$examples/region" >out || fail "region: $?"
grep -q '[1-9][0-9]* *page-faults' out || fail "region counts no page faults: $(cat out)"
"$examples/region" no-such-event >out 2>&1 && fail "region takes an event that there is none of"
grep -q 'no-such-event' out || fail "region does not say what is wrong: $(cat out)"

"$examples/regions" >out 2>err || fail "regions: $?"
{ grep -q 'regions are off' out && [ ! -s err ]; } || fail "regions are not off: $(cat out err)"
RECKON_REGIONS=task-clock:u "$examples/regions" >out 2>err || fail "regions: $? $(cat err)"
grep -Eq '^    fill +3 ' err || fail "regions has no fill in a round: $(cat err)"

"$examples/fib" >out 2>err || fail "fib: $? $(cat err)"
grep -q '^fib(30) = 832040: [1-9][0-9]* ' out || fail "fib counts nothing: $(cat out)"
grep -Eq '^(instructions|fib\(30\) = 832040: [0-9]+ instructions)' err out || fail "fib neither counts instructions nor says why not"
samples=$(grep -c 'user stack' out)
grep -q "^$samples samples, 0 lost" out || fail "fib shows $samples samples: $(tail -n 1 out)"
[ "$samples" -gt 0 ] || grep -q '^fib.*: [0-9]\{1,6\} ns' out || fail "fib has no samples: $(cat out)"

# In cgroups of its own, and while CPUs go and come: tests/live/example_cgroups.
if "$examples/cgroups" / / 1 >out 2>err; then
    [ "$(grep -Ec '^/ +[0-9.]+ ms +[0-9]+ page faults$' out)" = 2 ] || fail "cgroups: not a line for each: $(cat out)"
else
    grep -q . err || fail "cgroups does not say why it fails"
fi
"$examples/cgroups" no/such/cgroup / 1 >out 2>err && fail "cgroups finds a cgroup that there is none of"
grep -q 'cgroup' err || fail "cgroups does not say what is wrong: $(cat err)"

sh -c 'while kill -0 $PPID; do :; done' &
busy=$!
for seconds in 0.5 5 50; do # on a busy machine it has to run first
    "$examples/attach" $busy $seconds >out 2>err
    status=$?
    ! grep -q " $busy sh " out || break
done
kill $busy
[ $status = 0 ] || fail "attach: $status $(cat err)"
grep -Eq " $busy sh +[0-9.]+$" out || fail "attach does not see $busy: $(cat out)"
"$examples/attach" 4194304 >out 2>err && fail "attach finds a process that there is none of"
grep -q 'no process' err || fail "attach does not say what is wrong: $(cat err)"
sleep 60 &
sleeper=$!
"$examples/attach" $sleeper 1000 >out 2>err &
attach=$!
until ls -l /proc/$attach/fd | grep -q perf_event; do sleep 0.1; done
kill $sleeper
wait $attach || fail "attach: $? $(cat err)" # it notices that its process has ended

cc=$(command -v cc) || cc=
cat >hot.c <<'C'
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) unsigned spin_here(unsigned n)
{
    for (volatile unsigned i = 0; i < 1000; i++)
        n += i;
    return n;
}
int main(void)
{
    unsigned n = 0;
    printf("%p\n", (void *)spin_here);
    fflush(stdout);
    while (getppid() != 1)
        n = spin_here(n);
    return (int)n & 1;
}
C
if [ -n "$cc" ] && "$cc" -g -O1 -o hot hot.c; then
    ./hot >address &
    hot=$!
    until [ -s address ]; do kill -0 $hot || fail "hot ended"; sleep 0.05; done
    "$examples/symbolize" $hot "$(cat address)" 10 >out 2>err || fail "symbolize: $? $(cat err)"
    grep -Eq "^$(cat address) spin_here at .*/hot.c:[45]\$" out || fail "symbolize: $(cat out)"
    grep -q '^0x10: the address is in no known mapping$' out || fail "symbolize: $(cat out)"
    kill $hot
fi
"$examples/symbolize" 4194304 1 >out 2>err && fail "symbolize finds a process that there is none of"
grep -q 'there is none' err || fail "symbolize does not say what is wrong: $(cat err)"

# As short as a reader hopes: 15 lines of code.
lines=$(awk '/^int main/ { on = 1; next } /^}/ { on = 0 } on && NF && $0 != "{" { n++ } END { print n }' "$SOURCE/examples/top.c")
[ "$lines" -le 15 ] || fail "top has $lines lines"
"$examples/top" 4194304 >out 2>err && fail "top finds a process that there is none of"
grep -q 'no process' err || fail "top does not say what is wrong: $(cat err)"
"$examples/folded" ./none >out 2>err && fail "folded reads a file that is not there"
grep -q 'none: No such file' err || fail "folded does not say what is wrong: $(cat err)"

"$examples/profile" sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; exit 7' >out 2>err
[ $? = 7 ] || fail "profile does not pass the exit status on: $(cat err)"
grep -Eq '^ *[0-9.]+%  .*' out || fail "profile shows no functions: $(cat out)"
[ "$(stat -c %a profile.data)" = 600 ] || fail "profile.data is not 0600"
exit 0
