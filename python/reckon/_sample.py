"""Sampling: samples live, or a profile."""
from __future__ import annotations

import array
import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from . import _native
from ._check import seconds, whole
from ._command import AT_ONCE, POLITELY, StdIO, Streams, began, end, end_meanwhile, ended, make_command, words
from ._count import EventsLike, event_text, make_target
from ._counts import Counts, Note
from ._error import Error
from ._machine import host
from ._profile import Profile

_LATE = 1_000_000_000  #: ns that what a program wrote has to arrive when it has ended
_MARKER = (1 << 64) - 4096  #: addresses from here on are markers of a call chain


class Sample(NamedTuple):
    """One sample."""

    time: int  #: ns, of the kernel's clock
    ip: int
    pid: int
    tid: int
    cpu: int
    period: int
    event: int  #: index of Sampler.events
    chain: tuple[int, ...]  #: addresses, innermost first, the kernel's before the program's; () without stacks


class Loss(NamedTuple):
    """What was kept and what was not; None: not known."""

    kept: int
    lost: int | None
    skipped: int | None
    throttled: int
    records_lost: int


class Samples:
    """Samples as columns: array.arrays, which NumPy reads as they are (`numpy.asarray(samples.ip)`)."""

    _kinds = {"time": "Q", "ip": "Q", "period": "Q", "pid": "i", "tid": "i", "cpu": "I", "event": "I", "chain_start": "Q", "chains": "Q"}

    def __init__(self, columns: Mapping[str, bytearray]) -> None:
        for name, kind in self._kinds.items():
            column = array.array(kind)
            column.frombytes(columns[name])
            setattr(self, name, column)

    time: array.array[int]
    ip: array.array[int]
    period: array.array[int]
    pid: array.array[int]
    tid: array.array[int]
    cpu: array.array[int]
    event: array.array[int]
    chain_start: array.array[int]  #: the chain of sample i is chains[chain_start[i] : chain_start[i + 1]]
    chains: array.array[int]

    def __len__(self) -> int:
        return len(self.time)

    def __iter__(self) -> Iterator[Sample]:
        for i in range(len(self)):
            chain = self.chains[self.chain_start[i] : self.chain_start[i + 1]]
            yield Sample(
                self.time[i], self.ip[i], self.pid[i], self.tid[i], self.cpu[i], self.period[i], self.event[i],
                tuple(a for a in chain if a < _MARKER),
            )  # fmt: skip


def _remove_maps(pids: Iterable[int]) -> None:
    """Removes what Pythons of these processes wrote down; other programs' maps stay."""
    for pid in pids:
        path = f"/tmp/perf-{pid}.map"
        try:
            with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
                line = file.readline(4096).split(b" ", 2)
            if len(line) == 3 and line[2].startswith(b"py::"):
                os.unlink(path)
        except OSError:
            pass  # there is none, or it is another's


