import asyncio
import base64
import collections.abc
import concurrent.futures
import copy
import math
import multiprocessing
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import in_a_thread, touch

import reckon
from reckon import _counts
from reckon._machine import host

def test_pages_are_counted():
    touch(10)  # what Python itself needs is there now
    with reckon.count("page-faults") as c:
        touch(1000)
    assert 1000 <= c["page-faults"] < 1100
    assert isinstance(c["page-faults"], int)
    assert c.seconds > 0


def test_only_the_calling_thread():
    def other():
        touch(2000)

    with reckon.count("page-faults") as c:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert c["page-faults"] < 1000
    with reckon.count("page-faults", scope="process") as c:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert c["page-faults"] >= 2000


def test_counts_are_a_mapping():
    with reckon.count("page-faults,task-clock") as c:
        touch(1)
    counts = c.counts
    assert isinstance(counts, collections.abc.Mapping)
    assert list(counts) == ["page-faults", "task-clock"] == list(c.events)
    assert len(counts) == 2 and "task-clock" in counts and "nope" not in counts
    assert counts.to_dict() == dict(counts.items())
    assert counts.get("nope") is None and counts.get("nope", 3) == 3
    with pytest.raises(KeyError, match="page-faults"):
        counts["cycles"]
    assert counts[0] == counts["page-faults"] and counts[-1] == counts["task-clock"]
    assert counts.share("page-faults") == 1.0 and counts.bound("page-faults") == 0.0
    assert "page-faults" in str(c) and "page-faults" in repr(counts) and "<table>" in c._repr_html_()


def test_a_reading_is_a_buffer():
    numpy = pytest.importorskip("numpy")
    with reckon.count("page-faults,task-clock") as c:
        now = c.read()
        table = numpy.asarray(now)
    assert table.shape == (2, 3) and table.dtype == numpy.uint64
    assert table[0][0] == now.raw[0] and tuple(table[:, 2]) == now.running_ns


def test_differences():
    with reckon.count("page-faults") as c:
        a = c.read()
        touch(100)
        b = c.read()
    assert 100 <= (b - a)["page-faults"] < 200
    assert (b - a).time_ns == b.time_ns - a.time_ns
    with pytest.raises(ValueError):
        a - b
    with pytest.raises(TypeError):
        a - 1
    with reckon.count("page-faults") as d, pytest.raises(ValueError):
        d.read() - a


def test_what_is_not_counted_is_never_zero():
    """What happens in the kernel alone can't be counted in user space; a closed counter still knows why."""
    with reckon.count("page-faults,context-switches:u", keep=True) as c:
        touch(1)
    assert c["page-faults"] >= 1 and c.counts.values()[1] is None and c.counts.get(1) is None
    with pytest.raises(reckon.NotCounted, match="in the kernel alone") as why:
        c[1]
    assert why.value.cause == "unsupported" and why.value.event == "context-switches:u"
    assert math.isnan(c.counts.bound(1)) and c.counts.share(1) == 0.0
    assert [note.event for note in c.notes if note.absent] == [1]


def test_hardware(hardware):
    with reckon.count("cycles,instructions") as c:
        sum(range(10000))
    assert c["instructions"] > 10000 and 0 < c.ipc < 20


def test_no_hardware_is_said():
    if reckon.doctor()["hardware"]:
        pytest.skip("there are hardware events here")
    with pytest.raises(reckon.Error) as why:
        reckon.count("cycles")
    assert isinstance(why.value, OSError) and why.value.errno and why.value.event.startswith("cycles")
    assert why.value.cause == "no-pmu" and why.value.remedy and "fix:" in str(why.value)
    c = reckon.count()  # the defaults leave out what there is not, and say so
    assert any(note.absent for note in c.notes) and "page-faults" in c.events
    with c:
        touch(1)
    assert c["page-faults"] >= 1


@pytest.mark.parametrize(
    "events, kind",
    [(3, TypeError), (None, TypeError), ([1], TypeError), ("", ValueError), ([], ValueError), ("page-fautls", ValueError),
     ("page-faults,,", ValueError), ("{page-faults", ValueError)],
)  # fmt: skip
def test_bad_events(events, kind):
    with pytest.raises(kind) as why:
        reckon.count(events)
    assert str(why.value)


