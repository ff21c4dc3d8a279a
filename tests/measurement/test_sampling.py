"""The rules of sampling, on numbers alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from roofline.measurement.sampling import HELD_UP, MOST_GROWTH, calibrate, confirmed, is_precise
from roofline.model.launch import has_flat_top


class FakeInterval:
    """Answers how long a count takes, and remembers what it was asked."""

    def __init__(self, took_s: Callable[[int], float]) -> None:
        self.took_s = took_s
        self.counts: list[int] = []

    def __call__(self, count: int) -> float:
        self.counts.append(count)
        return self.took_s(count)


def test_a_linear_cost_is_calibrated_to_just_above_the_target() -> None:
    interval = FakeInterval(lambda count: 1e-6 * count)
    count = calibrate(interval, 1e-3)
    assert 1e-3 <= 1e-6 * count <= 2e-3
    assert interval.counts[-1] == count


def test_a_count_that_lasts_long_enough_at_once_is_kept() -> None:
    interval = FakeInterval(lambda count: 1.0)
    assert calibrate(interval, 1e-3, first=7) == 7
    assert interval.counts == [7]


def test_a_reading_that_was_held_up_does_not_end_the_calibration() -> None:
    held_up = iter([5e-3])
    interval = FakeInterval(lambda count: next(held_up, 2.5e-4 * count))
    assert calibrate(interval, 1e-3) == 1
    held_up = iter([5e-3])
    assert calibrate(confirmed(interval, 1e-3), 1e-3) >= 4


def test_a_long_reading_is_not_taken_twice() -> None:
    interval = FakeInterval(lambda count: HELD_UP * 1e-3 * count)
    assert calibrate(confirmed(interval, 1e-3), 1e-3) == 1
    assert interval.counts == [1]


def test_no_step_grows_more_than_allowed() -> None:
    interval = FakeInterval(lambda count: 1e-9 * count)
    calibrate(interval, 1e-3)
    ratios = [after / before for before, after in zip(interval.counts, interval.counts[1:], strict=False)]
    assert max(ratios) <= MOST_GROWTH
    assert len(ratios) >= 6


def test_a_clock_that_reads_zero_grows_the_count_until_it_moves() -> None:
    interval = FakeInterval(lambda count: 0.0 if count < 5000 else 1e-6 * count)
    assert 1e-6 * calibrate(interval, 1e-2) >= 1e-2
    assert interval.counts[:4] == [1, 10, 100, 1000]


def test_a_cost_that_never_grows_ends_at_the_most() -> None:
    assert calibrate(FakeInterval(lambda count: 0.0), 1e-3, most=10**6) == 10**6
    assert calibrate(FakeInterval(lambda count: 0.9999e-3), 1e-3, most=50) == 50


def test_a_noisy_cost_still_ends_above_the_target() -> None:
    rng = np.random.default_rng(3)
    interval = FakeInterval(lambda count: 1e-6 * count * rng.uniform(0.5, 3.0))
    count = calibrate(interval, 1e-3)
    assert 300 <= count <= 3000


def test_the_count_always_grows_by_one_at_least() -> None:
    interval = FakeInterval(lambda count: 0.99e-3 if count < 4 else 1.0)
    calibrate(interval, 1e-3)
    assert interval.counts == sorted(set(interval.counts))


@pytest.mark.parametrize(
    ("rates", "flat"),
    [
        ([100.0, 99.5, 99.2, 50.0], True),
        ([100.0, 99.5, 98.0, 98.0], False),
        ([100.0, 60.0, 60.0, 60.0], False),
        ([100.0, 100.0], False),
        ([], False),
        ([50.0, 99.5, 40.0, 100.0, 99.0], True),
    ],
)
def test_a_top_is_flat_when_the_third_best_is_near_the_best(rates: list[float], flat: bool) -> None:
    assert has_flat_top(rates, within=0.01) is flat


def test_few_samples_are_never_precise() -> None:
    assert not is_precise([1.0] * 5)
    assert is_precise([1.0] * 6)


def test_precision_is_half_the_interval_over_the_median() -> None:
    spread = [1.0 + 0.004 * k for k in range(-3, 4)]  # 7 samples: the interval reaches from first to last, +- 1.2 %
    assert not is_precise(spread, within=0.01)
    assert is_precise(spread, within=0.013)


def test_one_outlier_among_many_does_not_spoil_precision() -> None:
    assert is_precise([1.0] * 20 + [9.0])
