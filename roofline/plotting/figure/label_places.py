"""Where the label of a line goes: beside it, where it hides no marker, no label and no other line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import atan2, cos, degrees, hypot, sin

Place = tuple[float, float]
MARKER_PX, NUMBER_PX = 5.5, 13.0
"""Room around the centre of a marker for itself, and for its number."""


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

    def distance(self, place: Place) -> float:
        """Return how far the place is from the line, ends included."""
        (x0, y0), (x1, y1) = self.start, self.end
        length_squared = (x1 - x0) ** 2 + (y1 - y0) ** 2 or 1.0
        along = ((place[0] - x0) * (x1 - x0) + (place[1] - y0) * (y1 - y0)) / length_squared
        along = min(1.0, max(0.0, along))
        return hypot(place[0] - x0 - along * (x1 - x0), place[1] - y0 - along * (y1 - y0))


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
    def discs(self) -> list[Place]:
        """Centres of discs of half the text's height that cover the text."""
        half = max(0.0, (self.width_px - self.height_px) / 2)
        count = max(1, round(2 * half / (0.5 * self.height_px)))
        steps = [-half + 2 * half * step / count for step in range(count + 1)]
        return [(self.centre[0] + s * cos(self.angle), self.centre[1] + s * sin(self.angle)) for s in steps]


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
        candidates = _beside(line, width_px, height_px)
        best = min(candidates, key=lambda pair: self._cost(pair[0], line) + 0.02 * pair[1])[0]
        self.labels.append(best)
        return best

    def _cost(self, label: Label, own: Line) -> float:
        radius = label.height_px / 2
        cost = 0.0
        others = [disc for other in self.labels for disc in other.discs]
        for disc in label.discs:
            inside = min(disc[0], self.width_px - disc[0], disc[1], self.height_px - disc[1]) > radius + 2
            cost += 0.0 if inside else 30.0
            away = [hypot(disc[0] - x, disc[1] - y) - radius for x, y in self.markers]
            cost += 12.0 * sum(gap < MARKER_PX for gap in away) + 4.0 * sum(gap < NUMBER_PX for gap in away)
            cost += 20.0 * sum(hypot(disc[0] - x, disc[1] - y) < 2 * radius + 1 for x, y in others)
            cost += 1.5 * sum(line is not own and line.distance(disc) < radius for line in self.lines)
        return cost


def _beside(line: Line, width_px: float, height_px: float) -> Iterator[tuple[Label, float]]:
    """Yield places along both sides of the line, with how little each is wanted.

    On a line that is shorter than the text, the text begins at the start and reaches beyond the end.
    """
    (x0, y0), (x1, y1) = line.start, line.end
    length = hypot(x1 - x0, y1 - y0) or 1.0
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
