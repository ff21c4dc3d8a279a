"""Tables in the terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from roofline.plotting.table import Table

PROSE_WIDTH = 11
"""Narrower than this, prose is hard to read: `above_roof:` still fits."""


def show(tables: Iterable[Table], console: Console) -> None:
    """Print the tables one below the other, as wide as the console allows."""
    for table in tables:
        console.print(rendered(table, console.width))
        console.print()


def rendered(table: Table, width: int) -> RichTable:
    """Return the table for a terminal of `width` columns; spare columns go where it is too narrow.

    Cells are `Text`, never markup: a kernel called `[red]` is shown as that.
    """
    kept = _kept(table, width)
    shown = RichTable(
        title=Text(table.title, style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=0,
        pad_edge=False,
    )
    for place in kept:
        column = table.columns[place]
        shown.add_column(
            Text(column.title),
            justify="right" if column.right else "left",
            no_wrap=not column.wraps,
            overflow="fold" if column.wraps else "ellipsis",
        )
    for group in table.groups:
        for row in group:
            shown.add_row(*(Text(row[place], style=_style(row[place])) for place in kept), end_section=row is group[-1])
    return shown


def _kept(table: Table, width: int) -> list[int]:
    """Return the places of the columns that fit without cutting a cell: spare ones go, the last first."""
    needed = [
        max(
            Text(word).cell_len if not column.wraps else min(Text(word).cell_len, PROSE_WIDTH)
            for cell in (column.title, *(row[place] for row in table.rows))
            for word in (cell.split() if column.wraps else [cell])
        )
        for place, column in enumerate(table.columns)
    ]
    kept = list(range(len(needed)))
    for place in reversed(kept):
        if sum(needed[k] for k in kept) + len(kept) - 1 <= width:
            break
        if table.columns[place].spare:
            kept = [k for k in kept if k != place]
    return kept


def _style(cell: str) -> str:
    status = cell.partition(":")[0]
    return {"degraded": "yellow", "invalid": "red", "above_roof": "red", "failed": "red", "NO": "red"}.get(status, "")
