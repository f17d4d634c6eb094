"""Names for addresses, many at a time."""
from __future__ import annotations

import array
import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from . import _native
from ._check import whole
from ._table import pandas_module

if TYPE_CHECKING:
    import pandas


_NATIVE = "@=<" if sys.byteorder == "little" else "@=>"  #: how a buffer's format says that order of bytes


class Frame(NamedTuple):
    """A function at an address, or one that was inlined there."""

    function: str | None
    file: str | None
    line: int  #: 0: unknown
    column: int
    declared_file: str | None = None  #: where the function is declared
    declared_line: int = 0  #: … 0: unknown


class Symbol(NamedTuple):
    """What one address is called."""

    address: int
    name: str | None
    offset: int  #: bytes from the symbol's beginning
    module: str | None
    reason: str  #: why there is no name, or ""
    frames: tuple[Frame, ...]  #: innermost first; the last is the function that has the symbol
    mangled: str | None = None  #: the name as the file has it
    length: int = 0  #: bytes of the function


class Symbols(Sequence[Symbol]):
    """The answers, by address asked for, and as columns."""

    def __init__(self, addresses: array.array[int], rows: list[Any]) -> None:
        self.addresses, self._rows = addresses, rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        name, mangled, offset, length, module, reason, frames = self._rows[index]
        return Symbol(self.addresses[index], name, offset, module, reason, tuple(Frame(*f) for f in frames), mangled, length)

    @property
    def names(self) -> list[str | None]:
        """The functions' names."""
        return [row[0] for row in self._rows]

    @property
    def offsets(self) -> list[int]:
        """Bytes from each symbol's beginning."""
        return [row[2] for row in self._rows]

    @property
    def modules(self) -> list[str | None]:
        """The files that the addresses lie in."""
        return [row[4] for row in self._rows]

    @property
    def files(self) -> list[str | None]:
        """The source file of each address's innermost frame."""
        return [row[6][0][1] if row[6] else None for row in self._rows]

    @property
    def lines(self) -> list[int]:
        """… and the line; 0: unknown."""
        return [row[6][0][2] if row[6] else 0 for row in self._rows]

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each address."""
        frame: pandas.DataFrame = pandas_module().DataFrame(
            {"address": list(self.addresses), "name": self.names, "offset": self.offsets, "module": self.modules, "file": self.files, "line": self.lines}
        )
        return frame


def symbolize(
    addresses: Iterable[int] | Any,
    *,
    exe: str | os.PathLike[str] | None = None,
    pid: int | None = None,
    lines: bool = True,
    threads: int = 1,
) -> Symbols:
    """Names addresses of a program or library (`exe`, as nm(1) shows them), of a process as it runs (`pid`), or, with
    neither, of the kernel. `addresses` is a NumPy array, an array.array of 64-bit words (both are read as they are),
    or any iterable of numbers. With `lines`, files, lines and inlined functions too.
    """
    if exe is not None and pid is not None:
        raise TypeError("exe and pid exclude each other")
    if pid is not None:
        pid = whole("pid", pid, 1)
    words: array.array[int] = array.array("Q")
    try:
        view = memoryview(cast(Any, addresses))
        if view.itemsize != 8 or view.format is None or view.format.lstrip(_NATIVE) not in ("Q", "q", "L", "l") or not view.c_contiguous:
            raise ValueError("addresses are 64-bit integers, one after the other")
        words.frombytes(view.cast("B"))
    except TypeError:
        try:
            words.extend(addresses)
        except OverflowError as error:
            raise ValueError("an address is 0 to 2**64 - 1") from error
    path = None
    if exe is not None:
        path = os.path.realpath(os.fspath(exe))
        if not os.path.isfile(path):
            raise FileNotFoundError(2, "no such file", os.fspath(exe))
    symbolizer = _native.Symbolizer(None if path is None else os.fsencode(path), pid or 0)
    return Symbols(words, symbolizer.resolve(words, bool(lines), whole("threads", threads, 1, 1024)))


def build_id(path: str | os.PathLike[str]) -> str | None:
    """The build-id of an ELF file in hexadecimal digits; None: it has none."""
    found = _native.build_id(os.fspath(path))
    return None if found is None else found.hex()
