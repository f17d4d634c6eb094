"""What the scripts of bench/ share: options, peers, one table, and the same rows as JSON for bench/summary.

    bench = Bench(__doc__, rounds=(15, "runs of each command"))     -b BUILD, --help; an option by keyword: --rounds N
    reckon = bench.built("reckon")                                  a file of BUILD; without it: one line, status 77
    perf = bench.perf()                                             the column's name, or None and a line below the table
    bench.row("record", {"reckon": 0.0048, perf: 1.15}, of=perf, most=0.1)
    bench.done()

Values are in seconds, bytes, events a second or plain numbers (`unit`). Below `most`, or above `least`, a row is "ok";
otherwise it is "ABOVE" or "BELOW". With `of` the ratio to that column is compared, without it the value itself.
"""
import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SETUP = "tools/setup --bench"
CACHE = os.environ.get("RECKON_BENCH_CACHE") or os.path.join(  # where bench/lines --fetch leaves its files
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "reckon", "bench")
SCALES = {
    "s": ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "B": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B")),
    "/s": ((1e9, "G/s"), (1e6, "M/s"), (1e3, "k/s"), (1, "/s")),
    "%": ((0.01, "%"),),
}


def digits(value):
    """Three digits that count; whole numbers in full."""
    if math.isinf(value):
        return "∞"
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    places = 2 if abs(value) < 1e-9 else max(0, 2 - int(f"{abs(value):e}".split("e")[1]))
    return f"{value:.{places}f}"


def quantity(value, unit):
    """4800000 and "B" → "4.80 MB"."""
    if isinstance(value, str):
        return value
    for scale, name in SCALES.get(unit, ()):
        if abs(value) >= scale or (scale, name) == SCALES[unit][-1]:
            return f"{digits(value / scale)} {name}" if value else f"0 {name}"
    return f"{digits(value)} {unit}".rstrip()


