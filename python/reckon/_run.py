"""Running a program and counting what it does, over time."""
from __future__ import annotations

import array
import csv
import io
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from . import _native
from ._count import DEFAULT_EVENTS, Counts, Metric, Note, Number
from ._error import NotCounted
from ._machine import host
from ._table import html_table, pandas_module, text_table

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

PIPE, DEVNULL, STDOUT = subprocess.PIPE, subprocess.DEVNULL, subprocess.STDOUT
StdIO = int | IO[Any] | None
Groups = Sequence[Sequence[str]]


class Row(NamedTuple):
    """A time point: seconds since the program began, and each event's total until then."""

    time: float
    values: tuple[Number | None, ...]


def group_text(groups: Groups) -> str:
    """[["a", "b"], ["c"]] → "{a,b},c": what is in a group is counted at the same times."""
    if isinstance(groups, str) or not isinstance(groups, Sequence):
        raise TypeError("groups are a list of lists of events: [['cycles', 'instructions'], ['page-faults']]")
    parts = []
    for group in groups:
        if isinstance(group, str) or not isinstance(group, Sequence) or not all(isinstance(name, str) for name in group):
            raise TypeError("a group is a list of events: ['cycles', 'instructions']")
        names = [name.strip() for name in group]
        if not names or not all(names):
            raise ValueError("a group without an event")
        parts.append(names[0] if len(names) == 1 else "{" + ",".join(names) + "}")
    if not parts:
        raise ValueError("no event was named")
    return ",".join(parts)


