#!/bin/sh
# A program that was replaced after the recording: its names are not believed, and the report says why.
set -u
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; cat out err 2>/dev/null; exit 1; }

cp /bin/sh program
"$RECKON" record -q -e cpu-clock ./program -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done' 2>err || fail "record"
"$RECKON" report >out 2>err || fail "report"
grep -q 'has changed since' out && fail "it has not changed"
cp "$RECKON" program
"$RECKON" report >out 2>err || fail "report"
grep -q 'program.*has changed since' out || fail "not said that it has changed"
rm program
"$RECKON" report >out 2>err || fail "report"
grep -q 'program.*is gone' out || fail "not said that it is gone"
