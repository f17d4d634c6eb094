#!/bin/bash
# reckon doctor: every verdict has a word, what is not yes has a cause; JSON says the same.
set -u
fail() { echo "FAIL: $*"; cat out err 2>/dev/null; exit 1; }
"$RECKON" doctor >out 2>err
status=$?
[ $status -le 1 ] || fail "status $status"
"$RECKON" doctor --json >json 2>err
[ $? = $status ] || fail "--json: another status"
python3 - $status <<'PY' || fail "--json"
import json, sys
with open("json") as f:
    checks = {c["name"]: c for c in json.load(f)["checks"]}
assert list(checks)[:3] == ["count", "sample", "kernel"], list(checks)
assert "hardware" in checks
for name, c in checks.items():
    assert c["verdict"] in ("yes", "partly", "no"), c
    assert c["title"] and (c["verdict"] == "yes" or (c["what"] and c["cause"])), c
able = all(checks[n]["verdict"] != "no" for n in ("count", "sample"))
assert able == (sys.argv[1] == "0")
PY
[ "$(grep -cE '^  (yes|partly|no) ' out)" = "$(grep -o '"verdict"' json | wc -l)" ] || fail "text and JSON differ"
# What it says is true: counting works where it says so.
if grep -qE '^  yes .*count' out; then
    "$RECKON" stat -e page-faults true 2>err || fail "doctor says that counting works"
fi
exit 0
