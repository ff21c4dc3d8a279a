"""The few statistics, against SciPy and NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from roofline.model.statistics import interval_of_median, median, relative_spread

SAMPLES = st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=60)
quick = settings(max_examples=150, derandomize=True, deadline=None)


def coverage(count: int, k: int) -> float:
    """Probability that [x(k), x(count + 1 - k)] holds the median: 1 - 2 P(Binomial(count, 1/2) < k)."""
    return float(1 - 2 * binom.cdf(k - 1, count, 0.5))


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("count", [*range(41), 100, 1001, 5000])
def test_the_interval_is_the_narrowest_that_covers_the_median(count: int, confidence: float) -> None:
    interval = interval_of_median(range(1, count + 1), confidence)
    if interval is None:
        assert count < 2 or coverage(count, 1) < confidence
        return
    k = int(interval[0])
    assert interval[1] == count + 1 - k
    assert coverage(count, k) >= confidence - 1e-12
    assert 2 * (k + 1) > count + 1 or coverage(count, k + 1) < confidence


def test_six_samples_are_the_fewest_with_a_95_percent_interval() -> None:
    assert interval_of_median([1.0] * 5) is None
    assert interval_of_median([3.0, 1.0, 2.0, 6.0, 5.0, 4.0]) == (1.0, 6.0)


def test_the_interval_covers_the_median_of_a_skewed_distribution_as_often_as_it_says() -> None:
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(2000):
        low, high = interval_of_median(rng.exponential(size=15).tolist()) or (np.inf, -np.inf)
        held += low <= np.log(2) <= high
    assert held / 2000 == pytest.approx(coverage(15, 4), abs=0.02)


@quick
@given(SAMPLES)
def test_the_interval_holds_the_median_and_does_not_depend_on_order(samples: list[float]) -> None:
    interval = interval_of_median(samples)
    assert interval == interval_of_median(samples[::-1])
    if interval is not None:
        assert interval[0] <= median(samples) <= interval[1]


@quick
@given(SAMPLES)
def test_the_spread_is_the_interquartile_range_over_the_median(samples: list[float]) -> None:
    lower, middle, upper = np.quantile(samples, [0.25, 0.5, 0.75])
    assert relative_spread(samples) == pytest.approx((upper - lower) / middle, rel=1e-9, abs=1e-12)


@quick
@given(SAMPLES, st.floats(1e-3, 1e3))
def test_the_spread_does_not_depend_on_the_unit(samples: list[float], factor: float) -> None:
    scaled = [factor * sample for sample in samples]
    assert relative_spread(scaled) == pytest.approx(relative_spread(samples), rel=1e-9, abs=1e-12)


def test_few_or_equal_samples_have_no_spread() -> None:
    assert relative_spread([]) == relative_spread([3.0]) == relative_spread([2.0, 2.0, 2.0]) == 0.0
    assert relative_spread([0.0, 0.0]) == 0.0
