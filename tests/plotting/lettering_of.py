"""What is written on a figure, and where: for tests that look at pictures."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, radians, sin

import numpy as np
from matplotlib.figure import Figure
from matplotlib.text import Text

Corners = np.ndarray


@dataclass(frozen=True)
class Written:
    """A text with its kind and the four corners of its rectangle in pixels."""

    text: str
    gid: str
    corners: Corners

    def holds(self, place: np.ndarray) -> bool:
        """Say whether the place lies in the rectangle."""
        across, up = self.corners[1] - self.corners[0], self.corners[3] - self.corners[0]
        away = place - self.corners[0]
        return bool(0 <= away @ across <= across @ across and 0 <= away @ up <= up @ up)


def written_on(figure: Figure) -> list[Written]:
    """Return every text that is visible on the figure, tick labels included."""
    figure.canvas.draw()
    found = list(figure.texts)
    for axes in figure.axes:
        found += axes.texts
        for axis in (axes.xaxis, axes.yaxis) if axes.axison else ():
            low, high = axis.get_view_interval()
            ticks = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=True)
            found += [axis.label, *(label for value, label in ticks if low <= value <= high)]
    return [Written(text.get_text(), text.get_gid() or "", _corners(text)) for text in found if text.get_text()]


def texts(figure: Figure, gid: str) -> list[str]:
    """Return the texts of one kind in drawing order."""
    return [text.get_text() for text in figure.findobj(Text) if text.get_gid() == gid]


def overlapping(written: list[Written]) -> list[tuple[str, str]]:
    """Return the pairs of texts whose rectangles overlap by more than half a pixel."""
    boxes = np.array([[*w.corners.min(axis=0), *w.corners.max(axis=0)] for w in written])
    found = []
    for i, one in enumerate(written):
        left, bottom, right, top = boxes[i]
        near = (boxes[:, 0] < right) & (boxes[:, 2] > left) & (boxes[:, 1] < top) & (boxes[:, 3] > bottom)
        found += [(one.text, written[j].text) for j in np.flatnonzero(near) if j > i and _overlap(one, written[j])]
    return found


def _corners(text: Text) -> Corners:
    turned = radians(text.get_rotation())
    if turned % (np.pi / 2) < 1e-9:
        box = text.get_window_extent()
        return np.array([(box.x0, box.y0), (box.x1, box.y0), (box.x1, box.y1), (box.x0, box.y1)])
    degrees = text.get_rotation()
    text.set_rotation(0)
    box = text.get_window_extent()
    text.set_rotation(degrees)
    x, y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
    halves = [(sx * box.width / 2, sy * box.height / 2) for sx, sy in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return np.array([(x + u * cos(turned) - v * sin(turned), y + u * sin(turned) + v * cos(turned)) for u, v in halves])


def _overlap(one: Written, other: Written) -> bool:
    """Test two rectangles by the separating axis theorem."""
    for rectangle in (one.corners, other.corners):
        for edge in (rectangle[1] - rectangle[0], rectangle[3] - rectangle[0]):
            axis = edge / np.hypot(*edge)
            a, b = one.corners @ axis, other.corners @ axis
            if a.max() < b.min() + 0.5 or b.max() < a.min() + 0.5:
                return False
    return True
