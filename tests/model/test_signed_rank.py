"""The signed-rank test and its interval, against other ways to compute them: exact, so equal."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata, wilcoxon

from roofline.model.signed_rank import (
    critical_sum,
    hodges_lehmann,
    hodges_lehmann_interval,
    p_greater,
    walsh_averages,
)

quick = settings(max_examples=100, derandomize=True, deadline=None)
WHOLE = st.integers(-50, 50)
"""Whole numbers tie often, and add without rounding."""
SAMPLES = st.lists(WHOLE, min_size=1, max_size=10)


def tail(pairs: int, least: int) -> Fraction:
    """Return the probability of a sum of positive ranks of at least so much, by counting subsets of 1..pairs."""
    counts = {0: 1}
    for rank in range(1, pairs + 1):
        grown = dict(counts)
        for total, ways in counts.items():
            grown[total + rank] = grown.get(total + rank, 0) + ways
        counts = grown
    return Fraction(sum(ways for total, ways in counts.items() if total >= least), 2**pairs)


def by_all_signs(differences: list[int]) -> float:
    """Return the share of all assignments of signs whose sum of positive ranks is at least the one found."""
    found = [d for d in differences if d]
    ranks = rankdata([abs(d) for d in found]) if found else []
    least = sum(rank for rank, d in zip(ranks, found, strict=True) if d > 0)
    sums = [sum(r for r, s in zip(ranks, signs, strict=True) if s) for signs in product((0, 1), repeat=len(found))]
    return sum(total >= least for total in sums) / len(sums)


@pytest.mark.parametrize(
    ("pairs", "alpha", "critical"),
    [
        (18, 0.05, 124),
        (44, 0.01, 694),
        (44, 0.2 / 20, 694),
        (44, 0.2 / 50, 720),
        (44, 0.2 / 100, 738),
        (12, 0.05, 61),
        (24, 0.01, 231),
    ],
)
def test_the_critical_sums_of_the_rule(pairs: int, alpha: float, critical: int) -> None:
    assert tail(pairs, critical) <= Fraction(alpha) < tail(pairs, critical - 1)
    assert critical_sum(pairs, alpha) == critical


def test_the_probability_of_the_screen_is_the_published_one() -> None:
    differences = [-rank if rank in (12, 17, 18) else rank for rank in range(1, 19)]  # positive ranks: 124
    assert round(p_greater(differences), 4) == 0.0494


@pytest.mark.parametrize("pairs", range(1, 13))
@pytest.mark.parametrize("alpha", [0.5, 0.05, 0.025, 0.01, 1e-4])
def test_a_critical_sum_is_the_least_that_is_rare_enough(pairs: int, alpha: float) -> None:
    most = pairs * (pairs + 1) // 2
    rare = [total for total in range(most + 1) if tail(pairs, total) <= Fraction(alpha)]
    assert critical_sum(pairs, alpha) == (rare[0] if rare else most + 1)


def test_the_interval_of_a_confirmation_leaves_the_published_rank_bound() -> None:
    differences = [3.0**k for k in range(44)]  # no two Walsh averages alike
    averages = walsh_averages(differences)
    assert len(averages) == 44 * 45 // 2
    assert hodges_lehmann_interval(differences) == (averages[990 - 663], averages[662])
    assert critical_sum(44, 0.025) == 663


@quick
@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=30))
def test_the_probability_is_scipys(differences: list[float]) -> None:
    sizes = [abs(d) for d in differences]
    if 0 in sizes or len(set(sizes)) < len(sizes):
        return  # scipy's exact distribution knows no ties
    expected = wilcoxon(differences, alternative="greater", method="exact").pvalue
    assert p_greater(differences) == pytest.approx(expected, rel=1e-12)


@quick
@given(st.lists(st.integers(-4, 4), max_size=10))
def test_ties_share_their_ranks_and_zeros_are_left_out(differences: list[int]) -> None:
    assert p_greater(differences) == pytest.approx(by_all_signs(differences), rel=1e-12)


def test_nothing_is_known_without_differences() -> None:
    assert p_greater([]) == p_greater([0.0, 0.0]) == 1.0
    assert hodges_lehmann_interval([1.0, 2.0, 3.0]) is None


@quick
@given(SAMPLES)
def test_swapped_signs_mirror_everything(differences: list[int]) -> None:
    swapped = [-d for d in differences]
    assert hodges_lehmann(swapped) == -hodges_lehmann(differences)
    interval, mirror = hodges_lehmann_interval(differences, 0.8), hodges_lehmann_interval(swapped, 0.8)
    assert mirror == (interval and (-interval[1], -interval[0]))
    # P(W >= w) + P(W <= w) = 1 + P(W = w): both tails hold what was found.
    assert p_greater(differences) + p_greater(swapped) > 1 or not any(differences)


@quick
@given(SAMPLES, st.integers(1, 9))
def test_another_unit_changes_no_probability(differences: list[int], unit: int) -> None:
    scaled = [unit * d for d in differences]
    assert p_greater(scaled) == p_greater(differences)
    assert hodges_lehmann(scaled) == unit * hodges_lehmann(differences)


@quick
@given(SAMPLES, WHOLE)
def test_what_is_added_to_all_is_added_to_the_estimate(differences: list[int], shift: int) -> None:
    shifted = [d + shift for d in differences]
    assert hodges_lehmann(shifted) == hodges_lehmann(differences) + shift
    interval, moved = hodges_lehmann_interval(differences, 0.8), hodges_lehmann_interval(shifted, 0.8)
    assert moved == (interval and (interval[0] + shift, interval[1] + shift))


@quick
@given(SAMPLES, st.integers(0, 60))
def test_larger_differences_are_never_less_significant(differences: list[int], more: int) -> None:
    odd = [2 * d + 1 for d in differences]  # moved by even steps none of them becomes 0 and is left out
    assert p_greater([d + 2 * more for d in odd]) <= p_greater(odd)


@quick
@given(SAMPLES)
def test_the_estimate_is_the_median_of_all_means_of_two(differences: list[int]) -> None:
    means = [(a + b) / 2 for i, a in enumerate(differences) for j, b in enumerate(differences) if i <= j]
    assert hodges_lehmann(differences) == median(means)
    assert walsh_averages(differences) == sorted(means)


@pytest.mark.parametrize("pairs", range(3, 12))
@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9, 0.95])
def test_the_interval_covers_the_centre_as_often_as_it_says(pairs: int, confidence: float) -> None:
    sizes = [3**k for k in range(pairs)]  # whatever the sizes are: only signs and ranks decide
    samples = [[s * size for s, size in zip(signs, sizes, strict=True)] for signs in product((-1, 1), repeat=pairs)]
    intervals = [hodges_lehmann_interval(sample, confidence) for sample in samples]
    critical = critical_sum(pairs, (1 - confidence) / 2)
    if critical > pairs * (pairs + 1) // 2:
        assert set(intervals) == {None}
        return
    covered = sum(low < 0 < high for low, high in filter(None, intervals))
    assert Fraction(covered, len(samples)) == 1 - 2 * tail(pairs, critical) >= Fraction(confidence)


def test_higher_confidence_makes_no_interval_narrower() -> None:
    differences = [((k * 37) % 41) / 10 for k in range(20)]
    intervals = [hodges_lehmann_interval(differences, confidence) for confidence in (0.5, 0.8, 0.95, 0.99)]
    for narrow, wide in pairwise(filter(None, intervals)):
        assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]
