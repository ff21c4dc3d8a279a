"""How samples are collected and become rates, with samplers that take no time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, repeat

import pytest
from witnesses import quiet_witness

from roofline.errors import MeasurementError
from roofline.measurement.blocks import Intervals
from roofline.measurement.probe import Sampler, Stage, collect, least_of_the_best
from roofline.measurement.team import Team


def sampler_of(times_s: Iterator[float]) -> Sampler:
    """Return a sampler of 1000 flops a sample that takes these times, at 2 GHz."""
    return Sampler(lambda n: Intervals(tuple(next(times_s) for _ in range(n)), (2e9,) * n), 1000, 1)


def stage_of(now_s: Iterator[float]) -> Stage:
    """Return a stage whose clock gives these readings."""
    team = Team((), 0)
    return Stage(team=team, clock=lambda: next(now_s), sample_s=1e-3, witness=quiet_witness(team))


@pytest.mark.twin("NO_FLAT_TOP")
def test_collecting_stops_when_the_best_agree() -> None:
    launch = collect(sampler_of(repeat(1e-3)), stage_of(repeat(0.0)), 60.0, 0.01)
    assert len(launch.samples_s) == len(launch.clock_samples_hz) == 15
    assert launch.best_per_s == pytest.approx(1e6)
    assert launch.caveats == ()


@pytest.mark.canary("NO_FLAT_TOP")
def test_collecting_stops_when_the_budget_is_spent() -> None:
    growing = (1e-3 * 1.1**number for number in count())
    launch = collect(sampler_of(growing), stage_of(iter([0.0, 0.1, 0.2, 1.1])), 1.0, 0.01)
    assert len(launch.samples_s) == 15
    assert launch.caveats == ("NO_FLAT_TOP",)


def test_collecting_takes_two_batches_even_without_a_budget() -> None:
    launch = collect(sampler_of(repeat(1e-3)), stage_of(count(0.0, 1.0)), 0.0, 0.01)
    assert len(launch.samples_s) == len(launch.clock_samples_hz) == 10


def test_collecting_without_agreement_ends() -> None:
    growing = (1e-3 * 1.1**number for number in count())
    assert len(collect(sampler_of(growing), stage_of(repeat(0.0)), 60.0, 0.01).samples_s) == 150


def test_the_best_rate_is_that_of_the_shortest_sample() -> None:
    assert sampler_of(iter([2e-3, 1e-3, 4e-3])).best_rate(3) == pytest.approx(1e6)


def test_the_clock_beside_the_best_rate_is_the_one_held_after_that_sample() -> None:
    taken = Intervals(samples_s=(2e-3, 1e-3, 4e-3), clock_hz=(3.1e9, 3.2e9, 3.3e9))
    rate, hz = Sampler(lambda _: taken, amount=1000, threads=1).best(3)
    assert (rate, hz) == (pytest.approx(1e6), 3.2e9)


def test_the_smallest_shape_wins_unless_a_larger_is_really_faster() -> None:
    assert least_of_the_best({8: 99.7, 10: 100.0, 12: 99.9}) == 8
    assert least_of_the_best({8: 90.0, 10: 99.8, 12: 100.0}) == 10
    assert least_of_the_best({(8, 1): 90.0, (16, 8): 100.0, (16, 1): 99.9}) == (16, 1)


@pytest.mark.canary("CLOCKBACK")
def test_samples_in_which_the_clock_went_back_are_dropped_and_told_of() -> None:
    steps = iter([1e-3, 0.0, 1e-3, -1e-3, 1e-3] + [1e-3] * 100)
    launch = collect(sampler_of(steps), stage_of(repeat(0.0)), 60.0, 0.01)
    assert min(launch.samples_s) > 0
    assert launch.evidence is not None
    assert launch.evidence.clock_steps_back == 2
    assert launch.caveats == ("CLOCKBACK",)


@pytest.mark.twin("CLOCKBACK")
def test_a_clock_that_goes_forward_is_believed() -> None:
    launch = collect(sampler_of(repeat(1e-3)), stage_of(repeat(0.0)), 60.0, 0.01)
    assert (launch.caveats, launch.invalid) == ((), ())


def test_a_frozen_clock_gives_no_ceiling() -> None:
    with pytest.raises(MeasurementError, match="the clock did not move forward in any of 150 samples"):
        collect(sampler_of(repeat(0.0)), stage_of(repeat(0.0)), 60.0, 0.01)
