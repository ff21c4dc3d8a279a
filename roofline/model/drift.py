"""Whether something changed all the time while it was measured: a clock that falls, samples that never settle."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

from roofline.model.statistics import median

MOST_DRIFT = 0.02
"""A clock that changed by more from the first reading to the last, along its middle slope."""
FEWEST = 8
"""Fewer readings tell no trend."""
MOST_PAIRS = 400
"""Readings are thinned to so many at most: slopes are taken between all pairs."""
SETTLED = 0.02
"""Halves of a series whose medians differ by more are not one series."""
CORRELATED = 0.5
"""Neighbours that resemble each other by more than this are no independent samples."""


def drift(values: Sequence[float]) -> float:
    """Return the relative change from the first value to the last along the middle slope; 0 for a few values.

    The slope is the median of those between all pairs (Theil 1950, Sen 1968), which a few outliers do not move.
    """
    step = max(1, len(values) // MOST_PAIRS)
    kept = values[::step]
    if len(kept) < FEWEST:
        return 0.0
    slopes = [(b - a) / (j - i) for (i, a), (j, b) in combinations(enumerate(kept), 2)]
    middle = median(kept)
    return median(slopes) * (len(kept) - 1) / middle if middle else 0.0


def is_falling(clocks_hz: Sequence[float]) -> bool:
    """Return whether a clock fell over the run: what it began with is not what it can hold."""
    return drift(clocks_hz) < -MOST_DRIFT


def never_settled(samples_s: Sequence[float]) -> bool:
    """Return whether samples got slower or faster all the time.

    Both must be so: the halves differ, and neighbours resemble each other more than chance makes them.
    """
    count = len(samples_s)
    if count < 2 * FEWEST:
        return False
    first, second = median(samples_s[: count // 2]), median(samples_s[count // 2 :])
    return abs(second / first - 1) > SETTLED and _resemblance(samples_s) > CORRELATED


def _resemblance(samples_s: Sequence[float]) -> float:
    """Return the correlation of each sample with the next (lag 1); 0 where nothing varies."""
    mean = sum(samples_s) / len(samples_s)
    apart = [sample_s - mean for sample_s in samples_s]
    varied = sum(value * value for value in apart)
    return sum(a * b for a, b in pairwise(apart)) / varied if varied else 0.0
