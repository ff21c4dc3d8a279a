"""One panel of a comparison: the roofs of the run after, and how each point moved under them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch

from roofline.compare.change import Change
from roofline.model.measurement import Measurement
from roofline.plotting.figure import style
from roofline.plotting.figure.label_places import Line, Place, Places
from roofline.plotting.figure.marker import Palette, draw_marker
from roofline.plotting.figure.numbers import write_numbers
from roofline.plotting.figure.panel import Scene, draw_roofs
from roofline.plotting.figure.points import Point
from roofline.plotting.figure.span import Span

LEAST_ARROW_PX = 2.0 * style.MARKER_PX
"""Of a shorter way between two markers nothing could be seen."""
BENDS = (0.0, 0.16, -0.16, 0.30, -0.30, 0.44, -0.44)
"""How far an arrow may be bent, in shares of its length, the least first."""


@dataclass(frozen=True)
class Move:
    """One point of both runs, as the panel shows it."""

    before: Point
    after: Point
    change: Change

    @property
    def is_beyond_noise(self) -> bool:
        """Whether the interval excludes 1 by more than the margin."""
        return self.change.verdict in ("faster", "slower")

    @property
    def places(self) -> tuple[Place, Place]:
        """Where both markers stand, in the axes' data."""
        return _place(self.before), _place(self.after)

    @property
    def measurement(self) -> Measurement:
        """The measurement after."""
        return self.after.measurement


def draw_moves(axes: Axes, scene: Scene, moves: Sequence[Move], span: Span, palette: Palette) -> None:
    """Draw the roofs, hollow markers before, filled ones after, and arrows from each to each."""
    bends = _bends(moves, span)
    paths = [line for move, bend in zip(moves, bends, strict=True) for line in _path(move, bend, span)]
    places = [place for move in moves for place in move.places]
    paper = draw_roofs(axes, scene, span, palette, places, paths)
    for move, bend in zip(moves, bends, strict=True):
        if _path(move, bend, span):
            axes.add_patch(_arrow(move, bend))
        before, after = move.places
        draw_marker(axes, before, move.before, palette, hollow=True)
        draw_marker(axes, after, move.after, palette, hollow=False)
    others = [move.places[0] for move in moves]
    write_numbers(axes, span, [move.after for move in moves], paper.lines, paper.labels, others)


def _place(point: Point) -> Place:
    return point.derived.flop_per_byte, point.derived.flop_per_s


def _bends(moves: Sequence[Move], span: Span) -> list[float]:
    """Return how far each arrow is bent: as little as lets it pass other markers and the arrows that are shorter."""
    pixels = [[span.pixel(*place) for place in move.places] for move in moves]
    bends = [0.0] * len(moves)
    middles: list[Place] = []
    for index in sorted(range(len(moves)), key=lambda k: Line(*pixels[k]).length):
        others = [place for k, both in enumerate(pixels) if k != index for place in both]
        around = np.array([*others, *middles]).reshape(-1, 2)
        paths = {bend: _path(moves[index], bend, span) for bend in BENDS}
        bends[index] = min(BENDS, key=lambda bend: _hits(paths[bend], around))
        middles += [line.end for line in paths[bends[index]][:1]]
    return bends


def _hits(path: Sequence[Line], around: Places) -> int:
    """Return how many of the places an arrow touches."""
    return sum(int((line.distances(around) < style.MARKER_PX).sum()) for line in path)


def _path(move: Move, bend: float, span: Span) -> list[Line]:
    """Return the arrow's way as two straight lines in pixels; none where it is too short to be seen."""
    start, end = (span.pixel(*place) for place in move.places)
    if Line(start, end).length < LEAST_ARROW_PX:
        return []
    across, up = end[0] - start[0], end[1] - start[1]
    middle = ((start[0] + end[0] + bend * up) / 2, (start[1] + end[1] - bend * across) / 2)
    return [Line(start, middle), Line(middle, end)]


def _arrow(move: Move, bend: float) -> FancyArrowPatch:
    solid = move.is_beyond_noise
    return FancyArrowPatch(
        *move.places,
        arrowstyle="-|>,head_length=3.2,head_width=1.6" if solid else "->,head_length=2.4,head_width=1.4",
        connectionstyle=f"arc3,rad={bend}",
        shrinkA=style.points(style.MARKER_PX * 0.6),
        shrinkB=style.points(style.MARKER_PX * 0.7),
        linewidth=style.points(1.3 if solid else 0.9),
        linestyle="-" if solid else (0, (3, 2)),
        color=style.INK if solid else style.MUTED,
        zorder=5.5,
        gid="moved" if solid else "moved within noise",
    )
