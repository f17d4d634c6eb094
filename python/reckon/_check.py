"""Arguments: what is not of the kind that is needed is told with its name."""
from __future__ import annotations

import numbers
import operator
import os
from collections.abc import Iterable
from typing import Any

_LONGEST = 1e9  #: seconds: 31 years


def seconds(name: str, value: Any, *, zero: bool = False) -> int:
    """A span of time, in ns."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} is a number of seconds, not {value!r}")
    span: Any = value
    if not (0 < span <= _LONGEST or (zero and span == 0)):
        raise ValueError(f"{name} is longer than 0 seconds and at most {_LONGEST:.0e}, not {span!r}")
    return max(int(span * 1e9), 0 if zero else 1)


def whole(name: str, value: Any, least: int, most: int = 2**31 - 1) -> int:
    """A whole number within bounds."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is a whole number, not {value!r}") from None
    if not least <= number <= most:
        raise ValueError(f"{name} is {least} or more, and at most {most}, not {number}")
    return number


def wholes(name: str, value: Any, least: int) -> tuple[int, ...]:
    """One whole number or several."""
    if isinstance(value, (str, bytes, bytearray)) or (not isinstance(value, Iterable) and not hasattr(value, "__index__")):
        raise TypeError(f"{name} is a whole number, or several, not {value!r}")
    return tuple(whole(name, n, least) for n in (value if isinstance(value, Iterable) else (value,)))


def paths(name: str, value: Any) -> tuple[bytes, ...]:
    """One path or several."""
    given = (value,) if isinstance(value, (str, bytes, os.PathLike)) or not isinstance(value, Iterable) else tuple(value)
    if not all(isinstance(path, (str, bytes, os.PathLike)) for path in given):
        raise TypeError(f"{name} is a path, or several, not {value!r}")
    return tuple(os.fsencode(path) for path in given)
