import asyncio
import gc
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from conftest import when_counting, zombies

import reckon


def test_every_fault_is_a_sample(spin):
    """By period 1 there are as many samples as faults: none lost, none made up."""
    s = reckon.sample(spin(0.01, pages=2000), events="page-faults", period=1)
    samples = list(s)
    assert len(samples) >= 2000 and s.loss.kept == len(samples) and not s.loss.lost
    assert s.returncode == 0 and s.events[0].startswith("page-faults")
    times = [x.time for x in samples]
    assert times == sorted(times)
    assert {x.pid for x in samples} == {samples[0].pid} and all(x.period == 1 for x in samples)


def test_live_samples_of_a_clock(spin):
    n, chains = 0, 0
    for x in reckon.sample(spin(0.3), freq=499):
        n += 1
        chains += len(x.chain) > 1
    assert 20 < n < 1000 and chains > n / 4


def test_columns(spin):
    numpy = pytest.importorskip("numpy")
    total = 0
    for batch in reckon.sample(spin(0.1, pages=500), events="page-faults", period=1).batches():
        ip = numpy.asarray(batch.ip)
        assert ip.dtype == numpy.uint64 and len(ip) == len(batch) == len(batch.time) and len(batch.chain_start) == len(batch) + 1
        total += len(batch)
    assert total >= 500


def test_in_an_event_loop(spin):
    ticks = 0

    async def tick():
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    async def main():
        ticking = asyncio.create_task(tick())
        n = 0
        async for _ in reckon.sample(spin(0.3), freq=499):
            n += 1
        ticking.cancel()
        return n

    assert asyncio.run(main()) > 20 and ticks > 3


def test_a_process_by_its_id(spin):
    with subprocess.Popen(spin(300)) as child:
        for duration in 0.5, 5, 50:  # on a busy machine it has to run first
            profile = reckon.sample(child.pid, duration=duration).profile()
            if profile.samples > 10:
                break
        child.kill()
    assert profile.samples > 10 and any("python" in f.module for f in profile.functions)
    nowhere = sum(row.self for row in profile.by("module") if row.name in ("", "[unknown]"))
    assert nowhere * 20 <= profile.summary["weight"]  # what it had mapped before is known


def test_a_profile_writes_no_file(spin):
    code = f"""if True:
        import reckon, resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        print(reckon.sample({spin(0.3)!r}).profile().samples)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert int(done.stdout) > 10


def test_profile(spin, tmp_path):
    s = reckon.sample(spin(0.4))
    profile = s.profile()
    assert profile.samples > 50 and profile.summary["lost"] == 0
    top = profile.top(5)
    assert len(top) == 5 and top[0].self >= top[1].self and 0 < top[0].self_share <= 1
    by_total = profile.top(3, by="total")
    assert by_total[0].total >= by_total[1].total
    tree = profile.tree()
    assert tree.total == profile.summary["weight"]
    assert tree.total == sum(node.total for node in tree.children.values()) + tree.self
    assert sum(weight for _, weight in profile.stacks()) == profile.summary["weight"]
    assert profile.export("folded") and "self" in str(profile) and "<table>" in profile._repr_html_()
    profile.save(tmp_path / "x.folded")
    assert (tmp_path / "x.folded").read_bytes() == profile.export("folded")
    with pytest.raises(ValueError, match="format"):
        profile.save(tmp_path / "x.unknown")
    with pytest.raises(ValueError):
        profile.export("no-such-format")
    with pytest.raises(ValueError):
        profile.top(by="colour")
    with pytest.raises(RuntimeError, match="once"):
        s.profile()


def test_parts_merges_and_differences(spin):
    numpy = pytest.importorskip("numpy")
    a, b = reckon.sample(spin(0.2)).profile(), reckon.sample(spin(0.3)).profile()
    both = reckon.merge([a, b], ["a", "b"])
    assert both.samples == a.samples + b.samples
    assert {s.name: s.self for s in both.by("source")} == {"a": a.summary["weight"], "b": b.summary["weight"]}
    assert len(a.diff(a)) == 0 and a.diff(a).scale == 1.0
    assert b.diff(a, normalise="none") and "change" in str(b.diff(a, normalise="none"))
    weight = numpy.asarray(a.columns["sample_weight"])
    assert weight.dtype == numpy.uint64 and weight.sum() == a.summary["weight"]
    assert numpy.asarray(a.columns["sample_count"]).sum() == a.samples
    for what in ("function", "line", "module", "thread", "process", "name", "cpu", "event"):
        assert sum(row.self for row in a.by(what)) == a.summary["weight"], what
    top = a.top(1)[0]
    part = a.select(symbol="^" + re.escape(top.name) + "$")
    assert 0 < part.samples <= a.samples
    halves = [a.select(time=(None, 0.1)), a.select(time=(0.1, None))]
    assert sum(h.samples for h in halves) == a.samples
    assert a.select(pid=1).samples == 0 and a.select(inline=False).samples == a.samples
    with pytest.raises(ValueError):
        a.select(symbol="(")
    with pytest.raises(ValueError):
        a.by("colour")
    with pytest.raises(ValueError):
        reckon.merge([a], ["x", "y"])
    with pytest.raises(TypeError):
        a.diff(3)


def test_columns_outlive_their_profile(spin):
    numpy = pytest.importorskip("numpy")
    weight = numpy.asarray(reckon.sample(spin(0.1)).profile().columns["sample_weight"])
    gc.collect()
    assert weight.sum() > 0


def test_profile_in_pandas(spin):
    pytest.importorskip("pandas")
    frame = reckon.sample(spin(0.1)).profile().to_pandas()
    assert {"name", "self", "total"} <= set(frame.columns) and frame["self"].iloc[0] == frame["self"].max()


def test_recordings_are_loaded(spin, tmp_path):
    path = tmp_path / "perf.data"
    stats = reckon.sample(spin(0.2)).record(path)
    assert stats["kept"] > 10 and stats["bytes"] == path.stat().st_size
    assert reckon.load(path).samples == stats["kept"]
    (tmp_path / "broken").write_bytes(path.read_bytes()[:100])
    with pytest.raises(reckon.Error):
        reckon.load(tmp_path / "broken")
    with pytest.raises(reckon.Error) as why:
        reckon.load(tmp_path / "nothing")
    assert why.value.errno == 2


def test_interrupt_keeps_the_recording():
    code = """if True:
        import reckon
        work = "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done"
        p = reckon.sample(["sh", "-c", f"{work}; kill -INT $PPID; while :; do {work}; done"]).profile()
        print(p.samples)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=250, check=True)
    assert int(done.stdout) > 5


