"""Tables in the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from roofline.plotting.table import Table

PROSE_WIDTH = 12
"""Narrower than this, prose is hard to read: `NEARER_LEVEL` still fits."""


def show(tables: Iterable[Table], console: Console, whole: bool = False) -> dict[str, list[str]]:
    """Print the tables one below the other, and return what there was no room for.

    Spare columns go where the console is too narrow, unless the tables are to be `whole`; no cell is ever cut. What
    went are titles of columns by what the table is about (`Kernels`, for all tables of kernels together).
    """
    left_out: dict[str, list[str]] = {}
    for table in tables:
        kept = list(range(len(table.columns))) if whole else _kept(table, console.width)
        console.print(rendered(table, kept, console.width), crop=False)
        console.print()
        gone = left_out.setdefault(table.title.partition(":")[0], [])
        titles = (column.title for place, column in enumerate(table.columns) if place not in kept)
        gone += [title for title in titles if title not in gone]
    return {about: titles for about, titles in left_out.items() if titles}


def rendered(table: Table, kept: Sequence[int], width: int) -> RichTable:
    """Return those columns of the table for a console of `width`; wider than that only where they need it.

    Cells are `Text`, never markup: a kernel called `[red]` is shown as that.
    """
    needed = _width(table, kept, roomy=False)
    shown = RichTable(
        title=Text(table.title, style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=0,
        pad_edge=False,
        width=needed if needed > width else None,
    )
    for place in kept:
        column = table.columns[place]
        shown.add_column(
            Text(column.title),
            justify="right" if column.right else "left",
            no_wrap=not column.wraps,
            overflow="fold",
        )
    for group in table.groups:
        for row in group:
            shown.add_row(*(Text(row[place], style=_style(row[place])) for place in kept), end_section=row is group[-1])
    return shown


def _kept(table: Table, width: int) -> list[int]:
    """Return the places of the columns to show in `width`: of the spare ones, the highest rank goes first."""
    kept = list(range(len(table.columns)))
    spare = sorted((place for place in kept if table.columns[place].spare), key=lambda k: (table.columns[k].spare, k))
    while spare and _width(table, kept) > width:
        kept.remove(spare.pop())
    return kept


def _width(table: Table, places: Sequence[int], roomy: bool = True) -> int:
    """Return the columns of the console that these columns of the table need, with one between them.

    `roomy` gives prose the room that it asks for, else only what its longest word takes.
    """
    needed = 0
    for place in places:
        cells = [table.columns[place].title, *(row[place] for row in table.rows)]
        if table.columns[place].wraps:
            word = max(min(Text(word).cell_len, PROSE_WIDTH) for cell in cells for word in cell.split() or [""])
            longest = max(Text(cell).cell_len for cell in cells)
            needed += max(word, min(table.columns[place].room, longest)) if roomy else word
        else:
            needed += max(Text(cell).cell_len for cell in cells)
    return needed + len(places) - 1


def _style(cell: str) -> str:
    status = cell.partition(":")[0]
    return {
        "degraded": "yellow",
        "invalid": "red",
        "above_roof": "red",
        "failed": "red",
        "inconclusive": "yellow",
        "passed": "green",
        "NO": "red",
        "warn": "yellow",
        "fail": "red",
    }.get(status, "")
