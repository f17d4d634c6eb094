"""What stands around the package: types, doctests, magics, the pytest plugin, Python's own stacks, the notebook."""
import doctest
import glob
import importlib
import importlib.metadata
import os
import pathlib
import pkgutil
import shutil
import subprocess
import sys

import pytest
from conftest import in_a_thread, touch

import reckon

HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.mark.parametrize("name", ["reckon"] + [f"reckon.{m.name}" for m in pkgutil.iter_modules(reckon.__path__) if m.name != "_native"])
def test_doctests(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_types():
    if not shutil.which("mypy"):
        pytest.skip("mypy is not installed")
    directory = os.path.dirname(reckon.__file__)
    command = ["mypy", "--strict", "--cache-dir=/dev/null", "--ignore-missing-imports", "--follow-imports=silent", "--python-version=3.11", directory]
    done = subprocess.run(command, capture_output=True, text=True, cwd=os.path.dirname(directory))
    assert done.returncode == 0, done.stdout
    assert os.path.exists(os.path.join(directory, "py.typed"))


def test_all_that_is_public_is_there_and_said():
    for name in reckon.__all__:
        thing = getattr(reckon, name)
        assert name.isupper() or name.startswith("__") or thing.__doc__, name


def test_magics():
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "reckon")
    counter = shell.run_line_magic("reckon", "-e page-faults x = bytearray(1 << 26)")
    assert counter["page-faults"] >= 1 and len(shell.user_ns["x"]) == 1 << 26
    counter = shell.run_cell_magic("reckon", "-e page-faults,task-clock -p", "y = 3\nz = y + 1\n")
    assert shell.user_ns["z"] == 4 and counter.events == ("page-faults", "task-clock")
    with pytest.raises(ZeroDivisionError):
        shell.run_line_magic("reckon", "-e page-faults 1/0")
    shell.run_line_magic("reckon", "-e page-faults w = 'a   b'")
    assert shell.user_ns["w"] == "a   b"
    with pytest.raises(SyntaxError):
        shell.run_cell_magic("reckon", "", "def f(\n")
    for line in ("-x 3", "-e"):
        with pytest.raises(ValueError, match="EVENTS"):
            shell.run_line_magic("reckon", line)
    assert "page-faults" in shell.display_formatter.format(counter)[0]["text/plain"]  # a table in the terminal too
    with pytest.raises(reckon.EventError):
        shell.run_line_magic("reckon", "-e page-fautls 1")


def test_magics_keep_their_counts():
    """As the value of a cell, which IPython keeps, and in `_reckon`: also where more follows, and where the statement raises."""
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.run_cell("%load_ext reckon")
    done = shell.run_cell("%reckon -e page-faults 3 + 4", store_history=True)
    assert isinstance(done.result, reckon.Counter) and shell.user_ns["_reckon"] is done.result
    shell.run_cell("import mmap\nkept = %reckon -e page-faults mmap.mmap(-1, 4096)[0]\nafter = 1")
    assert shell.user_ns["kept"]["page-faults"] >= 1 and shell.user_ns["_reckon"] is shell.user_ns["kept"]
    shell.run_cell("%%reckon -e page-faults\nmmap.mmap(-1, 4096)[0]\n1/0")
    assert shell.user_ns["_reckon"] is not shell.user_ns["kept"] and shell.user_ns["_reckon"]["page-faults"] >= 1


def test_magics_count_the_process():
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "reckon")
    shell.user_ns["other"] = lambda: in_a_thread(touch, 3000)
    assert shell.run_line_magic("reckon", "-e page-faults other()")["page-faults"] >= 3000
    assert shell.run_line_magic("reckon", "-t -e page-faults other()")["page-faults"] < 2000


def test_plugin(pytester):
    pytester.makepyfile("""
        import pytest

        def test_plain():
            assert len(bytearray(1 << 26))

        @pytest.mark.reckon(budget={"page-faults": 50_000_000})
        def test_within():
            pass

        @pytest.mark.reckon(budget={"page-faults": 10})
        def test_over():
            assert len(bytearray(1 << 26))

        @pytest.mark.reckon(budget={"page-fautls": 10})
        def test_misspelt():
            pass

        @pytest.mark.reckon(budget={"page-faults": 10})
        def test_fails_anyhow():
            assert 0, "its own reason"

        @pytest.mark.reckon({"page-faults": 10})
        def test_budget_that_is_none():
            pass
    """)  # fmt: skip
    # As installed, it is known by its entry point.
    known = any(entry.name == "reckon" for entry in importlib.metadata.entry_points(group="pytest11"))
    plugin = () if known else ("-p", "reckon.pytest_plugin")
    done = pytester.runpytest_subprocess(*plugin, "--reckon-events", "page-faults")
    done.assert_outcomes(passed=2, failed=4)
    done.stdout.fnmatch_lines(["*over budget: page-faults: * of at most 10*", "*its own reason*", "*a budget is given so*", "*= reckon =*", "*page-faults*test", "*test_plain*"])
    done = pytester.runpytest_subprocess(*plugin)
    done.assert_outcomes(passed=2, failed=4)
    assert "= reckon =" not in done.stdout.str() and "AttributeError" not in done.stdout.str()
    assert "FAILED test_plugin.py::test_over - Failed: reckon: over budget" in done.stdout.str().replace("\n", " ") or "\nreckon: over budget" in done.stdout.str()


