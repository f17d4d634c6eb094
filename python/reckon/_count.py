"""Counting: a block of code, a function, a process, a CPU, a cgroup, the machine."""
from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import os
import threading
import time
import types
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple, ParamSpec, TypeVar

from . import _native
from ._check import paths, seconds as in_ns, whole, wholes
from ._counts import Counts, Metric, Note, Number, per
from ._error import Error
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


class _Frame:
    """A region that was begun: by whom, and inside of what."""

    __slots__ = ("begun", "below", "counter", "inside", "outer", "over", "owner", "path", "read")

    def __init__(self, counter: Counter, owner: object, below: _Frame | None, name: str) -> None:
        outer: _Frame | None = below
        while outer and (outer.over or outer.counter is not counter or outer.owner != owner):
            outer = outer.below
        self.counter: Counter = counter
        self.owner: object = owner
        self.below: _Frame | None = below
        self.outer: _Frame | None = outer
        self.path: tuple[str, ...] = (*outer.path, name) if outer else (name,)
        self.inside: list[Counts] = []  # what happened in regions inside of it
        self.over: bool = False
        self.read: Callable[[], Counts] = counter._reader()
        self.begun: Counts = self.read()


#: The innermost region that is open here. A context is handed on to new tasks, and by some to threads: whose a region is
#: says its owner.
_innermost: contextvars.ContextVar[_Frame | None] = contextvars.ContextVar("reckon_region", default=None)


def _owner() -> tuple[int, object]:
    """The thread and its task that runs: what one of them begins is not inside of what another one has begun."""
    loop = asyncio._get_running_loop()
    return threading.get_ident(), asyncio.current_task(loop) if loop else None


class _Region:
    """A scope: with counter.region("parse"): …"""

    def __init__(self, counter: Counter, name: str) -> None:
        self._counter, self._name = counter, name
        self._frames: list[_Frame] = []

    def __enter__(self) -> _Region:
        frame = _Frame(self._counter, _owner(), _innermost.get(), self._name)
        self._frames.append(frame)
        _innermost.set(frame)
        return self

    def __exit__(self, *unused: object) -> None:
        owner = _owner()
        frame = next((frame for frame in reversed(self._frames) if frame.owner == owner), None) or self._frames[-1]
        self._frames.remove(frame)  # identity: frames compare by it
        frame.over = True
        top = _innermost.get()
        while top and top.over:
            top = top.below
        _innermost.set(top)
        self._counter._ended(frame)


class _Elsewhere:
    """How long other threads of this process run while one is counted."""

    _LEAST = 1_000_000  #: ns that are worth a note, and …
    _SHARE = 0.01  #: … of the counted thread's own time

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._others = self._own = 0
        self._begun: tuple[int, int] | None = None

    def _now(self) -> tuple[int, int]:
        own = time.thread_time_ns()
        return time.process_time_ns() - own, own

    def begin(self) -> None:
        if threading.get_ident() == self._thread and self._begun is None:
            self._begun = self._now()

    def end(self) -> None:
        if threading.get_ident() == self._thread and self._begun is not None:
            others, own = self._now()
            self._others += others - self._begun[0]
            self._own += own - self._begun[1]
            self._begun = None

    def note(self) -> Note | None:
        """What to say of it."""
        running = self._begun is not None
        self.end()
        if running:
            self.begin()
        if self._others < max(self._LEAST, self._own * self._SHARE):
            return None
        what = f"other threads of this process ran for {self._others / 1e9:.3g} s meanwhile, and were not counted"
        return Note(None, "threads", False, what, 'reckon.count(…, scope="process") counts them too')