class Sampler:
    """A program or a process that is sampled. Made by sample().

        for s in reckon.sample(["prog"]): …            # live, until it ends
        profile = reckon.sample(["prog"]).profile()    # or all of it, with names

    Each is done once. Used as a context manager it ends what it started. In an event loop that is `async for`, and
    `async with`, which let the loop go on while a program ends that takes its time.
    """

    def __init__(self, open_target: Any, events: str | None, options: dict[str, int], stacks: str, streams: Streams | None, command: tuple[bytes, ...], duration: int | None, maps: bool = False) -> None:
        self._target: _native.Target = open_target()
        self._streams, self._words, self._duration = streams, command, duration
        self._stacks, self._options = stacks, options
        self._events = events
        self._set: _native.Set | None = None
        self._stream: _native.Stream | None = None
        self._batch = 4096
        self._loss: Loss | None = None
        self._closed = False
        self._pid = os.getpid()
        self._maps: set[int] | None = set() if maps else None  #: processes whose /tmp/perf-PID.map goes at the end
        self.stdout: bytes | None = None  #: what the program wrote, where it was asked for by PIPE
        self.stderr: bytes | None = None
        self.notes: list[Note] = []
        self.returncode: int | None = None

    # --- life ---

    def _open(self, extra: Mapping[str, int]) -> _native.Set:
        if self._closed and self._set is None:
            raise ValueError("this Sampler is closed")
        if self._set is not None:
            raise RuntimeError("a Sampler is used once; call sample() again")
        options = {**self._options, **extra, "records": _native.RECORDS_PROFILE}
        try:
            self._set = _native.Set(host(), self._events or "cycles", self._target, options, Counts)
        except Error as error:
            if self._events is not None or error.cause not in ("no-pmu", "unsupported", "no-event"):
                raise
            self._set = _native.Set(host(), "cpu-clock", self._target, options, Counts)
        self.notes = [Note(*row) for row in self._set.notes()]
        return self._set

    def _start(self, counters: _native.Set) -> None:
        if self._words:
            self._target.start()
            if self._streams:
                self._streams.started()
        else:
            counters.enable()

    @property
    def events(self) -> tuple[str, ...]:
        """The events that are sampled."""
        return self._set.names if self._set else ()

    @property
    def loss(self) -> Loss:
        """What was kept and lost so far."""
        if self._stream is not None:
            return Loss(*self._stream.loss())
        if self._loss is None:
            raise ValueError("nothing was sampled yet")
        return self._loss

    def close(self) -> None:
        """Ends it: the command, if there is one, is ended too."""
        self._close(POLITELY)

    async def aclose(self) -> None:
        """The same in an event loop, which goes on while the program ends. Where it is cancelled, the program is killed."""
        try:
            if self._let_go() and began(self._target):
                await end_meanwhile(self._target)
            until = time.monotonic_ns() + _LATE
            while self._streams and not self._streams.finish(0) and time.monotonic_ns() < until:
                await asyncio.sleep(0.005)
        finally:
            self._close(AT_ONCE, 0)

    def _let_go(self) -> bool:
        """Closes rings and counters; whether there is a program of this process."""
        if self._stream is not None:
            self._loss = Loss(*self._stream.loss())
            self._stream.close()
            self._stream = None
        if self._set is not None:
            self._set.close()
        self._closed = True
        return bool(self._words) and self._pid == os.getpid()  # else a child after a fork: the program is not its own

    def _close(self, steps: tuple[tuple[int, float], ...], patience: int = _LATE) -> None:
        if not self._let_go():
            return
        if began(self._target):
            if self._maps is not None:
                self._maps.add(self._target.pid)
            end(self._target, steps)
            how = ended(self._target)
            self.returncode = None if how is None else -how[1] if how[1] else how[0]
        else:
            self._target.close()  # it never ran
        if self._streams:
            self._streams.finish(time.monotonic_ns() + patience)  # a child of it may hold the pipes for longer
            self.stdout, self.stderr = self._streams.taken("stdout"), self._streams.taken("stderr")
            self._streams.close()
            self._streams = None
        if self._maps:
            _remove_maps(self._maps)
            self._maps.clear()

    def __enter__(self) -> Sampler:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    async def __aenter__(self) -> Sampler:
        return self

    async def __aexit__(self, *unused: object) -> None:
        await self.aclose()

    def _late(self, deadline: int) -> bool:
        return self._duration is not None and time.monotonic_ns() >= deadline

    def _over(self, deadline: int) -> bool:
        if self._late(deadline):
            return True
        try:
            return self._target.wait(0)
        except Error as error:
            if error.errno != 22:  # EINVAL: what does not end
                raise
            return False

    # --- live ---

    def _live(self) -> _native.Set:
        extra: dict[str, int] = {"sample": _native.SAMPLE_CALLCHAIN} if self._stacks != "none" else {}
        if self._options.get("frequency", 0) <= 1000:
            extra["wakeup_samples"] = 1
        return self._open(extra | {"no_world": 1})  # samples alone are given

    def _begin(self, counters: _native.Set) -> tuple[_native.Stream, int]:
        self._stream = _native.Stream.live(counters)
        self._start(counters)
        return self._stream, time.monotonic_ns() + (self._duration or 0)

    def _next(self, stream: _native.Stream) -> Samples:
        batch = Samples(stream.next(self._batch))
        if self._maps is not None:
            self._maps.update(batch.pid)
        return batch

    def _rest(self, stream: _native.Stream) -> Iterator[Samples]:
        """What is left when it is over."""
        assert self._set is not None
        self._set.disable()
        stream.drain()
        while len(batch := self._next(stream)):
            yield batch

    def batches(self) -> Iterator[Samples]:
        """Samples as columns, as they come, until the target ends."""
        counters = self._live()
        try:
            stream, deadline = self._begin(counters)
            while not self._over(deadline):
                stream.wait(50)
                while len(batch := self._next(stream)):
                    yield batch
                    if self._late(deadline):  # there may always be more
                        break
            yield from self._rest(stream)
        finally:
            self.close()

    def __iter__(self) -> Iterator[Sample]:
        for batch in self.batches():
            yield from batch

    async def __aiter__(self) -> AsyncIterator[Sample]:
        """The same in an event loop, which goes on meanwhile."""
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        counters = self._live()
        fd = -1
        try:
            stream, deadline = self._begin(counters)
            fd = stream.fileno()
            loop.add_reader(fd, ready.set)
            while not self._over(deadline):
                # No asyncio.wait_for(): up to Python 3.11 a cancellation that comes with a sample is lost.
                timer = loop.call_later(0.05, ready.set)
                try:
                    await ready.wait()
                finally:
                    timer.cancel()
                ready.clear()
                while len(batch := self._next(stream)):
                    for sample in batch:
                        yield sample
                    if self._late(deadline):
                        break
                    await asyncio.sleep(0)
            loop.remove_reader(fd)
            fd = -1
            for batch in self._rest(stream):
                for sample in batch:
                    yield sample
        finally:
            if fd >= 0:
                loop.remove_reader(fd)
            await self.aclose()

    # --- profile ---

    def _whole(self) -> dict[str, int]:
        """What to sample beside, so that stacks are whole."""
        if self._stacks == "auto":
            return _native.whole_stacks(16384)
        return {"sample": _native.SAMPLE_CALLCHAIN} if self._stacks == "fp" else {}

    def record(self, path: str | os.PathLike[str]) -> dict[str, Any]:
        """Writes a recording, a perf.data file that perf reads too; how much was kept, lost, written."""
        extra = self._whole()
        counters = self._open(extra)
        self._maps = None  # who reads the recording reads them
        capture = _native.Capture(host(), counters, self._target, path, self._words, int("stack_user" in extra), 0)
        try:
            self._start(counters)
            deadline = time.monotonic_ns() + (self._duration or 0)
            while capture.step(50):
                if self._late(deadline):
                    break
        except KeyboardInterrupt:
            if self._words and not began(self._target):
                raise
            # else what was recorded until then is a recording
        finally:
            stats = capture.close() or {}
            self.close()
        self._loss = Loss(stats.get("kept", 0), stats.get("lost"), stats.get("skipped"), 0, 0)
        return stats

    def profile(self, *, inline: bool = True) -> Profile:
        """Samples until the target ends (or duration is over), and says where the time went."""
        builder = _native.Builder(int(not inline))
        counters = self._open(self._whole())
        try:
            stream, deadline = self._begin(counters)
            try:
                while not self._over(deadline):
                    stream.wait(50)
                    while builder.feed(stream, self._batch) == self._batch and not self._late(deadline):
                        pass
            except KeyboardInterrupt:
                pass  # what was sampled until then is a profile
            assert self._set is not None
            self._set.disable()
            stream.drain()
            while builder.feed(stream, self._batch):
                pass
            profile = Profile(builder.finish(stream))
            if self._maps is not None:
                self._maps.update(profile.columns["thread_pid"])
            return profile
        finally:
            self.close()


