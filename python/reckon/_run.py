"""Running a program and counting what it does, over time."""
from __future__ import annotations

import array
import csv
import io
import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from . import _native
from ._check import seconds, whole
from ._count import DEFAULT_EVENTS, Counts, Metric, Note, Number, event_text, per
from ._error import Error, NotCounted
from ._machine import host
from ._table import html_table, pandas_module, pretty, printable, text_table

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
        return per(self.total("instructions"), self.total("cycles"))

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
        command = printable(shlex.join(self.args))
        command = command if len(command) <= 72 else command[:71] + "…"
        return f"{command}: {len(self)} time points, {self.wall:.6f} s, {self.user:.3f} user, {self.system:.3f} sys, {ended}"

    def __str__(self) -> str:
        return text_table(*self._cells()) + "\n" + self._closing()

    def __repr__(self) -> str:
        return f"<TimeSeries of {len(self.events)} events, {len(self)} time points>"

    _repr_pretty_ = pretty

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
            (line,) = ax.plot(xs, ys, label=name.replace("$", r"\$"), drawstyle="default" if totals else "steps-pre")
            self._shade(ax, name, line.get_color())
        ax.set_xlabel("seconds")
        ax.set_ylabel("total" if totals else "per second")
        ax.set_ylim(bottom=0)
        if len(shown) > 1:
            ax.legend()
        else:
            ax.set_title(shown[0].replace("$", r"\$"))
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

    _repr_pretty_ = pretty

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
        if isinstance(stream, bool):
            raise TypeError("a stream is None, a file, a descriptor, PIPE or DEVNULL")
        if stream == DEVNULL:
            fd = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
            self._close.append(fd)
            return fd
        if isinstance(stream, int):
            return whole("a descriptor", stream, 0)
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
        """The child has its ends; threads move what goes through ours, each with a descriptor of its own."""
        for fd in self._close:
            os.close(fd)
        self._close = []
        for name, fd in self._pipes:
            self._move(_drain, fd, self._read.setdefault(name, bytearray()))
        if self._writer >= 0:
            self._move(_feed, self._writer, self._data or b"")

    def _move(self, work: Callable[[int, Any], None], fd: int, data: bytes | bytearray) -> None:
        thread = threading.Thread(target=work, args=(fd, data), daemon=True)
        thread.start()
        self._ours.remove(fd)
        self._threads.append(thread)

    def finish(self, until: int | None = None) -> bool:
        """Waits until all that hold the pipes have let them go, or until then (ns); whether they have."""
        for thread in self._threads:
            thread.join(None if until is None else max(0.0, (until - time.monotonic_ns()) / 1e9))
        return not any(thread.is_alive() for thread in self._threads)

    def taken(self, name: str) -> bytes | None:
        """What was written so far; None: it went elsewhere."""
        return bytes(self._read[name]) if name in self._read else None

    def close(self) -> None:
        for fd in self._close + self._ours:
            os.close(fd)
        self._close, self._ours = [], []

    def __del__(self) -> None:
        self.close()


def _drain(fd: int, to: bytearray) -> None:
    with open(fd, "rb", buffering=0) as pipe:
        while piece := pipe.read(1 << 16):
            to += piece


def _feed(fd: int, data: bytes) -> None:
    view = memoryview(data)
    with open(fd, "wb", buffering=0) as pipe:
        try:
            while view:
                view = view[pipe.write(view) or 0 :]
        except BrokenPipeError:
            pass


_POLITELY = ((signal.SIGINT, 1.0), (signal.SIGTERM, 1.0), (signal.SIGKILL, 60.0))
_AT_ONCE = ((signal.SIGKILL, 60.0),)


def ended(target: _native.Target) -> tuple[int, int, int, int, int, int, int] | None:
    """How a command ended; None: not yet, or another wait has taken its end (a program that ignores SIGCHLD)."""
    try:
        return target.exit()
    except Error as error:
        if error.errno != 10:  # ECHILD
            raise
        return None


def end(target: _native.Target, steps: tuple[tuple[int, float], ...] = _POLITELY) -> None:
    """Ends a command: politely, then not."""
    for number, patience in steps:
        if target.wait(0):
            return
        try:
            os.kill(target.pid, number)
        except ProcessLookupError:
            pass
        if target.wait(time.monotonic_ns() + int(patience * 1e9)):
            return


def _watch(series: TimeSeries, counters: _native.Set, target: _native.Target, every: int | None, begun: int, limit: int | None) -> int:
    """Reads the counters at begun + n × every until the target ends or it is time; when that was."""
    number = 0
    while True:
        number += 1
        due = begun + number * every if every else 1 << 62
        deadline = due if limit is None else min(due, limit)
        over = target.wait(deadline)
        now = time.monotonic_ns()
        if over:
            return now
        if limit is not None and now >= limit:
            series.timed_out = True
            end(target)
            return time.monotonic_ns()
        reading = counters.read()
        series._add(reading.time_ns - begun, reading)
        if every:
            late = (time.monotonic_ns() - begun) // every - number
            if late > 0:
                series.missed += late
                number += late


