#!/bin/bash
# Edit, rebuild over the same path, compare: both recordings have their own names, in C++, Rust, Go and Python. A language
# whose compiler is not here is left out.
set -u
"$ROOM" self || exit 77
fail() { echo "FAIL: $*"; cat out err 2>/dev/null; [ ! -e map ] || rm -f "$(cat map)"; exit 1; }
export LC_ALL=C HOME="${HOME:-$PWD}" PYTHONDONTWRITEBYTECODE=1
record() { "$RECKON" record -q -e cpu-clock:u -F 999 "$@" >maps 2>err || fail "record $*"; }

cat >prog.cc <<'CC'
#include <vector>
namespace shop {
struct Basket {
    std::vector<unsigned> prices = std::vector<unsigned>(4096, 3);
    __attribute__((noinline)) unsigned old_total(unsigned seed) const
    {
        for (unsigned price : prices)
            seed = seed * 31 + price;
        return seed;
    }
};
}
int main()
{
    shop::Basket basket;
    volatile unsigned sum = 1;
    for (int i = 0; i < 60000; i++)
        sum = basket.old_total(sum);
}
CC
cat >prog.rs <<'RS'
mod shop {
    #[inline(never)]
    pub fn old_total(prices: &[u32], mut seed: u32) -> u32 {
        for price in prices {
            seed = seed.wrapping_mul(31).wrapping_add(*price);
        }
        seed
    }
}
fn main() {
    let prices = vec![3u32; 4096];
    let mut sum = 1;
    for _ in 0..60000 {
        sum = unsafe { std::ptr::read_volatile(&shop::old_total(&prices, sum)) }; // black_box is Rust 1.66's
    }
}
RS
cat >prog.go <<'GO'
package main

//go:noinline
func old_total(prices []uint32, seed uint32) uint32 {
	for _, price := range prices {
		seed = seed*31 + price
	}
	return seed
}

func main() {
	prices := make([]uint32, 4096)
	sum := uint32(1)
	for i := 0; i < 60000; i++ {
		sum = old_total(prices, sum)
	}
	println(sum)
}
GO
cat >prog.py <<'PY'
import os

def old_total(prices, seed):
    for price in prices:
        seed = (seed * 31 + price) & 0xffffffff
    return seed

if __name__ == "__main__":
    with open("map", "w") as f:
        f.write(f"/tmp/perf-{os.getpid()}.map")
    prices = list(range(4096))
    total = 1
    for _ in range(600):
        total = old_total(prices, total)
PY

build_cc() { ${CXX:-c++} -std=c++17 -O2 -g -o prog prog.cc; }
build_rs() { rustc -C opt-level=2 -g -o prog prog.rs; }
build_go() { GO111MODULE=off GOCACHE="$PWD/go-cache" GOFLAGS=-buildvcs=false go build -o prog prog.go; }
build_py() { :; }
run_cc() { echo ./prog; }
run_rs() { echo ./prog; }
run_go() { echo ./prog; }
run_py() { echo "$python -X perf prog.py"; }

# A Python that names its functions in /tmp/perf-PID.map; the one that is asked takes its own away.
cat >perf.py <<'PY'
import os, sys
if not sys.is_stack_trampoline_active():
    sys.exit(1)
os.unlink(f"/tmp/perf-{os.getpid()}.map")
PY
python=
for at in python3 python3.14 python3.13 python3.12 /usr/local/bin/python3 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    [ -z "$python" ] && "$at" -X perf perf.py 2>/dev/null && python=$at
done

story() { # LANGUAGE
    language=$1 chains=
    [ $language = py ] && chains="--call-graph dwarf"
    "build_$language" >out 2>&1 || fail "$language: the first build"
    # shellcheck disable=SC2046,SC2086 # words
    record $chains -o old.data $("run_$language")
    [ -e map ] && rm -f "$(cat map)" map
    sed -i 's/old_total/new_sum/g; s/60000/40000/; s/range(600)/range(400)/' "prog.$language"
    "build_$language" >out 2>&1 || fail "$language: the second build"
    # shellcheck disable=SC2046,SC2086
    record $chains -o new.data $("run_$language")
    [ -e map ] && rm -f "$(cat map)" map
    rm -f prog
    "$RECKON" diff --no-inline --lines 0 --percent-limit 0 old.data new.data >out 2>err || fail "$language: diff"
    if [ $language = py ]; then # a function of Python is no row of its own: the interpreter has the samples
        "$RECKON" report --sort total old.data >out 2>err && grep -q 'py::old_total' out || fail "py: report of the old one"
        "$RECKON" report --sort total new.data >out 2>err && grep -q 'py::new_sum' out || fail "py: report of the new one"
    else
        grep -qE '^ .* -[0-9.]+ .*old_total' out || fail "$language: what is gone has no name"
        grep -qE '^ .* \+[0-9.]+ .*new_sum' out || fail "$language: what is new has no name"
        ! grep -E '\[unknown\].*prog' out || fail "$language: not all is named"
        "$RECKON" report --no-inline --by line old.data >out 2>err && grep -qE "old_total.*[a-z_]\.$language:[0-9]" out || fail "$language: lines"
    fi
    told="$told $language"
}

told=
${CXX:-c++} --version >out 2>&1 && story cc
rustc --version >out 2>&1 && story rs
go version >out 2>&1 && story go
[ "$python" ] && story py
rm -rf go-cache
[ "$told" ] || { echo "no compiler for any of the four languages"; exit 77; }
echo "told:$told"
