"""Wilcoxon's signed-rank test and what is estimated by inverting it: exact for any noise that is symmetric about 0.

Differences of pairs whose order a fair coin decides are symmetric when nothing differs, whatever disturbs them; so no
distribution is assumed. (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3rd ed., 3.1 to 3.3.)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from statistics import median


def p_greater(differences: Sequence[float]) -> float:
    """Return the exact probability, under symmetry about 0, of a sum of positive ranks at least as high as found.

    Zeros are left out and ties share their ranks: the distribution is that of the ranks found, over all signs. 1 when
    no difference is left.
    """
    found = [difference for difference in differences if difference]
    ranks = _doubled_ranks([abs(difference) for difference in found])
    positive = sum(rank for rank, difference in zip(ranks, found, strict=True) if difference > 0)
    ways = _ways(tuple(sorted(ranks)))
    return float(sum(ways[positive:]) / 2 ** len(found))


@cache
def critical_sum(pairs: int, alpha: float) -> int:
    """Return the least sum of positive ranks whose probability without ties is at most `alpha`; beyond all sums where
    there is none."""
    ways = _ways(tuple(range(2, 2 * pairs + 2, 2)))[::2]
    most = alpha * 2**pairs
    tail = 0
    for total in range(len(ways) - 1, -1, -1):
        tail += ways[total]
        if tail > most:
            return total + 1
    return 0


def walsh_averages(differences: Sequence[float]) -> list[float]:
    """Return the means of all pairs of differences, each with itself too, ascending."""
    return sorted(
        (one + other) / 2 for place, one in enumerate(differences) for other in differences[place:]
    )  # fmt: skip


def hodges_lehmann(differences: Sequence[float]) -> float:
    """Return the estimate of the centre of symmetry: the median of the Walsh averages."""
    return median(walsh_averages(differences))


def hodges_lehmann_interval(differences: Sequence[float], confidence: float = 0.95) -> tuple[float, float] | None:
    """Return the exact interval of the centre that inverts the two-sided test; None with too few differences."""
    averages = walsh_averages(differences)
    critical = critical_sum(len(differences), (1 - confidence) / 2)
    if critical > len(averages):
        return None
    return averages[len(averages) - critical], averages[critical - 1]


def _doubled_ranks(sizes: Sequence[float]) -> list[int]:
    """Return twice the rank of each, so that shared ranks stay whole."""
    order = sorted(range(len(sizes)), key=sizes.__getitem__)
    ranks = [0] * len(sizes)
    first = 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and sizes[order[last + 1]] == sizes[order[first]]:
            last += 1
        for place in range(first, last + 1):
            ranks[order[place]] = first + last + 2
        first = last + 1
    return ranks


@cache
def _ways(doubled_ranks: tuple[int, ...]) -> tuple[int, ...]:
    """Return, for each sum, how many of the assignments of signs have it as the sum of their positive ranks."""
    ways = [1]
    for rank in doubled_ranks:
        longer = ways + [0] * rank
        for total, count in enumerate(ways):
            longer[total + rank] += count
        ways = longer
    return tuple(ways)