def test_the_plugin_takes_files(pytester):
    """`pytest --reckon FILE` counts the tests of that file; events are an option of their own."""
    name = pytester.makepyfile("""
        def test_one():
            pass
    """).name  # fmt: skip
    known = any(entry.name == "reckon" for entry in importlib.metadata.entry_points(group="pytest11"))
    plugin = () if known else ("-p", "reckon.pytest_plugin")
    done = pytester.runpytest_subprocess(*plugin, "--reckon", name)
    done.assert_outcomes(passed=1)
    done.stdout.fnmatch_lines(["*= reckon =*", "*page-faults*test", "*test_one*"])
    done = pytester.runpytest_subprocess(*plugin, "--reckon-events", name)
    assert done.ret == 4 and "--reckon-events" in done.stderr.str() + done.stdout.str()


def test_budgets_hold_for_other_threads(pytester):
    pytester.makepyfile("""
        import mmap, threading
        import pytest

        def touch():
            memory = mmap.mmap(-1, 3000 * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            memory.madvise(mmap.MADV_NOHUGEPAGE)
            for i in range(3000):
                memory[i * mmap.PAGESIZE] = 1

        def in_a_thread():
            thread = threading.Thread(target=touch)
            thread.start()
            thread.join()

        @pytest.mark.reckon(budget={"page-faults": 2000})
        def test_over():
            in_a_thread()

        @pytest.mark.reckon(budget={"page-faults": 2000}, scope="thread")
        def test_of_this_thread():
            in_a_thread()

        @pytest.mark.reckon(budget={"page-faults": 2000}, scope="universe")
        def test_bad():
            pass
    """)  # fmt: skip
    known = any(entry.name == "reckon" for entry in importlib.metadata.entry_points(group="pytest11"))
    done = pytester.runpytest_subprocess(*(() if known else ("-p", "reckon.pytest_plugin")), "--reckon-events=page-faults")
    done.assert_outcomes(passed=1, failed=2)
    done.stdout.fnmatch_lines(["*over budget: page-faults: [3-9],??? of at most 2,000*", "*a budget is given so*"])
    (shown,) = [line for line in done.outlines if "test_of_this_thread" in line and "::" in line and "PASS" not in line][-1:]
    assert int(shown.split()[0].replace(",", "")) >= 3000


# The beginning of a script that has Python name its functions: Python leaves /tmp/perf-PID.map.
PERF_MAP = 'import os\nwith open("pids", "a") as pids:\n    print(os.getpid(), file=pids)\n'


@pytest.fixture
def maps_folder(tmp_path, monkeypatch):
    """A working directory for such scripts; at the end their files go."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pids").touch()
    yield tmp_path
    for pid in (tmp_path / "pids").read_text().split():
        pathlib.Path(f"/tmp/perf-{pid}.map").unlink(missing_ok=True)


def newer_pythons(folder):
    """Pythons that can write down what their functions are called: in PATH, or beside others in pyenv's directory."""
    names = {shutil.which(f"python3.{n}") for n in (12, 13, 14)}
    names |= set(glob.glob(os.path.join(os.environ.get("PYENV_ROOT", "/nonexistent"), "versions/*/bin/python3.1[2-9]")))
    code = PERF_MAP + "import sys; sys.activate_stack_trampoline('perf')"
    return [name for name in sorted(filter(None, names)) if subprocess.run([name, "-c", code], capture_output=True, cwd=folder).returncode == 0]


def test_pythons_own_stacks(maps_folder):
    script = maps_folder / "script.py"
    script.write_text(PERF_MAP + "def busy_inner(n):\n    return sum(i * i for i in range(n))\n\ndef busy_outer():\n    for _ in range(60):\n        busy_inner(100000)\n\nbusy_outer()\n")
    tried = []
    for python in newer_pythons(maps_folder):
        profile = reckon.sample([python, str(script)], python=True).profile()
        names = {f.name for f in profile.functions}
        tried.append(python)
        assert any("busy_inner" in name for name in names) and any("busy_outer" in name for name in names), python
    if not tried:
        pytest.skip("no Python of 3.12 or newer here")


def test_pythons_own_maps(maps_folder):
    """python=True leaves nothing in /tmp, of children neither; a recording's maps stay, and what was asked for otherwise."""
    pythons = newer_pythons(maps_folder)
    if not pythons:
        pytest.skip("no Python of 3.12 or newer here")
    command = [pythons[-1], "script.py"]
    (maps_folder / "script.py").write_text(
        "import os\nchild = os.fork()\n" + PERF_MAP + "sum(i * i for i in range(300000))\nif child:\n    assert os.waitpid(child, 0)[1] == 0\n"
    )
    told = set()

    def left():
        """→ of how many processes that began since, and how many left a map"""
        new = set((maps_folder / "pids").read_text().split()) - told
        told.update(new)
        return len(new), sum(os.path.exists(f"/tmp/perf-{pid}.map") for pid in new)

    left()
    assert reckon.sample(command, python=True).profile().samples and left() == (2, 0)
    assert list(reckon.sample(command, python=True)) and left() == (2, 0)
    reckon.sample(command, python=True).record(maps_folder / "data")
    assert left() == (2, 2)
    assert reckon.sample(command, python=True, env={**os.environ, "PYTHONPERFSUPPORT": "1"}).profile().samples
    assert left() == (2, 2)


def test_notebook(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    path = os.path.join(HERE, "reckon.ipynb")  # tests/python/run brings it from examples/
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not any(output.output_type == "error" for output in outputs)