def test_the_nearest_name_is_told():
    with pytest.raises(reckon.EventError, match="page-faults") as why:
        reckon.count("page-fautls")
    assert why.value.cause == "no-event" and isinstance(why.value, (OSError, ValueError))


def test_process_on_cpus():
    cpus = sorted(os.sched_getaffinity(0))
    with reckon.attach("page-faults", pid=os.getpid(), cpu=cpus, inherit=False) as c:
        touch(500)
        c.disable()
        slots, total = c.each(), c.read()
    assert sorted({slot.cpu for slot, _ in slots}) == cpus and all(slot.pid > 0 for slot, _ in slots)
    assert sum(counts["page-faults"] for _, counts in slots) == total["page-faults"] >= c["page-faults"] >= 500
    with pytest.raises(reckon.Error):
        reckon.attach("page-faults", pid=os.getpid(), cpu=99999)


def test_other_bad_arguments():
    with pytest.raises(ValueError):
        reckon.count("page-faults", scope="universe")
    with pytest.raises(TypeError):
        reckon.attach("page-faults")
    with pytest.raises(TypeError):
        reckon.attach("page-faults", pid=1, machine=True)
    with pytest.raises(TypeError):
        reckon.attach("page-faults", pid=1, tid=1, cpu=0)
    with pytest.raises(ValueError):
        reckon.attach("page-faults", pid=0)
    with pytest.raises(ValueError):
        reckon.attach("page-faults", pid=())
    with pytest.raises(reckon.Error) as why:
        reckon.attach("page-faults", pid=2**22 + 1)
    assert why.value.cause == "no-process"
    with reckon.count("page-faults") as c, pytest.raises(ValueError):
        next(iter(c.every(0)))
    with pytest.raises(TypeError):
        c.region(3)


def test_closed():
    c = reckon.count("page-faults")
    with c:
        pass
    before = c["page-faults"]
    c.close()
    c.close()
    assert c["page-faults"] == before
    with pytest.raises(ValueError, match="closed"):
        c.read()
    with pytest.raises(ValueError, match="closed"):
        c.enable()


def test_an_exception_passes_and_closes():
    with pytest.raises(ZeroDivisionError):
        with reckon.count("page-faults") as c:
            touch(10)
            1 / 0
    assert c["page-faults"] >= 10


