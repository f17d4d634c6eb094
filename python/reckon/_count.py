"""Counting: a block of code, a function, a process, a CPU, a cgroup, the machine."""
from __future__ import annotations

import asyncio
import functools
import inspect
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import NamedTuple, ParamSpec, TypeVar

from . import _native
from ._check import paths, seconds as in_ns, whole, wholes
from ._counts import Counts, Metric, Note, Number, per
from ._error import Error, NotCounted
from ._machine import host
from ._table import html_table, pretty, text_table

P = ParamSpec("P")
R = TypeVar("R")

EventsLike = str | Sequence[str]


def event_text(events: EventsLike) -> str:
    """One text of the grammar (reckon-events(7)) of a text or of a list of them."""
    if isinstance(events, str):
        words = [events]
    elif isinstance(events, Sequence) and all(isinstance(word, str) for word in events):
        words = list(events)
    else:
        raise TypeError("events are a string, or a list of strings")
    joined = ",".join(words)
    if not joined.strip():
        raise ValueError("no event was named")
    return joined


class RegionCounts(NamedTuple):
    """What happened in a named region at one place of the tree of regions."""

    path: tuple[str, ...]
    calls: int
    inclusive: Counts  #: all that happened in it
    exclusive: Counts  #: … less what happened in regions inside it


class _Region:
    """A scope: with counter.region("parse"): …"""

    def __init__(self, counter: Counter, name: str) -> None:
        self._counter, self._name = counter, name

    def __enter__(self) -> _Region:
        self._counter._enter(self._name)
        return self

    def __exit__(self, *unused: object) -> None:
        self._counter._leave()


