"""Where the label of a line goes: beside it, where it hides no marker, no label and no other line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import atan2, cos, degrees, hypot, sin

import numpy as np
from numpy.typing import NDArray

Place = tuple[float, float]
Places = NDArray[np.float64]
MARKER_PX, NUMBER_PX = 5.5, 13.0
"""Room around the centre of a marker for itself, and for its number."""
CLEAR_PX = 0.5
"""Between two texts."""
OVERLAP = 5000.0
"""What it costs to write across another text: more than anything else that can be hidden."""


@dataclass(frozen=True)
class Line:
    """A straight line in pixels, from its preferred end."""

    start: Place
    end: Place

    @property
    def angle(self) -> float:
        """Direction of the text along it in radians: always read from left to right."""
        (x0, y0), (x1, y1) = sorted((self.start, self.end))
        return atan2(y1 - y0, x1 - x0)

    @property
    def length(self) -> float:
        """From one end to the other."""
        return hypot(self.end[0] - self.start[0], self.end[1] - self.start[1])

    def distances(self, places: Places) -> Places:
        """Return how far each of the places is from the line, ends included."""
        start, reach = np.array(self.start), np.subtract(self.end, self.start)
        along = np.clip((places - start) @ reach / (reach @ reach or 1.0), 0.0, 1.0)
        return _lengths(places - start - along[:, None] * reach)


@dataclass(frozen=True)
class Label:
    """A text of known size, centred at a place and turned by an angle; its discs are what it covers."""

    centre: Place
    angle: float
    width_px: float
    height_px: float

    @property
    def rotation_degrees(self) -> float:
        """The angle as matplotlib counts it."""
        return degrees(self.angle)

    @property
    def corners(self) -> Places:
        """The four corners, around it; shape (4, 2)."""
        along = np.array((cos(self.angle), sin(self.angle))) * (self.width_px / 2)
        across = np.array((-sin(self.angle), cos(self.angle))) * (self.height_px / 2)
        centre = np.array(self.centre)
        found: Places = np.array(
            [centre - along - across, centre + along - across, centre + along + across, centre - along + across]
        )
        return found

    def overlaps(self, other: Label) -> bool:
        """Say whether the rectangles come nearer than CLEAR_PX, by the separating axis theorem."""
        mine, theirs = self.corners, other.corners
        for angle in {self.angle, other.angle}:
            for axis in (np.array((cos(angle), sin(angle))), np.array((-sin(angle), cos(angle)))):
                a, b = mine @ axis, theirs @ axis
                if a.max() + CLEAR_PX < b.min() or b.max() + CLEAR_PX < a.min():
                    return False
        return True

    @property
    def discs(self) -> Places:
        """Centres of discs of the text's height, half of it apart, that cover the text; shape (discs, 2)."""
        half = max(0.0, (self.width_px - self.height_px) / 2)
        steps = np.linspace(-half, half, 1 + max(1, round(4 * half / self.height_px)))
        direction = np.array((cos(self.angle), sin(self.angle)))
        places: Places = np.array(self.centre) + steps[:, None] * direction
        return places


@dataclass
class Paper:
    """What is already on a panel of this size, in pixels."""

    width_px: float
    height_px: float
    markers: Sequence[Place]
    lines: Sequence[Line]
    labels: list[Label]

    def place(self, width_px: float, height_px: float, line: Line) -> Label:
        """Put a text of this size beside `line`, as near to its start as nothing is hidden, and remember it."""
        return self.choose(_beside(line, width_px, height_px), line)

    def choose(self, candidates: Iterable[tuple[Label, float]], own: Line | None = None) -> Label:
        """Keep the label that hides least, of candidates with how little each is wanted; `own` line may be crossed."""
        markers = np.array(self.markers).reshape(-1, 2)
        best = min(candidates, key=lambda pair: self._cost(pair[0], own, markers) + 0.02 * pair[1])[0]
        self.labels.append(best)
        return best

    def _cost(self, label: Label, own: Line | None, markers: Places) -> float:
        radius = label.height_px / 2
        discs = label.discs
        edges = np.minimum(discs, np.array((self.width_px, self.height_px)) - discs).min(axis=1)
        from_markers = _lengths(discs[:, None] - markers) - radius
        crossed = sum(int((line.distances(discs) < radius).sum()) for line in self.lines if line is not own)
        return (
            30.0 * int((edges < radius + 2).sum())
            + OVERLAP * sum(label.overlaps(other) for other in self.labels)
            + 12.0 * int((from_markers < MARKER_PX).sum())
            + 4.0 * int((from_markers < NUMBER_PX).sum())
            + 1.5 * crossed
        )


def _lengths(vectors: Places) -> Places:
    return np.hypot(vectors[..., 0], vectors[..., 1])


def _beside(line: Line, width_px: float, height_px: float) -> Iterator[tuple[Label, float]]:
    """Yield places along both sides of the line, with how little each is wanted.

    On a line that is shorter than the text, the text begins at the start and reaches beyond the end.
    """
    (x0, y0), (x1, y1) = line.start, line.end
    length = line.length or 1.0
    angle = line.angle
    off = height_px / 2 + 2.5
    step = 0
    while True:
        along = width_px / 2 + 8 + 6.0 * step
        if step and along + width_px / 2 > length:
            return
        share = along / length
        x, y = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
        for side, unwanted in ((1, 0.0), (-1, 40.0)):
            centre = (x - side * off * sin(angle), y + side * off * cos(angle))
            yield Label(centre, angle, width_px, height_px), along + unwanted
        step += 1
