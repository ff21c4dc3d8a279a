"""The key beside a panel: one row for each marker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from matplotlib.axes import Axes

from roofline.model.run import Run
from roofline.plotting.ceiling_label import short_bound
from roofline.plotting.figure import style
from roofline.plotting.figure.lettering import width_px
from roofline.plotting.figure.marker import Palette, draw_marker
from roofline.plotting.figure.points import Point
from roofline.plotting.kernel_tables import intensity_text, percent_text
from roofline.plotting.text import elided, rate_unit
from roofline.units import giga

HEADER = ("", "kernel", "in", "n", "GFLOP/s", "flop/B", "roof", "bound")
RIGHT = (True, False, False, True, True, True, True, False)
LEAST_GAP_PX, MOST_GAP_PX = 5.0, 10.0
MARK_PX = 12.0
FAMILY_GAP_PX = 4.0


@dataclass(frozen=True)
class Key:
    """Rows of strings beside their points."""

    rows: tuple[tuple[Point, tuple[str, ...]], ...]
    header: tuple[str, ...] = HEADER

    @property
    def height_px(self) -> float:
        """Height with the header and the gaps between families; 0 without rows."""
        if not self.rows:
            return 0.0
        families = [point.family for point, _ in self.rows]
        changes = sum(before != after for before, after in pairwise(families))
        return style.LINE_PX * (len(self.rows) + 1.5) + FAMILY_GAP_PX * changes


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
    unit = rate_unit([point.measurement.dtype for point in drawn])
    return Key(rows, tuple(unit if title == "GFLOP/s" else title for title in HEADER))


def draw_key(axes: Axes, key: Key, palette: Palette, most_px: float) -> None:
    """Draw the key into axes whose data are pixels, downwards; names are cut until the rows fit."""
    axes.set_axis_off()
    if not key.rows:
        return
    widths, name_length = _fitting(axes, key, most_px)
    gap_px = (most_px - MARK_PX - sum(widths)) / (len(widths) - 1)
    gap_px = min(max(gap_px, LEAST_GAP_PX), MOST_GAP_PX)
    edges = [MARK_PX + sum(widths[:place]) + gap_px * place for place in range(len(widths))]
    _line(axes, key.header, edges, widths, style.LINE_PX * 0.5, style.MUTED, "key header")
    y_px = style.LINE_PX * 1.7
    family = key.rows[0][0].family
    for point, cells in key.rows:
        if point.family != family:
            y_px += FAMILY_GAP_PX
            family = point.family
        draw_marker(axes, (4.0, y_px), point, palette)
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