class Counter:
    """Open counters on a target. Made by count() and attach().

    Used as a context manager it counts while the block runs and closes its counters at the end; what was counted stays:
    `counter["instructions"]`, `counter.counts`, `counter.seconds`, `counter.metrics`. `read()` may be called at any time,
    in the thread that made it. Used as a decorator it counts each call of a function.
    """

    def __init__(self, events: EventsLike, target: _native.Target, options: Mapping[str, int], again: Callable[[], Counter]) -> None:
        self._set = _native.Set(host(), event_text(events), target, dict(options), Counts)
        self._target = target
        self._again = again
        self._begun: Counts | None = None
        self._last: Counts | None = None
        self._why: dict[int, NotCounted] = {}
        self._metrics: tuple[Metric | None, ...] | None = None
        self._notes = [Note(*row) for row in self._set.notes()]
        self._open: list[tuple[str, Counts, list[Counts]]] = []
        self._regions: dict[tuple[str, ...], RegionCounts] = {}
        #: read(): the counts so far, hot: one allocation around the library's call
        self.read: Callable[[], Counts] = self._set.read

    # --- life ---

    def enable(self) -> None:
        """Starts counting."""
        self._set.enable()
        if self._begun is None:
            self._begun = self.read()

    def disable(self) -> None:
        """Stops counting; enable() goes on."""
        self._set.disable()

    def close(self) -> None:
        """Closes the counters. What was counted stays."""
        if self._set.closed:
            return
        self._keep(self.read())
        self._set.close()

    def _keep(self, now: Counts) -> None:
        last = now - self._begun if self._begun is not None else now
        self._last = last
        self._why = {i: why for i in range(len(last)) if (why := last.reason(i))}
        self._metrics = tuple(row and Metric(*row) for row in self._set.metrics(last, last.time_ns))

    def __enter__(self) -> Counter:
        self.enable()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if not self._set.closed:
            self._set.disable()
            self.close()

    # --- results ---

    @property
    def counts(self) -> Counts:
        """What was counted since it was enabled: so far, or, when it was closed, in all."""
        if self._last is not None and self._set.closed:
            return self._last
        now = self.read()
        return now - self._begun if self._begun is not None else now

    def __getitem__(self, event: str | int) -> Number:
        counts = self.counts
        i = counts._index(event)
        if i in self._why and self._set.closed:
            raise self._why[i]
        return counts[i]

    @property
    def seconds(self) -> float:
        """How long it counted."""
        return self.counts.seconds

    @property
    def ipc(self) -> float:
        """Instructions per cycle."""
        return per(self["instructions"], self["cycles"])

    @property
    def metrics(self) -> dict[str, Metric]:
        """The figures that people want beside the counts, by event: IPC, GHz, CPUs utilised, faults a second."""
        if self._set.closed:
            found = self._metrics or ()
        else:
            counts = self.counts
            found = tuple(row and Metric(*row) for row in self._set.metrics(counts, counts.time_ns))
        return {name: metric for name, metric in zip(self._set.names, found, strict=True) if metric}

    @property
    def notes(self) -> list[Note]:
        """What was opened with less than was asked, or left out, and why."""
        return list(self._notes)

    @property
    def events(self) -> tuple[str, ...]:
        """The events' names, as they were opened."""
        return self._set.names

    def each(self) -> list[tuple[Slot, Counts]]:
        """The counts of each thread, CPU or cgroup apart."""
        return [(Slot(*slot), self._set.read_slot(i)) for i, slot in enumerate(self._set.slots())]

    def _rows(self) -> list[list[str]]:
        rows = self.counts._rows()
        metrics = self.metrics
        for row in rows:
            if metric := metrics.get(row[0]):
                row[3] = f"{metric.value:,.3g} {metric.unit}" + (f"; {row[3]}" if row[3] else "")
        for i, why in self._why.items():
            rows[i][3] = str(why).split("\n", maxsplit=1)[0]
        return rows

    def __str__(self) -> str:
        return text_table(["event", "count", "unit", ""], self._rows()) + f"\n{self.seconds:.6f} seconds"

    _repr_pretty_ = pretty

    def _repr_html_(self) -> str:
        return html_table(["event", "count", "unit", ""], self._rows(), f"{self.seconds:.6f} seconds")

    # --- regions ---

    def region(self, name: str) -> _Region:
        """A named part of the block, which may be nested in others: with counter.region("parse"): …"""
        if not isinstance(name, str):
            raise TypeError("a region's name is a string")
        return _Region(self, name)

    @property
    def regions(self) -> list[RegionCounts]:
        """What happened in each region, in the order of their first end; the same name at two places is two."""
        return list(self._regions.values())

    def _enter(self, name: str) -> None:
        self._open.append((name, self.read(), []))

    def _leave(self) -> None:
        path = tuple(name for name, _, _ in self._open)
        _, begun, inside = self._open.pop()
        inclusive = self.read() - begun
        exclusive = inclusive
        for part in inside:
            exclusive = exclusive - part
        known = self._regions.get(path)
        if known:
            self._regions[path] = RegionCounts(path, known.calls + 1, known.inclusive + inclusive, known.exclusive + exclusive)
        else:
            self._regions[path] = RegionCounts(path, 1, inclusive, exclusive)
        if self._open:
            self._open[-1][2].append(inclusive)

    # --- intervals ---

    def every(self, seconds: float, count: int | None = None) -> Intervals:
        """What happened in each interval: for counts in counter.every(1.0): … or async for. Ends with the target."""
        return Intervals(self, seconds, count)

    # --- decorator ---

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Counts each call of a function: function.reckon.calls, function.reckon["instructions"]. What calls itself is
        counted once, by its outermost call."""
        if not callable(function):
            raise TypeError(f"a function can be counted, {function!r} is none")
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(f"{function.__qualname__} returns before its work is done: count inside of it, with a block")
        calls = Calls(self._again)
        self._set.close()

        @functools.wraps(function)
        def counted(*args: P.args, **kwargs: P.kwargs) -> R:
            counter = calls._enter()
            begun = counter.read() if counter else None
            try:
                return function(*args, **kwargs)
            finally:
                calls._leave(counter.read() - begun if counter and begun is not None else None)

        counted.reckon = calls  # type: ignore[attr-defined]
        return counted


class Calls:
    """What a decorated function's calls have cost, over all threads; each has counters of its own."""

    def __init__(self, again: Callable[[], Counter]) -> None:
        self._again, self._own, self._lock = again, threading.local(), threading.Lock()
        self.calls = 0
        self._sum: Counts | None = None

    def _enter(self) -> Counter | None:
        own = self._own
        if getattr(own, "pid", None) != os.getpid():  # a thread's first call, or that of a child: counters stay behind at a fork
            own.counter, own.depth, own.pid = self._again(), 0, os.getpid()
            own.counter.enable()
        own.depth += 1
        counter: Counter = own.counter
        return counter if own.depth == 1 else None

    def _leave(self, counts: Counts | None) -> None:
        self._own.depth -= 1
        with self._lock:
            self.calls += 1
            if counts is not None:
                self._sum = counts if self._sum is None else self._sum + counts

    @property
    def counts(self) -> Counts:
        """All calls together."""
        if self._sum is None:
            raise ValueError("it has not been called yet")
        return self._sum

    def __getitem__(self, event: str | int) -> Number:
        return self.counts[event]

    def __str__(self) -> str:
        return f"{self.calls} calls\n{self.counts}" if self.calls else "0 calls"

    _repr_pretty_ = pretty

    def _repr_html_(self) -> str:
        return f"<p>{self.calls} calls</p>" + (self.counts._repr_html_() if self._sum is not None else "")


