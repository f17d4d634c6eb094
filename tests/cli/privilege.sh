#!/bin/sh
# record and stat keep no capability but those that measuring uses; what they measure keeps all it had. What the child that
# names may not do is in live/command_fence.
set -u
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; cat out err 2>/dev/null; exit 1; }
full=$(sed -n 's/^CapEff:\t//p' /proc/self/status)
[ "$full" != 0000000000000000 ] || { echo "no capability to drop here"; exit 77; }
# dac_override dac_read_search kill ipc_lock sys_ptrace syslog perfmon bpf checkpoint_restore
kept=$((0x1c400084026))
for verb in "record -q -e cpu-clock -o data" "stat -e task-clock -o counts"; do
    "$RECKON" $verb -- sh -c 'sed -n "s/^CapEff:.//p" /proc/$PPID/status; sed -n "s/^NoNewPrivs:.//p" /proc/$PPID/status
        sed -n "s/^CapEff:.//p" /proc/self/status; sed -n "s/^NoNewPrivs:.//p" /proc/self/status' >out 2>err ||
        fail "$verb ended with $?"
    { read -r own && read -r own_only && read -r command && read -r command_only; } <out || fail "$verb: four lines"
    [ $((0x$own & ~kept)) = 0 ] || fail "$verb has capabilities $own"
    [ "$own_only" = 1 ] || fail "$verb could get more by executing"
    [ "$command" = "$full" ] || fail "the command of $verb has capabilities $command, not $full"
    [ "$command_only" = 0 ] || fail "the command of $verb has no_new_privs"
done
# Every run's command has them.
"$RECKON" stat -r 2 -e task-clock -o counts sh -c 'sed -n "s/^CapEff:.//p" /proc/self/status' >out 2>err || fail "stat -r"
[ "$(sort -u out)" = "$full" ] || fail "stat -r: $(cat out)"
