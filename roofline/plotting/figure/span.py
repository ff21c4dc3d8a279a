"""How far the axes of a panel reach, and how that becomes pixels with equal decades."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10, sqrt

from roofline.model.ceilings import ComputeCeiling, MemoryCeiling
from roofline.plotting.figure.points import Point

LEAST_DECADES = 2.0
"""A narrower panel has too few ticks to read a value from."""


@dataclass(frozen=True)
class Span:
    """Limits of a log-log panel (flop/B across, flop/s up) and its size in pixels."""

    left: float
    right: float
    bottom: float
    top: float
    width_px: float
    height_px: float

    def pixel(self, flop_per_byte: float, flop_per_s: float) -> tuple[float, float]:
        """Return the place in pixels from the lower left corner."""
        across = log10(flop_per_byte / self.left) / log10(self.right / self.left)
        up = log10(flop_per_s / self.bottom) / log10(self.top / self.bottom)
        return across * self.width_px, up * self.height_px

    def value(self, x_px: float, y_px: float) -> tuple[float, float]:
        """Return the intensity and rate at a place in pixels."""
        across, up = x_px / self.width_px, y_px / self.height_px
        return self.left * (self.right / self.left) ** across, self.bottom * (self.top / self.bottom) ** up


def span_of(
    compute: Sequence[ComputeCeiling],
    memory: Sequence[MemoryCeiling],
    drawn: Sequence[Point],
    *,
    width_px: float,
    least_height_px: float,
    most_height_px: float,
) -> Span:
    """Return limits that show every ceiling, ridge and point, with decades equal in both directions where they fit.

    There must be a ceiling or a point.
    """
    peaks = [ceiling.flop_per_s for ceiling in compute]
    intensities = [point.derived.flop_per_byte for point in drawn]
    rates = [point.derived.flop_per_s for point in drawn]
    ridges = [max(peaks) / ceiling.byte_per_s for ceiling in memory] if peaks else []
    left = min([*(0.55 * i for i in intensities), *(0.3 * ridge for ridge in ridges)], default=0.1)
    right = max([*(1.8 * i for i in intensities), *(10 * ridge for ridge in ridges)], default=10.0)
    left, right = at_least(left, right, LEAST_DECADES)
    middle = sqrt(left * right)
    heights = [*rates, *(peaks or [ceiling.byte_per_s * middle for ceiling in memory])]
    bottom = min([*(0.55 * height for height in heights), *(0.4 * peak for peak in peaks)])
    bottom, top = at_least(bottom, 1.9 * max(heights), LEAST_DECADES)
    return span_within(left, right, bottom, top, width_px, least_height_px, most_height_px)


def with_common_width(spans: Sequence[Span], least_height_px: float, most_height_px: float) -> list[Span]:
    """Return the spans of panels one below the other with the same intensities across, so that they can be compared."""
    left, right = min(span.left for span in spans), max(span.right for span in spans)
    return [
        span_within(left, right, span.bottom, span.top, span.width_px, least_height_px, most_height_px)
        for span in spans
    ]


def span_within(
    left: float,
    right: float,
    bottom: float,
    top: float,
    width_px: float,
    least_height_px: float,
    most_height_px: float,
) -> Span:
    """Return these limits with decades equal in both directions where they fit, and room above and below if need be."""
    decade_px = width_px / log10(right / left)
    wanted_px = decade_px * log10(top / bottom)
    height_px = min(max(wanted_px, least_height_px), most_height_px)
    spare = 10 ** max(0.0, (height_px - wanted_px) / decade_px)
    return Span(left, right, bottom / spare**0.75, top * spare**0.25, width_px, height_px)


def at_least(low: float, high: float, decades: float) -> tuple[float, float]:
    """Widen the range on both sides until it spans so many decades."""
    missing = max(0.0, decades - log10(high / low)) / 2
    return low / 10**missing, high * 10**missing