class Slot(NamedTuple):
    """A part of a target; -1 is any."""

    pid: int
    cpu: int
    cgroup: str | None


class Intervals:
    """What happened in each interval, without drift: the n-th ends at n × seconds from the beginning."""

    def __init__(self, counter: Counter, seconds: float, count: int | None) -> None:
        self._counter, self._ns = counter, in_ns("every", seconds)
        self._count = None if count is None else whole("count", count, 0)

    def _ended(self, deadline: int) -> bool:
        try:
            return self._counter._target.wait(deadline)
        except Error as error:
            if error.errno != 22:  # EINVAL: what does not end
                raise
        time.sleep(max(0.0, (deadline - time.monotonic_ns()) / 1e9))
        return False

    def __iter__(self) -> Iterator[Counts]:
        begun = time.monotonic_ns()
        before, number, ended = self._counter.read(), 0, False
        while not ended and (self._count is None or number < self._count):
            number += 1
            ended = self._ended(begun + number * self._ns)
            if self._counter._target.pid < 0:  # CPUs come and go; inherit=False is to count no thread that comes
                self._counter._set.refresh()
            now = self._counter.read()
            yield now - before
            before = now

    async def __aiter__(self) -> AsyncIterator[Counts]:
        begun = time.monotonic_ns()
        before, number, ended = self._counter.read(), 0, False
        while not ended and (self._count is None or number < self._count):
            number += 1
            deadline = begun + number * self._ns
            await asyncio.sleep(max(0.0, (deadline - time.monotonic_ns()) / 1e9))
            ended = self._ended(0) if self._counter._target.pid > 0 else False
            if self._counter._target.pid < 0:  # CPUs come and go; inherit=False is to count no thread that comes
                self._counter._set.refresh()
            now = self._counter.read()
            yield now - before
            before = now


