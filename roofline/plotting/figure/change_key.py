"""The key below a panel of a comparison: one row for each point that moved, or did not."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from matplotlib.axes import Axes

from roofline.plotting.change_tables import factor, verdict_text
from roofline.plotting.figure import style
from roofline.plotting.figure.change_panel import Move
from roofline.plotting.figure.lettering import fitted, width_px
from roofline.plotting.figure.marker import Palette, draw_marker
from roofline.plotting.kernel_tables import factor_text, percent_text
from roofline.plotting.text import elided, rate_unit
from roofline.units import giga

HEADER = ("", "kernel", "in", "n", "GFLOP/s", "roof", "speed-up", "95 % interval", "verdict")
RIGHT = (True, False, False, True, True, True, True, True, False)
MARK_PX, GAP_PX = 12.0, 14.0
FAMILY_GAP_PX = 4.0
NAME_LENGTH = 30

Cells = tuple[str, ...]


def key_height_px(moves: Sequence[Move]) -> float:
    """Return the height of the key of these points; 0 without any."""
    if not moves:
        return 0.0
    breaks = sum(one.after.family != other.after.family for one, other in pairwise(moves))
    return style.LINE_PX * (len(moves) + 1.5) + FAMILY_GAP_PX * breaks


def draw_change_key(axes: Axes, moves: Sequence[Move], across: bool, palette: Palette, most_px: float) -> None:
    """Draw the key into axes whose data are pixels, downwards; the verdict is cut where the row would not fit."""
    axes.set_axis_off()
    if not moves:
        return
    titles = {"GFLOP/s": rate_unit([move.measurement.dtype for move in moves])}
    titles |= {"speed-up": "roof ratio"} if across else {}
    header = tuple(titles.get(title, title) for title in HEADER)
    rows = [_cells(move, across) for move in moves]
    widths = [max(width_px(axes.figure, row[place]) for row in (header, *rows)) for place in range(len(HEADER))]
    widths[-1] = min(widths[-1], most_px - MARK_PX - sum(widths[:-1]) - GAP_PX * (len(widths) - 1))
    edges = [MARK_PX + sum(widths[:place]) + GAP_PX * place for place in range(len(widths))]
    _line(axes, header, edges, widths, style.LINE_PX * 0.5, style.MUTED, "key header")
    y_px = style.LINE_PX * 1.7
    family = moves[0].after.family
    for move, cells in zip(moves, rows, strict=True):
        if move.after.family != family:
            y_px += FAMILY_GAP_PX
            family = move.after.family
        draw_marker(axes, (4.0, y_px), move.after, palette, hollow=False)
        colour = style.INK if move.is_beyond_noise else style.MUTED
        _line(axes, cells, edges, widths, y_px, colour, "key entry")
        y_px += style.LINE_PX


def _cells(move: Move, across: bool) -> Cells:
    change, sides = move.change, (move.before, move.after)
    levels = dict.fromkeys(style.drawable_text(elided(side.measurement.level, 6)) for side in sides)
    interval = f"{factor(change.interval[0])} to {factor(change.interval[1])}" if change.interval else "-"
    return (
        str(move.after.number),
        elided(style.drawable_text(move.measurement.kernel), NAME_LENGTH),
        " → ".join(levels),
        str(move.measurement.n),
        " → ".join(giga(side.derived.flop_per_s) for side in sides),
        " → ".join(percent_text(side.derived.percent_of_roof) for side in sides),
        factor_text(change.speedup),
        interval,
        style.drawable_text(verdict_text(change, across)),
    )


def _line(
    axes: Axes, cells: Cells, edges: Sequence[float], widths: Sequence[float], y_px: float, colour: str, gid: str
) -> None:
    for place, cell in enumerate(cells):
        last = place == len(cells) - 1
        axes.text(
            edges[place] + (widths[place] if RIGHT[place] else 0.0),
            y_px,
            fitted(axes.figure, cell, widths[place] + 1, style.SMALL_PX) if last else cell,
            fontsize=style.points(style.SMALL_PX),
            color=colour,
            ha="right" if RIGHT[place] else "left",
            va="center_baseline",
            parse_math=False,
            gid=f"{gid}: {HEADER[place]}",
        )
