"""Counts and samples what programs do to the machine, over Linux perf_event_open.

Count a block:

>>> import reckon
>>> with reckon.count("page-faults") as c:
...     pages = bytearray(1 << 26)
>>> c["page-faults"] >= 1
True

Run a program, and see what it did over time:

>>> series = reckon.run(["true"], groups=[["page-faults"]], every=0.01)
>>> series.returncode
0

See where the time goes:

>>> profile = reckon.sample(["true"], events="page-faults", period=1).profile()
>>> profile.samples > 10
True

What can't be measured is an error that says why, and the smallest fix:

>>> try:
...     reckon.count("page-fautls")
... except reckon.EventError as error:
...     print(error.cause)
no-event
"""
from ._command import DEVNULL, PIPE, STDOUT
from ._count import Calls, Counter, Intervals, RegionCounts, Slot, attach, count, region
from ._counts import Counts, Metric, Note
from ._error import Error, EventError, NotCounted
from ._machine import Check, Checkup, Event, Events, Pmu, Pmus, doctor, events, pmus
from ._native import version as __version__
from ._profile import Change, Changes, FlameGraph, Function, Functions, Node, Profile, load, merge
from ._run import run
from ._sample import Loss, Sample, Sampler, Samples, sample
from ._series import Repeats, Row, TimeSeries
from ._stats import Difference, Summary, compare, summary
from ._symbols import Frame, Symbol, Symbols, build_id, symbolize

__all__ = [
    "DEVNULL", "PIPE", "STDOUT", "Calls", "Change", "Changes", "Check", "Checkup", "Counter", "Counts", "Difference", "Error", "Event",
    "EventError", "Events", "FlameGraph", "Frame", "Function", "Functions", "Intervals", "Loss", "Metric", "Node",
    "NotCounted", "Note", "Pmu", "Pmus", "Profile", "RegionCounts", "Repeats", "Row", "Sample", "Sampler", "Samples",
    "Slot", "Summary", "Symbol", "Symbols", "TimeSeries", "__version__", "attach", "build_id", "compare", "count", "doctor",
    "events", "load", "load_ipython_extension", "merge", "pmus", "region", "run", "sample", "summary", "symbolize",
]  # fmt: skip


def load_ipython_extension(ipython: object) -> None:
    """%load_ext reckon: brings %reckon and %%reckon."""
    from ._magics import register

    register(ipython)
