#!/bin/sh
# Samples out of a live ring, by us and by the iterator of the Rust crate perf-event-open (built here if cargo is installed),
# in turns: millions a second and how many there were, the median of seven rounds; then how they compare, the median of the
# rounds' ratios and the least and the most of them, since a machine is not as fast in one minute as in the next
# (bench/iterator.c says what the rows are; "ip" is the crate in a program of its own that uses that field alone). The bars:
# by the batch five times the crate's typed records, and one by one 20 million small ones a second.
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
for round in 1 2 3 4 5 6 7; do
    {
        "$build/bench/bench-iterator"
        [ -z "$peer" ] || { "$peer/bench-iterator" && "$peer/alone"; }
    } | sed "s/^/$round /" >>"$work/all"
done
awk '
    $5 !~ /^[0-9.]+$/ { sub(/^[0-9]+ /, ""); if (!told[$0]++) print; next }
    { key = $2 " " $3 " " $4; if (!(key in count)) order[++n] = key; rate[key, $1] = $5; count[key] = $6; rounds = $1 }
    # Of values[1 … m]: their median; sorted thereafter.
    function median(values, m,    i, k, v) {
        for (i = 2; i <= m; i++) {
            v = values[i]
            for (k = i; k > 1 && values[k - 1] > v; k--) values[k] = values[k - 1]
            values[k] = v
        }
        return m % 2 ? values[(m + 1) / 2] : (values[m / 2] + values[m / 2 + 1]) / 2
    }
    function like(ours, theirs, bar,    r, m, middle, values) {
        for (r = 1; r <= rounds; r++)
            if (rate[theirs, r] > 0) values[++m] = rate[ours, r] / rate[theirs, r]
        if (!m) return
        middle = median(values, m)
        printf "%s / %s: %.2f (%.2f … %.2f)%s\n", ours, theirs, middle, values[1], values[m],
            bar ? (middle >= bar ? ", above" : ", BELOW") " the bar of " bar : ""
    }
    END {
        for (i = 1; i <= n; i++) {
            for (r = 1; r <= rounds; r++) values[r] = rate[order[i], r] + 0
            middle[order[i]] = median(values, rounds)
            printf "%s %.1f %d\n", order[i], middle[order[i]], count[order[i]]
        }
        for (i = split("small chains", fields, " "); i >= 1; i--) {
            f = fields[i]
            like("reckon " f " batch", "perf-event-open " f " typed", 5)
            like("reckon " f " batch", "perf-event-open " f " ip", 0)
            like("reckon " f " typed", "perf-event-open " f " typed", 0)
            like("reckon " f " raw", "perf-event-open " f " raw", 0)
        }
        if (middle["reckon small typed"])
            printf "reckon small typed: %s the bar of 20 million a second\n", (middle["reckon small typed"] >= 20 ? "above" : "BELOW")
    }' "$work/all"
