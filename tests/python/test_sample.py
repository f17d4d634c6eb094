import asyncio
import gc
import os
import re
import subprocess
import sys

import pytest
from conftest import zombies

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
    with subprocess.Popen(spin(5)) as child:
        profile = reckon.sample(child.pid, duration=0.5).profile()
        child.kill()
    assert profile.samples > 10 and any("python" in f.module for f in profile.functions)


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
    assert both.samples == a.samples + b.samples and [s.name for s in both.by("source")] == ["b", "a"]
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
        import os, reckon, signal, threading
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        p = reckon.sample(["sh", "-c", "while :; do :; done"]).profile()
        print(p.samples)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
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
