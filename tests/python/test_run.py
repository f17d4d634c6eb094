import copy
import csv
import gc
import io
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import descriptors, zombies

import reckon


def test_totals(spin):
    s = reckon.run(spin(0.05, pages=3000), groups=[["page-faults", "minor-faults"], ["task-clock"]])
    assert len(s) == 1 and s.events == ("page-faults", "minor-faults", "task-clock")
    assert s.returncode == 0 and s.total("page-faults") >= 3000
    assert s.total("task-clock") >= 50e6 and s.wall > 0.05 and s.user + s.system > 0.04 and s.peak_rss > 3000 * 4096
    assert s.totals["page-faults"] == s[-1].values[0] == s.column("page-faults")[-1]


def test_a_row_for_each_time_point(spin):
    every = 0.02
    s = reckon.run(spin(0.3), groups=[["task-clock"]], every=every)
    times = s.time
    assert len(s) == len(times) == len(list(s)) >= 4
    assert times == sorted(times) and len(set(times)) == len(times)
    # Without drift: each but the last belongs to its own multiple of `every`, read late at most.
    slots = [int(t / every + 1e-6) for t in times[:-1]]
    assert slots == sorted(set(slots)) and all(t >= n * every for t, n in zip(times, slots))
    assert len(s) + s.missed >= int(s.wall / every)
    column = s["task-clock"]
    assert column == sorted(column) and column[-1] >= 0.3e9
    assert abs(times[-1] - s.wall) < 0.5
    assert s.raw("task-clock")[-1] == column[-1] and s.running("task-clock")[-1] <= s.enabled("task-clock")[-1]
    rates = [r for r in s.rates("task-clock") if r is not None]
    assert max(rates) <= 1.2e9 * (os.cpu_count() or 1)


def test_the_last_row_is_at_the_exit(spin):
    s = reckon.run(spin(0.05), events="task-clock", every=10)
    assert len(s) == 1 and s.time[0] < 5


def test_a_program_beside_the_machine(spin):
    try:
        s = reckon.run(spin(0.2, pages=3000), events="page-faults,task-clock", machine="cpu-clock", every=0.02)
    except reckon.Error as why:
        if os.geteuid() == 0:
            raise
        assert why.cause in ("paranoid", "capability", "seccomp")
        pytest.skip(str(why).split("\n", maxsplit=1)[0])
    assert s.returncode == 0 and len(s) >= 3
    assert s.events == ("page-faults", "task-clock", "cpu-clock") and s.machine_events == ("cpu-clock",)
    assert s.total("page-faults") >= 3000
    machine, program = s["cpu-clock"], s["task-clock"]
    assert machine == sorted(machine) and machine[0] > 0
    # Of one instant: the machine's clock goes on by each CPU's time between two rows, and the program's by no more.
    assert all(all_ >= own for all_, own in zip(machine, program))
    assert machine[-1] >= 0.2e9 and not s.reasons
    header, last = (s.to_csv().splitlines()[i].split(",") for i in (0, -1))
    assert header[-4:] == ["cpu-clock" + part for part in ("", ".raw", ".enabled_ns", ".running_ns")]
    assert float(last[-4]) == machine[-1]


def test_the_same_event_of_program_and_machine(spin):
    try:
        s = reckon.run(spin(0.05, pages=500), groups=[["page-faults"]], machine=["page-faults"])
    except reckon.Error as why:
        if os.geteuid() == 0:
            raise
        pytest.skip(str(why).split("\n", maxsplit=1)[0])
    assert s.events == ("page-faults", "page-faults#2") and s.machine_events == ("page-faults#2",)
    assert s.total("page-faults#2") >= s.total("page-faults") >= 500
    with pytest.raises(reckon.EventError):
        reckon.run(["true"], events="page-faults", machine="no-such-event")


def test_children_are_included():
    code = "import subprocess, sys; subprocess.run([sys.executable, '-S', '-E', '-c', 'a = bytearray(4096 * 5000)'])"
    s = reckon.run([sys.executable, "-S", "-E", "-c", code], events="page-faults")
    assert s.total("page-faults") >= 5000
    alone = reckon.run([sys.executable, "-S", "-E", "-c", code], events="page-faults", inherit=False)
    assert alone.total("page-faults") < 5000