def sample(
    what: Sequence[str | os.PathLike[str]] | int | None = None,
    freq: int = 999,
    *,
    events: EventsLike | None = None,
    period: int | None = None,
    stacks: str = "auto",
    duration: float | None = None,
    python: bool = False,
    tid: int | Iterable[int] | None = None,
    tree: int | None = None,
    cpu: int | str | Iterable[int] | None = None,
    cgroup: str | Iterable[str] | None = None,
    machine: bool = False,
    stdin: StdIO = None,
    stdout: StdIO = None,
    stderr: StdIO = None,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
) -> Sampler:
    """Samples a program, given as a list, or a process, given by its id, or what the keywords name.

    >>> p = sample(["true"], events="page-faults", period=1).profile()
    >>> p.samples > 10
    True

    `freq` samples a second are taken, or one every `period` events; of cycles, or the clock where there are none. `stacks`
    are found "auto" (by unwind tables, else frame pointers), by "fp", or not at all, "none". `duration` ends it after so
    many seconds. With `python` a CPython of 3.12 or newer writes down what its functions are called (PYTHONPERFSUPPORT),
    so that they appear in stacks: to /tmp/perf-PID.map, which is removed at the end, of each process that was sampled. A
    recording refers to it: record() leaves it, and what an env with PYTHONPERFSUPPORT=1 asked for stays too.
    """
    if stacks not in ("auto", "fp", "none"):
        raise ValueError('stacks is "auto", "fp" or "none"')
    span = None if duration is None else seconds("duration", duration)
    options = {"frequency": whole("freq", freq, 1)} if period is None else {"period": whole("period", period, 1, 2**63 - 1)}
    text = None if events is None else event_text(events)
    if what is None or isinstance(what, int):
        if isinstance(what, bool):
            raise TypeError("a program is a list, a process a number")
        if python:
            raise ValueError("python=True is for programs that are started: ['python3', 'script.py']")
        return Sampler(lambda: make_target(pid=what, tid=tid, tree=tree, cpu=cpu, cgroup=cgroup, machine=machine), text, options, stacks, None, (), span)
    if any(given is not None for given in (tid, tree, cpu, cgroup)) or machine:
        raise TypeError("a program, or one of tid, tree, cpu, cgroup, machine")
    command = words(what)
    if env is not None and not isinstance(env, Mapping):
        raise TypeError(f"env is a mapping of names to values, not {env!r}")
    maps = False
    if python:
        env = dict(os.environ if env is None else env)
        maps = env.get("PYTHONPERFSUPPORT") != "1"
        env["PYTHONPERFSUPPORT"] = "1"
    streams = Streams(stdin, stdout, stderr, None)
    try:
        return Sampler(lambda: make_command([os.fsdecode(word) for word in command], env, cwd, streams.child), text, options, stacks, streams, command, span, maps)
    except BaseException:
        streams.close()
        raise