def test_decorator_over_threads():
    @reckon.count("page-faults")
    def work(pages):
        """Says what it does."""
        touch(pages)
        return pages

    assert work(500) == 500 and work.__doc__ == "Says what it does." and work.__name__ == "work"
    threads = [threading.Thread(target=work, args=(500,)) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert work.reckon.calls == 5
    assert 2500 <= work.reckon["page-faults"] < 3500

    @reckon.count("page-faults", scope="thread")
    def of_its_thread(pages):
        touch(pages)
        in_a_thread(touch, 4 * pages)

    threads = [threading.Thread(target=of_its_thread, args=(500,)) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert of_its_thread.reckon.calls == 4 and 2000 <= of_its_thread.reckon["page-faults"] < 5000
    with pytest.raises(ZeroDivisionError):

        @reckon.count("page-faults")
        def fails():
            1 / 0

        fails()


def test_a_decorator_counts_other_threads():
    """What a pool does for a function is the function's; calls that overlap count once."""

    @reckon.count("page-faults")
    def with_a_pool(pages):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(touch, [pages, pages]))

    with_a_pool(1000)
    assert 2000 <= with_a_pool.reckon["page-faults"] < 2600
    gate = threading.Barrier(2)

    @reckon.count("page-faults")
    def together(pages):
        gate.wait()
        touch(pages)
        gate.wait()

    threads = [threading.Thread(target=together, args=(1000,)) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert together.reckon.calls == 2 and 2000 <= together.reckon["page-faults"] < 2600


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_other_threads_are_noted():
    # :u, since a plain user's counter has a note of its own where the kernel is left out
    with reckon.count("page-faults:u") as c:
        in_a_thread(burn, 0.05)
    (note,) = c.notes
    assert note.cause == "threads" and "0.05" in note.what and 'scope="process"' in note.remedy
    assert "other threads" in str(c) and "other threads" in c._repr_html_()
    with reckon.count("page-faults:u") as c:  # what has not worked is not worth a word
        in_a_thread(touch, 1)
        burn(0.01)
    assert c.notes == [] and "other threads" not in str(c)
    for scope in "thread", "process":
        with reckon.count("page-faults:u", scope=scope) as c:
            in_a_thread(burn, 0.05)
        assert c.notes == []


def test_regions_of_threads_do_not_nest():
    """In another thread a region counts that one, and is inside of nothing that a thread beside it has begun."""
    with reckon.count("page-faults") as c:
        shared, gate = c.region("shared"), threading.Barrier(2)

        def other():
            gate.wait()  # the main thread is in "outer" and in "shared"
            with c.region("other"), shared:
                gate.wait()
                touch(1000)
                gate.wait()

        thread = threading.Thread(target=other)
        thread.start()
        with c.region("outer"):
            with shared:
                gate.wait()
                gate.wait()
            touch(100)
            gate.wait()
        thread.join()
    found = {r.path: r for r in c.regions}
    assert set(found) == {("outer",), ("outer", "shared"), ("other",), ("other", "shared")}
    assert 1000 <= found["other", "shared"].inclusive["page-faults"] < 1100
    assert 100 <= found["outer",].exclusive["page-faults"] < 900 and found["outer", "shared"].inclusive["page-faults"] < 900


def test_regions_of_tasks_do_not_nest():
    async def main(c):
        begun, go = asyncio.Event(), asyncio.Event()

        async def first():
            with c.region("first"):
                begun.set()
                await go.wait()
                with c.region("inside"):
                    touch(10)

        async def second():
            await begun.wait()
            with c.region("second"):
                go.set()
                await asyncio.sleep(0)
                await asyncio.sleep(0)

        with c.region("all"):
            await asyncio.gather(first(), second())
            await asyncio.to_thread(in_region, c)

    def in_region(c):
        with c.region("pool"):
            touch(200)

    with reckon.count("page-faults") as c:
        asyncio.run(main(c))
    assert {r.path for r in c.regions} == {("all",), ("first",), ("first", "inside"), ("second",), ("pool",)}
    assert {r.path: r for r in c.regions}["pool",].inclusive["page-faults"] >= 200


def test_regions_that_overlap_end_by_themselves():
    with reckon.count("page-faults") as c:
        a, b = c.region("a"), c.region("b")
        a.__enter__()
        b.__enter__()
        a.__exit__(None, None, None)
        touch(100)
        b.__exit__(None, None, None)
        with c.region("c"):
            pass
    found = {r.path: r for r in c.regions}
    assert set(found) == {("a",), ("a", "b"), ("c",)}
    assert found["a", "b"].inclusive["page-faults"] >= 100 > found["a",].inclusive["page-faults"]


def test_counts_are_pickled_copied_compared():
    with reckon.count("page-faults,task-clock,context-switches:u", keep=True) as c:
        first = c.read()
        touch(10)
        second = c.read()
        of_open = pickle.loads(pickle.dumps(second))
    for counts in first, second - first, c.counts:
        for again in pickle.loads(pickle.dumps(counts)), copy.copy(counts), copy.deepcopy(counts), pickle.loads(pickle.dumps(counts, 2)):
            assert again == counts and hash(again) == hash(counts) and isinstance(again, reckon.Counts)
            assert dict(again.items()) == dict(counts.items()) and str(again) == str(counts) and again.states == counts.states
            assert again.time_ns == counts.time_ns and bytes(again) == bytes(counts) and again.share(0) == 1.0
            with pytest.raises(reckon.NotCounted):
                again[2]
    for again in of_open, c.counts, pickle.loads(pickle.dumps(c.counts)):
        with pytest.raises(reckon.NotCounted, match="in the kernel alone") as why:
            again[2]
        assert why.value.cause == "unsupported" and why.value.event == "context-switches:u"
    assert first != second and first != 3 and len({first, pickle.loads(pickle.dumps(first)), second}) == 2
    # What was read of one set of counters still is.
    early, late = pickle.loads(pickle.dumps((first, second)))
    assert late - early == second - first and second - early == second - first and late + early == second + first
    with reckon.count("page-faults,task-clock,context-switches:u", keep=True) as d, pytest.raises(ValueError, match="different"):
        d.read() - early
    again = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(late))))
    assert again == second and again - early == second - first


