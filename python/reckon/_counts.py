"""What was counted: numbers with their times, and what is made of them."""
from __future__ import annotations

import array
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from . import _native
from ._error import NotCounted
from ._state import State, error_of, error_state, kind, reduced
from ._table import html_table, pretty, text_table

Number = int | float

# An event of one kind of core on a hybrid CPU: cpu_atom/instructions/u
_OF_PMU = re.compile(r"(?P<pmu>[^/]+)/(?P<name>[^/=,]+)/(?P<modifiers>\w*)")


def per(of: Number, to: Number) -> float:
    """A ratio; NaN of nothing."""
    return of / to if to else math.nan


class Metric(NamedTuple):
    """A figure made of counts."""

    name: str
    value: float
    unit: str


class Source:
    """What pickled counts know of the counters that they were read from."""

    __slots__ = ("_why", "key", "names", "on_cpus", "scales", "units")
    closed = False  # it can be asked

    def __init__(self, state: State) -> None:
        self.key: str = state["key"]
        self.names: tuple[str, ...] = tuple(state["names"])
        self.units: tuple[str, ...] = tuple(state["units"])
        self.scales: tuple[float, ...] = tuple(state["scales"])
        self.on_cpus: bool = state.get("on_cpus", False)
        if not len(self.names) == len(self.units) == len(self.scales) == len(state["states"]):
            raise ValueError("names, units, scales and states are not as many")
        self._why: dict[int, NotCounted] = {i: error_of(NotCounted, why) for i, why in state["why"].items()}  # type: ignore[misc]

    def explain(self, event: int) -> NotCounted | None:
        return self._why.get(event)


