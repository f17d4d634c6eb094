import array
import ctypes
import os
import shutil
import subprocess

import pytest

import reckon

CODE = """
static int twice(int x) { return 2 * x; }
int called(int x);
__attribute__((noinline)) int called(int x) { volatile int y = twice(x); return y + 1; }
int main(void) { return called(3) - 7; }
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    directory = tmp_path_factory.mktemp("program")
    (directory / "p.c").write_text(CODE)
    subprocess.run(["cc", "-g", "-O1", "-o", "p", "p.c"], cwd=directory, check=True)
    table = subprocess.run(["nm", "p"], cwd=directory, check=True, capture_output=True, text=True).stdout
    names = {line.split()[2]: int(line.split()[0], 16) for line in table.splitlines() if len(line.split()) == 3}
    return str(directory / "p"), names


def test_names_and_lines(program):
    path, names = program
    found = reckon.symbolize([names["called"], names["main"] + 1, 0], exe=path)
    assert found.names[:2] == ["called", "main"] and found.offsets[:2] == [0, 1]
    assert found.files[0].endswith("p.c") and found[0].frames[-1].line == 4
    assert found[2].name is None and found[2].reason and found[2].mangled is None
    assert found[0].mangled == "called" and 0 < found[0].length < 1000
    last = found[0].frames[-1]
    assert last.declared_file is not None and last.declared_file.endswith("p.c") and last.declared_line == 4
    assert found[0].frames[-1].function == "called" and [f.function for f in found[0].frames][:-1] in ([], ["twice"])
    assert len(found) == 3 and len(found[0:2]) == 2


def test_build_id(program):
    path, _ = program
    said = subprocess.run(["readelf", "-n", path], check=True, capture_output=True, text=True).stdout
    known = [line.split()[-1] for line in said.splitlines() if "Build ID" in line]
    assert reckon.build_id(path) == (known[0] if known else None)
    with pytest.raises(reckon.Error):
        reckon.build_id(os.devnull)


def test_arrays_of_every_kind(program):
    path, names = program
    wanted = [names["called"]] * 1000
    assert reckon.symbolize(array.array("Q", wanted), exe=path).names == ["called"] * 1000
    assert reckon.symbolize(iter(wanted), exe=path, lines=False).names == ["called"] * 1000
    numpy = pytest.importorskip("numpy")
    assert reckon.symbolize(numpy.array(wanted, dtype=numpy.uint64), exe=path).names == ["called"] * 1000
    with pytest.raises(ValueError):
        reckon.symbolize(numpy.array(wanted, dtype=numpy.uint32), exe=path)
    with pytest.raises(ValueError):
        reckon.symbolize(numpy.array(wanted, dtype=numpy.float64), exe=path)
    with pytest.raises(ValueError):
        reckon.symbolize(numpy.array(wanted, dtype=numpy.uint64)[::2], exe=path)
    pytest.importorskip("pandas")
    assert list(reckon.symbolize(wanted[:3], exe=path).to_pandas()["name"]) == ["called"] * 3


def test_of_a_process():
    address = ctypes.cast(ctypes.CDLL(None).getppid, ctypes.c_void_p).value
    (found,) = reckon.symbolize([address], pid=os.getpid())
    assert "getppid" in found.name and found.module


def test_bad_arguments(program):
    path, _ = program
    assert len(reckon.symbolize([], exe=path)) == 0
    with pytest.raises(TypeError):
        reckon.symbolize([1], exe=path, pid=1)
    with pytest.raises(ValueError):
        reckon.symbolize([-1], exe=path)
    with pytest.raises(ValueError):
        reckon.symbolize([1 << 64], exe=path)
    with pytest.raises(TypeError):
        reckon.symbolize(["x"], exe=path)
    with pytest.raises(FileNotFoundError):
        reckon.symbolize([1], exe="/no/such/file")
    with pytest.raises(reckon.Error):
        reckon.symbolize([1], pid=2**22 + 1)


def test_odd_arrays_and_names(program, tmp_path):
    path, names = program
    for pid, kind in ((2**70, ValueError), (0, ValueError), ("1", TypeError), (True, TypeError)):
        with pytest.raises(kind, match="pid"):
            reckon.symbolize([1], pid=pid)
    with pytest.raises(ValueError, match="threads"):
        reckon.symbolize([1], exe=path, threads=-1)
    strange = os.path.join(os.fsencode(tmp_path), b"n\xff")
    shutil.copy(path, strange)
    assert reckon.symbolize([names["called"]], exe=strange).names == ["called"]
    assert reckon.symbolize([names["called"]], exe=os.fsdecode(strange)).names == ["called"]
    with pytest.raises(reckon.Error, match="process 4194303"):
        reckon.symbolize([1], pid=2**22 - 1)
    numpy = pytest.importorskip("numpy")
    with pytest.raises(ValueError):
        reckon.symbolize(numpy.array([names["called"]], dtype=">u8" if os.sys.byteorder == "little" else "<u8"), exe=path)
    assert len(reckon.symbolize(numpy.array([], dtype=numpy.uint64), exe=path)) == 0
