#!/bin/sh
# Samples out of a live ring, by us and by the iterator of the Rust crate perf-event-open (built here if cargo is installed),
# in turns: millions a second and how many there were, the best of three runs; then how they compare (bench/iterator.c says
# what the rows are; "ip" is the crate in a program of its own that uses that field alone). The bars: by
# the batch five times the crate's typed records, and 20 million small ones a second.
#
#   iterator.sh BUILD
set -eu
build=$1 here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
peer=
if ! command -v cargo >/dev/null; then
    echo "perf-event-open - - - - (cargo is not installed)"
else
    cp -r "$here/iterator" "$work/iterator"
    if cargo build --quiet --release --manifest-path "$work/iterator/Cargo.toml" --target-dir "$build/iterator" 2>"$work/log"; then
        peer=$build/iterator/release
    else
        echo "perf-event-open - - - - ($(grep -m 1 error "$work/log" || tail -n 1 "$work/log"))"
    fi
fi
for round in 1 2 3; do
    "$build/bench/bench-iterator" >>"$work/all"
    [ -z "$peer" ] || { "$peer/bench-iterator" && "$peer/alone"; } >>"$work/all"
done
awk '
    $4 !~ /^[0-9.]+$/ { print; next }
    { key = $1 " " $2 " " $3; if (!(key in best)) order[++n] = key; if ($4 > best[key] + 0) best[key] = $4; count[key] = $5 }
    function like(ours, theirs, bar) {
        if (best[theirs] > 0)
            printf "%s / %s: %.2f%s\n", ours, theirs, best[ours] / best[theirs],
                bar ? (best[ours] >= bar * best[theirs] ? ", above" : ", BELOW") " the bar of " bar : ""
    }
    END {
        for (i = 1; i <= n; i++) print order[i], best[order[i]], count[order[i]]
        for (i = split("small chains", fields, " "); i >= 1; i--) {
            f = fields[i]
            like("reckon " f " batch", "perf-event-open " f " typed", 5)
            like("reckon " f " batch", "perf-event-open " f " ip", 0)
            like("reckon " f " typed", "perf-event-open " f " typed", 0)
            like("reckon " f " raw", "perf-event-open " f " raw", 0)
        }
        if (best["reckon small typed"])
            printf "reckon small typed: %s the bar of 20 million a second\n", (best["reckon small typed"] >= 20 ? "above" : "BELOW")
    }' "$work/all"
