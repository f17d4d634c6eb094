"""Lists of records that show themselves as tables, in a terminal, in a notebook, in pandas."""
from __future__ import annotations

import dataclasses
import html
import shutil
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    import pandas

T = TypeVar("T")


def pandas_module() -> Any:
    """pandas, or ImportError with the command that brings it."""
    try:
        import pandas as module
    except ImportError as error:
        raise ImportError("pandas is not installed: pip install pandas") from error
    return module


def html_table(names: list[str], rows: list[list[str]], caption: str = "") -> str:
    """A plain HTML table; every text is escaped."""
    head = "".join(f"<th style='text-align:left'>{html.escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    above = f"<caption style='text-align:left'>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{above}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def printable(text: str) -> str:
    """Names come from programs: what would steer a terminal is replaced."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in text)


def text_table(names: list[str], rows: list[list[str]], width: int = 0) -> str:
    """The same for a terminal: columns padded, the last one cut at the terminal's width."""
    width = width or shutil.get_terminal_size((100, 24)).columns
    table = [[printable(cell) for cell in row] for row in (names, *rows)]
    widths = [max(len(row[i]) for row in table) for i in range(len(names))]
    lines = ["  ".join(cell.ljust(widths[i]) for i, cell in enumerate(row)).rstrip() for row in table]
    return "\n".join(line if len(line) <= width else line[: width - 1] + "…" for line in lines)


def pretty(shown: object, printer: Any, cycle: bool) -> None:
    """_repr_pretty_ of what is shown as a table: in IPython's terminal too."""
    printer.text(str(shown))


class Table(list[T]):
    """A list of records of one kind."""

    _columns: tuple[str, ...] = ()
    _most = 60  #: rows that are shown; all of them are in the list

    def _cells(self, most: int) -> tuple[list[str], list[list[str]]]:
        columns = self._columns or tuple(f.name for f in dataclasses.fields(cast(Any, self[0])) if self)
        return list(columns), [[str(getattr(row, name)) for name in columns] for row in self[:most]]

    def __str__(self) -> str:
        if not self:
            return "nothing"
        names, rows = self._cells(self._most)
        left = len(self) - len(rows)
        return text_table(names, rows) + (f"\n… and {left} more" if left else "")

    _repr_pretty_ = pretty

    def _repr_html_(self) -> str:
        if not self:
            return "<p>nothing</p>"
        names, rows = self._cells(self._most)
        left = len(self) - len(rows)
        return html_table(names, rows) + (f"<p>… and {left} more</p>" if left else "")

    def to_pandas(self) -> pandas.DataFrame:
        """All columns of all rows, as a DataFrame."""
        frame: pandas.DataFrame = pandas_module().DataFrame([dataclasses.asdict(cast(Any, row)) for row in self])
        return frame
