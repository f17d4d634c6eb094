#!/bin/sh
# A program that was replaced after the recording: its names are in the recording. Where they are not, the new file's are not
# believed, and the report says why.
set -u
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; cat out err 2>/dev/null; exit 1; }

cp /bin/sh program
for names in "" --no-names; do
    "$RECKON" record -q -e cpu-clock $names -o with$names.data ./program -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done' 2>err || fail "record"
done
"$RECKON" report with.data >before 2>err && "$RECKON" report with--no-names.data >out 2>err || fail "report"
grep -q 'has changed since' before out && fail "it has not changed"
cp "$RECKON" program
"$RECKON" report with.data 2>err | cmp -s before - || fail "its names are not the recording's"
"$RECKON" report with--no-names.data >out 2>err || fail "report"
grep -q 'program.*has changed since' out || fail "not said that it has changed"
rm program
"$RECKON" report with.data 2>err | cmp -s before - || fail "its names are not the recording's once it is gone"
"$RECKON" report with--no-names.data >out 2>err || fail "report"
grep -q 'program.*is gone' out || fail "not said that it is gone"
"$RECKON" diff with--no-names.data with.data >out 2>err || fail "diff"
grep -q '^before: .* could not be named' out || fail "diff does not say what could not be named"
