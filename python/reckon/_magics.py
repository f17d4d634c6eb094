"""%reckon and %%reckon: what a statement or a cell costs.

    %reckon total = work()              the counts are shown, as what is the value of a line, and can be used:
    _["page-faults"]                    … at once,
    _reckon["page-faults"]              … and until the next one, also after an exception
    counts = %reckon work()
"""
from __future__ import annotations

import argparse
import ast
from typing import Any, cast

from ._count import DEFAULT_EVENTS, count


def _arguments(line: str) -> tuple[argparse.Namespace, str]:
    """The options at a line's beginning, and what follows them, as it was written."""
    parser = argparse.ArgumentParser(prog="%reckon", add_help=False, exit_on_error=False)
    parser.add_argument("-e", "--events", default=DEFAULT_EVENTS)
    parser.add_argument("-p", "--process", action="store_true")  # what it does anyhow
    parser.add_argument("-t", "--thread", action="store_true")
    known: list[str] = []
    rest = line.lstrip()
    while rest.startswith("-") and not rest[1:2].isdigit():
        word, _, rest = rest.partition(" ")
        known.append(word)
        rest = rest.lstrip()
        if word in ("-e", "--events") and rest:
            word, _, rest = rest.partition(" ")
            known.append(word)
            rest = rest.lstrip()
    try:
        return parser.parse_args(known), rest
    except (SystemExit, argparse.ArgumentError) as error:
        raise ValueError(f"%reckon [-e EVENTS] [-t] STATEMENT, not {line!r}") from error


def _compiled(ipython: Any, code: str) -> tuple[Any, Any]:
    """The statements, and the expression at their end whose value is shown, or None; compiled before it counts."""
    source = ipython.transform_cell(code)
    name = ipython.compile.cache(source)
    tree = ipython.compile.ast_parse(source, filename=name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";") else None
    value = None if last is None else ipython.compile(ast.Expression(last.value), name, "eval")
    return ipython.compile(tree, name, "exec"), value


def register(ipython: Any) -> None:
    """Adds the magics to a shell."""

    def reckon(line: str, cell: str | None = None) -> Any:
        """%reckon [-e EVENTS] [-t] STATEMENT, or %%reckon [-e EVENTS] [-t] above a cell: counts what it does.

        -e: events, as everywhere; -t: this thread alone, not all of the process.
        Its value is the counter, a reckon.Counter: shown below, in _ then, and in _reckon until the next %reckon.
        """
        options, rest = _arguments(line)
        if cell is not None and rest:
            raise ValueError(f"%%reckon counts the cell below; what is {rest!r}?")
        statements, expression = _compiled(ipython, rest if cell is None else cell)
        value = None
        with count(options.events, scope="thread" if options.thread else "process", keep=True) as counter:
            ipython.user_ns["_reckon"] = counter  # also where the statement raises
            exec(statements, ipython.user_ns)
            if expression is not None:
                value = eval(expression, ipython.user_ns)
        if value is not None:
            from IPython import display

            cast(Any, display).display(value)
        return counter

    ipython.register_magic_function(reckon, "line_cell", "reckon")