def test_status_and_signals():
    assert reckon.run(["false"], events="page-faults").returncode == 1
    assert reckon.run(["sh", "-c", "exit 7"], events="page-faults").returncode == 7
    assert reckon.run(["sh", "-c", "kill -TERM $$"], events="page-faults").returncode == -signal.SIGTERM
    assert reckon.run(["sh", "-c", "kill -USR1 $$"], events="page-faults").returncode == -signal.SIGUSR1
    with pytest.raises(subprocess.CalledProcessError) as why:
        reckon.run(["sh", "-c", "exit 3"], events="page-faults", check=True)
    assert why.value.returncode == 3


def test_streams(tmp_path):
    s = reckon.run(["sh", "-c", "cat; echo err >&2"], events="page-faults", input="hällo", capture_output=True, text=True)
    assert s.stdout == "hällo" and s.stderr == "err\n"
    s = reckon.run(["sh", "-c", "echo a; echo b >&2"], events="page-faults", stdout=reckon.PIPE, stderr=reckon.STDOUT)
    assert s.stdout == b"a\nb\n" and s.stderr is None
    with open(tmp_path / "out", "wb") as out:
        reckon.run(["echo", "there"], events="page-faults", stdout=out)
    assert (tmp_path / "out").read_text() == "there\n"
    s = reckon.run(["cat"], events="page-faults", stdin=reckon.DEVNULL, stdout=reckon.PIPE)
    assert s.stdout == b""
    big = b"x" * (1 << 20)
    assert reckon.run(["cat"], events="page-faults", input=big, stdout=reckon.PIPE).stdout == big
    assert reckon.run(["true"], events="page-faults", input=big).returncode == 0  # it reads nothing of it


def test_environment_and_directory(tmp_path):
    s = reckon.run(["sh", "-c", "pwd; echo $X"], events="page-faults", env={"PATH": os.environ["PATH"], "X": "y"}, cwd=tmp_path, stdout=reckon.PIPE, text=True)
    assert s.stdout.splitlines() == [os.path.realpath(tmp_path), "y"]


def test_descriptors_do_not_leak_into_the_program():
    given = {name for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}") and os.get_inheritable(int(name))}
    s = reckon.run(["ls", "/proc/self/fd"], groups=[["page-faults", "task-clock"]], every=0.5, stdout=reckon.PIPE, text=True)
    assert set(s.stdout.split()) <= {"0", "1", "2", "3"} | given  # 3 is ls's own


def test_programs_that_are_not():
    with pytest.raises(reckon.Error) as why:
        reckon.run(["no-such-program-anywhere"], events="page-faults")
    assert why.value.errno == 2 and why.value.cause == "no-command"
    with pytest.raises(reckon.Error):
        reckon.run(["/etc/passwd"], events="page-faults")
    for bad in ("sleep 1", b"sleep"):
        with pytest.raises(TypeError, match="list"):
            reckon.run(bad, events="page-faults")
    for bad in ([], [""], ["a\0b"]):
        with pytest.raises(ValueError):
            reckon.run(bad, events="page-faults")
    with pytest.raises(TypeError):
        reckon.run([3], events="page-faults")


@pytest.mark.parametrize(
    "arguments, kind",
    [
        ({"groups": "page-faults"}, TypeError), ({"groups": ["page-faults"]}, TypeError), ({"groups": [[]]}, ValueError),
        ({"groups": []}, ValueError), ({"groups": [["page-fautls"]]}, ValueError), ({"every": 0}, ValueError),
        ({"every": -1}, ValueError), ({"repeat": 0}, ValueError), ({"groups": [["page-faults"]], "events": "page-faults"}, TypeError),
        ({"input": b"", "stdin": reckon.PIPE}, ValueError), ({"capture_output": True, "stdout": reckon.PIPE}, ValueError),
        ({"stdout": "file"}, TypeError),
    ],
)  # fmt: skip
def test_bad_arguments(arguments, kind):
    with pytest.raises(kind) as why:
        reckon.run(["true"], **arguments)
    assert str(why.value)


def test_timeout():
    with pytest.raises(subprocess.TimeoutExpired) as why:
        reckon.run(["sleep", "60"], events="task-clock", timeout=0.2, every=0.05)
    assert len(why.value.series) >= 1 and why.value.series.returncode == -signal.SIGINT


