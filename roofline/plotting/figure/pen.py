"""What every panel is drawn with: scales, lines and the labels beside them."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from roofline.plotting.figure import style
from roofline.plotting.figure.label_places import Label, Line, Paper, Place
from roofline.plotting.figure.span import Span

HALO = [withStroke(linewidth=style.points(2.5), foreground="white")]


def draw_scales(axes: Axes, span: Span, rate: str, across: str) -> None:
    """Set limits, ticks, grid and titles of log-log axes; `rate` is the unit of 1e9 operations per second."""
    axes.set(xscale="log", yscale="log", xlim=(span.left, span.right), ylim=(span.bottom, span.top))
    axes.set_xlabel(across, fontsize=style.points(style.NORMAL_PX), labelpad=1)
    axes.set_ylabel(rate, fontsize=style.points(style.NORMAL_PX), labelpad=1)
    for axis, unit in ((axes.xaxis, 1.0), (axes.yaxis, 1e9)):
        axis.set_major_locator(LogLocator(10, numticks=20))
        axis.set_minor_locator(LogLocator(10, subs=(2, 3, 4, 5, 6, 7, 8, 9), numticks=200))
        axis.set_major_formatter(FuncFormatter(lambda value, _, unit=unit: f"{value / unit:g}"))
        axis.set_minor_formatter(NullFormatter())
    axes.tick_params(labelsize=style.points(style.NORMAL_PX), length=3, width=0.6, color=style.MUTED, pad=2)
    axes.tick_params(which="minor", length=1.5, width=0.4, color=style.MUTED)
    axes.grid(True, which="major", color=style.FAINT, linewidth=0.6, zorder=0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set(linewidth=0.6, color=style.MUTED)


def stroke(
    axes: Axes,
    span: Span,
    line: Line,
    colour: str,
    width_px: float,
    zorder: float,
    gid: str | None = None,
    dashed: bool = False,
) -> None:
    """Draw a line that is given in pixels."""
    (x0, y0), (x1, y1) = span.value(*line.start), span.value(*line.end)
    (drawn,) = axes.plot([x0, x1], [y0, y1], color=colour, linewidth=style.points(width_px), zorder=zorder)
    drawn.set_linestyle((0, (4, 1.6)) if dashed else "-")
    drawn.set(solid_capstyle="round", gid=gid)


def write_label(axes: Axes, span: Span, paper: Paper, line: Line, text: str, colour: Any, gid: str) -> None:
    """Write the text beside the line, where it hides nothing."""
    shown = axes.text(
        0, 0, style.drawable_text(text), fontsize=style.points(style.SMALL_PX), color=colour, ha="center", va="center",
        rotation_mode="anchor", parse_math=False, zorder=5, path_effects=HALO, gid=gid,
    )  # fmt: skip
    shown.set_position((span.left, span.bottom))
    extent = shown.get_window_extent()
    label: Label = paper.place(extent.width, extent.height, line)
    place: Place = span.value(*label.centre)
    shown.set_position(place)
    shown.set_rotation(label.rotation_degrees)