def test_counts_in_other_processes():
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        counts = pool.submit(counted_there, 500).result()
    assert counts["page-faults"] >= 500


def counted_there(pages):
    with reckon.count("page-faults") as c:
        touch(pages)
    return c.counts


def test_a_state_of_another_version():
    """What the first version has written is read; a later one is refused in words."""
    first = (
        "gASVywAAAAAAAACMDXJlY2tvbi5fc3RhdGWUjAhyZXN0b3JlZJSTlIwGQ291bnRzlEsBfZQojANrZXmUjAUxLTItM5SMBW5hbWVzlIwLcGFnZS"
        "1mYXVsdHOUhZSMBXVuaXRzlIwAlIWUjAZzY2FsZXOURz/wAAAAAAAAhZSMB3RpbWVfbnOUTdIEjAdudW1iZXJzlEsHhZRLCIWUSwiFlIeUjAZz"
        "dGF0ZXOUjAdjb3VudGVklIWUjAN3aHmUfZSMBnJlY2tvbpSMBTAuMS4wlHWHlFKULg=="
    )
    counts = pickle.loads(base64.b64decode(first))
    assert counts["page-faults"] == 7 and counts.seconds == 1234e-9 and counts.running_ns == (8,)
    restore, (kind, version, state) = counts.__reduce__()
    assert (kind, version) == ("Counts", 1)
    with pytest.raises(pickle.UnpicklingError, match="reckon 9.9 .*version 2 .*versions up to 1"):
        restore(kind, 2, {**state, "reckon": "9.9"})
    with pytest.raises(pickle.UnpicklingError, match="knows no such thing"):
        restore("Nonsense", 1, state)
    for damage in ({"numbers": ((1,), (1,), ())}, {"states": ()}, {"states": ("odd",)}, {"names": ("a", "b")}, {"time_ns": "x"}, {"numbers": ((-1,), (1,), (1,))}):
        with pytest.raises(pickle.UnpicklingError, match="damaged"):
            restore(kind, 1, {**state, **damage})


def made(rows, states, names=("cpu_core/cycles/u", "cpu_atom/cycles/u"), **more):
    """Counts made up: rows of (value, enabled, running), as on a hybrid CPU."""
    n = len(names)
    why = {i: (61, f"{name}: not counted", "", "starved", "read", "", 0) for i, name in enumerate(names)}
    state = {"key": "1-1", "names": names, "units": ("",) * n, "scales": (1.0,) * n, "time_ns": 5, "states": states, "why": why}
    return _counts._restore(1, {**state, "numbers": tuple(zip(*rows, strict=True)), **more})


