"""A command that is measured: its words, its streams, its end."""
from __future__ import annotations

import _thread
import asyncio
import contextlib
import io
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any

from . import _native
from ._check import whole
from ._error import Error

PIPE, DEVNULL, STDOUT = subprocess.PIPE, subprocess.DEVNULL, subprocess.STDOUT
StdIO = int | IO[Any] | None


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


class _Mover:
    """Moves what goes through our end of a pipe, in a thread: into `read`, or `write` into it.

    Whoever claims the pipe first closes it, this thread or close(): a signal's handler may raise right after the start.
    """

    def __init__(self, fd: int, read: bytearray | None = None, write: bytes = b"") -> None:
        self._pipe = open(fd, "wb" if read is None else "rb", buffering=0)
        self._read, self._write = read, write
        self._claim = threading.Lock()
        self._over = _native.Flag()  # all is moved

    def start(self) -> None:
        _thread.start_new_thread(self._run, ())  # threading.Thread does not survive an exception in its start()

    def _run(self) -> None:
        if self._claim.acquire(blocking=False):
            try:
                self._move()
            finally:
                self._over.set()

    def _move(self) -> None:
        with self._pipe:
            if self._read is None:
                view = memoryview(self._write)
                with contextlib.suppress(BrokenPipeError):
                    while view:
                        view = view[self._pipe.write(view) or 0 :]
            else:
                while piece := self._pipe.read(1 << 16):
                    self._read += piece

    def finish(self, until: int, bell: _native.Bell) -> bool:
        """Waits until all is moved, or until then (ns); whether it is."""
        return bell.until(until, self._over.fileno())

    def close(self) -> None:
        if self._claim.acquire(blocking=False):
            self._pipe.close()


class Streams:
    """stdin, stdout, stderr of a command, as subprocess.run has them."""

    def __init__(self, stdin: StdIO, stdout: StdIO, stderr: StdIO, data: bytes | None) -> None:
        self._theirs: list[io.FileIO] = []  # files, which close once however often they are told
        self._movers: list[_Mover] = []
        self._read: dict[str, bytearray] = {}
        self._data = data
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
            self._theirs.append(open(os.devnull, "r+b", buffering=0))
            return self._theirs[-1].fileno()
        if isinstance(stream, int):
            return whole("a descriptor", stream, 0)
        if not hasattr(stream, "fileno"):
            raise TypeError("a stream is None, a file, a descriptor, PIPE or DEVNULL")
        return stream.fileno()

    def _input(self, stream: StdIO) -> int:
        if stream != PIPE:
            return self._fd(stream)
        read, write = os.pipe2(os.O_CLOEXEC)
        self._theirs.append(open(read, "rb", buffering=0))
        self._movers.append(_Mover(write, write=self._data or b""))
        return read

    def _output(self, name: str, stream: StdIO) -> int:
        if stream != PIPE:
            return self._fd(stream)
        read, write = os.pipe2(os.O_CLOEXEC)
        self._theirs.append(open(write, "wb", buffering=0))
        self._movers.append(_Mover(read, self._read.setdefault(name, bytearray())))
        return write

    def started(self) -> None:
        """The child has its ends; threads move what goes through ours."""
        for file in self._theirs:
            file.close()
        for mover in self._movers:
            mover.start()

    def finish(self, until: int) -> bool:
        """Waits until all that hold the pipes have let them go, or until then (ns); whether they have."""
        with _native.Bell() as bell:
            return all([mover.finish(until, bell) for mover in self._movers])

    def taken(self, name: str) -> bytes | None:
        """What was written so far; None: it went elsewhere."""
        return bytes(self._read[name]) if name in self._read else None

    def close(self) -> None:
        for file in self._theirs:
            file.close()
        for mover in self._movers:
            mover.close()

    def __del__(self) -> None:
        self.close()


FOREVER = 1 << 62  #: a deadline, ns
POLITELY = ((signal.SIGINT, 1.0), (signal.SIGTERM, 1.0), (signal.SIGKILL, 60.0))
AT_ONCE = ((signal.SIGKILL, 60.0),)


def ended(target: _native.Target) -> tuple[int, int, int, int, int, int, int] | None:
    """How a command ended; None: not yet, or another wait has taken its end (a program that ignores SIGCHLD)."""
    try:
        return target.exit()
    except Error as error:
        if error.errno != 10:  # ECHILD
            raise
        return None


def began(target: _native.Target) -> bool:
    """Whether a command was started. Asked of the target: an exception may come right after its start."""
    try:
        target.exit()
    except Error as error:
        return error.errno != 22  # EINVAL
    except ValueError:  # closed
        return False
    return True


def end(target: _native.Target, steps: tuple[tuple[int, float], ...] = POLITELY) -> None:
    """Ends a command: politely, then not."""
    for number, patience in steps:
        if target.wait(0):
            return
        _signal(target, number)
        with _native.Bell() as bell:
            if target.wait(time.monotonic_ns() + int(patience * 1e9), bell):
                return


async def end_meanwhile(target: _native.Target) -> None:
    """The same in an event loop, which goes on. Where it is cancelled, the command may still run."""
    loop = asyncio.get_running_loop()
    for number, patience in POLITELY:
        if target.wait(0):
            return
        _signal(target, number)
        until = loop.time() + patience
        while loop.time() < until:
            await _readable(loop, target, min(until - loop.time(), 0.05))
            if target.wait(0):
                return


async def _readable(loop: asyncio.AbstractEventLoop, target: _native.Target, seconds: float) -> None:
    """Until a target ends, or for so long."""
    over = asyncio.Event()
    try:
        fd = os.dup(target.fileno())  # of its own: two tasks may wait for one target
    except Error:  # before Linux 5.3
        await asyncio.sleep(min(seconds, 0.01))
        return
    # No asyncio.wait_for(): up to Python 3.11 a cancellation that comes with the end of its wait is lost.
    timer = loop.call_later(seconds, over.set)
    loop.add_reader(fd, over.set)
    try:
        await over.wait()
    finally:
        timer.cancel()
        loop.remove_reader(fd)
        os.close(fd)


def _signal(target: _native.Target, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(target.pid, number)
