"""Where the time goes."""
from __future__ import annotations

import html
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _native
from ._table import Table, html_table, pandas_module, text_table

if TYPE_CHECKING:
    import pandas

#: what save() writes, by the end of the file's name
_FORMATS = {".pb.gz": "pprof", ".folded": "folded", ".csv": "csv", ".html": "html", ".json": "json", ".speedscope.json": "speedscope"}


@dataclass(frozen=True)
class Function:
    """A function, or by line a line of one."""

    symbol: str
    module: str
    path: str
    file: str | None
    line: int
    self: int  #: sum of periods of samples in it …
    total: int  #: … and in what it called
    self_samples: int
    total_samples: int
    reason: str  #: why it has no name, or ""
    self_share: float
    total_share: float


class Functions(Table[Function]):
    """Functions, hottest first."""

    def _cells(self, most: int) -> tuple[list[str], list[list[str]]]:
        rows = [[f"{f.self_share:.1%}", f"{f.total_share:.1%}", f.symbol + (f":{f.line}" if f.line else ""), f.module] for f in self[:most]]
        return ["self", "total", "function", "module"], rows


class Node:
    """A function in the tree of calls."""

    __slots__ = ("children", "function", "self", "total")

    def __init__(self, function: Function | None) -> None:
        self.function = function  #: None: the root
        self.self = self.total = 0
        self.children: dict[int, Node] = {}


class Profile:
    """A finished profile: immutable. Made of a recording, reckon's or perf's, or by sample().profile()."""

    def __init__(self, path: str | os.PathLike[str], *, event: int | None = None, inline: bool = True, by_line: bool = False, threads: int = 1) -> None:
        self._native = _native.Profile(os.fspath(path), -1 if event is None else event, int(not inline), int(by_line), threads)
        #: samples, weight, lost, skipped, unnamed, threads, first_time, last_time, event …
        self.summary: dict[str, Any] = self._native.summary()
        self._functions: Functions | None = None

    @property
    def samples(self) -> int:
        """How many samples it has."""
        return int(self.summary["samples"])

    @property
    def functions(self) -> Functions:
        """All functions, hottest self first."""
        if self._functions is None:
            weight = self.summary["weight"] or 1
            self._functions = Functions(Function(*row, row[5] / weight, row[6] / weight) for row in self._native.functions())
        return self._functions

    def top(self, n: int = 20, *, by: str = "self") -> Functions:
        """The hottest functions, by "self" or "total"."""
        if by not in ("self", "total"):
            raise ValueError('by is "self" or "total"')
        return Functions(sorted(self.functions, key=lambda f: (-getattr(f, by), f.symbol))[:n])

    def tree(self) -> Node:
        """The tree of calls, outermost first."""
        functions = self.functions
        root = Node(None)
        for frames, _, _, _, _, weight, _ in self._native.stacks():
            node = root
            node.total += weight
            for index in frames:
                node = node.children.setdefault(index, Node(functions[index]))
                node.total += weight
            node.self += weight
        return root

    def stacks(self) -> list[tuple[tuple[str, ...], int]]:
        """Each distinct stack, outermost function first, with its weight."""
        names = [f.symbol for f in self.functions]
        return [(tuple(names[i] for i in row[0]), row[5]) for row in self._native.stacks()]

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each function."""
        return self.functions.to_pandas()

    def export(self, format: str) -> bytes:
        """The profile in one of the formats of rk_profile_export(): folded, csv, json …"""
        return self._native.export(format)

    def save(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Writes it to a file; the name's end says how: .pb.gz, .folded, .csv, .html, .json."""
        name = os.fspath(path)
        if format is None:
            ends = [end for end in _FORMATS if name.endswith(end)]
            if not ends:
                raise ValueError(f"{name}: what format? The name may end in {', '.join(_FORMATS)}, or say format=")
            format = _FORMATS[max(ends, key=len)]
        data = self.export(format)
        with open(name, "wb") as file:
            file.write(data)

    def flamegraph(self, height: int = 640) -> FlameGraph:
        """The page of `reckon report --html`, to be shown in a notebook."""
        return FlameGraph(self.export("html").decode(), height)

    def _closing(self) -> str:
        lost = self.summary["lost"]
        return f"{self.samples:,} samples of {self.summary['event']}, {'unknown' if lost is None else lost} lost, {self.summary['threads']} threads"

    def __str__(self) -> str:
        return text_table(*self.top()._cells(20)) + "\n" + self._closing()

    def __repr__(self) -> str:
        return f"<Profile of {self.samples} samples>"

    def _repr_html_(self) -> str:
        return html_table(*self.top()._cells(20), self._closing())


class FlameGraph:
    """A page in a frame of its own; `html` is all of it."""

    def __init__(self, page: str, height: int) -> None:
        self.html, self._height = page, height

    def _repr_html_(self) -> str:
        page = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" sandbox="allow-scripts" width="100%" height="{self._height}" frameborder="0"></iframe>'


def load(path: str | os.PathLike[str], *, event: int | None = None, inline: bool = True, by_line: bool = False) -> Profile:
    """Reads a recording of reckon's or perf's."""
    return Profile(path, event=event, inline=inline, by_line=by_line)
