"""One panel of a ladder: its rungs as a path with arrows, under the roofs that they climb to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from math import hypot, log10

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from roofline.model.ladder import Ladder
from roofline.model.rung import Rung, is_library
from roofline.plotting.ceiling_label import short_name, threads_text
from roofline.plotting.figure import style
from roofline.plotting.figure.label_places import Label, Line, Paper, Place
from roofline.plotting.figure.ladder_roofs import (
    Roofs,
    compute_line,
    group_text,
    kind_text,
    memory_line,
    near_together,
)
from roofline.plotting.figure.lettering import width_px
from roofline.plotting.figure.marker import Palette
from roofline.plotting.figure.pen import HALO, draw_scales, stroke, write_label
from roofline.plotting.figure.span import Span, at_least, span_within
from roofline.plotting.kernel_tables import factor_text
from roofline.plotting.text import elided, intensity_unit, rate_unit
from roofline.units import byte_rate

PANEL_WIDTH_PX = 430.0
LEAST_PANEL_PX, MOST_PANEL_PX = 230.0, 480.0
LEAST_DECADES = 1.7
LEAST_LINE_PX = 105.0
"""A memory roof of which less is in the panel has no room for its label, and is left out."""
NEAR_RIDGE, NEAR_PEAK = 60.0, 40.0
"""A ridge so many times to the left of the path, or a peak so far above it, still belongs to the picture."""
ARROW_PX = 16.0
"""A shorter step has no room for an arrow's head."""
NAME_SHIFTS_PX = tuple(sign * 7.0 * step for step in range(20) for sign in (1, -1))
LEFT_SHARE = 0.4
"""Names stand to the right of markers in this share of the panel, to the left of those further to the right."""
LEADER_PX = 10.0
"""A name that had to move so far from beside its marker is tied to it."""


def ladder_span(ladder: Ladder, roofs: Roofs, least_height_px: float) -> Span:
    """Return limits around the path that show what it climbs to: the near roofs and ridges, and no more."""
    shown = (*ladder.rungs, *ladder.references)
    rates = [rung.flop_per_s for rung in shown]
    intensities = [rung.flop_per_byte for rung in shown]
    peaks = [ceiling.flop_per_s for ceiling in roofs.compute]
    if peaks and max(peaks) > NEAR_PEAK * max(rates):
        peaks = []
    limits = [limit for rung in shown if (limit := rung.limit_flop_per_s) is not None]
    ridges = [
        peak.flop_per_s / ceiling.byte_per_s
        for ceiling in roofs.memory
        for peak in roofs.compute
        if peak.threads == ceiling.threads and peak.flop_per_s in peaks[:1]
    ]
    near = [r for r in ridges if min(intensities) / NEAR_RIDGE < r < max(intensities) * NEAR_RIDGE]
    bottom, top = at_least(0.6 * min(rates), 1.7 * max([*rates, *peaks, *limits]), 1.0)
    height_px = min(max(LEAST_PANEL_PX, least_height_px), MOST_PANEL_PX)
    left, right = at_least(
        min([*(i / 2.5 for i in intensities), *(r / 5 for r in near)]),
        max([*(i * 2.5 for i in intensities), *(r * 2.5 for r in near)]),
        max(LEAST_DECADES, log10(top / bottom) * PANEL_WIDTH_PX / height_px),
    )
    return span_within(left, right, bottom, top, PANEL_WIDTH_PX, height_px, MOST_PANEL_PX)


def draw_ladder(axes: Axes, ladder: Ladder, roofs: Roofs, span: Span, palette: Palette) -> None:
    """Draw the roofs, the path, its names and the labels of the roofs into axes of the span's size."""
    shown = (*ladder.rungs, *ladder.references)
    unit = rate_unit(roofs.dtypes)
    rate = unit if unit == "GFLOP/s" else "10⁹ operations/s"
    draw_scales(
        axes, span, rate, f"arithmetic intensity, {intensity_unit(roofs.dtypes)} (each array and intermediate once)"
    )
    _label_minor_ticks(axes)
    memory = [
        (ceiling, line)
        for ceiling in roofs.memory
        if (line := memory_line(ceiling, roofs, span)) is not None and line.length > LEAST_LINE_PX
    ]
    roofs = replace(roofs, memory=tuple(ceiling for ceiling, _ in memory))
    compute = [(ceiling, line) for ceiling in roofs.compute if (line := compute_line(ceiling, roofs, span)) is not None]
    best = {(c.dtype, c.threads): c for c in reversed(roofs.compute)}
    for ceiling, line in reversed(compute):
        highest = best[ceiling.dtype, ceiling.threads] is ceiling
        wide_px = 2.6 if ceiling.threads > roofs.threads[0] else 1.7
        dashed = ceiling.dtype != roofs.dtypes[0]
        stroke(axes, span, line, style.INK if highest else "#8a8a8a", wide_px if highest else 1.1, 2, "roof", dashed)
    for slope, line in memory:
        wide_px = 2.6 if slope.threads > roofs.threads[0] else 1.7
        stroke(axes, span, line, palette.colour(slope.level), wide_px, 3, "roof")
    path = [span.pixel(rung.flop_per_byte, rung.flop_per_s) for rung in ladder.rungs]
    for start, end in pairwise(path):
        _arrow(axes, span, start, end)
    for rung in shown:
        draw_rung(axes, (rung.flop_per_byte, rung.flop_per_s), rung, palette, rung in ladder.references)
    places = [span.pixel(rung.flop_per_byte, rung.flop_per_s) for rung in shown]
    lines = [line for _, line in (*memory, *compute)]
    lines += 2 * [Line(*step) for step in pairwise(path)]  # worse to write across than a roof
    labels: list[Label] = []
    paper = Paper(span.width_px, span.height_px, places, lines, labels)
    for group in near_together(compute):
        write_label(axes, span, paper, group[0][1], group_text([c for c, _ in group], roofs), style.INK, "compute roof")
    for slope, line in memory:
        text = f"{short_name(slope)} {byte_rate(slope.byte_per_s)}{kind_text(slope, roofs)}"
        write_label(axes, span, paper, line, text, palette.text_colour(slope.level), "memory roof")
    # Names after the roofs, which have fewer places to stand; from the top, to stand in the order of their markers.
    found: dict[int, Label] = {}
    for at in sorted(range(len(shown)), key=lambda at: -places[at][1]):
        others = [*places[:at], *places[at + 1 :]]
        clear = Paper(span.width_px, span.height_px, others, lines, labels)
        found[at] = clear.choose(_beside(places[at], *_name_px(axes, shown[at])))
    for at, rung in enumerate(shown):
        _name(axes, span, rung, places[at], found[at])


