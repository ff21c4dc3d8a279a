"""Where a curve over working sets leaves one level for the next: the same rule for bandwidth and for latency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from roofline.model.machine import Cache
from roofline.model.statistics import median

DISTINCT = 1.1
"""Two plateaus that differ by less cannot be told apart."""
EXCEEDS = 1.5
"""A level's plateau begins at so many times the level before ..."""
FILLS = 0.6
"""... and surely lasts as long as its sets fill this share of it."""
SEARCH_FROM = 16
"""A plateau does not end before this part of the reported capacity: what dips there is noise."""


@dataclass(frozen=True)
class CurvePoint:
    """One working set, and how fast it was: higher is better. For latency these are loads per second."""

    size_bytes: int
    per_s: float


@dataclass(frozen=True)
class Knee:
    """The end of a plateau."""

    per_s: float
    """Of the plateau."""
    size_bytes: int | None
    """The largest set that was nearer to this plateau than to the next; None when they cannot be told apart."""
    interval_bytes: tuple[int, int] | None
    """The same set, and the smallest measured one beyond it."""


def knees(curve: Sequence[CurvePoint], caches: Sequence[Cache]) -> list[Knee | None]:
    """Return the plateau of each reported cache with where it ends, then that of what lies beyond all of them.

    None for a plateau that no measured set lies on.
    """
    tops = [_plateau(curve, *bounds) for bounds in _windows(caches)]
    beyond = [p.per_s for p in curve if not caches or p.size_bytes > EXCEEDS * caches[-1].size_bytes]
    tops.append(median(beyond) if beyond else None)
    found: list[Knee | None] = []
    for number, cache in enumerate(caches):
        top = tops[number]
        if top is None:
            found.append(None)
            continue
        size, interval = _end(curve, cache, top, tops[number + 1])
        found.append(Knee(per_s=top, size_bytes=size, interval_bytes=interval))
    last = tops[-1]
    found.append(None if last is None else Knee(per_s=last, size_bytes=None, interval_bytes=None))
    return found


def _windows(caches: Sequence[Cache]) -> list[tuple[float, float]]:
    """Return the sizes between which each reported cache should show its plateau."""
    before = 0
    windows = []
    for cache in caches:
        windows.append((EXCEEDS * before, FILLS * cache.size_bytes))
        before = cache.size_bytes
    return windows


def _plateau(curve: Sequence[CurvePoint], low: float, high: float) -> float | None:
    """Return the height of the plateau within a window: its highest point; None when no size lies in it."""
    return max((point.per_s for point in curve if low <= point.size_bytes <= high), default=None)


def _end(
    curve: Sequence[CurvePoint], cache: Cache, top: float, after: float | None
) -> tuple[int | None, tuple[int, int] | None]:
    """Return the largest set that is still nearer to this plateau than to the next (in the logarithm), and the next.

    None when the next plateau is unknown or both are alike. One point below that is followed by one above is noise.
    """
    if after is None or top < DISTINCT * after:
        return None, None
    middle = sqrt(top * after)
    reached = [point.per_s >= middle for point in curve]
    size: int | None = None
    beyond: int | None = None
    for number, point in enumerate(curve):
        fell = not reached[number] and not any(reached[number + 1 : number + 2])
        if fell and point.size_bytes > cache.size_bytes / SEARCH_FROM:
            beyond = point.size_bytes
            break
        if reached[number]:
            size = point.size_bytes
    if size is None or beyond is None:
        return size, None
    return size, (size, beyond)
