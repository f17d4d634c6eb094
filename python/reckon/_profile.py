"""Where the time goes."""
from __future__ import annotations

import html
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _native
from ._check import seconds, whole, wholes
from ._table import Table, html_table, pretty, text_table

if TYPE_CHECKING:
    import pandas

#: what save() writes, by the end of the file's name
_FORMATS = {
    ".pb.gz": "pprof", ".folded": "folded", ".csv": "csv", ".html": "html", ".json": "json",
    ".speedscope.json": "speedscope", ".firefox.json": "firefox", ".perf": "perf-script",
}  # fmt: skip
_PER = ("function", "line", "module", "thread", "process", "name", "cgroup", "cpu", "event", "source")
_NORMALISE = ("weight", "none", "time")
_NO_NODE = 0xFFFFFFFF


@dataclass(frozen=True)
class Function:
    """A function, or a line, module, thread …: what a profile was summed by."""

    name: str
    module: str
    file: str
    line: int
    self: int  #: weight of samples in it …
    total: int  #: … and in what it called
    self_samples: int
    total_samples: int
    self_share: float
    total_share: float


class Functions(Table[Function]):
    """Functions, hottest first."""

    def _cells(self, most: int) -> tuple[list[str], list[list[str]]]:
        rows = []
        for f in self[:most]:
            where = f"{f.file}:{f.line}" if f.line else f.module
            rows.append([f"{f.self_share:.1%}", f"{f.total_share:.1%}", f.name, where])
        return ["self", "total", "name", "where"], rows


@dataclass(frozen=True)
class Change:
    """What became more, or less, between two profiles: weights, the earlier made comparable by the diff's scale."""

    name: str
    module: str
    file: str
    line: int
    change: float  #: of self
    change_total: float
    before: int  #: self, as it was
    after: int


class Changes(Table[Change]):
    """Differences of two profiles, the greatest first."""

    scale: float = 1.0  #: what the earlier one was multiplied with
    _columns = ("change", "before", "after", "name", "module")


class Node:
    """A function in the tree of calls."""

    __slots__ = ("children", "name", "self", "total")

    def __init__(self, name: str) -> None:
        self.name = name  #: "" at the root
        self.self = self.total = 0
        self.children: dict[str, Node] = {}

    def __repr__(self) -> str:
        return f"<Node {self.name!r} total {self.total}, {len(self.children)} children>"


