"""What a program did over time, and what several runs of it did."""
from __future__ import annotations

import array
import csv
import io
import os
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from . import _native
from ._counts import Counts, Metric, Note, Number, per
from ._error import NotCounted
from ._state import State, error_of, error_state, kind, reduced
from ._stats import Summary, summary
from ._table import html_table, pandas_module, pretty, printable, text_table

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


class Row(NamedTuple):
    """A time point: seconds since the program began, and each event's total until then."""

    time: float
    values: tuple[Number | None, ...]


class TimeSeries(Sequence[Row]):
    """What a program did: a row for each time point, the last exactly when it had ended.

    `len()` is the number of time points. Values are totals since the beginning, estimates where an event shared its
    counter (they never go backwards); `raw`, `enabled` and `running` are as the kernel has them, in ns. What was not
    counted is None; `reasons` says why. Time series are equal where all that is known of them is, and may be pickled.
    """

    def __init__(self, names: Sequence[str], units: Sequence[str], scales: Sequence[float], machine: int = 0) -> None:
        #: the events' names as they were opened; one that was asked for twice is "name#2" the second time
        self.events: tuple[str, ...] = tuple(
            name if (before := list(names[:i]).count(name)) == 0 else f"{name}#{before + 1}" for i, name in enumerate(names)
        )
        self.units, self.scales = tuple(units), tuple(scales)
        self._time = array.array("Q")
        self._kernel = array.array("Q")  # value, enabled, running of each event, row by row
        self._known = bytearray()  # … and whether it was counted, or is 0 since the program did not run
        self._total = array.array("d")
        self._bound = array.array("d")
        #: the last of `events`: those that were counted of the whole machine
        self.machine_events: tuple[str, ...] = self.events[len(self.events) - machine :]
        self._estimates = [_native.Estimate(n) for n in (len(self.events) - machine, machine) if n]
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

    def _add(self, when: int, readings: Sequence[Counts]) -> None:
        self._time.append(when)
        for reading, estimate in zip(readings, self._estimates, strict=True):
            self._kernel.frombytes(bytes(reading))
            self._known.extend(state in ("counted", "idle") for state in reading.states)
            for total, bound in estimate.add(reading):
                self._total.append(total)
                self._bound.append(bound)

    # --- storing ---

    def _state(self) -> State:
        """All of it, as plain things."""
        state = {name: value for name, value in vars(self).items() if name != "_estimates"}
        state["notes"] = [tuple(note) for note in self.notes]
        state["metrics"] = {name: tuple(metric) for name, metric in self.metrics.items()}
        state["reasons"] = {name: error_state(why) for name, why in self.reasons.items()}
        return state

    def __reduce__(self) -> tuple[Any, ...]:
        return reduced("TimeSeries", self._state())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TimeSeries):
            return NotImplemented
        # By bytes: what was not counted is NaN, which equals nothing.
        mine, its = ({name: bytes(x) if isinstance(x, array.array) else x for name, x in s._state().items()} for s in (self, other))
        return mine == its

    # --- reading ---

    def __len__(self) -> int:
        return len(self._time)

    def _row(self, i: int) -> Row:
        n = len(self.events)
        return Row(self._time[i] / 1e9, tuple(self._value(i * n + k, k) for k in range(n)))

    def _value(self, at: int, event: int) -> Number | None:
        value, enabled, running = self._kernel[3 * at : 3 * at + 3]
        if not self._known[at]:
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


def _restore(version: int, state: State) -> TimeSeries:
    series = TimeSeries.__new__(TimeSeries)
    vars(series).update({name: value for name, value in state.items() if name != "reckon"}, _estimates=[])
    series.notes = [Note(*note) for note in state["notes"]]
    series.metrics = {name: Metric(*metric) for name, metric in state["metrics"].items()}
    series.reasons = {name: error_of(NotCounted, why) for name, why in state["reasons"].items()}  # type: ignore[misc]
    n = len(series._time) * len(series.events)
    if not n * 3 == 3 * len(series._known) == len(series._kernel) == 3 * len(series._total) == 3 * len(series._bound):
        raise ValueError("its columns are not of one length")
    return series


kind("TimeSeries", 1, _restore)


class Repeats(list[TimeSeries]):
    """Several runs of one program, with statistics."""

    def values(self, event: str) -> list[float]:
        """One event's total of each run; "wall", "user", "system" and "peak_rss" are known too."""
        if event in ("wall", "user", "system", "peak_rss"):
            return [float(getattr(run, event)) for run in self]
        return [float(run.total(event)) for run in self]

    def summary(self, event: str) -> Summary:
        """Mean, 95 % interval, median … of one event over the runs."""
        return summary(self.values(event))

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