def test_interrupt_returns_what_was_read(tmp_path):
    """In a process of its own, so that the signal comes as Ctrl-C in a notebook does: to Python alone."""
    code = """if True:
        import reckon
        s = reckon.run(["sh", "-c", "sleep 1; kill -INT $PPID; exec sleep 300"], events="task-clock", every=0.05)
        print(s.interrupted, len(s), s.returncode)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=250, check=True)
    interrupted, rows, status = done.stdout.split()
    assert interrupted == "True" and int(rows) >= 2 and int(status) == -signal.SIGINT


def test_a_signal_in_another_thread_ends_each_wait(tmp_path):
    """As one does that comes right before a sleep: Python has heard of it, and the sleep is not interrupted."""
    code = """if True:
        import reckon, signal, sys, threading, time

        def interrupt():
            time.sleep(0.5)
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)

        for command in "exec sleep 300", "sleep 300 2>&- & echo $! >pid":  # it runs; it has ended, and another one holds its pipe
            threading.Thread(target=interrupt).start()
            s = reckon.run(["sh", "-c", command], events="task-clock", stdout=reckon.PIPE)
            print(s.interrupted, s.returncode)
    """
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=tmp_path) as child:
        try:
            said, _ = child.communicate(timeout=60)
        finally:
            child.kill()
            if (tmp_path / "pid").exists():
                os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    assert said.split() == ["True", str(-signal.SIGINT), "True", "0"]


def test_an_event_loop_sees_signals_that_came_in_a_wait():
    code = """if True:
        import asyncio, reckon, signal

        async def main():
            seen = asyncio.Event()
            asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, seen.set)
            reckon.run(["sh", "-c", "kill -USR1 $PPID; sleep 0.1"], events="page-faults")
            await asyncio.wait_for(seen.wait(), 30)

        asyncio.run(main())
        assert signal.set_wakeup_fd(-1) == -1
    """
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_other_signals_do_not_hang_it():
    """The first seed's system hung on any signal but two."""
    seen = []
    old = signal.signal(signal.SIGUSR1, lambda *a: seen.append(1))
    try:
        s = reckon.run(["sh", "-c", "kill -USR1 $PPID; exec sleep 1"], events="task-clock", every=0.02)
    finally:
        signal.signal(signal.SIGUSR1, old)
    assert seen == [1] and s.returncode == 0 and len(s) >= 3


def test_repeats(spin):
    runs = reckon.run(spin(0.01), events="page-faults,task-clock", repeat=5)
    assert len(runs) == 5 and all(run.returncode == 0 for run in runs)
    summary = runs.summary("task-clock")
    assert summary.n == 5 and summary.min <= summary.median <= summary.max and summary.bound > 0
    assert summary.mean == pytest.approx(sum(runs.values("task-clock")) / 5)
    assert "wall" in str(runs) and "<table>" in runs._repr_html_()


def test_time_series_are_pickled_copied_compared(spin):
    s = reckon.run(spin(0.05), events="task-clock,context-switches:u,page-faults", keep=True, every=0.01, capture_output=True, text=True)
    for again in pickle.loads(pickle.dumps(s)), copy.copy(s), copy.deepcopy(s):
        assert again == s and again is not s and list(again) == list(s) and str(again) == str(s) and again.to_csv() == s.to_csv()
        assert again.metrics == s.metrics and again.notes == s.notes and again.wall == s.wall and again.stdout == "" and again.args == s.args
        with pytest.raises(reckon.NotCounted, match="in the kernel alone") as why:
            again.total(1)
        assert why.value.cause == "unsupported"
    other = reckon.run(["true"], events="task-clock,context-switches:u,page-faults", keep=True)
    assert s != other and s != 3
    changed = copy.deepcopy(s)
    changed._kernel[0] += 1
    assert changed != s
    runs = reckon.run(["true"], events="page-faults", repeat=2)
    again = pickle.loads(pickle.dumps(runs))
    assert isinstance(again, reckon.Repeats) and again == runs and again.values("page-faults") == runs.values("page-faults")
    restore, (kind, version, state) = s.__reduce__()
    with pytest.raises(pickle.UnpicklingError, match="versions up to"):
        restore(kind, version + 1, state)
    with pytest.raises(pickle.UnpicklingError, match="damaged"):
        restore(kind, version, {**state, "_time": state["_time"][:-1]})