def aligned(rows):
    """Rows, the first of which is the header, as lines: text to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    left = [name in ("", "bench", "goal", "beside") for name in rows[0]]
    for row in rows:
        yield "  ".join(c.ljust(w) if l else c.rjust(w) for c, w, l in zip(row, widths, left)).rstrip()


def results(build, name):
    return os.path.join(build, "bench", "results", name + ".json")


class Bench:
    def __init__(self, doc, **options):
        sys.stdout.reconfigure(errors="replace")  # ≤ where the locale has none
        self.name = os.path.basename(sys.argv[0])
        self.title = doc.strip().splitlines()[0].rstrip(".")
        self.columns, self.rows, self.notes, self.absent = [], [], [], []
        parser = argparse.ArgumentParser(prog=f"bench/{self.name}", description=doc.strip(),
                                         formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("-b", metavar="BUILD", default=os.environ.get("BUILD") or os.path.join(HERE, "..", "build"),
                            help="the build directory (default: $BUILD, else build/ beside bench/)")
        for word, (default, text) in options.items():
            if default is list:
                parser.add_argument(word, nargs="*", help=text)
            elif isinstance(default, bool):
                parser.add_argument("--" + word, action="store_true", help=text)
            else:
                parser.add_argument("--" + word, type=type(default), default=default,
                                    metavar=word.upper() if isinstance(default, str) else "N",
                                    help=f"{text} (default: {default})" if default else text)
        self.options = parser.parse_args()
        self.build = os.path.realpath(self.options.b)
        self.chosen = " ".join(f"--{word}={value}" for word, value in vars(self.options).items()
                               if word != "b" and value not in ([], parser.get_default(word)))

    # What is there

    def skip(self, reason):
        """Nothing can be measured: one line, status 77."""
        print(f"bench/{self.name}: {reason}")
        self.save(skipped=reason)
        sys.exit(77)

    def built(self, path, fix="make"):
        """A file of the build directory. Rows of an earlier run go: if this one fails, there are none."""
        if os.path.exists(results(self.build, self.name)):
            os.remove(results(self.build, self.name))
        path = os.path.join(self.build, path)
        if not os.path.exists(path):
            self.skip(f"{path} is missing: {fix}, or name another build directory by -b")
        return path

    def need(self, *programs):
        """Programs without which there is nothing to measure."""
        lacking = [p for p in programs if not shutil.which(p)]
        if lacking:
            self.skip(f"{', '.join(lacking)} not found in PATH: {SETUP}")

    def trial(self, *words):
        """A command of ours that has to work: where it fails, its first line is the reason."""
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode:
            self.skip(f"`{' '.join(words)}` fails: {(done.stderr.strip().splitlines() or [f'status {done.returncode}'])[0]}")

    def missing(self, what, fix=SETUP):
        """A peer or an input that is missing: a line below the table."""
        line = f"{what}: {fix}" if fix else what
        if line not in self.absent:
            self.absent.append(line)

    def perf(self, path="perf", trial=("--version",)):
        """The column's name, "perf 6.1"; None where it is missing or the trial fails."""
        if not shutil.which(path):
            self.missing(f"{path} is not installed")
            return None
        done = subprocess.run([path, *trial], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        said = subprocess.run([path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        version = re.search(r"\d+\.\d+", said.stdout)
        if done.returncode or not version:
            self.missing(f"`{' '.join([path, *trial])}` fails here")
            return None
        return f"perf {version.group()}"

    def newest_perf(self):
        """A second perf's path and column, if $NEWEST_PERF names one."""
        path = os.environ.get("NEWEST_PERF")
        return (path, self.perf(path)) if path else (None, None)

    def cargo(self, what, words):
        """Runs cargo; True: done."""
        if not shutil.which("cargo"):
            self.missing(f"{what}: cargo is not installed")
            return False
        self.progress(f"cargo {words[0]} {what}")
        words = ["cargo", *words, "--quiet", "--target-dir", os.path.join(self.build, "bench", "peers", "target")]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode:
            said = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
            error = next((line for line in said if line.startswith("error")), said[-1])
            self.missing(f"{what}: cargo fails: {error}", fix=None)
        return done.returncode == 0

    def peer(self, what):
        """Builds bench/peers/NAME, this script's Rust program: its directory, or None. `what` is the crate."""
        folder = os.path.join(self.build, "bench", "peers")
        copy = os.path.join(folder, self.name)  # cargo writes Cargo.lock beside Cargo.toml
        shutil.copytree(os.path.join(HERE, "peers", self.name), copy, dirs_exist_ok=True)
        made = self.cargo(what, ["build", "--release", "--manifest-path", os.path.join(copy, "Cargo.toml")])
        return os.path.join(folder, "target", "release") if made else None

    def cargo_install(self, crate, version, features):
        """The program of a crate, or None."""
        root = os.path.join(self.build, "bench", "peers", "installed")
        program = os.path.join(root, "bin", crate)
        words = ["install", crate, "--version", version, "--features", features, "--root", root]
        return program if os.path.exists(program) or self.cargo(crate, words) else None

    def lines(self, words):
        """What a program of ours prints: its lines, cut at tabs. Its failure is the script's."""
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode == 77:
            self.skip(done.stdout.strip())
        if done.returncode:
            sys.exit(f"bench/{self.name}: {words[0]} fails, status {done.returncode}: {done.stdout.strip()}")
        return [line.split("\t") for line in done.stdout.splitlines()]

    # What was measured

    def progress(self, text):
        if sys.stderr.isatty():
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    def note(self, text):
        self.notes.append(text)

    def row(self, what, cells, unit="s", of=None, ratio=None, most=None, least=None):
        """`cells`: column → value, or (value, its text); ours first. None as a column or value: that peer is missing.

        `of`: the goal is for the ratio of our value to this column's; `ratio` is that ratio if it is not their quotient."""
        cells = {c: v if isinstance(v, tuple) else (v, quantity(v, unit)) for c, v in cells.items() if c and v is not None}
        self.columns += [c for c in cells if c not in self.columns]
        ours, theirs = next(iter(cells.values()), (None,))[0], cells.get(of, (None,))[0]
        if of and ratio is None and None not in (ours, theirs):
            ratio = 0.0 if ours == 0 else ours / theirs if theirs else math.inf
        bar, measured = most if least is None else least, ratio if of else ours
        goal = verdict = ""
        if bar is not None:
            goal = f"{'≤' if least is None else '≥'} {f'{bar:g} × {of}' if of else quantity(bar, unit)}"
            if measured is None:
                verdict = "unknown"
            elif least is None:
                verdict = "ok" if measured <= bar else "ABOVE"
            else:
                verdict = "ok" if measured >= bar else "BELOW"
        self.rows.append({"what": what, "cells": {c: text for c, (_, text) in cells.items()},
                          "ratio": "" if ratio is None else digits(ratio), "goal": goal, "verdict": verdict})

    def save(self, skipped=None):
        """For bench/summary. A build directory that is not ours stays as it is."""
        path = results(self.build, self.name)
        try:
            if os.path.isdir(os.path.join(self.build, "bench")):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as f:
                    json.dump({"options": self.chosen, "skipped": skipped, "missing": self.absent, "rows": self.rows}, f,
                              indent=1)
        except OSError as e:
            print(f"bench/{self.name}: the rows are not kept: {e}", file=sys.stderr)

    def done(self):
        """Prints the table, and keeps the rows."""
        self.progress("")
        if not self.rows:
            self.skip("; ".join(self.absent) or "nothing was measured")
        print(f"bench/{self.name}: {self.title}")
        table = [["", *self.columns, "ratio", "goal", ""]]
        for r in self.rows:
            table.append([r["what"], *(r["cells"].get(c, "-") for c in self.columns), r["ratio"], r["goal"], r["verdict"]])
        empty = [i for i in range(len(table[0])) if i and not any(row[i] for row in table[1:])]
        for line in aligned([[c for i, c in enumerate(row) if i not in empty] for row in table]):
            print("  " + line)
        for note in self.notes:
            print("  " + note)
        for line in self.absent:
            print("missing: " + line)
        load, cpus = os.getloadavg()[0], os.cpu_count() or 1
        if load > cpus + 0.5:
            print(f"note: other programs run too (load {load:.1f} on {cpus} CPUs): run it again on a quiet machine")
        self.save()