def test_bad_arguments():
    with pytest.raises(TypeError):
        reckon.sample("sleep 1")
    with pytest.raises(TypeError):
        reckon.sample()
    with pytest.raises(TypeError):
        reckon.sample(["true"], cpu=0)
    with pytest.raises(ValueError):
        reckon.sample(["true"], freq=0)
    with pytest.raises(ValueError):
        reckon.sample(["true"], stacks="magic")
    with pytest.raises(ValueError):
        reckon.sample(["true"], duration=-1)
    with pytest.raises(ValueError):
        reckon.sample(os.getpid(), python=True)
    with pytest.raises(reckon.Error):
        reckon.sample(["no-such-program-anywhere"])
    with pytest.raises(ValueError):
        list(reckon.sample(["true"], events="page-fautls"))


def test_an_unfinished_sampler_ends_its_program():
    with reckon.sample(["sleep", "60"], events="page-faults", period=1) as s:
        for _ in s:
            break
    assert s.returncode is not None and zombies() == 0
    with reckon.sample(["sleep", "60"], events="page-faults", period=1):
        pass  # it was never started
    assert zombies() == 0


def test_closed_and_abandoned():
    """A sampler that is closed stays so; one that is dropped leaves nothing; what a program wrote is there."""
    s = reckon.sample(["true"])
    s.close()
    s.close()
    with pytest.raises(ValueError, match="closed"):
        list(s)
    list(reckon.sample(["true"], events="page-faults", period=1))  # what is opened once is open
    gc.collect()
    before = set(os.listdir("/proc/self/fd"))
    reckon.sample(["sleep", "60"], stdout=reckon.PIPE, stderr=reckon.PIPE)
    samples = iter(reckon.sample(["sleep", "60"], events="page-faults", period=1, stdout=reckon.PIPE))
    next(samples)
    del samples
    gc.collect()
    assert set(os.listdir("/proc/self/fd")) == before and zombies() == 0
    s = reckon.sample(["echo", "hi"], events="page-faults", period=1, stdout=reckon.PIPE)
    list(s)
    assert s.stdout == b"hi\n" and s.returncode == 0


# A program that faults for ever: each step has samples to wake who waits.
FAULTS = "import mmap, time\nwhile True: mmap.mmap(-1, 4096)[0] = 1; time.sleep(0.001)"