def test_no_zombie_and_no_descriptor_left():
    before = set(os.listdir("/proc/self/fd"))
    for _ in range(20):
        reckon.run(["true"], events="page-faults", capture_output=True)
    assert set(os.listdir("/proc/self/fd")) == before
    assert zombies() == 0


def test_csv(tmp_path, spin):
    s = reckon.run(spin(0.1), groups=[["page-faults"], ["task-clock"]], every=0.03)
    s.to_csv(tmp_path / "x.csv")
    rows = list(csv.DictReader(open(tmp_path / "x.csv", newline="", encoding="utf-8")))
    assert len(rows) == len(s) and float(rows[-1]["task-clock"]) == s.total("task-clock")
    assert int(rows[-1]["page-faults.raw"]) == s.raw("page-faults")[-1]
    assert s.to_csv().encode() == (tmp_path / "x.csv").read_bytes()
    buffer = io.StringIO()
    s.to_csv(buffer)
    assert buffer.getvalue() == s.to_csv()


def test_pandas(spin):
    pandas = pytest.importorskip("pandas")
    s = reckon.run(spin(0.1), groups=[["page-faults"], ["task-clock"]], every=0.03)
    frame = s.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == ["page-faults", "task-clock"]
    assert len(frame) == len(s) and frame.index.name == "time" and frame["task-clock"].is_monotonic_increasing
    wide = s.to_pandas(kernel=True)
    assert set(wide.columns.get_level_values(1)) == {"scaled", "bound", "raw", "enabled", "running"}
    runs = reckon.run(["true"], events="page-faults", repeat=3)
    assert len(runs.to_pandas()) == 3


def test_plot(spin):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    s = reckon.run(spin(0.1), groups=[["page-faults"], ["task-clock"]], every=0.02)
    ax = s.plot()
    assert len(ax.lines) == 2 and ax.get_xlabel() == "seconds" and ax.get_ylabel() == "per second"
    ax = s.plot("task-clock", totals=True)
    assert list(ax.lines[0].get_ydata())[-1] == s.total("task-clock")
    matplotlib.pyplot.close("all")


def test_threads_run_meanwhile(tmp_path):
    """The interpreter's lock is free while a program runs: it runs until a thread has ended it."""
    thread = threading.Thread(target=lambda: [time.sleep(0.001) for _ in range(100)] and (tmp_path / "end").touch())
    thread.start()
    s = reckon.run(["sh", "-c", "until [ -e end ]; do sleep 0.01; done"], events="task-clock", cwd=tmp_path, timeout=250)
    thread.join()
    assert s.returncode == 0


def test_statistics_agree():
    assert reckon.summary([1, 2, 3, 4]).q1 == 1.75
    with pytest.raises(ValueError):
        reckon.summary([])
    with pytest.raises(TypeError):
        reckon.summary(["x"])
    d = reckon.compare([10.1, 10.2, 10.0, 10.1, 10.2, 10.1], [20.0, 20.1, 20.2, 20.1, 20.0, 20.2], "faults")
    assert d.low < 0.5037 < d.high and d.p < 0.01 and "fewer faults" in d.verdict


@pytest.mark.parametrize("name", ["every", "timeout", "repeat", "env", "input", "events", "stdout", "cwd"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300, -1.5, object(), [None], "\0", True])
def test_odd_arguments(name, value):
    """Each is refused with a reason, before anything runs; none leaves a descriptor."""
    if (name, value) in [("input", "\0")] or (name == "cwd" and value == "\0"):
        return
    before = set(os.listdir("/proc/self/fd"))
    arguments = {"events": "page-faults"} | {name: value}
    with pytest.raises((TypeError, ValueError)) as why:
        reckon.run(["true"], **arguments)
    assert str(why.value)
    del why
    assert set(os.listdir("/proc/self/fd")) == before


def test_a_timeout_of_nothing_is_one():
    with pytest.raises(subprocess.TimeoutExpired):
        reckon.run(["sleep", "60"], events="task-clock", timeout=0)


