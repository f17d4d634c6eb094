#!/bin/sh
# Samples out of a live ring, by us and by the iterator of the Rust crate perf-event-open (built here if cargo is installed):
# millions a second, and how many there were. The bar: five times as many.
#
#   iterator.sh BUILD
set -eu
build=$1 here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$build/bench/bench-iterator" | tee "$work/both"
if ! command -v cargo >/dev/null; then
    echo "perf-event-open - - (cargo is not installed)"
    exit 0
fi
cp -r "$here/iterator" "$work/iterator"
if ! cargo build --quiet --release --manifest-path "$work/iterator/Cargo.toml" --target-dir "$build/iterator" 2>"$work/log"; then
    echo "perf-event-open - - ($(grep -m 1 error "$work/log" || tail -n 1 "$work/log"))"
    exit 0
fi
"$build/iterator/release/bench-iterator" | tee -a "$work/both"
awk '$1 == "reckon" { ours = $2 } $1 == "perf-event-open" { printf "reckon / perf-event-open: %.2f\n", ours / $2 }' "$work/both"