def draw_rung(axes: Axes, place: Place, rung: Rung, palette: Palette, beside: bool) -> None:
    """Draw the marker of a rung at a place in the axes' data: a disc on the path, a diamond for a library."""
    colour = palette.colour(rung.measurement.level)
    hollow = rung.measurement.status != "ok"
    axes.plot(
        *([value] for value in place),
        "D" if beside else "o",
        markersize=style.points(style.MARKER_PX if beside else style.MARKER_PX + 1),
        markerfacecolor="white" if hollow else colour,
        markeredgecolor=colour if hollow else "white",
        markeredgewidth=style.points(1.3 if hollow else 0.5),
        clip_on=False,
        zorder=6,
        gid="rung",
    )


def short_rung(rung: Rung) -> str:
    """Return the kernel's name without its family, with the threads where they are several."""
    name = elided(style.drawable_text(rung.measurement.kernel.partition(".")[2] or rung.measurement.kernel), 24)
    threads = rung.measurement.threads
    return name if threads == 1 else f"{name}, {threads_text(threads)}"


def _label_minor_ticks(axes: Axes) -> None:
    """Label 2 and 5 of each decade: the panel spans few."""
    for axis, unit in ((axes.xaxis, 1.0), (axes.yaxis, 1e9)):
        axis.set_minor_formatter(
            FuncFormatter(lambda value, _, unit=unit: f"{value / unit:g}" if f"{value:e}"[0] in "25" else "")
        )
    axes.tick_params(which="minor", labelsize=style.points(style.SMALL_PX), labelcolor=style.MUTED)


def _arrow(axes: Axes, span: Span, start: Place, end: Place) -> None:
    head = "-|>" if hypot(end[0] - start[0], end[1] - start[1]) > ARROW_PX else "-"
    shrink = style.points(4.5) if head == "-|>" else 0.0
    settings = {"arrowstyle": head, "color": style.INK, "linewidth": style.points(1.2)}
    settings |= {"shrinkA": shrink, "shrinkB": shrink, "mutation_scale": style.points(9)}
    axes.annotate("", span.value(*end), span.value(*start), arrowprops=settings | {"zorder": 5}, gid="step")


def _name_text(rung: Rung) -> str:
    """Return the rung's name and its step.

    A library has no step: its factor stands with its words, where there is room to say against what.
    """
    text = short_rung(rung)
    if rung.step is not None and not is_library(rung.measurement):
        text += f"  {factor_text(rung.step)}"
    return text


def _name_px(axes: Axes, rung: Rung) -> tuple[float, float]:
    """Return the width and height of the rung's name."""
    return width_px(axes.figure, _name_text(rung), style.NORMAL_PX, "bold"), style.NORMAL_PX + 3


def _name(axes: Axes, span: Span, rung: Rung, place: Place, label: Label) -> None:
    """Write the rung's name where its label is, tied to its marker where it had to move away."""
    (x_px, y_px), wide_px = label.centre, label.width_px
    axes.text(
        *span.value(x_px, y_px), _name_text(rung), fontsize=style.points(style.NORMAL_PX), weight="bold",
        color=style.INK, ha="center", va="center", parse_math=False, zorder=7, path_effects=HALO, gid="rung name",
    )  # fmt: skip
    if abs(y_px - place[1]) > LEADER_PX:
        near_px = x_px - wide_px / 2 - 1 if x_px > place[0] else x_px + wide_px / 2 + 1
        stroke(axes, span, Line(place, (near_px, y_px)), style.MUTED, 0.6, 2.5)


def _beside(place: Place, wide_px: float, high_px: float) -> Iterator[tuple[Label, float]]:
    """Yield places to the left and right with how little each is wanted: the roofs' labels stand at the right edge."""
    first = 1 if place[0] < LEFT_SHARE * PANEL_WIDTH_PX else -1
    for shift_px in NAME_SHIFTS_PX:
        away_px = 8 + abs(shift_px) / 4 + wide_px / 2
        for side, unwanted in ((first, 0.0), (-first, 30.0)):
            yield (
                Label((place[0] + side * away_px, place[1] + shift_px), 0.0, wide_px, high_px),
                unwanted + 6 * abs(shift_px),
            )
