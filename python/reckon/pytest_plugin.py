"""pytest --reckon: counts per test, and budgets.

    pytest --reckon                             counts task-clock, page-faults, cycles, instructions, as far as there are
    pytest --reckon-events instructions:u       … or these

    @pytest.mark.reckon(budget={"page-faults": 5000})
    def test_parse(): …                         fails where more are counted, with or without --reckon

All that the process does in a test counts, by whatever thread, and its children. A budget with scope="thread" is for the
thread that runs the test alone.
"""
from __future__ import annotations

import contextlib
from collections.abc import Generator
from typing import Any

import pytest

from ._count import DEFAULT_EVENTS, count
from ._counts import Counts
from ._error import EventError

_counts = pytest.StashKey[dict[str, Any]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("reckon")
    group.addoption("--reckon", action="store_true", help=f"count {DEFAULT_EVENTS} in each test and print them at the end")
    group.addoption("--reckon-events", default=None, metavar="EVENTS", help="the events to count in each test in place of these; implies --reckon")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "reckon(budget={event: most}, scope='process'): fails the test where more of an event are counted")
    if (asked := _asked(config)) is not None:
        try:
            count(asked, keep=True).close()
        except EventError as error:
            raise pytest.UsageError(f"--reckon-events {asked}: {error}") from None


def _asked(config: pytest.Config) -> str | None:
    """The events to count in each test; None: none."""
    events: str | None = config.getoption("--reckon-events")
    return events if events is not None else DEFAULT_EVENTS if config.getoption("--reckon") else None


def _budget(marker: pytest.Mark) -> tuple[dict[str, float], str]:
    """What a test may use at most, and who is counted."""
    budget, scope = marker.kwargs.get("budget", {}), marker.kwargs.get("scope", "process")
    if marker.args or set(marker.kwargs) - {"budget", "scope"} or not isinstance(budget, dict) or scope not in ("process", "thread"):
        raise pytest.UsageError("a budget is given so: @pytest.mark.reckon(budget={'page-faults': 5000}), or beside it scope='thread'")
    for event, most in budget.items():
        if not isinstance(event, str) or isinstance(most, bool) or not isinstance(most, (int, float)) or not most >= 0:
            raise pytest.UsageError(f"a budget is an event and a number, not {event!r}: {most!r}")
    return dict(budget), scope


def _replace(outcome: Any, failure: BaseException) -> None:
    """The test's outcome becomes this failure."""
    if hasattr(outcome, "force_exception"):
        outcome.force_exception(failure)
    else:  # pluggy before 1.1
        outcome._excinfo = (type(failure), failure, failure.__traceback__)


def _counted(item: pytest.Item) -> Generator[None, Any, None]:
    asked = _asked(item.config)
    marker = item.get_closest_marker("reckon")
    budget, scope = _budget(marker) if marker else ({}, "process")
    if asked is None and not budget:
        yield
        return
    # Of a budget's events one that can't be counted is a failure: a budget that nobody holds is none.
    with contextlib.ExitStack() as counters:
        shown = counters.enter_context(count(asked, scope="process", keep=True)) if asked is not None else None
        held = counters.enter_context(count(list(budget), scope=scope, keep=False)) if budget else None
        outcome = yield
    if shown is not None:
        item.stash[_counts] = shown.counts.to_dict()
        item.user_properties.append(("reckon", item.stash[_counts]))
    if outcome.excinfo is None and held is not None:
        counts: Counts = held.counts
        over = [f"{event}: {counts[event]:,} of at most {most:,}" for event, most in budget.items() if counts[event] > most]
        if over:
            try:
                pytest.fail("reckon: over budget: " + "; ".join(over), pytrace=False)
            except pytest.fail.Exception as failure:
                _replace(outcome, failure)


#: around each test's call
pytest_runtest_call: Any = pytest.hookimpl(hookwrapper=True)(_counted)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if _asked(config) is None:
        return
    rows = [
        (report.nodeid, dict(report.user_properties)["reckon"])
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", "") == "call" and "reckon" in dict(report.user_properties)
    ]
    if not rows:
        return
    terminalreporter.section("reckon")
    names = list(rows[0][1])
    terminalreporter.write_line("  ".join(f"{name:>16}" for name in names) + "  test")
    for test, counts in rows:
        cells = ["-" if counts.get(name) is None else f"{counts[name]:,.0f}" for name in names]
        terminalreporter.write_line("  ".join(f"{cell:>16}" for cell in cells) + f"  {test}")
