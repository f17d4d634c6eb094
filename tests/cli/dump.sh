#!/bin/bash
# reckon dump: fields, filters, sums, names; on a recording of its own.
set -u
fail() { echo "FAIL: $*"; cat err 2>/dev/null; exit 1; }
cat >busy.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <stdlib.h>
static volatile long sum;
__attribute__((noinline)) static void burn_here(long n) { for (long i = 0; i < n; i++) sum += i; }
__attribute__((noinline)) static void *second(void *p) { pthread_setname_np(pthread_self(), "second"); burn_here(40000000); return p; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, second, NULL);
    char *page = malloc(4096 * 512);
    memset(page, 1, 4096 * 512);
    burn_here(40000000);
    pthread_join(t, NULL);
    return page[77] - 1;
}
C
cc -g -O0 -fno-omit-frame-pointer -pthread -o busy busy.c || fail "cc"
"$RECKON" record -q -e cpu-clock:u -e page-faults:u -g ./busy 2>err || { echo "no recording here: $(tail -n 1 err)"; exit 77; }

"$RECKON" dump --json >all.json 2>err || fail "dump --json"
"$RECKON" dump perf.data --json >again 2>err && cmp -s again all.json || fail "the file before the options"
"$RECKON" dump -F comm,pid,tid,cpu,time,event,ip,sym,symoff,dso,srcline,chain --json >named.json 2>err || fail "dump -F --json"
"$RECKON" dump -F comm,tid,time,event,ip,sym,dso >named.txt 2>err || fail "dump -F"
"$RECKON" dump --stat --json >stat.json 2>err || fail "--stat --json"
"$RECKON" dump --stat >stat.txt 2>err || fail "--stat"
python3 - "$RECKON" <<'PY' || fail "what dump shows"
import json, os, re, subprocess, sys
reckon = sys.argv[1]
def dump(*options):
    done = subprocess.run([reckon, "dump", "--json", *options], stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]
everything = [json.loads(line) for line in open("all.json")]
samples = [r for r in everything if r["type"] == "SAMPLE"]
named = [json.loads(line) for line in open("named.json")]
keys = lambda rs: [(r["time"], r["tid"], r["ip"], r["chain"]) for r in rs]
assert samples and keys(samples) == keys(named)                     # -F alone: samples, all of them
clocks = [r for r in named if r["event"] == "cpu-clock:u"]
hot = [r for r in clocks if r["ip_name"].get("symbol") == "burn_here"]
assert len(hot) > 0.7 * len(clocks), (len(hot), len(clocks))
for r in hot:
    assert r["ip_name"]["module"] == "busy" and r["ip_name"]["file"].endswith("busy.c") and r["ip_name"]["line"] > 0, r
    assert len(r["chain_names"]) == len(r["chain"])
    assert r["chain_names"][0]["symbol"] == "burn_here"
    assert r["chain_names"][1].get("symbol") == ("second" if r["comm"] == "second" else "main"), r
assert {r["comm"] for r in hot} == {"busy", "second"}, {r["comm"] for r in hot}
lines = [l.rstrip("\n") for l in open("named.txt")]
assert len(lines) == len(named)
for line, r in zip(lines, named):
    assert line.startswith(r["comm"]) and f" {r['tid']} {r['event']} {r['ip']} " in line, (line, r)
    assert f"{r['time'] // 10**9}.{r['time'] % 10**9:09}" in line, line

# Filters: each gives what a look at all records gives, in their order.
def same(options, keep):
    want = [r for r in everything if keep(r)]
    got = dump(*options)
    assert got == want and want, (options, len(got), len(want))
same(["--type", "sample"], lambda r: r["type"] == "SAMPLE")
same(["--type", "MMAP2,comm"], lambda r: r["type"] in ("MMAP2", "COMM"))
same(["-e", "page-faults:u"], lambda r: r.get("event") == "page-faults:u")
same(["-e", "page-*", "-e", "cpu-clock:u"], lambda r: r.get("event"))
pid = samples[0]["pid"]
same(["-p", str(pid)], lambda r: r.get("pid") == pid)
second = next(r["tid"] for r in named if r["comm"] == "second")
same(["-t", str(second)], lambda r: r.get("tid") == second)
same(["-t", f"1,{second}"], lambda r: r.get("tid") == second)
middle = samples[len(samples) // 2]["time"]
text = f"{middle // 10**9}.{middle % 10**9:09}"
same(["--time", text + ","], lambda r: r.get("time", 0) >= middle)
same(["--time", "," + text], lambda r: "time" in r and r["time"] <= middle)
same(["--time", text + "," + text], lambda r: r.get("time") == middle)
cpu = samples[0]["cpu"]
same(["-C", str(cpu)], lambda r: r.get("cpu") == cpu)
same(["-C", "0-4095"], lambda r: "cpu" in r)
assert keys(dump("-c", "second", "-F", "time,tid,ip,chain")) == keys([r for r in named if r["comm"] == "second"])
assert dump("-c", "nobody") == []

# Sums.
stat = json.load(open("stat.json"))
assert stat["records"] == len(everything) and stat["samples"] == len(samples) and stat["cut"] is False
assert 0 < stat["bytes"] < os.path.getsize("perf.data")
assert sum(t["records"] for t in stat["types"]) == len(everything)
for e in stat["events"]:
    mine = [r for r in samples if r["event"] == e["event"]]
    assert e["samples"] == len(mine) and e["lost"] == 0, (e, len(mine))
for t in stat["types"]:
    mine = [r["time"] for r in everything if r["type"] == t["type"] and r.get("time")]
    if mine and "span_ns" in t:
        assert t["span_ns"] == max(mine) - min(mine), t
text = open("stat.txt").read()
for name in "cpu-clock:u", "page-faults:u", "SAMPLE", "MMAP2":
    assert re.search(rf"^{name} +[0-9,]+ ", text, re.M), name
few = json.loads(subprocess.run([reckon, "dump", "--stat", "--json", "-t", str(second)], stdout=subprocess.PIPE, check=True).stdout)
assert few["samples"] == sum(r["tid"] == second for r in samples)
PY

# Mistakes: status 2, and what there is instead.
while read -r options; do
    # shellcheck disable=SC2086
    "$RECKON" dump $options >out 2>err
    [ $? = 2 ] && [ ! -s out ] && grep -q 'reckon dump: ' err || fail "dump $options"
done <<'X'
-F nonsense
--type nonsense
--time x
--time 5,4
--time ,
-p one
-p 3-1
-C -1
X
exit 0
