"""The few statistics that published numbers are derived with. Samples are the record; these are views."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from statistics import median

__all__ = ["interval_of_median", "median", "relative_spread"]


def relative_spread(samples: Sequence[float]) -> float:
    """Return (upper quartile - lower quartile) / median: the width of the middle half, 0 for one sample."""
    if len(samples) < 2:
        return 0.0
    ordered = sorted(samples)
    last = len(ordered) - 1

    def quantile(share: float) -> float:
        position = share * last
        below = math.floor(position)
        above = min(below + 1, last)
        return ordered[below] + (position - below) * (ordered[above] - ordered[below])

    middle = median(ordered)
    return (quantile(0.75) - quantile(0.25)) / middle if middle else 0.0


def interval_of_median(samples: Sequence[float], confidence: float = 0.95) -> tuple[float, float] | None:
    """Return the distribution-free confidence interval of the median, from order statistics.

    The interval [x(k), x(n+1-k)] covers the median with probability 1 - 2 P(Binomial(n, 1/2) < k), whatever
    the distribution (David and Nagaraja, Order Statistics, 7.1). Returns the narrowest that still covers
    `confidence`, or None when there are too few samples for any (fewer than 6 for 95 %).
    """
    count = len(samples)
    ordered = sorted(samples)
    most = int(Fraction((1 - confidence) / 2) * 2**count)  # in outcomes: exact, and quick for thousands of samples
    best = None
    fewer, ways = 0, 1  # of the 2**count outcomes, those with fewer than k below the median, and with exactly k - 1
    for k in range(1, count // 2 + 1):
        fewer += ways
        ways = ways * (count - k + 1) // k
        if fewer > most:
            break
        best = (ordered[k - 1], ordered[count - k])
    return best