class Profile:
    """A finished profile: immutable, threads may share it. load() reads one, sample().profile() makes one."""

    def __init__(self, native: _native.Profile) -> None:
        self._native = native
        #: samples, weight, lost, skipped, unnamed, threads, first_time, last_time, event, unit …
        self.summary: dict[str, Any] = native.summary()
        self._read: dict[str, Any] | None = None

    @property
    def samples(self) -> int:
        """How many samples it has."""
        return int(self.summary["samples"])

    @property
    def columns(self) -> dict[str, Any]:
        """All of it as arrays without a copy: memoryviews, which NumPy takes as they are; `text` is a list of strings.
        rk_profile_columns(3) says what each is."""
        if self._read is None:
            raw = self._native.columns()
            self._read = {name: column if name == "text" else memoryview(column) for name, column in raw.items()}
        return self._read

    def by(self, what: str = "function") -> Functions:
        """Sums by "function", "line", "module", "thread", "process", "name" (of a thread), "cgroup", "cpu", "event",
        "source"; hottest self first."""
        if what not in _PER:
            raise ValueError(f"by one of {', '.join(_PER)}")
        weight = self.summary["weight"] or 1
        c = self.columns
        text = c["text"]
        rows = Functions()
        for name, key, self_, total, self_samples, total_samples in self._native.aggregate(_PER.index(what)):
            module = text[c["frame_module"][key]] if what in ("function", "line") else ""
            file, line = (text[c["frame_file"][key]], c["frame_line"][key]) if what == "line" else ("", 0)
            rows.append(Function(name, module, file, line, self_, total, self_samples, total_samples, self_ / weight, total / weight))
        return rows

    @property
    def functions(self) -> Functions:
        """All functions, hottest self first."""
        return self.by("function")

    def top(self, n: int = 20, *, by: str = "self") -> Functions:
        """The hottest functions, by "self" or "total"."""
        if by not in ("self", "total"):
            raise ValueError('by is "self" or "total"')
        return Functions(sorted(self.functions, key=lambda f: (-getattr(f, by), f.name))[: whole("n", n, 0)])

    def stacks(self) -> list[tuple[tuple[str, ...], int]]:
        """Each distinct stack of functions, outermost first, with its weight; the heaviest first."""
        c = self.columns
        text, symbol, parent, frame = c["text"], c["frame_symbol"], c["node_parent"], c["node_frame"]
        paths: list[tuple[str, ...]] = []
        for node in range(len(parent)):  # an outer node comes before those inside of it
            outer = paths[parent[node]] if parent[node] != _NO_NODE else ()
            paths.append((*outer, text[symbol[frame[node]]]))
        sums: dict[tuple[str, ...], int] = {}
        for node, weight in zip(c["sample_node"], c["sample_weight"], strict=True):
            path = paths[node] if node != _NO_NODE else ()
            sums[path] = sums.get(path, 0) + weight
        return sorted(sums.items(), key=lambda item: (-item[1], item[0]))

    def tree(self) -> Node:
        """The tree of calls, outermost first."""
        root = Node("")
        for path, weight in self.stacks():
            node = root
            node.total += weight
            for name in path:
                node = node.children.setdefault(name, Node(name))
                node.total += weight
            node.self += weight
        return root

    def select(
        self,
        *,
        time: tuple[float | None, float | None] | None = None,
        event: str | None = None,
        pid: int | Iterable[int] = (),
        tid: int | Iterable[int] = (),
        cpu: int | Iterable[int] = (),
        name: str | None = None,
        cgroup: str | None = None,
        module: str | None = None,
        symbol: str | None = None,
        callees: str | None = None,
        callers: str | None = None,
        inline: bool = True,
    ) -> Profile:
        """A part of it, as a profile. `time` is (from, to) in seconds after the first sample; name, cgroup, module,
        symbol, callees and callers are regular expressions; what is given must all hold."""
        wanted: dict[str, Any] = {"event": event, "name": name, "cgroup": cgroup, "module": module, "symbol": symbol, "callees": callees, "callers": callers}
        filter = {key: value for key, value in wanted.items() if value is not None}
        for key, named, numbers in (("processes", "pid", pid), ("threads", "tid", tid), ("cpus", "cpu", cpu)):
            if ids := wholes(named, numbers, 0):
                filter[key] = ids
        if time is not None:
            first = self.summary["first_time"]
            begin, end = time
            filter["from"] = first + (0 if begin is None else seconds("time", begin, zero=True))
            if end is not None:
                filter["to"] = first + seconds("time", end, zero=True)
        if not inline:
            filter["flags"] = 1
        return Profile(self._native.select(filter))

    def diff(self, before: Profile, *, by: str = "function", normalise: str = "weight") -> Changes:
        """What changed since `before`; that is made comparable by all of its "weight", by "time", or not, "none"."""
        if by not in _PER:
            raise ValueError(f"by one of {', '.join(_PER)}")
        if normalise not in _NORMALISE:
            raise ValueError(f"normalise is one of {', '.join(_NORMALISE)}")
        if not isinstance(before, Profile):
            raise TypeError("before is a profile")
        scale, rows = self._native.diff(before._native, _PER.index(by), _NORMALISE.index(normalise))
        changes = Changes(Change(name, module or "", file or "", *rest) for name, module, file, *rest in rows)  # type: ignore[arg-type]
        changes.scale = scale
        return changes

    def to_pandas(self, by: str = "function") -> pandas.DataFrame:
        """A row for each function, or whatever `by` says."""
        return self.by(by).to_pandas()

    def export(self, format: str) -> bytes:
        """The profile in one of the formats of rk_profile_export(3): folded, pprof, csv, json …"""
        return self._native.export(format)

    def save(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Writes it to a file; the name's end says how: .pb.gz, .folded, .csv, .html, .json …"""
        name = os.fspath(path)
        if format is None:
            ends = [end for end in _FORMATS if name.endswith(end)]
            if not ends:
                raise ValueError(f"{name}: what format? The name may end in {', '.join(_FORMATS)}, or say format=")
            format = _FORMATS[max(ends, key=len)]
        data = self.export(format)
        with open(name, "wb") as file:
            file.write(data)

    def flamegraph(self, height: int = 960) -> FlameGraph:
        """The page of `reckon report --html`, to be shown in a notebook."""
        height = whole("height", height, 1)
        return FlameGraph(self.export("html").decode(), height)

    def _closing(self) -> str:
        lost = self.summary["lost"]
        return f"{self.samples:,} samples of {self.summary['event']}, {'unknown' if lost is None else lost} lost, {self.summary['threads']} threads"

    def __str__(self) -> str:
        return text_table(*self.top()._cells(20)) + "\n" + self._closing()

    def __repr__(self) -> str:
        return f"<Profile of {self.samples} samples>"

    _repr_pretty_ = pretty

    def _repr_html_(self) -> str:
        return html_table(*self.top()._cells(20), self._closing())


class FlameGraph:
    """A page in a frame of its own; `html` is all of it."""

    def __init__(self, page: str, height: int) -> None:
        self.html, self._height = page, height

    def _repr_html_(self) -> str:
        page = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" sandbox="allow-scripts" width="100%" height="{self._height}" frameborder="0"></iframe>'


def load(path: str | os.PathLike[str], *, event: int | None = None, inline: bool = True, times: bool = True, threads: int = 1) -> Profile:
    """Reads a recording of reckon's or perf's, folded stacks, or pprof. Without `times`, all samples of a stack are one."""
    return Profile(_native.Profile.file(os.fspath(path), -1 if event is None else whole("event", event, 0), int(not inline), 0 if times else 1, whole("threads", threads, 1, 1024)))


def merge(profiles: Sequence[Profile], labels: Sequence[str] | None = None) -> Profile:
    """Several profiles as one: of runs, of machines; `labels` say what each comes from."""
    profiles = tuple(profiles)
    if not all(isinstance(profile, Profile) for profile in profiles):
        raise TypeError("profiles are merged: merge([a, b])")
    if isinstance(labels, str) or (labels is not None and not all(isinstance(label, str) for label in labels)):
        raise TypeError("labels are a list of strings")
    if labels is not None and len(labels) != len(profiles):
        raise ValueError("a label for each profile")
    return Profile(_native.Profile.merge(tuple(p._native for p in profiles), None if labels is None else tuple(labels)))
