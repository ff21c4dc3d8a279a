"""The numbers beside the markers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import textalloc
from matplotlib.axes import Axes

from roofline.plotting.figure import style
from roofline.plotting.figure.label_places import Label, Line, Place
from roofline.plotting.figure.points import Point
from roofline.plotting.figure.span import Span


def write_numbers(
    axes: Axes,
    span: Span,
    drawn: Sequence[Point],
    lines: Sequence[Line],
    labels: Sequence[Label],
    others: Sequence[Place] = (),
) -> None:
    """Write each point's number near its marker, clear of markers, roofs and the labels of the roofs.

    `others` are places of more markers, in the axes' data.
    """
    if not drawn:
        return
    x = [point.derived.flop_per_byte for point in drawn]
    y = [point.derived.flop_per_s for point in drawn]
    covered = [span.value(float(disc[0]), float(disc[1])) for label in labels for disc in label.discs]
    ends = [(span.value(*line.start), span.value(*line.end)) for line in lines]
    allocate: Any = textalloc.allocate  # its annotations ask for a list of arrays where it takes one size each
    _, _, texts, _ = allocate(
        axes,
        x,
        y,
        [str(point.number) for point in drawn],
        x_scatter=[*x, *(place[0] for place in (*others, *covered))],
        y_scatter=[*y, *(place[1] for place in (*others, *covered))],
        scatter_sizes=[style.points(style.MARKER_PX)] * (len(x) + len(others))
        + [style.points(style.SMALL_PX)] * len(covered),
        x_lines=[[start[0], end[0]] for start, end in ends],
        y_lines=[[start[1], end[1]] for start, end in ends],
        textsize=style.points(style.SMALL_PX),
        linecolor=style.MUTED,
        linewidth=0.4,
        margin=0.004,
        min_distance=0.008,
        max_distance=0.12,
        textcolor=style.INK,
        avoid_label_lines_overlap=True,
        nbr_candidates=400,
    )
    for text in texts:
        text.set(zorder=7, gid="number")
