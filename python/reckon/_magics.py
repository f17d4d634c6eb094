"""%reckon and %%reckon: what a statement or a cell costs."""
from __future__ import annotations

import argparse
from typing import Any

from ._count import DEFAULT_EVENTS, count


def _arguments(line: str) -> tuple[argparse.Namespace, str]:
    parser = argparse.ArgumentParser(prog="%reckon", add_help=False, exit_on_error=False)
    parser.add_argument("-e", "--events", default=DEFAULT_EVENTS)
    parser.add_argument("-p", "--process", action="store_true")
    words = line.split()
    known = []
    while words and words[0].startswith("-"):
        known.append(words.pop(0))
        if known[-1] in ("-e", "--events") and words:
            known.append(words.pop(0))
    return parser.parse_args(known), " ".join(words)


def register(ipython: Any) -> None:
    """Adds the magics to a shell."""

    def reckon(line: str, cell: str | None = None) -> Any:
        """%reckon [-e EVENTS] [-p] STATEMENT, or %%reckon [-e EVENTS] [-p] above a cell: counts what it does.

        -e: events, as everywhere; -p: all threads of this process, not this one alone.
        """
        options, rest = _arguments(line)
        code = rest if cell is None else cell
        with count(options.events, scope="process" if options.process else "thread", keep=True) as counter:
            result = ipython.run_cell(code, store_history=False)
        result.raise_error()
        return counter

    ipython.register_magic_function(reckon, "line_cell", "reckon")
