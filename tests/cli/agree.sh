#!/bin/bash
# perf script and reckon dump see the same samples, on each other's recordings.
exec "$SOURCE/tests/agree" "$RECKON"
