"""Running a program and counting what it does, over time."""
from __future__ import annotations

import io
import os
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload

from . import _native
from ._check import seconds, whole
from ._command import AT_ONCE, FOREVER, PIPE, StdIO, Streams, began, end, ended, make_command
from ._count import DEFAULT_EVENTS, event_text
from ._counts import Counts, Metric, Note
from ._machine import host
from ._series import Repeats, TimeSeries

Groups = Sequence[Sequence[str]]


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


class _Counters:
    """Those of the program and, where asked for, those of the machine beside it: read at one instant."""

    def __init__(self, text: str, target: _native.Target, options: dict[str, int], machine: str | None) -> None:
        self.sets = [_native.Set(host(), text, target, options, Counts)]
        if machine is not None:
            everywhere = {"keep": options["keep"]}
            self.sets.append(_native.Set(host(), machine, _native.Target.cpus(host(), None), everywhere, Counts))

    def series(self) -> TimeSeries:
        names, units, scales = ([x for s in self.sets for x in getattr(s, what)] for what in ("names", "units", "scales"))
        series = TimeSeries(names, units, scales, sum(len(s.names) for s in self.sets[1:]))
        for s in self.sets:
            first = 0 if s is self.sets[0] else len(self.sets[0].names)
            for event, cause, absent, what, remedy in s.notes():
                series.notes.append(Note(None if event is None else event + first, cause, absent, what, remedy))
        return series

    def start(self) -> None:
        """The machine's; the program's start when it does."""
        for s in self.sets[1:]:
            s.enable()

    def read(self) -> tuple[Counts, ...]:
        first, *more = self.sets
        return first.read_with(more[0]) if more else (first.read(),)

    def close(self) -> None:
        for s in self.sets:
            s.close()


def _watch(series: TimeSeries, counters: _Counters, target: _native.Target, every: int | None, begun: int, limit: int | None) -> int:
    """Reads the counters at begun + n × every until the target ends or it is time; when that was."""
    with _native.Bell() as bell:
        return _look(bell, series, counters, target, every, begun, limit)


def _look(bell: _native.Bell, series: TimeSeries, counters: _Counters, target: _native.Target, every: int | None, begun: int, limit: int | None) -> int:
    number = 0
    while True:
        number += 1
        due = begun + number * every if every else FOREVER
        deadline = due if limit is None else min(due, limit)
        over = target.wait(deadline, bell)
        now = time.monotonic_ns()
        if over:
            return now
        if limit is not None and now >= limit:
            series.timed_out = True
            end(target)
            return time.monotonic_ns()
        readings = counters.read()
        series._add(readings[0].time_ns - begun, readings)
        if every:
            late = (time.monotonic_ns() - begun) // every - number
            if late > 0:
                series.missed += late
                number += late


def _once(text: str, machine: str | None, keep: bool, every: int | None, timeout: int | None, streams: dict[str, Any], env: Mapping[str, str] | None, cwd: str | os.PathLike[str] | None, args: Sequence[str | os.PathLike[str]], inherit: bool) -> TimeSeries:
    pipes = Streams(**streams)
    target = None
    try:
        target = make_command(args, env, cwd, pipes.child)
        counters = _Counters(text, target, {"keep": int(keep), "no_inherit": int(not inherit)}, machine)
        series = counters.series()
        series.args = tuple(os.fsdecode(word) for word in args)
        begun = time.monotonic_ns()
        limit = None if timeout is None else begun + timeout
        try:
            counters.start()
            target.start()
            pipes.started()
            finished = _watch(series, counters, target, every, begun, limit)
        except KeyboardInterrupt:
            if not began(target):
                raise
            series.interrupted = True
            end(target)
            finished = time.monotonic_ns()
        _conclude(series, counters, target, begun, finished)
        try:
            soon = time.monotonic_ns() + _LATE
            if not pipes.finish(soon if series.interrupted else FOREVER if limit is None else max(limit, soon)):
                series.timed_out = not series.interrupted  # it has ended; another still holds its pipes
        except KeyboardInterrupt:
            series.interrupted = True
    except BaseException:
        if target is not None and began(target):
            end(target, AT_ONCE)
        raise
    finally:
        pipes.close()
    series.stdout, series.stderr = pipes.taken("stdout"), pipes.taken("stderr")
    counters.close()
    target.close()
    return series


_LATE = 1_000_000_000  #: ns that what a program wrote has to arrive when its time is over


def _conclude(series: TimeSeries, counters: _Counters, target: _native.Target, begun: int, finished: int) -> None:
    """The last row, and how it ended."""
    final = counters.read()
    if how := ended(target):
        status, number, _, wall, user, system, series.peak_rss = how
        series.returncode = -number if number else status
        series.wall, series.user, series.system = wall / 1e9, user / 1e9, system / 1e9
    else:
        series.wall = (finished - begun) / 1e9
    series._add(max(finished - begun, series._time[-1] + 1 if len(series) else 0), final)
    names = iter(series.events)
    for counts, of in zip(final, counters.sets, strict=True):
        row = of.metrics(counts, int(series.wall * 1e9) or finished - begun)
        for i, metric in enumerate(row):
            name = next(names)
            if why := counts.reason(i):
                series.reasons[name] = why
            if metric:
                series.metrics[name] = Metric(*metric)


def _decoded(data: bytes | str | None) -> bytes | str | None:
    """As subprocess does with text=True: the locale's encoding, and any end of a line is a newline."""
    return io.TextIOWrapper(io.BytesIO(data)).read() if isinstance(data, bytes) else data


@overload
def run(
    args: Sequence[str | os.PathLike[str]],
    groups: Groups | None = None,
    *,
    events: str | Sequence[str] | None = None,
    machine: str | Sequence[str] | None = None,
    every: float | None = None,
    repeat: None = None,
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
) -> TimeSeries: ...
@overload
def run(
    args: Sequence[str | os.PathLike[str]],
    groups: Groups | None = None,
    *,
    events: str | Sequence[str] | None = None,
    machine: str | Sequence[str] | None = None,
    every: float | None = None,
    repeat: int,
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
) -> Repeats: ...
def run(
    args: Sequence[str | os.PathLike[str]],
    groups: Groups | None = None,
    *,
    events: str | Sequence[str] | None = None,
    machine: str | Sequence[str] | None = None,
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
) -> TimeSeries | Repeats:
    """Runs a program and counts what it and its children do from its first instruction on.

    `groups` are lists of events that are counted at the same times; or `events`, one text as everywhere. With `every`
    seconds there is a row for each such time point, without drift, and one when it has ended; without, that one alone.
    `machine` are events that are counted of the whole machine beside it, from the program's start on: energy, say. They
    are the last columns of each row, and all of a row is read at one instant.
    With `repeat` it runs so often: a list of them with statistics. All else is as in subprocess.run(). Ctrl-C ends the
    program, and what was read until then is returned. With `keep`, events that can't be opened are left out, and
    `notes` says why.

    >>> series = run(["true"], [["page-faults", "minor-faults"]])
    >>> len(series), series.returncode, series.totals["page-faults"] > 0
    (1, 0, True)

    A program beside the energy of the machine, which needs root or kernel.perf_event_paranoid at 0:

        run(["make"], events="task-clock", machine="power/energy-pkg/", every=0.1)
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
    beside = None if machine is None else event_text(machine)
    if keep is None:
        keep = groups is None and events is None
    streams = {"stdin": stdin, "stdout": stdout, "stderr": stderr, "data": data}
    runs = Repeats()
    for _ in range(times):
        series = _once(what, beside, bool(keep), every_ns, timeout_ns, streams, env, cwd, args, inherit)
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
