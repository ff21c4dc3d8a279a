"""Trends in series: a clock that falls, samples that never settle, and everything that is neither."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from roofline.model.drift import drift, is_falling, never_settled

RNG = Random(1)
NOISE = [1 + RNG.gauss(0, 0.004) for _ in range(60)]
FLAT = [3.7e9 * noise for noise in NOISE]
DECAY = [clock * (1 - 0.1 * place / 60) for place, clock in enumerate(FLAT)]
STEP = [clock * (1.0 if place < 25 else 0.9) for place, clock in enumerate(FLAT)]
RISE = list(reversed(DECAY))
OUTLIERS = [clock * (0.5 if place % 9 == 8 else 1.0) for place, clock in enumerate(FLAT)]
OSCILLATING = [clock * (1.05 if place % 2 else 0.95) for place, clock in enumerate(FLAT)]


@pytest.mark.canary("TURBO")
@pytest.mark.parametrize("clocks_hz", [DECAY, STEP], ids=["decays", "falls once"])
def test_a_clock_that_falls_is_seen(clocks_hz: Sequence[float]) -> None:
    assert is_falling(clocks_hz)


@pytest.mark.twin("TURBO")
@pytest.mark.parametrize(
    "clocks_hz",
    [FLAT, RISE, OUTLIERS, OSCILLATING, DECAY[:5], [], [3e9] * 50, [0.0] * 50],
    ids=["flat", "rises", "outliers", "oscillates", "few", "none", "constant", "unknown"],
)
def test_a_clock_that_does_not_fall_is_not(clocks_hz: Sequence[float]) -> None:
    assert not is_falling(clocks_hz)


def test_the_drift_is_that_of_the_middle_slope() -> None:
    assert drift([1.0 + 0.01 * place for place in range(11)]) == pytest.approx(0.1 / 1.05)
    assert drift([2.0] * 5000) == 0.0


@pytest.mark.canary("WARMUP")
@pytest.mark.parametrize("samples_s", [DECAY, RISE, STEP], ids=["gets faster", "gets slower", "jumps"])
def test_samples_that_never_settle_are_seen(samples_s: Sequence[float]) -> None:
    assert never_settled(samples_s)


@pytest.mark.twin("WARMUP")
@pytest.mark.parametrize("samples_s", [FLAT, OUTLIERS, OSCILLATING, DECAY[:8], [1.0] * 20, []])
def test_noise_outliers_and_few_samples_are_not(samples_s: Sequence[float]) -> None:
    assert not never_settled(samples_s)