def test_a_cancelled_task_ends_its_program():
    """Also where the cancellation comes in the very turn of the loop in which a sample wakes the task."""

    async def one():
        sampler = reckon.sample([sys.executable, "-S", "-c", FAULTS], events="page-faults", period=1)
        loop = asyncio.get_running_loop()
        add_reader, n = loop.add_reader, 0

        def add_and_cancel(fd, callback):
            def seen():
                callback()
                if n > 300:
                    loop.call_soon(task.cancel)

            add_reader(fd, seen)

        async def all_of_it():
            nonlocal n
            async for _ in sampler:
                n += 1

        loop.add_reader = add_and_cancel
        task = asyncio.create_task(all_of_it())
        done, _ = await asyncio.wait({task}, timeout=120)
        assert done and task.cancelled() and n < 3000
        return sampler

    for _ in range(3):
        assert asyncio.run(one()).returncode is not None and zombies() == 0


def test_an_event_loop_goes_on_while_a_program_ends():
    """One that ignores signals is given its time, and the loop is not held up for it."""
    deaf = "import signal, sys, mmap, time\nfor s in (signal.SIGINT, signal.SIGTERM): signal.signal(s, signal.SIG_IGN)\n" + FAULTS.partition("\n")[2]

    async def main():
        longest, last, n = 0.0, time.monotonic(), 0

        async def tick():
            nonlocal longest, last
            while True:
                await asyncio.sleep(0.01)
                longest, last = max(longest, time.monotonic() - last), time.monotonic()

        ticking = asyncio.create_task(tick())
        async with reckon.sample([sys.executable, "-S", "-c", deaf], events="page-faults", period=1, stdout=reckon.PIPE) as s:
            async for _ in s:
                n += 1
                if n > 5000:  # it has told the kernel what it ignores
                    break
        ticking.cancel()
        return s, longest

    sampler, longest = asyncio.run(main())
    assert sampler.returncode == -signal.SIGKILL and zombies() == 0 and sampler.stdout == b""
    assert longest < 0.9  # each step is given a second


def test_a_cancelled_end_kills():
    deaf = "import signal, mmap, time\nfor s in (signal.SIGINT, signal.SIGTERM): signal.signal(s, signal.SIG_IGN)\n" + FAULTS.partition("\n")[2]

    async def main():
        s = reckon.sample([sys.executable, "-S", "-c", deaf], events="page-faults", period=1)
        samples = s.__aiter__()
        for _ in range(5000):
            await samples.__anext__()
        ending = asyncio.create_task(s.aclose())
        await asyncio.sleep(0.01)
        ending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await ending
        await samples.aclose()
        return s

    assert asyncio.run(main()).returncode == -signal.SIGKILL and zombies() == 0


def test_a_process_that_ends_ends_the_samples():
    for take in list, lambda sampler: sampler.profile():
        with subprocess.Popen(["sleep", "300"]) as child, when_counting(child.kill):
            take(reckon.sample(child.pid))


