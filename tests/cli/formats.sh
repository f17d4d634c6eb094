#!/bin/bash
# Exports, read by those they are for: speedscope's schema, Firefox Profiler's reader; with "go" by go tool pprof, which go
# builds each time. The same totals in each.
set -u
"$ROOM" self || exit 77
skip() { echo "$*" && exit 77; }
fail() { echo "$*" && cat err && exit 1; }

export FORMATS_GO=${1-}
readers="speedscope's schema|profiler-cli"
if [ "$FORMATS_GO" ]; then
    command -v go >/dev/null || skip "go is not installed: run tools/setup --all"
    readers="$readers|go tool pprof"
fi
FORMATS_MODULES=$("$SOURCE/tests/npm" validators) || skip "$FORMATS_MODULES"
python3 -c 'import jsonschema' 2>/dev/null || skip "python3-jsonschema is not installed"
export FORMATS_MODULES

cat >work.sh <<'SH'
i=0
while [ $i -lt 60000 ]; do i=$((i + 1)); done
SH
"$RECKON" record -q -g -F 2000 -o perf.data sh work.sh 2>err || {
    grep -q 'perf_event_paranoid\|not permitted' err && skip "no sampling here: $(head -n 1 err)"
    fail "record"
}
"$RECKON" report --json perf.data >report.json 2>err || fail "report"
for format in folded csv json pprof speedscope firefox perf-script; do
    "$RECKON" export --format $format -o out.$format perf.data 2>err || fail "export --format $format"
done
said=$(python3 "$SOURCE/tests/formats" report.json out 2>err) || fail "formats: $said"
echo "$said"
IFS='|'
for reader in $readers; do
    case $said in *"$reader"*) ;; *) fail "$reader was not asked: $said" ;; esac
done
