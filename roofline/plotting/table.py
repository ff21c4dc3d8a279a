"""A table as a neutral value, rendered by whoever shows it: Markdown here, the terminal in `bench`."""

from __future__ import annotations

from dataclasses import dataclass

from roofline.errors import UsageError
from roofline.plotting.text import markdown

Row = tuple[str, ...]


@dataclass(frozen=True)
class Column:
    """One column: its title, and how its cells stand."""

    title: str
    right: bool = False
    """Numbers stand to the right, text to the left."""
    spare: int = 0
    """Rank among the columns that may be left out where space is short, the highest first; 0 stays in any case."""
    wraps: bool = False
    """Prose, which may continue on the next line."""
    room: int = 0
    """Columns of the terminal that prose needs before spare columns get any."""


@dataclass(frozen=True)
class Table:
    """Rows of plain strings in groups (a family of kernels, a dtype). Cells are printable, but not escaped."""

    title: str
    columns: tuple[Column, ...]
    groups: tuple[tuple[Row, ...], ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise UsageError(f"{self.title}: a row has {len(row)} cells, expected {len(self.columns)}: {row}")

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows, group after group."""
        return tuple(row for group in self.groups for row in group)


def to_markdown(table: Table) -> str:
    """Return the table as GitHub-flavoured Markdown under a heading; every cell is shown literally."""
    titles = [markdown(column.title) for column in table.columns]
    rules = ["---:" if column.right else ":---" for column in table.columns]
    rows = [[markdown(cell) for cell in row] for row in table.rows]
    lines = ["| " + " | ".join(cells) + " |" for cells in (titles, rules, *rows)]
    return "\n".join([f"### {markdown(table.title)}", "", *lines, ""])