def test_a_forked_child_does_not_end_the_program():
    s = reckon.sample(["sleep", "0.5"], events="page-faults", period=1)
    samples = iter(s)
    next(samples)
    pid = os.fork()
    if pid == 0:
        try:
            list(samples)
        except reckon.Error as error:
            os._exit(0 if error.errno == 116 else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    list(samples)
    assert s.returncode == 0


def test_handles_in_use_are_refused(tmp_path):
    """While one thread steps a recording, others are told; what it stands on can't be closed under it."""
    import threading

    from reckon import _native
    from reckon._counts import Counts
    from reckon._machine import host

    target = _native.Target.command((b"sleep", b"300"), None, None, -1, -1, -1)
    counters = _native.Set(host(), "page-faults", target, {"period": 1, "records": _native.RECORDS_PROFILE}, Counts)
    capture = _native.Capture(host(), counters, target, tmp_path / "x", (), 0, 0)
    target.start()
    stop, seen = threading.Event(), set()

    def hammer():
        while not stop.is_set():
            for call in (lambda: capture.step(5), counters.read, counters.disable, counters.close, target.exit, target.close):
                try:
                    call()
                except RuntimeError as error:
                    seen.add(str(error).split(":")[0])

    threads = [threading.Thread(target=hammer) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(2000):
        threads[0].join(0.05)
        if any("another thread" in text for text in seen) and "a recording waits for this target" in seen:
            break
    stop.set()
    for thread in threads:
        thread.join()
    os.kill(target.pid, signal.SIGKILL)
    assert target.wait(1 << 62)
    assert any("another thread" in text for text in seen) and "a recording waits for this target" in seen
    assert capture.close()
    target.close()
    counters.close()


def test_a_duration_ends_a_flood(spin):
    for _ in reckon.sample(spin(1000), events="page-faults,cpu-clock", period=100_000, duration=0.3):
        pass


def test_odd_arguments_of_a_profile(spin):
    p = reckon.sample(["true"], events=["page-faults"], period=1).profile()
    for call, kind in (
        (lambda: reckon.merge([None]), TypeError), (lambda: reckon.merge("x"), TypeError), (lambda: reckon.merge([p], "x"), TypeError),
        (lambda: reckon.merge([p], ["a\0b"]), ValueError), (lambda: p.select(pid=2**70), ValueError), (lambda: p.select(pid="1"), TypeError),
        (lambda: p.select(time=("a", None)), TypeError), (lambda: p.select(time=(float("nan"), None)), ValueError), (lambda: p.select(symbol="a\0"), ValueError),
        (lambda: p.top(-1), ValueError), (lambda: p.top("x"), TypeError), (lambda: p.flamegraph(height="1\"><script>"), TypeError),
        (lambda: reckon.load("x", threads=-1), ValueError), (lambda: reckon.sample(["true"], freq=1.5), TypeError),
        (lambda: reckon.sample(["true"], duration=float("inf")), ValueError), (lambda: reckon.sample(True), TypeError),
        (lambda: reckon.sample({}), TypeError), (lambda: reckon.sample(["true"], env=[1]), TypeError),
    ):  # fmt: skip
        with pytest.raises(kind) as why:
            call()
        assert str(why.value)


def test_hostile_names_are_shown_as_text():
    graph = reckon.FlameGraph("<p>\"</p>", 100)
    assert '<p>' not in graph._repr_html_() and 'srcdoc="&lt;p&gt;&quot;' in graph._repr_html_()
    rows = type(reckon.sample(["true"], events="page-faults", period=1).profile().top())()
    rows.append(reckon.Function("<img src=x onerror=alert(1)>\x1b[2J", "<m>", "", 0, 1, 1, 1, 1, 1.0, 1.0))
    assert "<img" not in rows._repr_html_() and "&lt;img" in rows._repr_html_() and "\x1b" not in str(rows)


def fields(data):
    """The fields of a protocol buffer: [(number, value)], a value being a number or bytes."""
    found, at = [], 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        value = varint()
        if key & 7 == 2:
            value, at = data[at : at + value], at + value
        else:
            assert key & 7 == 0
        found.append((key >> 3, value))
    return found


def packed(data):
    """The numbers of a packed field."""
    numbers, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(value)
            value = shift = 0
    return numbers


def test_saved_for_pprof(spin, tmp_path):
    """Decoded by hand: as many samples and as much weight, functions by name; and read back."""
    profile = reckon.sample(spin(0.2)).profile()
    profile.save(tmp_path / "x.pb.gz")
    whole = fields(gzip.decompress((tmp_path / "x.pb.gz").read_bytes()))
    texts = [value.decode() for number, value in whole if number == 6]
    types = [[texts[v] for _, v in fields(value)] for number, value in whole if number == 1]
    rows = [dict(fields(value)) for number, value in whole if number == 2]
    sums = [sum(column) for column in zip(*(packed(row[2]) for row in rows))]
    functions = {texts[dict(fields(value))[2]] for number, value in whole if number == 5}
    assert texts[0] == "" and len(types) == len(sums)
    assert profile.samples in sums and profile.summary["weight"] in sums
    assert {f.name for f in profile.top(3)} <= functions
    again = reckon.load(tmp_path / "x.pb.gz")
    assert again.summary["weight"] == profile.summary["weight"]


def test_every_format_is_saved(spin, tmp_path):
    profile = reckon.sample(spin(0.1)).profile()
    for end in (".pb.gz", ".folded", ".csv", ".html", ".json", ".speedscope.json", ".firefox.json", ".perf"):
        path = tmp_path / ("x" + end)
        profile.save(path)
        assert path.stat().st_size > 100, end
        if end.endswith("json"):
            json.loads(path.read_bytes())
    assert "<html" in (tmp_path / "x.html").read_text(encoding="utf-8")
    graph = profile.flamegraph(height=300)
    assert graph.html == (tmp_path / "x.html").read_text(encoding="utf-8")
    shown = graph._repr_html_()
    assert shown.startswith("<iframe ") and shown.count("<") == 2 and 'height="300"' in shown