def test_who_holds_the_pipe_does_not_hold_us(tmp_path):
    """A child of the program that lives on: as in subprocess, the timeout ends the waiting, and what was written is there."""
    command = ["sh", "-c", "echo hi; sleep 1000 & echo $! >pid; exit 3"]
    for timeout in 0.3, 3, 30:  # a busy machine needs more time until the program has ended
        with pytest.raises(subprocess.TimeoutExpired) as why:
            reckon.run(command, events="page-faults", stdout=reckon.PIPE, timeout=timeout, cwd=tmp_path)
        if (tmp_path / "pid").exists():
            os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
        if why.value.series.returncode == 3:
            break
    assert why.value.stdout == b"hi\n" and why.value.series.returncode == 3


def test_an_exception_ends_the_program():
    """A handler that raises: the program is ended, waited for, and its pipes closed."""

    def handler(*_):
        raise ZeroDivisionError

    reckon.run(["true"], events="task-clock", capture_output=True)  # what is opened once is open
    before = descriptors()  # what tests before this one opened may close meanwhile
    old = signal.signal(signal.SIGUSR1, handler)
    try:
        for wait in ["", "sleep 0.001;", "sleep 0.1;"] * 10:  # at each step of the start, and later
            command = ["sh", "-c", f"{wait} kill -USR1 $PPID; exec sleep 300"]
            with pytest.raises(ZeroDivisionError):
                reckon.run(command, events="task-clock", capture_output=True)
            with pytest.raises(ZeroDivisionError):
                list(reckon.sample(command, events="page-faults", period=1, stdout=reckon.PIPE))
    finally:
        signal.signal(signal.SIGUSR1, old)
    assert zombies() == 0
    for _ in range(200):  # the threads that read see its end
        if descriptors() <= before:
            return
        gc.collect()
        time.sleep(0.05)
    assert descriptors() <= before


def test_where_sigchld_is_ignored():
    code = """if True:
        import reckon, signal
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        s = reckon.run(["true"], events="page-faults")
        assert s.returncode is None and s.total("page-faults") > 0 and s.wall > 0
    """
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_environments_as_in_subprocess():
    s = reckon.run(["env"], events="page-faults", env={b"A": b"\xff", "B": "c d"}, stdout=reckon.PIPE)
    assert s.stdout == b"A=\xff\nB=c d\n"
    for env, kind in (({"A=": "x"}, ValueError), ({"A": 1}, TypeError), ({"A": "x\0y"}, ValueError), ([1], TypeError)):
        with pytest.raises(kind):
            reckon.run(["true"], events="page-faults", env=env)
    s = reckon.run(["printf", r"a\r\nb\r"], events="page-faults", stdout=reckon.PIPE, text=True)
    assert s.stdout == "a\nb\n"


def shared_series():
    """A series as of an event that had its counter for half of the second interval."""
    s = reckon.TimeSeries(["cycles", "<b>$x$</b>"], ["", ""], [1.0, 1.0])
    s.args = ("<script>alert(1)</script>",)
    for time_ns, rows in ((10**8, [(100, 10**8, 10**8), (5, 10**8, 10**8)]), (2 * 10**8, [(150, 2 * 10**8, 15 * 10**7), (9, 2 * 10**8, 2 * 10**8)])):
        s._time.append(time_ns)
        for value, enabled, running in rows:
            s._kernel.extend([value, enabled, running])
            s._known.append(running > 0)
            s._total.append(value * enabled / running)
            s._bound.append(0.0)
    return s


def test_multiplexed_parts_are_shaded():
    s = shared_series()
    assert s.shares("cycles") == [1.0, 0.5] and s.column("cycles") == [100, 200.0]
    assert s.rates("cycles") == [1000.0, 1000.0] and isinstance(s.column("cycles")[0], int) and isinstance(s.column("cycles")[1], float)
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = s.plot("cycles")
    (shade,) = ax.patches
    box = shade.get_extents().transformed(ax.transData.inverted())
    assert box.x0 == pytest.approx(0.1) and box.x1 == pytest.approx(0.2) and 0 < shade.get_alpha() < 0.2
    ax = s.plot()  # the other was never short of its counter, and its name is no formula
    assert len(ax.patches) == 1
    ax.figure.canvas.draw()
    matplotlib.pyplot.close("all")


def test_names_are_escaped():
    s = shared_series()
    page = s._repr_html_()
    assert "<script>" not in page and "<b>" not in page and "&lt;script&gt;" in page
    s.events = ("\x1b[31mred", "b")
    assert "\x1b" not in str(s)
