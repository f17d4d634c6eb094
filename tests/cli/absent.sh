#!/bin/bash
# An event that does not exist here: stat and compare go on, and say so at its row; a list of nothing else is an error.
set -u
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; head -50 out err 2>/dev/null; exit 1; }
"$RECKON" stat -e page-faults,nosuchthing true >out 2>err || fail "stat: $(cat err)"
grep -q '^ *[0-9][0-9,]*  page-faults' err || fail "stat counts the other: $(cat err)"
grep -q '^  not counted  nosuchthing' err || fail "stat has no row for it: $(cat err)"
grep -q 'nosuchthing: no such event\|no such event' err && grep -q 'fix: ' err || fail "stat says no reason: $(cat err)"
"$RECKON" stat -j -e 'nosuchthing,{page-faults,nosuch/x=1/}' true 2>out || fail "stat -j: $(cat out)"
grep -q '"event":"nosuchthing","value":null,"reason":"nosuchthing: no such event","cause":"no-event"' out ||
    fail "JSON: $(cat out)"
grep -q '"event":"nosuch/x=1/","value":null' out || fail "JSON, of a group: $(cat out)"

"$RECKON" compare -r 2 -e page-faults,nosuchthing true /bin/true >out 2>err || fail "compare: $(cat err)"
grep -q 'page-faults' out && grep -q 'not counted: nosuchthing' out || fail "compare: $(cat out)"

"$RECKON" stat -e nosuchthing true >out 2>err
[ $? = 2 ] && grep -q 'no such event' err || fail "nothing is known: $(cat err)"
"$RECKON" stat -e nosuchthing,page-faults/period=x/ true >out 2>err
[ $? = 2 ] && grep -q 'wants a number' err || fail "a mistake stays one: $(cat err)"
