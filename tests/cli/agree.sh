#!/bin/bash
# perf script and reckon dump see the same samples, on each other's recordings: a few kinds; with "all" every kind.
[ "${1-}" = all ] || set -- plain 'several events' 'user stacks' tracepoints 'packed pipe' 'off the CPU' 'several files'
[ "$1" != all ] || shift
exec "$SOURCE/tests/agree" "$RECKON" "$@"