class Counts(_native.Reading):
    """What was counted: a mapping from event to count, in the event's unit.

    A count is an int where the event was counted throughout, and a float, an estimate, where it had to share its counter
    with others; `bound(event)` is then half the width of its 95 % interval. An event that was not counted has no value:
    asking for it raises NotCounted, which says why; it is never 0. `later - earlier` is what happened between.

    On a hybrid CPU one name is an event of each kind of core: counts["instructions"] is the sum of
    counts["cpu_core/instructions/"] and counts["cpu_atom/instructions/"], each as far as it had to be scaled.
    """

    __slots__ = ()

    def _indexes(self, event: str | int) -> list[int]:
        """The events that it names: one, or one for each kind of core."""
        names = self.source.names
        if isinstance(event, int):
            return [range(len(names))[event]]
        for i, name in enumerate(names):
            if name == event:
                return [i]
        # "instructions" stands for "instructions:u", which the step down of a plain user makes of it
        close = [i for i, name in enumerate(names) if name.split(":")[0] == event]
        if len(close) == 1:
            return close
        parts = {i: part for i, name in enumerate(names) if (part := _OF_PMU.fullmatch(name))}
        alike = [i for i, part in parts.items() if event in (part["name"], f"{part['name']}:{part['modifiers']}")]
        if alike and len({parts[i]["pmu"] for i in alike}) == len(alike):
            return alike
        raise KeyError(f"{event!r} was not asked for; there are: {', '.join(names)}")

    def _index(self, event: str | int) -> int:
        return self._indexes(event)[0]

    def _sum(self, event: str | int) -> tuple[Number, float] | None:
        """The count and half the width of its interval, not in its unit yet; None where it was not counted.

        A task runs on one kind of core at a time: what each counted is added, and scaled once by the time that the task
        ran. CPUs count side by side: each is scaled by itself (src/set/value.c).
        """
        at = self._indexes(event)
        if len(at) == 1:
            return self.estimate(at[0])
        states = [self.states[i] for i in at]
        if any(state in ("absent", "disabled") for state in states):
            return None
        if self.source.on_cpus:
            each = [self.estimate(i) for i in at]
            if any(one is None for one in each):
                return None
            return sum(one[0] for one in each if one), math.fsum(one[1] for one in each if one)
        running = sum(self.running_ns[i] for i in at)
        if not running:
            return None if "starved" in states else (0, 0.0)
        row = array.array("Q", [sum(self.raw[i] for i in at), max(self.enabled_ns[i] for i in at), running])
        return type(self).restore(self.source, self.time_ns, row.tobytes(), ("counted",)).estimate(0)

    def get(self, event: str | int, default: Any = None) -> Any:
        """The count, or `default` where it was not counted or not asked for."""
        try:
            return self[event]
        except (KeyError, IndexError, NotCounted):
            return default

    def __getitem__(self, event: str | int) -> Number:
        i = self._index(event)
        estimate = self._sum(event)
        if estimate is None:
            raise self.reason(event) or NotCounted(61, f"{self.source.names[i]} was not counted")
        scale = self.source.scales[i]
        return estimate[0] if scale == 1.0 else estimate[0] * scale

    def bound(self, event: str | int) -> float:
        """Half the width of the 95 % interval of an estimate; 0.0 where it was counted throughout; NaN where not."""
        i = self._index(event)
        estimate = self._sum(event)
        return math.nan if estimate is None else estimate[1] * self.source.scales[i]

    def share(self, event: str | int) -> float:
        """The share of time that the event was counted: 1.0 throughout, less when multiplexed, 0.0 not counted."""
        at = self._indexes(event)
        enabled = sum(self.enabled_ns[i] for i in at) if self.source.on_cpus else max(self.enabled_ns[i] for i in at)
        running = sum(self.running_ns[i] for i in at)
        return 0.0 if self._sum(event) is None else 1.0 if enabled <= running else running / enabled

    def reason(self, event: str | int) -> NotCounted | None:
        """Why an event was not counted; None: it was."""
        at = self._indexes(event)
        if self._sum(event) is not None:
            return None
        i = next((i for i in at if self.estimate(i) is None), at[0])
        why = None if self.source.closed else self.source.explain(i)
        if why is None:
            return NotCounted(61, f"{self.source.names[i]}: not counted")
        made = NotCounted(why.errno, why.strerror)
        made.event, made.cause, made.stage, made.remedy = why.event, why.cause, why.stage, why.remedy
        return made

    def keys(self) -> tuple[str, ...]:
        """The events' names."""
        return self.source.names

    def values(self) -> list[Number | None]:
        """The counts; None for what was not counted."""
        return [self.get(i) for i in range(len(self))]

    def items(self) -> list[tuple[str, Number | None]]:
        """Names with counts."""
        return list(zip(self.keys(), self.values(), strict=True))

    def __len__(self) -> int:
        return len(self.source.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.source.names)

    def __contains__(self, event: object) -> bool:
        return event in self.source.names

    @property
    def seconds(self) -> float:
        """Of a difference, how long it was; of a reading, when it was made."""
        return self.time_ns / 1e9

    @property
    def ipc(self) -> float:
        """Instructions per cycle."""
        return per(self["instructions"], self["cycles"])

    def _rows(self) -> list[list[str]]:
        rows = []
        for i, name in enumerate(self.source.names):
            value = self.get(i)
            if value is None:
                rows.append([name, "not counted", "", str(self.reason(i) or "").split("\n", maxsplit=1)[0]])
                continue
            bound, share = self.bound(i), self.share(i)
            shown = f"{value:,}" if isinstance(value, int) else f"{value:,.0f}" if value >= 100 else f"{value:,.3g}"
            rows.append([name, shown, self.source.units[i], "" if share == 1 else f"± {bound:,.0f} ({share:.0%} of the time)"])
        return rows

    def __str__(self) -> str:
        return text_table(["event", "count", "unit", ""], self._rows())

    def __repr__(self) -> str:
        return "Counts(" + ", ".join(f"{name}={value}" for name, value in self.items()) + ")"

    _repr_pretty_ = pretty

    def _repr_html_(self) -> str:
        return html_table(["event", "count", "unit", ""], self._rows())

    def _state(self) -> State:
        """All of it, as plain things."""
        source = self.source
        state: State = {"key": source.key, "names": source.names, "units": source.units, "scales": source.scales}
        if source.on_cpus:
            state["on_cpus"] = True
        why = {i: error_state(self.reason(i)) for i in range(len(self)) if self.reason(i)}
        # Numbers as such: a pickle may be read on a machine of the other byte order.
        numbers = (self.raw, self.enabled_ns, self.running_ns)
        return {**state, "time_ns": self.time_ns, "numbers": numbers, "states": self.states, "why": why}

    def _kept(self) -> Counts:
        """The same, for when its counters are closed: why an event was not counted is known then too."""
        return self if all(state == "counted" for state in self.states) else _restore(1, self._state())

    def __reduce__(self) -> tuple[Any, ...]:
        return reduced("Counts", self._state())

    def __copy__(self) -> Counts:
        return self  # nothing of it changes

    def __deepcopy__(self, memo: object) -> Counts:
        return self

    def _compared(self) -> tuple[object, ...]:
        source = self.source
        return source.names, source.units, source.scales, source.on_cpus, self.time_ns, self.states, bytes(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash(self._compared())

    def to_dict(self) -> dict[str, Number | None]:
        """Name → count; None for what was not counted."""
        return dict(self.items())


Mapping.register(Counts)


def _restore(version: int, state: State) -> Counts:
    rows = zip(*state["numbers"], strict=True)
    numbers = array.array("Q", [number for row in rows for number in row]).tobytes()
    return Counts.restore(Source(state), state["time_ns"], numbers, tuple(state["states"]))


kind("Counts", 1, _restore)


class Note(NamedTuple):
    """A step down that was taken, or an event that was left out."""

    event: int | None  #: None: all
    cause: str
    absent: bool
    what: str
    remedy: str
