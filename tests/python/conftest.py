"""What the tests share. They run against the installed package: tests/python/run."""
import contextlib
import mmap
import os
import sys
import threading
import time

import pytest

import reckon

pytest_plugins = ["pytester"]


@pytest.fixture
def spin():
    """A program that computes for about so many seconds of CPU time and touches so many pages."""

    def command(seconds=0.2, pages=0):
        code = (
            "import time\n"
            f"a = bytearray({pages} * 4096)\n"
            f"end = time.process_time() + {seconds}\n"
            "while time.process_time() < end: pass\n"
        )
        return [sys.executable, "-S", "-E", "-c", code]

    return command


@pytest.fixture
def hardware():
    """Skips where there are no hardware events."""
    check = reckon.doctor()["hardware"]
    if not check:
        pytest.skip(check.what)


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def counters():
    """This process's descriptors of events."""
    found = 0
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            found += "perf_event" in os.readlink(f"/proc/self/fd/{name}")
    return found


@contextlib.contextmanager
def when_counting(action):
    """Inside, another thread calls it once this process has more counters than before."""
    before = counters()

    def wait():
        while counters() <= before:
            time.sleep(0.01)
        action()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    yield
    thread.join()


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def touch(pages):
    """Writes to so many fresh pages, each a fault of its own."""
    size = os.sysconf("SC_PAGE_SIZE")
    with mmap.mmap(-1, pages * size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        for i in range(pages):
            memory[i * size] = 1


def in_a_thread(function, *args):
    """Calls it in another thread, which has ended then."""
    thread = threading.Thread(target=function, args=args)
    thread.start()
    thread.join()


def zombies():
    """Children of this process that have ended and were not waited for."""
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
        children = file.read().split()
    states = []
    for child in children:
        with open(f"/proc/{child}/stat", encoding="utf-8", errors="replace") as file:
            states.append(file.read().rsplit(")", 1)[1].split()[0])
    return states.count("Z")
