#!/bin/sh
# Which cgroup samples are in: cgroups that were there before and one that is made meanwhile, of who is sampled by name, by
# cgroup, and on the whole machine; the same shares as perf's. What is made here goes again.
"$ROOM" all || exit 77
top=$("$ROOM" cgroup) || { echo "$top" && exit 77; }
mine=$top/reckon-test-$$
fail() { echo "FAIL: $*"; cat err out 2>/dev/null; exit 1; }
mkdir "$mine" 2>err || { echo "no cgroup can be made here: $(cat err)"; exit 77; }
leave() { for cgroup in /deep/er /deep /wide /new ""; do rmdir "$mine$cgroup" 2>/dev/null; done; }
trap 'leave' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$mine/deep" "$mine/deep/er" "$mine/wide" || fail "mkdir"
sh -c "echo \$\$ >$mine/wide/cgroup.procs" 2>err || { echo "no process can go into a cgroup here: $(cat err)"; exit 77; }
name=/reckon-test-$$

cat >work.sh <<SH
spin() { i=0; while [ \$i -lt \$1 ]; do i=\$((i + 1)); done; }
run() { (echo 0 >$mine/\$1/cgroup.procs && spin \$2); }
run deep/er 60000 && run wide 120000 && mkdir $mine/new && run new 30000
spin 20000
SH
# Rows of a report by cgroup, as "path share"; perf's, the same.
ours() { "$RECKON" report --by cgroup --csv "$1" 2>err | awk -F, 'NR > 1 { printf "%s %.2f\n", $1, $4 }' | sort; }
theirs() { perf report -s cgroup --stdio -i "$1" 2>/dev/null | awk '$1 ~ /%$/ { sub("%", "", $1); print $2, $1 }' | sort; }
agree() {
    command -v perf >/dev/null && perf --version >/dev/null 2>&1 || return 0
    ours "$1" >ours.rows && theirs "$1" >theirs.rows
    [ -s theirs.rows ] || return 0 # a perf that can't
    # Both round to a hundredth, of shares that they add up in another order.
    paste ours.rows theirs.rows | awk '{ d = $2 - $4 } $1 != $3 || NF != 4 || d * d > 0.011 ^ 2 { bad = 1 } END { exit bad }' ||
        fail "$1: $(paste ours.rows theirs.rows)"
}

"$RECKON" record -q --all-cgroups -e cpu-clock -F 2000 -o all.data sh work.sh 2>err || fail "--all-cgroups"
ours all.data >rows || fail "report --by cgroup"
for cgroup in deep/er wide new; do
    grep -q "^$name/$cgroup [1-9]" rows || fail "no row of $cgroup: $(cat rows)"
done
[ "$(awk '{ sum += $2 } END { print (sum > 99.8 && sum < 100.2) }' rows)" = 1 ] || fail "shares: $(cat rows)"
agree all.data
"$RECKON" dump --json --type cgroup all.data >out 2>err && grep -q "\"path\":\"$name/deep\"" out && grep -q '"path":"/"' out || fail "those that exist are told"
"$RECKON" report --cgroup "^$name/wide$" --by cgroup all.data >out 2>err && [ "$(grep -c "$name" out)" = 1 ] && grep -q "100.00.*$name/wide" out || fail "--cgroup"
"$RECKON" export --format pprof -o all.pprof all.data 2>err && ours all.pprof | cmp -s - rows || fail "pprof has other cgroups"

# Without it nothing is asked for; with -G always, and on the whole machine.
rmdir "$mine/new" || fail "new is not left"
"$RECKON" record -q -e cpu-clock -o none.data sh work.sh 2>err || fail "record"
"$RECKON" report --by cgroup none.data 2>err | grep -q '\[no cgroup\]' || fail "without cgroups"
rmdir "$mine/new" || fail "new is not left"
"$RECKON" record -q -G "$name" -e cpu-clock -F 2000 -o group.data sh work.sh 2>err || fail "-G"
ours group.data >rows && grep -q "^$name/wide [1-9]" rows && grep -q "^$name/new [1-9]" rows || fail "-G: $(cat rows)"
! grep -qv "^$name" rows || fail "-G: others: $(cat rows)"
agree group.data
rmdir "$mine/new" || fail "new is not left"
"$RECKON" record -q -a --all-cgroups -e cpu-clock -F 2000 -o machine.data sh work.sh 2>err || fail "-a"
ours machine.data >rows && grep -q "^$name/deep/er [0-9]" rows && grep -q '^/ ' rows || fail "-a: $(cat rows)"
agree machine.data
find "$mine" -mindepth 1 -type d | sort >out
printf '%s\n' "$mine/deep" "$mine/deep/er" "$mine/new" "$mine/wide" | cmp -s - out || fail "cgroups that are there: $(cat out)"
