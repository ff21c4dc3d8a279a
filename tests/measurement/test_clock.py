"""What is said of a clock, with clocks that are not real."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

import pytest

from roofline.measurement.blocks import compiled_clock_quality
from roofline.measurement.clock import LEAST_RESOLUTIONS, LEAST_SAMPLE_S, Clock, ClockQuality, quality_of


def clock_of(readings: Iterable[int]) -> Clock:
    """Return a clock that gives these readings."""
    remaining = iter(readings)
    return lambda: next(remaining)


def test_a_fine_clock_has_its_step_as_resolution_and_overhead() -> None:
    quality = quality_of(clock_of(count(0, 25)))
    assert quality.resolution_s == pytest.approx(25e-9)
    assert quality.overhead_s == pytest.approx(25e-9)
    assert quality.least_sample_s == LEAST_SAMPLE_S


def test_a_coarse_clock_that_mostly_stands_still_has_its_tick_as_resolution() -> None:
    quality = quality_of(clock_of(number // 100 * 15_600_000 for number in count()))
    assert quality.resolution_s == pytest.approx(15.6e-3)
    assert quality.overhead_s == 0
    assert quality.least_sample_s == pytest.approx(LEAST_RESOLUTIONS * 15.6e-3)


def test_the_smallest_step_is_the_resolution_and_the_median_step_the_overhead() -> None:
    steps = [40, 30, 1000, 40, 40]
    readings = [0]
    for step in steps:
        readings.append(readings[-1] + step)
    quality = quality_of(clock_of(readings), len(readings))
    assert quality.resolution_s == pytest.approx(30e-9)
    assert quality.overhead_s == pytest.approx(40e-9)


def test_a_clock_that_never_moves_has_a_resolution_all_the_same() -> None:
    assert quality_of(clock_of(count(5, 0))).resolution_s > 0


def test_the_clock_is_read_as_often_as_asked() -> None:
    remaining = iter(range(10))
    quality_of(lambda: next(remaining), 10)
    assert list(remaining) == []


def test_a_thousand_resolutions_win_over_a_millisecond() -> None:
    assert ClockQuality(resolution_s=1e-5, overhead_s=0).least_sample_s == pytest.approx(1e-2)


def test_the_compiled_clock_has_a_positive_resolution() -> None:
    assert compiled_clock_quality().resolution_s > 0