def count(
    events: EventsLike = "task-clock,page-faults,cycles,instructions",
    *,
    scope: str = "thread",
    keep: bool | None = None,
    pinned: bool = False,
) -> Counter:
    """Counts what the calling thread does, in a block or in calls of a function.

    >>> with count("page-faults") as c:
    ...     pages = bytearray(1 << 26)
    >>> c["page-faults"] >= 1
    True

    `scope` "process" counts all threads of this process, those it starts meanwhile, and its children. With `keep` what
    can't be opened is left out, and `notes` says why; the default is so for the default events. Reads of hardware events
    need no system call where the kernel allows it.

    >>> @count("page-faults")
    ... def touch() -> int:
    ...     return len(bytearray(1 << 22))
    >>> touch()
    4194304
    >>> touch.reckon.calls
    1
    """
    if scope not in ("thread", "process"):
        raise ValueError('scope is "thread" or "process"')
    options = {"keep": int(events == DEFAULT_EVENTS if keep is None else bool(keep)), "pinned": int(bool(pinned)), "no_inherit": int(scope == "thread")}

    def again() -> Counter:
        target = _native.Target.self() if scope == "thread" else _native.Target.tasks("process", (os.getpid(),))
        return Counter(events, target, options, again)

    return again()


DEFAULT_EVENTS = "task-clock,page-faults,cycles,instructions"


def make_target(
    *,
    pid: int | Iterable[int] | None = None,
    tid: int | Iterable[int] | None = None,
    tree: int | None = None,
    cpu: int | str | Iterable[int] | None = None,
    cgroup: str | Iterable[str] | None = None,
    machine: bool = False,
) -> _native.Target:
    """The target that the keywords name, exactly one of them; `cpu` may narrow `cgroup`, and split `pid`, `tid` and `tree`."""
    named = [name for name, given in (("pid", pid), ("tid", tid), ("tree", tree), ("cgroup", cgroup), ("machine", machine or None)) if given is not None]
    if cpu is not None and (named in ([], ["machine"]) or len(named) > 1):
        named.append("cpu")
    if len(named) != 1:
        raise TypeError("one target is needed: pid, tid, tree, cpu, cgroup or machine" + (f"; these were given: {', '.join(named)}" if named else ""))
    cpus = None if cpu is None else cpu if isinstance(cpu, str) else ",".join(str(n) for n in wholes("cpu", cpu, 0))
    if cgroup is not None:
        return _native.Target.cgroups(host(), paths("cgroup", cgroup), cpus)
    if machine or named == ["cpu"]:
        return _native.Target.cpus(host(), cpus)
    if tree is not None:
        target = _native.Target.tasks("tree", (whole("tree", tree, 1),))
    elif pid is not None:
        target = _native.Target.tasks("process", wholes("pid", pid, 1))
    else:
        target = _native.Target.tasks("thread", wholes("tid", tid, 1))
    if cpus is not None:
        target.on_cpus(host(), cpus)
    return target


def attach(
    events: EventsLike = DEFAULT_EVENTS,
    *,
    pid: int | Iterable[int] | None = None,
    tid: int | Iterable[int] | None = None,
    tree: int | None = None,
    cpu: int | str | Iterable[int] | None = None,
    cgroup: str | Iterable[str] | None = None,
    machine: bool = False,
    inherit: bool = True,
    freeze: bool = False,
    keep: bool | None = None,
) -> Counter:
    """Counts what others do: processes, threads, a tree of processes, CPUs, cgroups, the whole machine.

        with reckon.attach("context-switches", pid=4711) as c:
            for counts in c.every(1.0):
                print(counts)

    `freeze` stops a process while its counters are opened, so that no thread is missed or counted twice. `cpu` beside a
    process, thread or tree counts it on these CPUs alone, a slot for each.
    """

    def again() -> Counter:
        target = make_target(pid=pid, tid=tid, tree=tree, cpu=cpu, cgroup=cgroup, machine=machine)
        options = {"keep": int(events == DEFAULT_EVENTS if keep is None else bool(keep)), "no_inherit": int(not inherit), "freeze": int(bool(freeze))}
        return Counter(events, target, options, again)

    return again()


def region(name: str) -> _native.Region:
    """A named region as C programs have them (reckon/region.h): counted where RECKON_REGIONS says so, else nothing.

    >>> with region("parse"):
    ...     pass
    """
    return _native.Region(name)
