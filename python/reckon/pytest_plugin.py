"""pytest --reckon: counts per test, and budgets.

    pytest --reckon                        counts task-clock, page-faults, cycles, instructions, as far as there are
    pytest --reckon=instructions:u

    @pytest.mark.reckon(budget={"page-faults": 5000})
    def test_parse(): …                    fails where more are counted, with or without --reckon
"""
from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from ._count import DEFAULT_EVENTS, count
from ._counts import Counts

_counts = pytest.StashKey[dict[str, Any]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("reckon")
    group.addoption("--reckon", nargs="?", const=DEFAULT_EVENTS, default=None, metavar="EVENTS", help="count EVENTS in each test and print them at the end")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "reckon(budget={event: most}): fails the test where more of an event are counted")


def _budget(marker: pytest.Mark) -> dict[str, float]:
    budget = marker.kwargs.get("budget", {})
    if marker.args or set(marker.kwargs) - {"budget"} or not isinstance(budget, dict):
        raise pytest.UsageError("a budget is given so: @pytest.mark.reckon(budget={'page-faults': 5000})")
    for event, most in budget.items():
        if not isinstance(event, str) or isinstance(most, bool) or not isinstance(most, (int, float)) or not most >= 0:
            raise pytest.UsageError(f"a budget is an event and a number, not {event!r}: {most!r}")
    return dict(budget)


def _replace(outcome: Any, failure: BaseException) -> None:
    """The test's outcome becomes this failure."""
    if hasattr(outcome, "force_exception"):
        outcome.force_exception(failure)
    else:  # pluggy before 1.1
        outcome._excinfo = (type(failure), failure, failure.__traceback__)


def _counted(item: pytest.Item) -> Generator[None, Any, None]:
    asked: str | None = item.config.getoption("--reckon")
    marker = item.get_closest_marker("reckon")
    budget = _budget(marker) if marker else {}
    if asked is None and not budget:
        yield
        return
    # Of a budget's events one that can't be counted is a failure: a budget that nobody holds is none.
    with count(list(budget), keep=False) if budget else count("page-faults") as held, count(asked or "page-faults", keep=True) as shown:
        outcome = yield
    if asked is not None:
        item.stash[_counts] = shown.counts.to_dict()
        item.user_properties.append(("reckon", item.stash[_counts]))
    if outcome.excinfo is None and budget:
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
    if config.getoption("--reckon") is None:
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