def test_one_name_on_a_hybrid_cpu():
    """A name is the sum over the kinds of cores: of a task scaled once, of CPUs each by itself."""
    task = made([(96, 10, 8), (6, 10, 2)], ("counted", "counted"))
    assert task["cycles:u"] == task["cycles"] == 102 and isinstance(task["cycles"], int)
    assert task["cpu_atom/cycles/u"] == 30 and task.share("cycles") == 1 and task.bound("cycles") == 0
    assert pickle.loads(pickle.dumps(task))["cycles"] == 102
    shared = made([(96, 10, 4), (6, 10, 1)], ("counted", "counted"))
    assert shared["cycles"] == 204 and shared.share("cycles") == 0.5 and shared.bound("cycles") > 0
    cpus = made([(96, 10, 8), (6, 10, 2)], ("counted", "counted"), on_cpus=True)
    assert cpus["cycles"] == 150 and pickle.loads(pickle.dumps(cpus))["cycles"] == 150 and cpus.share("cycles") == 0.5
    # In turn: the kind of core that the task was never on has no part; CPUs that starved have one that is unknown.
    assert made([(96, 10, 10), (0, 10, 0)], ("counted", "idle"))["cycles"] == 96
    assert made([(96, 10, 10), (0, 10, 0)], ("counted", "starved"))["cycles"] == 96
    assert made([(0, 0, 0), (0, 0, 0)], ("idle", "idle"))["cycles"] == 0
    for rows, states, more in (
        ([(96, 10, 10), (0, 10, 0)], ("counted", "starved"), {"on_cpus": True}),
        ([(96, 10, 10), (0, 0, 0)], ("counted", "absent"), {}),
        ([(0, 10, 0), (0, 10, 0)], ("starved", "starved"), {}),
    ):
        counts = made(rows, states, **more)
        with pytest.raises(reckon.NotCounted):
            counts["cycles"]
        assert counts.get("cycles") is None and math.isnan(counts.bound("cycles")) and counts.share("cycles") == 0
    both = made([(5, 1, 1), (6, 1, 1)], ("counted", "counted"), ("cpu_core/cycles/u", "cpu_core/cycles/k"))
    with pytest.raises(KeyError):
        both["cycles"]
    ipc = ("cpu_core/cycles/", "cpu_atom/cycles/", "cpu_core/instructions/", "cpu_atom/instructions/")
    assert made([(2, 1, 1), (2, 1, 1), (6, 1, 1), (2, 1, 1)], ("counted",) * 4, ipc).ipc == 2


def test_states_of_intervals():
    """An interval is known where both of its ends are."""
    names = ("a", "b")
    first = made([(3, 5, 5), (0, 0, 0)], ("counted", "absent"), names)
    later = made([(0, 0, 0), (9, 9, 9)], ("absent", "counted"), names)
    between = later - first
    assert between.states == ("absent", "absent") and between.raw == (0, 0) and between.to_dict() == {"a": None, "b": None}
    waited = made([(3, 9, 5), (0, 9, 0)], ("counted", "starved"), names) - made([(3, 5, 5), (0, 4, 0)], ("counted", "starved"), names)
    assert waited.states == ("starved", "starved") and waited.get("a") is None
    never = made([(3, 5, 5), (4, 5, 5)], ("counted", "counted"), names) - made([(0, 0, 0), (0, 0, 0)], ("disabled", "idle"), names)
    assert never.states == ("counted", "counted") and never["a"] == 3
    still = made([(3, 5, 5), (0, 0, 0)], ("counted", "disabled"), names) - made([(3, 5, 5), (0, 0, 0)], ("counted", "disabled"), names)
    assert still.states == ("idle", "disabled") and still["a"] == 0 and still.get("b") is None


def test_errors_are_pickled():
    try:
        reckon.count("page-fautls")
    except reckon.EventError as why:
        again = pickle.loads(pickle.dumps(why))
        assert (again.cause, again.position, again.remedy, str(again)) == (why.cause, why.position, why.remedy, str(why))


def test_regions_nest():
    with reckon.count("page-faults") as c:
        for _ in range(3):
            with c.region("outer"):
                touch(100)
                with c.region("inner"):
                    touch(200)
        with c.region("inner"):
            touch(50)
    found = {r.path: r for r in c.regions}
    assert set(found) == {("outer", "inner"), ("outer",), ("inner",)}
    outer, inner = found["outer",], found["outer", "inner"]
    assert outer.calls == inner.calls == 3 and found["inner",].calls == 1
    assert 600 <= inner.inclusive["page-faults"] < 700
    assert 900 <= outer.inclusive["page-faults"] < 1050
    assert outer.inclusive["page-faults"] == outer.exclusive["page-faults"] + inner.inclusive["page-faults"]
    assert found["inner",].inclusive["page-faults"] >= 50


def test_a_region_ends_with_an_exception():
    with reckon.count("page-faults") as c:
        with pytest.raises(ZeroDivisionError):
            with c.region("a"):
                1 / 0
        with c.region("b"):
            pass
    assert [r.path for r in c.regions] == [("a",), ("b",)]


