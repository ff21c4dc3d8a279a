"""The key below a panel: one row for each marker, family after family, in two columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from matplotlib.axes import Axes

from roofline.model.run import Run
from roofline.plotting.ceiling_label import short_bound
from roofline.plotting.figure import style
from roofline.plotting.figure.lettering import width_px
from roofline.plotting.figure.marker import Palette, draw_marker
from roofline.plotting.figure.points import Point
from roofline.plotting.kernel_tables import intensity_text, percent_text
from roofline.plotting.text import elided, intensity_unit, rate_unit
from roofline.units import giga

HEADER = ("", "kernel", "in", "n", "GFLOP/s", "flop/B", "roof", "bound")
RIGHT = (True, False, False, True, True, True, True, False)
LEAST_GAP_PX, MOST_GAP_PX = 5.0, 10.0
MARK_PX = 12.0
FAMILY_GAP_PX = 4.0
BETWEEN_COLUMNS_PX = 26.0
FEW_ROWS = 8
"""So many are read more easily in one column."""


@dataclass(frozen=True)
class Key:
    """Rows of strings beside their points."""

    rows: tuple[tuple[Point, tuple[str, ...]], ...]
    header: tuple[str, ...] = HEADER

    @property
    def height_px(self) -> float:
        """Height of the higher column; 0 without rows."""
        return max(column.column_px for column in self.columns())

    @property
    def column_px(self) -> float:
        """Height of all rows in one column, with the header and the gaps between families; 0 without rows."""
        if not self.rows:
            return 0.0
        return style.LINE_PX * (len(self.rows) + 1.5) + FAMILY_GAP_PX * len(_breaks(self.rows))

    def columns(self) -> tuple[Key, ...]:
        """Return the key in columns of nearly one height, broken between families where there are several."""
        if len(self.rows) <= FEW_ROWS:
            return (self,)
        halves = [
            (replace(self, rows=self.rows[:place]), replace(self, rows=self.rows[place:]))
            for place in _breaks(self.rows) or [(len(self.rows) + 1) // 2]
        ]
        return min(halves, key=lambda pair: max(column.column_px for column in pair))


def _breaks(rows: Sequence[tuple[Point, tuple[str, ...]]]) -> list[int]:
    """Return the places of the rows that begin another family than the row before."""
    families = [point.family for point, _ in rows]
    return [place for place, (before, after) in enumerate(pairwise(families), 1) if before != after]


def key_of(run: Run, drawn: Sequence[Point]) -> Key:
    """Return number, name, level, n, GFLOP/s, flop/B, percent of roof and bound of each point."""
    rows = tuple(
        (
            point,
            (
                str(point.number),
                style.drawable_text(point.measurement.kernel),
                style.drawable_text(point.measurement.level),
                str(point.measurement.n),
                giga(point.derived.flop_per_s),
                intensity_text(point.derived.flop_per_byte),
                percent_text(point.derived.percent_of_roof),
                style.drawable_text(short_bound(run, point.derived.bound)),
            ),
        )
        for point in drawn
    )
    dtypes = [point.measurement.dtype for point in drawn]
    units = {"GFLOP/s": rate_unit(dtypes), "flop/B": intensity_unit(dtypes)}
    return Key(rows, tuple(units.get(title, title) for title in HEADER))


def draw_key(axes: Axes, key: Key, palette: Palette, most_px: float) -> None:
    """Draw the key into axes whose data are pixels, downwards; names are cut until the rows fit."""
    axes.set_axis_off()
    if not key.rows:
        return
    column_px = (most_px - BETWEEN_COLUMNS_PX) / 2
    widths, name_length = _fitting(axes, key, column_px)
    for place, column in enumerate(key.columns()):
        _draw_column(axes, column, palette, widths, name_length, place * (column_px + BETWEEN_COLUMNS_PX), column_px)


def _draw_column(
    axes: Axes, key: Key, palette: Palette, widths: Sequence[float], name_length: int, left_px: float, most_px: float
) -> None:
    gap_px = (most_px - MARK_PX - sum(widths)) / (len(widths) - 1)
    gap_px = min(max(gap_px, LEAST_GAP_PX), MOST_GAP_PX)
    edges = [left_px + MARK_PX + sum(widths[:place]) + gap_px * place for place in range(len(widths))]
    _line(axes, key.header, edges, widths, style.LINE_PX * 0.5, style.MUTED, "key header")
    y_px = style.LINE_PX * 1.7
    family = key.rows[0][0].family
    for point, cells in key.rows:
        if point.family != family:
            y_px += FAMILY_GAP_PX
            family = point.family
        draw_marker(axes, (left_px + 4.0, y_px), point, palette)
        _line(axes, _cut(cells, name_length), edges, widths, y_px, style.INK, "key entry")
        y_px += style.LINE_PX


def _line(
    axes: Axes,
    cells: Sequence[str],
    edges: Sequence[float],
    widths: Sequence[float],
    y_px: float,
    colour: str,
    gid: str,
) -> None:
    for place, cell in enumerate(cells):
        x_px = edges[place] + (widths[place] if RIGHT[place] else 0.0)
        axes.text(
            x_px,
            y_px,
            cell,
            fontsize=style.points(style.SMALL_PX),
            color=colour,
            ha="right" if RIGHT[place] else "left",
            va="center_baseline",
            parse_math=False,
            gid=f"{gid}: {HEADER[place]}",
        )


def _cut(cells: tuple[str, ...], name_length: int) -> tuple[str, ...]:
    return (cells[0], elided(cells[1], name_length), elided(cells[2], 6), *cells[3:7], elided(cells[7], name_length))


def _fitting(axes: Axes, key: Key, most_px: float) -> tuple[list[float], int]:
    """Return the widths of the columns and the longest name with which they fit into `most_px`."""
    for name_length in range(22, 7, -1):
        rows = [key.header, *(_cut(cells, name_length) for _, cells in key.rows)]
        widths = [max(width_px(axes.figure, row[place]) for row in rows) for place in range(len(HEADER))]
        if MARK_PX + sum(widths) + LEAST_GAP_PX * (len(widths) - 1) <= most_px:
            break
    return widths, name_length