class Counter:
    """Open counters on a target. Made by count() and attach().

    Used as a context manager it counts while the block runs and closes its counters at the end; what was counted stays:
    `counter["instructions"]`, `counter.counts`, `counter.seconds`, `counter.metrics`. `read()` may be called at any time,
    in the thread that made it. Used as a decorator it counts each call of a function.
    """

    def __init__(self, events: EventsLike, target: _native.Target, options: Mapping[str, int], again: Callable[[str], Counter], scope: str | None = "") -> None:
        self._set = _native.Set(host(), event_text(events), target, dict(options), Counts)
        self._target = target
        self._again = again
        self._scope = scope  # "": of a target; None: the thread, since nothing else was asked for
        self._thread = threading.get_ident()
        self._elsewhere = _Elsewhere() if scope is None else None
        self._begun: Counts | None = None
        self._last: Counts | None = None
        self._metrics: tuple[Metric | None, ...] | None = None
        self._notes = [Note(*row) for row in self._set.notes()]
        self._regions: dict[tuple[str, ...], RegionCounts] = {}
        self._lock = threading.Lock()  # of regions
        self._own: threading.local | None = None  # counters for regions in other threads
        #: read(): the counts so far, hot: one allocation around the library's call
        self.read: Callable[[], Counts] = self._set.read

    # --- life ---

    def enable(self) -> None:
        """Starts counting."""
        self._set.enable()
        if self._begun is None:
            self._begun = self.read()
        if self._elsewhere:
            self._elsewhere.begin()

    def disable(self) -> None:
        """Stops counting; enable() goes on."""
        self._set.disable()
        if self._elsewhere:
            self._elsewhere.end()

    def close(self) -> None:
        """Closes the counters. What was counted stays."""
        if self._set.closed:
            return
        self._keep(self.read())
        self._set.close()
        if self._elsewhere:
            self._elsewhere.end()

    def _keep(self, now: Counts) -> None:
        last = now - self._begun if self._begun is not None else now
        self._last = last._kept()
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
        return self.counts[event]

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
        """What was opened with less than was asked, or left out, and why; and where other threads of this process ran,
        unless count() was told a scope."""
        elsewhere = self._elsewhere and self._elsewhere.note()
        return [*self._notes, elsewhere] if elsewhere else list(self._notes)

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
        return rows

    def _closing(self) -> str:
        elsewhere = self._elsewhere and self._elsewhere.note()
        return f"{self.seconds:.6f} seconds" + (f"; {elsewhere.what}: {elsewhere.remedy}" if elsewhere else "")

    def __str__(self) -> str:
        return text_table(["event", "count", "unit", ""], self._rows()) + f"\n{self._closing()}"

    _repr_pretty_ = pretty

    def _repr_html_(self) -> str:
        return html_table(["event", "count", "unit", ""], self._rows(), self._closing())

    # --- regions ---

    def region(self, name: str) -> _Region:
        """A named part of the block, which may be nested in others: with counter.region("parse"): …

        Regions nest within a thread, and within a task of asyncio's; what another thread or task begins is not inside.
        Of a thread's counter, a region in another thread counts that one. While a task waits, others run: what they do
        counts in its regions too.
        """
        if not isinstance(name, str):
            raise TypeError("a region's name is a string")
        return _Region(self, name)

    @property
    def regions(self) -> list[RegionCounts]:
        """What happened in each region, in the order of their first end; the same name at two places is two."""
        return list(self._regions.values())

    def _reader(self) -> Callable[[], Counts]:
        """What reads the counts of who calls."""
        if self._scope not in (None, "thread") or self._thread == threading.get_ident():
            return self.read
        with self._lock:
            own = self._own = self._own or threading.local()
        if not hasattr(own, "counter"):
            own.counter = self._again("thread")  # closed when the thread ends
            own.counter.enable()
        read: Callable[[], Counts] = own.counter.read
        return read

    def _ended(self, frame: _Frame) -> None:
        inclusive = frame.read() - frame.begun
        exclusive = inclusive
        for part in frame.inside:
            try:
                exclusive = exclusive - part
            except ValueError:  # parts that ran side by side: tasks of others than asyncio
                pass
        if frame.outer and not frame.outer.over:
            frame.outer.inside.append(inclusive)
        with self._lock:
            known = self._regions.get(frame.path)
            if known:
                self._regions[frame.path] = RegionCounts(frame.path, known.calls + 1, known.inclusive + inclusive, known.exclusive + exclusive)
            else:
                self._regions[frame.path] = RegionCounts(frame.path, 1, inclusive, exclusive)

    # --- intervals ---

    def every(self, seconds: float, count: int | None = None) -> Intervals:
        """What happened in each interval: for counts in counter.every(1.0): … or async for. Ends with the target."""
        return Intervals(self, seconds, count)

    # --- decorator ---

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Counts each call of a function: function.reckon.calls, function.reckon["instructions"].

        Unless count() was told a scope, all that the process does counts, its other threads too, from a call's beginning
        to its end; of calls that overlap, or are inside of each other, from the beginning of the first to the end of the
        last. With scope="thread" each thread has counters of its own, and what calls itself counts once.
        """
        if not callable(function):
            raise TypeError(f"a function can be counted, {function!r} is none")
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(f"{function.__qualname__} returns before its work is done: count inside of it, with a block")
        calls = Calls(self._again, self._scope == "thread")
        self._set.close()

        @functools.wraps(function)
        def counted(*args: P.args, **kwargs: P.kwargs) -> R:
            counting = calls._enter()
            try:
                return function(*args, **kwargs)
            finally:
                calls._leave(counting)

        counted.reckon = calls  # type: ignore[attr-defined]
        return counted


class _Counting:
    """Counters that run from the first of calls inside of each other to the last: of a process, or of one thread."""

    def __init__(self, counter: Counter) -> None:
        self.counter, self.depth, self.pid = counter, 0, os.getpid()
        self.lock = threading.Lock()
        counter.enable()
        self.begun = counter.read()

    def enter(self) -> None:
        with self.lock:
            self.depth += 1
            if self.depth == 1:
                self.begun = self.counter.read()

    def leave(self) -> Counts | None:
        with self.lock:
            self.depth -= 1
            return self.counter.read() - self.begun if self.depth == 0 else None


class Calls:
    """What a decorated function's calls have cost, over all threads."""

    def __init__(self, again: Callable[[str], Counter], each: bool) -> None:
        self._again, self._each = again, each
        self._own: Any = threading.local() if each else types.SimpleNamespace()
        self._lock = threading.Lock()
        self.calls = 0
        self._sum: Counts | None = None

    def _enter(self) -> _Counting:
        counting: _Counting | None = getattr(self._own, "counting", None)
        if counting is None or counting.pid != os.getpid():  # the first call, or that of a child: counters stay behind at a fork
            made = _Counting(self._again("thread" if self._each else "process"))
            with self._lock:
                counting = getattr(self._own, "counting", None)  # another thread may have been first
                if counting is None or counting.pid != made.pid:
                    counting = self._own.counting = made
        counting.enter()
        return counting

    def _leave(self, counting: _Counting) -> None:
        counts = counting.leave() if counting.pid == os.getpid() else None
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
        with _native.Bell() as bell:
            try:
                return self._counter._target.wait(deadline, bell)
            except Error as error:
                if error.errno != 22:  # EINVAL: what does not end
                    raise
            return bell.until(deadline)

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
    scope: str | None = None,
    keep: bool | None = None,
    pinned: bool = False,
) -> Counter:
    """Counts what the calling thread does in a block, or what the process does in calls of a function.

    >>> with count("page-faults") as c:
    ...     pages = bytearray(1 << 26)
    >>> c["page-faults"] >= 1
    True

    `scope` "process" counts all threads of this process, those it starts meanwhile, and its children: a pool's work, and
    that of a library with threads of its own, as NumPy's. "thread" counts the calling one alone. Without it a block counts
    its thread, and `notes` says so where others ran meanwhile; a decorator counts the process. With `keep` what can't be
    opened is left out, and `notes` says why; the default is so for the default events. Reads of a thread's hardware events
    need no system call where the kernel allows it.

    >>> @count("page-faults")
    ... def touch() -> int:
    ...     return len(bytearray(1 << 22))
    >>> touch()
    4194304
    >>> touch.reckon.calls
    1
    """
    if scope not in (None, "thread", "process"):
        raise ValueError('scope is "thread" or "process"')
    kept = {"keep": int(events == DEFAULT_EVENTS if keep is None else bool(keep)), "pinned": int(bool(pinned))}

    def made(of: str, scope: str | None) -> Counter:
        target = _native.Target.self() if of == "thread" else _native.Target.tasks("process", (os.getpid(),))
        return Counter(events, target, {**kept, "no_inherit": int(of == "thread")}, again, scope)

    def again(of: str) -> Counter:
        return made(of, of)

    return made(scope or "thread", scope)


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

    def again(_: str = "") -> Counter:
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
