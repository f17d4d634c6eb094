#!/bin/sh
# bench-count with the Rust crate perf-event-open among its rows: bench/peer-rust, which is built here where cargo is
# installed and finds the crate.
#
#   count.sh BUILD
set -eu
build=$1 here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
peer=$build/peer-rust/release/libbench_peer_rust.so
if ! command -v cargo >/dev/null; then
    "$build/bench/bench-count" "" "cargo is not installed"
    exit
fi
cp -r "$here/peer-rust" "$work/peer-rust"
if cargo build --quiet --release --manifest-path "$work/peer-rust/Cargo.toml" --target-dir "$build/peer-rust" 2>"$work/log"; then
    "$build/bench/bench-count" "$peer"
else
    "$build/bench/bench-count" "" "$(grep -m 1 error "$work/log" || tail -n 1 "$work/log")"
fi
