"""A command that is measured: its words, its streams, its end."""
from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
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


class Streams:
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
AT_ONCE = ((signal.SIGKILL, 60.0),)


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
