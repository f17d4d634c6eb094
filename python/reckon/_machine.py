"""What this machine has: events, PMUs, and what this user may measure."""
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from . import _native
from ._table import Table

_RK_LIST_ALL, _RK_LIST_LONG = 1, 2


class _Hosts:
    """The host that everything uses, one for each process: what was read before a fork may not hold after it."""

    def __init__(self) -> None:
        self._host: _native.Host | None = None
        self._pid = 0

    def get(self) -> _native.Host:
        if self._host is None or self._pid != os.getpid():
            self._host, self._pid = _native.Host(), os.getpid()
        return self._host


_hosts = _Hosts()


def host() -> _native.Host:
    return _hosts.get()


@dataclass(frozen=True)
class Event:
    """An event that can be counted or sampled."""

    name: str  #: as it is given to count(), run() …
    group: str  #: "hardware", "software", "pmu cpu", "tracepoint" …
    about: str
    unit: str
    scale: float  #: a count times this is in `unit`
    encoding: str
    able: str  #: "yes": it was opened here and now; "no"; "untried"
    reason: str  #: why not
    remedy: str
    cause: str
    form: bool  #: has parts to fill in, as "rHEX"
    type: int
    config: tuple[int, int, int, int, int]


class Events(Table[Event]):
    """Events, as a list and a table."""

    _columns = ("name", "able", "group", "about")


@dataclass(frozen=True)
class Pmu:
    """A performance monitoring unit, as the kernel shows it."""

    name: str
    type: int
    core: bool  #: counts what a core does: generic hardware events land here


class Pmus(Table[Pmu]):
    """PMUs, as a list and a table."""


@dataclass(frozen=True)
class Check:
    """One thing that people want to do, tried."""

    name: str
    title: str
    verdict: str  #: "yes", "partly", "no"
    what: str
    remedy: str
    keep: str  #: what makes the remedy last
    cause: str

    def __bool__(self) -> bool:
        return self.verdict == "yes"


class Checkup(Table[Check]):
    """What can be measured here, as a list and a table; `checkup["hardware"]` is one check."""

    _columns = ("title", "verdict", "what", "remedy")

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            for check in self:
                if check.name == key:
                    return check
            raise KeyError(key)
        return super().__getitem__(key)


def events(search: str = "", *, pmu: str | None = None, all: bool = False) -> Events:
    """Events that this machine's kernel and PMUs have a name for, each tried.

    `search` is words, each of which must be somewhere in name, description, group or encoding. `pmu` is a name or a
    pattern. `all` lists each tracepoint and the vendors' tables too.

    >>> [event.name for event in events("page faults") if event.able == "yes"][0]
    'page-faults'
    """
    if not isinstance(search, str):
        raise TypeError("search is a string of words")
    flags = _RK_LIST_ALL | _RK_LIST_LONG if all else 0
    found = Events()
    for row in host().events(tuple(search.split()), flags, pmu):
        name, group, about, unit, scale, encoding, able, reason, remedy, cause, form, kind, config = row
        found.append(Event(name, group, about, unit, scale, encoding, able, reason, remedy, cause, bool(form), kind, config))
    return found


def pmus() -> Pmus:
    """The PMUs of this machine.

    >>> "software" in [pmu.name for pmu in pmus()]
    True
    """
    return Pmus(Pmu(*row) for row in host().pmus())


def doctor() -> Checkup:
    """Can I measure here, and if not, what is the smallest fix? Every verdict is found by trying.

    >>> doctor()["count"].title
    'count what my program does'
    """
    return Checkup(Check(*row) for row in host().doctor())