class TimeSeries(Sequence[Row]):
    """What a program did: a row for each time point, the last exactly when it had ended.

    `len()` is the number of time points. Values are totals since the beginning, estimates where an event shared its
    counter (they never go backwards); `raw`, `enabled` and `running` are as the kernel has them, in ns. What was not
    counted is None; `reasons` says why.
    """

    def __init__(self, names: Sequence[str], units: Sequence[str], scales: Sequence[float]) -> None:
        #: the events' names as they were opened; one that was asked for twice is "name#2" the second time
        self.events: tuple[str, ...] = tuple(
            name if (before := list(names[:i]).count(name)) == 0 else f"{name}#{before + 1}" for i, name in enumerate(names)
        )
        self.units, self.scales = tuple(units), tuple(scales)
        self._time = array.array("Q")
        self._kernel = array.array("Q")  # value, enabled, running of each event, row by row
        self._total = array.array("d")
        self._bound = array.array("d")
        self._estimate = _native.Estimate(len(self.events))
        self.args: tuple[str, ...] = ()
        self.returncode: int | None = None  #: as subprocess has it: -N for signal N
        self.stdout: bytes | str | None = None
        self.stderr: bytes | str | None = None
        self.wall = self.user = self.system = 0.0  #: seconds
        self.peak_rss = 0  #: bytes
        self.interrupted = False  #: Ctrl-C ended it
        self.timed_out = False
        self.missed = 0  #: time points that could not be read in time and were left out
        self.notes: list[Note] = []
        self.reasons: dict[str, NotCounted] = {}
        self.metrics: dict[str, Metric] = {}

    # --- making ---

    def _add(self, when: int, reading: Counts) -> None:
        self._time.append(when)
        self._kernel.frombytes(bytes(reading))
        for total, bound in self._estimate.add(reading):
            self._total.append(total)
            self._bound.append(bound)

    # --- reading ---

    def __len__(self) -> int:
        return len(self._time)

    def _row(self, i: int) -> Row:
        n = len(self.events)
        return Row(self._time[i] / 1e9, tuple(self._value(i * n + k, k) for k in range(n)))

    def _value(self, at: int, event: int) -> Number | None:
        value, enabled, running = self._kernel[3 * at : 3 * at + 3]
        if running == 0:
            return None
        scale = self.scales[event]
        if running >= enabled:
            return value if scale == 1.0 else value * scale
        return self._total[at] * scale

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            return self.column(index)
        if isinstance(index, slice):
            return [self._row(i) for i in range(len(self))[index]]
        return self._row(range(len(self))[index])

    def __iter__(self) -> Iterator[Row]:
        return (self._row(i) for i in range(len(self)))

    def _event(self, event: str | int) -> int:
        if isinstance(event, int):
            return range(len(self.events))[event]
        if event in self.events:
            return self.events.index(event)
        close = [i for i, name in enumerate(self.events) if name.split(":")[0] == event]
        if len(close) == 1:
            return close[0]
        raise KeyError(f"{event!r} was not asked for; there are: {', '.join(self.events)}")

    @property
    def time(self) -> list[float]:
        """Seconds since the program began."""
        return [t / 1e9 for t in self._time]

    def column(self, event: str | int) -> list[Number | None]:
        """The totals of one event."""
        k, n = self._event(event), len(self.events)
        return [self._value(i * n + k, k) for i in range(len(self))]

    def _kernel_column(self, event: str | int, part: int) -> list[int]:
        return list(self._kernel[3 * self._event(event) + part :: 3 * len(self.events)])

    def raw(self, event: str | int) -> list[int]:
        """Counts as the kernel has them, not scaled."""
        return self._kernel_column(event, 0)

    def enabled(self, event: str | int) -> list[int]:
        """For how long it was wanted, ns."""
        return self._kernel_column(event, 1)

    def running(self, event: str | int) -> list[int]:
        """For how long it was counted, ns."""
        return self._kernel_column(event, 2)

    def bound(self, event: str | int) -> list[float]:
        """Half the width of the 95 % interval of each total."""
        k = self._event(event)
        return [b * self.scales[k] for b in self._bound[k :: len(self.events)]]

    def rates(self, event: str | int) -> list[float | None]:
        """How many a second, in the time up to each time point."""
        rates: list[float | None] = []
        last_time, last = 0, 0.0
        for when, total in zip(self._time, self.column(event), strict=True):
            if total is None or when <= last_time:
                rates.append(None)
            else:
                rates.append((total - last) / (when - last_time) * 1e9)
            last_time, last = when, last if total is None else float(total)
        return rates

    def shares(self, event: str | int) -> list[float]:
        """The share of time that it was counted, in the time up to each time point; below 1: multiplexed."""
        shares, last_enabled, last_running = [], 0, 0
        for enabled, running in zip(self.enabled(event), self.running(event), strict=True):
            wanted = enabled - last_enabled
            shares.append((running - last_running) / wanted if wanted else 1.0 if running else 0.0)
            last_enabled, last_running = enabled, running
        return shares

    @property
    def totals(self) -> dict[str, Number | None]:
        """Each event's count when the program had ended."""
        return dict(zip(self.events, self[-1].values, strict=True)) if len(self) else {}

    def total(self, event: str | int) -> Number:
        """One event's count when the program had ended; raises NotCounted with the reason."""
        k = self._event(event)
        value: Number | None = self[-1].values[k] if len(self) else None
        if value is None:
            raise self.reasons.get(self.events[k]) or NotCounted(61, f"{self.events[k]} was not counted")
        return value

    @property
    def ipc(self) -> float:
        """Instructions per cycle, of all of it."""
        return self.total("instructions") / self.total("cycles")

    def check_returncode(self) -> None:
        """Raises subprocess.CalledProcessError where the program failed."""
        if self.returncode:
            raise subprocess.CalledProcessError(self.returncode, list(self.args), self.stdout, self.stderr)

    # --- showing ---

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        rows = []
        for name, unit in zip(self.events, self.units, strict=True):
            value = self.totals.get(name)
            metric = self.metrics.get(name)
            if value is None:
                why = self.reasons.get(name)
                rows.append([name, "not counted", "", str(why).split("\n", maxsplit=1)[0] if why else ""])
            else:
                shown = f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
                rows.append([name, shown, unit, f"{metric.value:,.3g} {metric.unit}" if metric else ""])
        return ["event", "count", "unit", ""], rows

    def _closing(self) -> str:
        ended = "interrupted" if self.interrupted else f"status {self.returncode}"
        return f"{' '.join(self.args)}: {len(self)} time points, {self.wall:.6f} s, {self.user:.3f} user, {self.system:.3f} sys, {ended}"

    def __str__(self) -> str:
        return text_table(*self._cells()) + "\n" + self._closing()

    def __repr__(self) -> str:
        return f"<TimeSeries of {len(self.events)} events, {len(self)} time points>"

    def _repr_html_(self) -> str:
        return html_table(*self._cells(), self._closing())

    def to_pandas(self, kernel: bool = False) -> pandas.DataFrame:
        """A row for each time point, a column for each event; with `kernel` also the raw value, enabled and running."""
        module = pandas_module()
        nan = float("nan")
        index = module.Index(self.time, name="time")

        def numbers(column: list[Number | None]) -> list[Number]:
            return [nan if x is None else x for x in column]

        if not kernel:
            return module.DataFrame({name: numbers(self.column(name)) for name in self.events}, index=index)
        columns: dict[tuple[str, str], Any] = {}
        for name in self.events:
            columns[name, "scaled"] = numbers(self.column(name))
            columns[name, "bound"] = self.bound(name)
            columns[name, "raw"] = self.raw(name)
            columns[name, "enabled"] = self.enabled(name)
            columns[name, "running"] = self.running(name)
        return module.DataFrame(columns, index=index)

    def to_csv(self, path: str | os.PathLike[str] | IO[str] | None = None) -> str | None:
        """Comma-separated values: time, then each event's total, and its raw value, enabled and running. Into a file,
        or, without one, as a string. What was not counted is an empty field."""
        if path is None:
            text = io.StringIO()
            self._write(text)
            return text.getvalue()
        if isinstance(path, (str, os.PathLike)):
            with open(path, "w", encoding="utf-8", newline="") as file:
                self._write(file)
        else:
            self._write(path)
        return None

    def _write(self, file: IO[str]) -> None:
        writer = csv.writer(file)
        parts = ("", ".raw", ".enabled_ns", ".running_ns")
        writer.writerow(["time_s", *(name + part for name in self.events for part in parts)])
        n = len(self.events)
        for i, row in enumerate(self):
            cells: list[Any] = [f"{row.time:.9f}"]
            for k, value in enumerate(row.values):
                cells += ["" if value is None else value, *self._kernel[3 * (i * n + k) : 3 * (i * n + k) + 3]]
            writer.writerow(cells)

    def plot(self, *events: str, totals: bool = False, ax: Axes | None = None) -> Axes:
        """Draws rates over time, or totals; parts where an event was counted less than all of the time are shaded."""
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError("matplotlib is not installed: pip install matplotlib") from error
        if ax is None:
            _, ax = plt.subplots()
        shown = events or self.events
        for name in shown:
            column = self.column(name) if totals else self.rates(name)
            name = self.events[self._event(name)]
            ys = [float("nan") if y is None else float(y) for y in column]
            xs = self.time
            if not totals and xs:  # a rate holds for all of its interval
                xs, ys = [0.0, *xs], [ys[0], *ys]
            (line,) = ax.plot(xs, ys, label=name, drawstyle="default" if totals else "steps-pre")
            self._shade(ax, name, line.get_color())
        ax.set_xlabel("seconds")
        ax.set_ylabel("total" if totals else "per second")
        ax.set_ylim(bottom=0)
        if len(shown) > 1:
            ax.legend()
        else:
            ax.set_title(shown[0])
        return ax

    def _shade(self, ax: Axes, name: str, colour: Any) -> None:
        begin = 0.0
        for end, share in zip(self.time, self.shares(name), strict=True):
            if share < 0.99:
                ax.axvspan(begin, end, color=colour, alpha=0.15 * (1 - share), linewidth=0)
            begin = end


