"""What failed, why, and the smallest fix."""
from __future__ import annotations

__all__ = ["Error", "EventError", "NotCounted"]


class Error(OSError):
    """What the library could not do.

    Beside an OSError's `errno` it has `event`, the event's name or ""; `cause`, a stable word ("paranoid", "no-pmu" …,
    the names of rk_cause); `stage`, where it failed; and `remedy`, the smallest fix, or "".
    """

    event: str = ""
    cause: str = "unknown"
    stage: str = "none"
    remedy: str = ""
    position: int = 0

    def __str__(self) -> str:
        what = str(self.strerror) if self.strerror is not None else super().__str__()
        return f"{what}\n  fix: {self.remedy}" if self.remedy else what


class EventError(Error, ValueError):
    """An event that can't be: a name that nobody knows, a text that does not parse; `position` says where."""


class NotCounted(Error):
    """A count was asked for that there is none of: the event was not opened, or never got a counter."""


def make(errno: int, what: str, event: str, cause: str, stage: str, remedy: str, position: int) -> Error:
    """An error as libreckon tells it; called by the extension."""
    kind = EventError if cause in ("syntax", "no-event", "argument") else Error
    error = kind(errno, what)
    error.event, error.cause, error.stage, error.remedy, error.position = event, cause, stage, remedy, position
    return error