def test_attach_to_a_process(spin):
    import subprocess

    with subprocess.Popen(spin(3)) as child:
        with reckon.attach("task-clock", pid=child.pid) as c:
            got = [counts["task-clock"] for counts in c.every(0.05, 4)]
        child.kill()
    assert len(got) == 4 and sum(got) > 10e6


def test_attach_ends_with_the_process(spin):
    import subprocess

    with subprocess.Popen(spin(0.2)) as child:
        with reckon.attach("task-clock", pid=child.pid, freeze=False) as c:
            got = list(c.every(0.05))
        assert child.wait() == 0
    assert got and sum(counts["task-clock"] for counts in got) > 10e6


def test_a_signal_in_another_thread_ends_an_interval():
    """As one does that comes right before the sleep: Python has heard of it, and the sleep is not interrupted."""
    code = """if True:
        import os, reckon, signal, sys, threading, time
        sys.setswitchinterval(1e-5)

        def interrupt():
            while open(f"/proc/{os.getpid()}/wchan").read() in ("0", "") and open(f"/proc/{os.getpid()}/stat").read().split()[2] != "S":
                time.sleep(0.01)
            time.sleep(0.2)
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)

        for of in dict(pid=os.getpid()), dict(pid=os.getppid()), dict(machine=True):
            try:
                c = reckon.attach("page-faults", **of)
            except reckon.Error:
                continue
            c.enable()
            threading.Thread(target=interrupt).start()
            try:
                list(c.every(1000))
            except KeyboardInterrupt:
                print("interrupted")
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("interrupted"), done.stderr


def test_attach_to_threads_and_the_machine():
    me = threading.get_native_id()
    with reckon.attach("page-faults", tid=me) as c:
        touch(100)
    assert c["page-faults"] >= 100
    try:
        c = reckon.attach("cpu-clock", machine=True)
    except reckon.Error as why:
        assert why.cause in ("paranoid", "capability") and why.remedy
    else:
        with c:
            time.sleep(0.02)
            each = c.each()
        assert c["cpu-clock"] > 0
        assert [slot.cpu for slot, _ in each] == host().cpus() and all(slot.pid == -1 for slot, _ in each)


def test_intervals_in_an_event_loop(spin):
    import subprocess

    ticks = 0

    async def tick():
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    async def main(pid):
        nonlocal ticks
        ticks = 0
        ticking = asyncio.create_task(tick())
        with reckon.attach("task-clock", pid=pid) as c:
            got = [counts["task-clock"] async for counts in c.every(0.05, 4)]
        ticking.cancel()
        return got

    with subprocess.Popen(spin(5)) as child:
        for _ in range(20):  # a busy machine may keep both waiting
            got = asyncio.run(main(child.pid))
            assert len(got) == 4
            if sum(got) > 0 and ticks >= 4:
                break
        child.kill()
    assert sum(got) > 0 and ticks >= 4


def test_a_counter_of_another_thread_is_refused_or_right():
    """Reads from several threads at a time: no crash, and numbers that never fall."""
    c = reckon.count("task-clock")
    c.enable()
    seen = [[] for _ in range(4)]

    def read(mine):
        for _ in range(2000):
            mine.append(c.read().raw[0])

    threads = [threading.Thread(target=read, args=(mine,)) for mine in seen]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(len(mine) == 2000 and mine == sorted(mine) and mine[0] > 0 for mine in seen)


def test_named_regions_of_the_environment(tmp_path):
    import subprocess
    import sys

    code = "import reckon\nwith reckon.region('parse'):\n    x = bytearray(1 << 20)\n"
    report = tmp_path / "regions.json"
    env = dict(os.environ, RECKON_REGIONS="page-faults", RECKON_REGIONS_OUTPUT=str(report))
    subprocess.run([sys.executable, "-c", code], env=env, check=True, timeout=60)
    assert "parse" in report.read_text()


@pytest.mark.parametrize(
    "arguments, kind, named",
    [
        ({"pid": b"x"}, TypeError, "pid"), ({"pid": True}, TypeError, "pid"), ({"pid": 1.5}, TypeError, "pid"), ({"tid": [None]}, TypeError, "tid"),
        ({"pid": 2**70}, ValueError, "pid"), ({"tree": -1}, ValueError, "tree"), ({"tree": "1"}, TypeError, "tree"), ({"cpu": b"0"}, TypeError, "cpu"),
        ({"cpu": [0.5]}, TypeError, "cpu"), ({"cgroup": 3}, TypeError, "cgroup"), ({"cgroup": [None]}, TypeError, "cgroup"),
        ({"cgroup": "a\0b"}, ValueError, "null"),
    ],
)  # fmt: skip
def test_bad_targets(arguments, kind, named):
    with pytest.raises(kind, match=named):
        reckon.attach("page-faults", **arguments)


@pytest.mark.parametrize("seconds, kind", [(0, ValueError), (-1, ValueError), (math.nan, ValueError), (math.inf, ValueError), (2**70, ValueError), ("1", TypeError), (None, TypeError), (True, TypeError)])
def test_bad_intervals(seconds, kind):
    with reckon.count("page-faults") as c:
        with pytest.raises(kind, match="every"):
            c.every(seconds)
        with pytest.raises((TypeError, ValueError), match="count"):
            c.every(1, seconds if seconds is not None and seconds != 0 else "x")


def test_recursion_is_counted_once():
    @reckon.count("page-faults")
    def down(n):
        if n:
            return down(n - 1)
        touch(1000)

    down(10)
    assert down.reckon.calls == 11 and 1000 <= down.reckon["page-faults"] < 1500
    assert "11 calls" in str(down.reckon) and "11 calls" in down.reckon._repr_html_()


def test_what_returns_before_its_work_is_refused():
    async def coroutine():
        pass

    def generator():
        yield

    for function in (coroutine, generator, 3):
        with pytest.raises(TypeError):
            reckon.count("page-faults")(function)


def test_many_counters_at_once():
    counters = [reckon.count("page-faults") for _ in range(500)]
    for c in counters:
        c.enable()
    touch(10)
    assert all(c["page-faults"] >= 10 for c in counters)


def test_no_descriptors_is_said(tmp_path):
    import subprocess
    import sys

    code = """if True:
        import reckon, resource
        resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))
        kept = []
        try:
            while True:
                kept.append(reckon.count("page-faults"))
        except reckon.Error as error:
            assert error.cause == "descriptors" and error.errno == 24 and error.remedy, error
        kept.clear()
        assert reckon.run(["true"], events="page-faults", capture_output=True).returncode == 0
    """
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_attach_to_a_cgroup_and_a_cpu(spin):
    import subprocess

    able = reckon.doctor()["machine"]
    if not able:
        pytest.skip(able.what)
    with pytest.raises(reckon.Error) as why:  # says where the kernel's cgroups are
        reckon.attach("task-clock", cgroup="no-such-cgroup")
    where = re.search("no such cgroup below (/.*)$", str(why.value), re.MULTILINE)
    if not where:
        pytest.skip(str(why.value))
    directory = os.path.join(where.group(1), f"reckon-{os.environ.get('RECKON_MARK', 'test')}-python-{os.getpid()}")
    try:
        os.mkdir(directory)
    except OSError as why:
        pytest.skip(f"no cgroup can be made here: {why}")
    try:
        with reckon.attach("task-clock", cgroup=os.path.basename(directory)) as c:
            join = "import os; open('%s/cgroup.procs', 'w').write(str(os.getpid()));" % directory
            command = spin(0.2)
            subprocess.run([*command[:-1], join + "\n" + command[-1]], check=True)
        assert 0.2e9 <= c["task-clock"] < 5e9
        assert c.events == ("task-clock",)
    finally:
        os.rmdir(directory)
    with reckon.attach("cpu-clock", cpu=0) as c:
        time.sleep(0.05)
        assert [slot.cpu for slot, _ in c.each()] == [0]
    assert c["cpu-clock"] >= 0.04e9
