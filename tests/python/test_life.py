"""Leaks, forks, exits: what happens to handles when nobody is careful."""
import gc
import multiprocessing
import os
import subprocess
import sys

import pytest
from conftest import descriptors, resident, touch

import reckon


def test_nothing_leaks():
    """10⁵ opens and closes: no descriptor and no memory is left."""

    def some(n):
        for _ in range(n):
            with reckon.count("page-faults") as c:
                c.read()

    some(2000)
    gc.collect()
    files, memory = descriptors(), resident()
    some(100_000)
    gc.collect()
    assert descriptors() == files
    assert resident() - memory < 4 << 20, "more than 40 bytes were left by each"


def test_failures_leak_nothing():
    def fail():
        for bad in ("page-fautls", "{page-faults", "page-faults,nope"):
            with pytest.raises(reckon.Error):
                reckon.count(bad)
        with pytest.raises(reckon.Error):
            reckon.run(["no-such-program-anywhere"], events="page-faults", capture_output=True)

    fail()
    gc.collect()
    files, memory = descriptors(), resident()
    for _ in range(500):
        fail()
    gc.collect()
    assert descriptors() == files and resident() - memory < 4 << 20


def test_a_forked_child_is_told():
    c = reckon.count("page-faults")
    c.enable()
    pid = os.fork()
    if pid == 0:
        try:
            c.read()
            os._exit(1)
        except reckon.Error as error:
            if error.errno != 116:  # ESTALE
                os._exit(2)
        with reckon.count("page-faults") as own:  # but may open its own
            bytearray(1 << 22)
        os._exit(0 if own["page-faults"] > 0 else 3)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert c.read().raw[0] > 0  # and the parent's goes on


def work(n):
    with reckon.count("page-faults") as c:
        touch(n)
    return c["page-faults"]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing(method):
    with reckon.count("page-faults"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert all(n >= 2000 for n in pool.map(work, [2000] * 4))


@pytest.mark.parametrize(
    "code",
    [
        "import reckon; c = reckon.count('page-faults'); c.enable()",
        "import reckon; s = reckon.sample(['sleep', '0.2'], events='task-clock', freq=100); i = iter(s); next(i, None)",
        "import reckon; s = reckon.sample(['sleep', '5'])",
        "import reckon, threading; threading.Thread(target=lambda: reckon.run(['sleep', '0.2'], events='task-clock'), daemon=True).start()",
        "import reckon, sys; sys.modules['keep'] = reckon.count('page-faults')",
        "import reckon, atexit; c = reckon.count('page-faults'); atexit.register(c.read)",
    ],
)
def test_the_interpreter_ends_with_live_objects(code):
    done = subprocess.run([sys.executable, "-X", "dev", "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr and "Fatal" not in done.stderr, done.stderr


def test_without_any_other_package():
    """No required dependency: the package works where nothing else can be imported."""
    path = os.path.dirname(os.path.dirname(reckon.__file__))
    code = f"""if True:
        import sys
        sys.path.insert(0, {path!r})
        class No:
            def find_spec(self, name, *rest):
                if name.split('.')[0] in ('numpy', 'pandas', 'matplotlib', 'IPython', 'pytest'):
                    raise ImportError(name)
        sys.meta_path.insert(0, No())
        import reckon
        s = reckon.run(['true'], events='page-faults')
        assert s.total('page-faults') > 0 and str(s) and s.to_csv() and s._repr_html_()
        for call in (s.to_pandas, s.plot):
            try:
                call()
            except ImportError as error:
                assert 'pip install' in str(error)
            else:
                raise AssertionError(call)
    """
    subprocess.run([sys.executable, "-S", "-c", code], check=True, timeout=60)


def test_decorated_functions_in_forked_workers():
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert decorated(3) == 3 and pool.map(decorated, [1, 2]) == [1, 2]


@reckon.count("page-faults")
def decorated(n):
    return n


def test_sub_interpreters():
    interpreters = pytest.importorskip("_xxsubinterpreters")
    path = os.path.dirname(os.path.dirname(reckon.__file__))
    for _ in range(2):
        inner = interpreters.create()
        interpreters.run_string(inner, f"import sys; sys.path.insert(0, {path!r}); import reckon\nimport mmap\nwith reckon.count('page-faults') as c: mmap.mmap(-1, 4096)[0] = 1\nassert c[0] > 0")
        interpreters.destroy(inner)
    assert work(10) >= 10