class Repeats(list[TimeSeries]):
    """Several runs of one program, with statistics."""

    def values(self, event: str) -> list[float]:
        """One event's total of each run; "wall", "user", "system" and "peak_rss" are known too."""
        if event in ("wall", "user", "system", "peak_rss"):
            return [float(getattr(run, event)) for run in self]
        return [float(run.total(event)) for run in self]

    def summary(self, event: str) -> Summary:
        """Mean, 95 % interval, median … of one event over the runs."""
        return Summary(*_native.summary(self.values(event)))

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        rows = []
        for name in ("wall", *(self[0].events if self else ())):
            try:
                s = self.summary(name)
                rows.append([name, f"{s.mean:,.6g} ± {s.bound:,.3g}", f"{s.median:,.6g}", f"{s.min:,.6g} … {s.max:,.6g}", str(s.outliers)])
            except NotCounted as why:
                rows.append([name, "not counted", str(why).split("\n", maxsplit=1)[0], "", ""])
        return ["event", "mean ± 95 %", "median", "min … max", "outliers"], rows

    def __str__(self) -> str:
        return f"{len(self)} runs\n" + text_table(*self._cells())

    def _repr_html_(self) -> str:
        return html_table(*self._cells(), f"{len(self)} runs")

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each run."""
        names = ("wall", "user", "system", "peak_rss")
        rows: list[dict[str, Any]] = [{**{n: getattr(r, n) for n in names}, "returncode": r.returncode, **r.totals} for r in self]
        frame: pandas.DataFrame = pandas_module().DataFrame(rows)
        return frame


class Summary(NamedTuple):
    """What repeated measurements say (reckon/stats.h)."""

    n: int
    outliers: int
    mean: float
    sd: float
    bound: float  #: half the width of the mean's 95 % interval
    min: float
    q1: float
    median: float
    q3: float
    max: float


def summary(values: Sequence[float]) -> Summary:
    """Mean, interval, quartiles of numbers.

    >>> summary([1, 2, 3]).mean
    2.0
    """
    return Summary(*_native.summary(values))


class Difference(NamedTuple):
    """Two samples' means compared by Welch's test (reckon/stats.h)."""

    ratio: float
    low: float
    high: float
    p: float
    verdict: str


def compare(of: Sequence[float], reference: Sequence[float], noun: str = "") -> Difference:
    """Whether two samples differ, and by how much.

    >>> compare([10, 11, 10, 11, 10, 11], [20, 21, 20, 21, 20, 21], "faults").verdict[:4]
    '48.8'
    """
    return Difference(*_native.difference(of, reference, noun))


class _Streams:
    """stdin, stdout, stderr of a command, as subprocess.run has them."""

    def __init__(self, stdin: StdIO, stdout: StdIO, stderr: StdIO, data: bytes | None) -> None:
        self._close: list[int] = []
        self._ours: list[int] = []
        self._threads: list[threading.Thread] = []
        self._read: dict[str, bytearray] = {}
        self._pipes: list[tuple[str, int]] = []
        self._data = data
        self._writer = -1
        try:
            self.child = (self._input(stdin), self._output("stdout", stdout), -1)
            self.child = (*self.child[:2], self.child[1] if stderr == STDOUT else self._output("stderr", stderr))
            if stderr == STDOUT and self.child[2] < 0:
                self.child = (*self.child[:2], 1)
        except BaseException:
            self.close()
            raise

    def _fd(self, stream: StdIO) -> int:
        if stream is None:
            return -1
        if stream == DEVNULL:
            fd = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
            self._close.append(fd)
            return fd
        if isinstance(stream, int):
            if stream < 0:
                raise ValueError("no such descriptor")
            return stream
        if not hasattr(stream, "fileno"):
            raise TypeError("a stream is None, a file, a descriptor, PIPE or DEVNULL")
        return stream.fileno()

    def _input(self, stream: StdIO) -> int:
        if stream != PIPE:
            return self._fd(stream)
        read, self._writer = os.pipe2(os.O_CLOEXEC)
        self._close.append(read)
        self._ours.append(self._writer)
        return read

    def _output(self, name: str, stream: StdIO) -> int:
        if stream != PIPE:
            return self._fd(stream)
        read, write = os.pipe2(os.O_CLOEXEC)
        self._close.append(write)
        self._ours.append(read)
        self._pipes.append((name, read))
        return write

    def started(self) -> None:
        """The child has its ends; threads move what goes through ours."""
        for fd in self._close:
            os.close(fd)
        self._close = []
        for name, fd in self._pipes:
            self._read[name] = bytearray()
            self._threads.append(threading.Thread(target=self._drain, args=(name, fd), daemon=True))
        if self._writer >= 0:
            self._threads.append(threading.Thread(target=self._feed, daemon=True))
        for thread in self._threads:
            thread.start()

    def _drain(self, name: str, fd: int) -> None:
        while piece := os.read(fd, 1 << 16):
            self._read[name] += piece

    def _feed(self) -> None:
        view = memoryview(self._data or b"")
        try:
            while view:
                view = view[os.write(self._writer, view) :]
        except BrokenPipeError:
            pass
        os.close(self._writer)
        self._ours.remove(self._writer)

    def finish(self) -> dict[str, bytes]:
        """What was written, once all that hold the pipes have let them go."""
        for thread in self._threads:
            thread.join()
        self.close()
        return {name: bytes(data) for name, data in self._read.items()}

    def close(self) -> None:
        for fd in self._close + self._ours:
            os.close(fd)
        self._close, self._ours = [], []


def _end(target: _native.Target) -> None:
    """Ends a command whose user has pressed Ctrl-C: politely, then not."""
    for number, patience in ((signal.SIGINT, 1.0), (signal.SIGTERM, 1.0), (signal.SIGKILL, 60.0)):
        try:
            if target.exit() is not None:
                return
            os.kill(target.pid, number)
        except ProcessLookupError:
            pass
        if target.wait(time.monotonic_ns() + int(patience * 1e9)):
            return


def _watch(series: TimeSeries, counters: _native.Set, target: _native.Target, every: int | None, begun: int, limit: int | None) -> None:
    """Reads the counters at begun + n × every until the target ends or it is time."""
    number = 0
    while True:
        number += 1
        due = begun + number * every if every else 1 << 62
        deadline = min(due, limit) if limit else due
        if target.wait(deadline):
            return
        now = time.monotonic_ns()
        if limit and now >= limit:
            series.timed_out = True
            _end(target)
            return
        reading = counters.read()
        series._add(reading.time_ns - begun, reading)
        if every:
            late = (time.monotonic_ns() - begun) // every - number
            if late > 0:
                series.missed += late
                number += late


def _words(args: Sequence[str | os.PathLike[str]]) -> tuple[bytes, ...]:
    if isinstance(args, (str, bytes)):
        raise TypeError("a program is a list: ['sleep', '1']; no shell is involved")
    words = tuple(os.fsencode(word) for word in args)
    if not words or not words[0]:
        raise ValueError("no program to run")
    if any(b"\0" in word for word in words):
        raise ValueError("an argument with a null character")
    return words


def make_command(args: Sequence[str | os.PathLike[str]], env: Mapping[str, str] | None, cwd: str | os.PathLike[str] | None, fds: tuple[int, int, int]) -> _native.Target:
    """A command that waits before its exec."""
    variables = None if env is None else tuple(os.fsencode(f"{k}={v}") for k, v in env.items())
    return _native.Target.command(_words(args), variables, None if cwd is None else os.fspath(cwd), *fds)


def _once(text: str, keep: bool, every: float | None, timeout: float | None, streams: dict[str, Any], env: Mapping[str, str] | None, cwd: str | os.PathLike[str] | None, args: Sequence[str | os.PathLike[str]], inherit: bool) -> TimeSeries:
    pipes = _Streams(**streams)
    try:
        target = make_command(args, env, cwd, pipes.child)
        counters = _native.Set(host(), text, target, {"keep": int(keep), "no_inherit": int(not inherit)}, Counts)
        series = TimeSeries(counters.names, counters.units, counters.scales)
        series.args = tuple(os.fspath(word) for word in args)
        series.notes = [Note(*row) for row in counters.notes()]
        begun = time.monotonic_ns()
        target.start()
    except BaseException:
        pipes.close()
        raise
    pipes.started()
    try:
        _watch(series, counters, target, int(every * 1e9) if every else None, begun, begun + int(timeout * 1e9) if timeout else None)
    except KeyboardInterrupt:
        series.interrupted = True
        _end(target)
    ended = target.exit()
    final = counters.read()
    if ended:
        status, number, _, wall, user, system, series.peak_rss = ended
        series.returncode = -number if number else status
        series.wall, series.user, series.system = wall / 1e9, user / 1e9, system / 1e9
    series._add(max(final.time_ns - begun, series._time[-1] + 1 if len(series) else 0), final)
    series.reasons = {name: why for i, name in enumerate(series.events) if (why := final.reason(i))}
    wall_ns = int(series.wall * 1e9) or final.time_ns - begun
    series.metrics = {name: Metric(*row) for name, row in zip(series.events, counters.metrics(final, wall_ns), strict=True) if row}
    written = pipes.finish()
    series.stdout, series.stderr = written.get("stdout"), written.get("stderr")
    counters.close()
    target.close()
    return series


def run(
    args: Sequence[str | os.PathLike[str]],
    groups: Groups | None = None,
    *,
    events: str | Sequence[str] | None = None,
    every: float | None = None,
    repeat: int | None = None,
    stdin: StdIO = None,
    stdout: StdIO = None,
    stderr: StdIO = None,
    input: bytes | str | None = None,
    capture_output: bool = False,
    text: bool = False,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    timeout: float | None = None,
    check: bool = False,
    keep: bool | None = None,
    inherit: bool = True,
) -> Any:
    """Runs a program and counts what it and its children do from its first instruction on.

    `groups` are lists of events that are counted at the same times; or `events`, one text as everywhere. With `every`
    seconds there is a row for each such time point, without drift, and one when it has ended; without, that one alone.
    With `repeat` it runs so often: a list of them with statistics. All else is as in subprocess.run(). Ctrl-C ends the
    program, and what was read until then is returned. With `keep`, events that can't be opened are left out, and
    `notes` says why.

    >>> series = run(["true"], [["page-faults", "minor-faults"]])
    >>> len(series), series.returncode, series.totals["page-faults"] > 0
    (1, 0, True)
    """
    if groups is not None and events is not None:
        raise TypeError("groups or events, not both")
    if every is not None and not every > 0:
        raise ValueError("every is longer than 0 seconds")
    if repeat is not None and repeat < 1:
        raise ValueError("repeat is 1 or more")
    if capture_output:
        if stdout is not None or stderr is not None:
            raise ValueError("capture_output excludes stdout and stderr")
        stdout = stderr = PIPE
    if input is not None:
        if stdin is not None:
            raise ValueError("input excludes stdin")
        stdin = PIPE
    data = input.encode() if isinstance(input, str) else input
    what = group_text(groups) if groups is not None else events if isinstance(events, str) else ",".join(events) if events else DEFAULT_EVENTS
    if keep is None:
        keep = groups is None and events is None
    streams = {"stdin": stdin, "stdout": stdout, "stderr": stderr, "data": data}
    runs = Repeats()
    for _ in range(repeat or 1):
        series = _once(what, keep, every, timeout, streams, env, cwd, args, inherit)
        if text:
            series.stdout = series.stdout.decode() if isinstance(series.stdout, bytes) else series.stdout
            series.stderr = series.stderr.decode() if isinstance(series.stderr, bytes) else series.stderr
        if series.timed_out and timeout is not None:
            error = subprocess.TimeoutExpired(list(series.args), timeout, series.stdout, series.stderr)
            error.series = series  # type: ignore[attr-defined]
            raise error
        if check:
            series.check_returncode()
        runs.append(series)
        if series.interrupted:
            break
    return runs if repeat is not None else runs[0]
