"""What objects become when they are pickled or copied: a kind, a version of its state, and the state, made of plain things.

A kind's version grows when its state changes; what an older reckon wrote is read, what a newer one wrote is refused in words.
"""
from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

from . import _native
from ._error import Error

State = dict[str, Any]
_kinds: dict[str, tuple[int, Callable[[int, State], object]]] = {}


def kind(name: str, version: int, restore: Callable[[int, State], object]) -> None:
    """Says how a state of up to that version becomes an object again: restore(version, state)."""
    _kinds[name] = version, restore


def reduced(name: str, state: State) -> tuple[Callable[..., object], tuple[str, int, State]]:
    """What __reduce__ of an object gives."""
    return restored, (name, _kinds[name][0], {**state, "reckon": _native.version})


def restored(name: str, version: int, state: State) -> object:
    """The object. Pickles name this function: it stays where it is."""
    known, restore = _kinds.get(name, (0, None))
    if not isinstance(version, int) or not 1 <= version <= known or restore is None:
        writer = state.get("reckon", "unknown") if isinstance(state, dict) else "unknown"
        raise pickle.UnpicklingError(
            f"a {name} that reckon {writer} has pickled, version {version} of its state; this is reckon {_native.version}, which knows "
            + (f"versions up to {known}" if known else "no such thing")
        )
    try:
        return restore(version, state)
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise pickle.UnpicklingError(f"a {name} whose state is damaged: {error}") from error


def error_state(error: Error | None) -> tuple[Any, ...] | None:
    """An error as plain things."""
    return None if error is None else (error.errno, error.strerror, error.event, error.cause, error.stage, error.remedy, error.position)


def error_of(kind: type[Error], state: tuple[Any, ...]) -> Error:
    """The error that they were."""
    errno, what, event, cause, stage, remedy, position = state
    error = kind(errno, what)
    error.event, error.cause, error.stage, error.remedy, error.position = event, cause, stage, remedy, position
    return error