def words(args: Sequence[str | os.PathLike[str]]) -> tuple[bytes, ...]:
    if isinstance(args, (str, bytes, Mapping)) or not isinstance(args, Iterable):
        raise TypeError("a program is a list: ['sleep', '1']; no shell is involved")
    words = tuple(os.fsencode(word) for word in args)
    if not words or not words[0]:
        raise ValueError("no program to run")
    if any(b"\0" in word for word in words):
        raise ValueError("an argument with a null character")
    return words


def make_command(args: Sequence[str | os.PathLike[str]], env: Mapping[str, str] | None, cwd: str | os.PathLike[str] | None, fds: tuple[int, int, int]) -> _native.Target:
    """A command that waits before its exec."""
    if env is not None and not isinstance(env, Mapping):
        raise TypeError(f"env is a mapping of names to values, not {env!r}")
    variables = None
    if env is not None:
        if any("=" in os.fsdecode(name) for name in env):
            raise ValueError("a name in env with a '='")
        variables = tuple(os.fsencode(name) + b"=" + os.fsencode(value) for name, value in env.items())
    return _native.Target.command(words(args), variables, None if cwd is None else os.fsencode(cwd), *fds)


def _once(text: str, keep: bool, every: int | None, timeout: int | None, streams: dict[str, Any], env: Mapping[str, str] | None, cwd: str | os.PathLike[str] | None, args: Sequence[str | os.PathLike[str]], inherit: bool) -> TimeSeries:
    pipes = _Streams(**streams)
    target, started = None, False
    try:
        target = make_command(args, env, cwd, pipes.child)
        counters = _native.Set(host(), text, target, {"keep": int(keep), "no_inherit": int(not inherit)}, Counts)
        series = TimeSeries(counters.names, counters.units, counters.scales)
        series.args = tuple(os.fsdecode(word) for word in args)
        series.notes = [Note(*row) for row in counters.notes()]
        begun = time.monotonic_ns()
        limit = None if timeout is None else begun + timeout
        try:
            target.start()
            started = True
            pipes.started()
            finished = _watch(series, counters, target, every, begun, limit)
        except KeyboardInterrupt:
            if not started:
                raise
            series.interrupted = True
            end(target)
            finished = time.monotonic_ns()
        _conclude(series, counters, target, begun, finished)
        try:
            soon = time.monotonic_ns() + _LATE
            if not pipes.finish(soon if series.interrupted else None if limit is None else max(limit, soon)):
                series.timed_out = not series.interrupted  # it has ended; another still holds its pipes
        except KeyboardInterrupt:
            series.interrupted = True
    except BaseException:
        if started and target is not None:
            end(target, _AT_ONCE)
        raise
    finally:
        pipes.close()
    series.stdout, series.stderr = pipes.taken("stdout"), pipes.taken("stderr")
    counters.close()
    target.close()
    return series


_LATE = 1_000_000_000  #: ns that what a program wrote has to arrive when its time is over


def _conclude(series: TimeSeries, counters: _native.Set, target: _native.Target, begun: int, finished: int) -> None:
    """The last row, and how it ended."""
    final = counters.read()
    if how := ended(target):
        status, number, _, wall, user, system, series.peak_rss = how
        series.returncode = -number if number else status
        series.wall, series.user, series.system = wall / 1e9, user / 1e9, system / 1e9
    else:
        series.wall = (finished - begun) / 1e9
    series._add(max(finished - begun, series._time[-1] + 1 if len(series) else 0), final)
    series.reasons = {name: why for i, name in enumerate(series.events) if (why := final.reason(i))}
    row = counters.metrics(final, int(series.wall * 1e9) or finished - begun)
    series.metrics = {name: Metric(*metric) for name, metric in zip(series.events, row, strict=True) if metric}


def _decoded(data: bytes | str | None) -> bytes | str | None:
    """As subprocess does with text=True: the locale's encoding, and any end of a line is a newline."""
    return io.TextIOWrapper(io.BytesIO(data)).read() if isinstance(data, bytes) else data


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
    times = 1 if repeat is None else whole("repeat", repeat, 1)
    every_ns = None if every is None else seconds("every", every)
    timeout_ns = None if timeout is None else seconds("timeout", timeout, zero=True)
    if capture_output:
        if stdout is not None or stderr is not None:
            raise ValueError("capture_output excludes stdout and stderr")
        stdout = stderr = PIPE
    if input is not None:
        if stdin is not None:
            raise ValueError("input excludes stdin")
        stdin = PIPE
    data = input.encode() if isinstance(input, str) else input
    if data is not None and not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"input is bytes or a string, not {data!r}")
    args = args if isinstance(args, (str, bytes)) or not isinstance(args, Iterable) else tuple(args)
    what = group_text(groups) if groups is not None else event_text(DEFAULT_EVENTS if events is None else events)
    if keep is None:
        keep = groups is None and events is None
    streams = {"stdin": stdin, "stdout": stdout, "stderr": stderr, "data": data}
    runs = Repeats()
    for _ in range(times):
        series = _once(what, bool(keep), every_ns, timeout_ns, streams, env, cwd, args, inherit)
        if text:
            series.stdout, series.stderr = _decoded(series.stdout), _decoded(series.stderr)
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
