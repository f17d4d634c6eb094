#!/bin/bash
# perf report --no-inline and reckon report count the same in the same file.
exec "$SOURCE/tests/perf-report" "$RECKON"
