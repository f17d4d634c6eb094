"""What repeated measurements say, and whether two of them differ (reckon/stats.h)."""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from . import _native


class Summary(NamedTuple):
    """What repeated measurements say (reckon/stats.h)."""

    n: int
    outliers: int
    mean: float
    sd: float
    bound: float  #: half the width of the mean's 95 % interval
    min: float
    q1: float
    median: float
    q3: float
    max: float


def summary(values: Sequence[float]) -> Summary:
    """Mean, interval, quartiles of numbers.

    >>> summary([1, 2, 3]).mean
    2.0
    """
    return Summary(*_native.summary(values))


class Difference(NamedTuple):
    """Two samples' means compared by Welch's test (reckon/stats.h)."""

    ratio: float
    low: float
    high: float
    p: float
    verdict: str


def compare(of: Sequence[float], reference: Sequence[float], noun: str = "") -> Difference:
    """Whether two samples differ, and by how much.

    >>> compare([10, 11, 10, 11, 10, 11], [20, 21, 20, 21, 20, 21], "faults").verdict[:4]
    '48.8'
    """
    return Difference(*_native.difference(of, reference, noun))
