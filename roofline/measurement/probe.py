"""What both kinds of ceiling share: how samples are collected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from roofline.measurement.blocks import Intervals, compiled_clock_quality
from roofline.measurement.sampling import has_flat_top
from roofline.measurement.team import Team
from roofline.model.launch import Launch

SEARCH_SAMPLES = 6
"""Samples per candidate while searching for the best shape of the code."""

_BATCH = 5
_LEAST_SAMPLES = 15
_MOST_SAMPLES = 150
_SAMPLE_S = 1.5e-3

Candidate = TypeVar("Candidate", int, tuple[int, int, int])
TakeSamples = Callable[[int], Intervals]
"""Takes so many samples at once."""


@dataclass(frozen=True)
class Sampler:
    """One compiled, calibrated, audited piece of code, ready to be timed."""

    take: TakeSamples
    amount: int
    """Flops or bytes of all threads together in one sample."""
    threads: int

    def best_rate(self, samples: int = SEARCH_SAMPLES) -> float:
        """Return the highest rate (per second) among so many samples."""
        return self.amount / min(self.take(samples).samples_s)


@dataclass(frozen=True)
class Stage:
    """Where ceilings are measured: the team, the clock that watches the budget, the shortest sample."""

    team: Team
    clock: Callable[[], float]
    """Seconds; samples themselves are timed in compiled code."""
    sample_s: float


def stage_for(team: Team, clock: Callable[[], float]) -> Stage:
    """Return the stage for a team, with samples as long as the compiled clock demands."""
    return Stage(team=team, clock=clock, sample_s=max(_SAMPLE_S, compiled_clock_quality().least_sample_s))


def collect(sampler: Sampler, stage: Stage, budget_s: float, flat_within: float) -> Launch:
    """Take batches of samples until the best three agree within `flat_within`, or the budget is spent."""
    deadline = stage.clock() + budget_s
    samples_s: tuple[float, ...] = ()
    clock_hz: tuple[float, ...] = ()
    while True:
        batch = sampler.take(_BATCH)
        samples_s, clock_hz = samples_s + batch.samples_s, clock_hz + batch.clock_hz
        flat = has_flat_top([1 / sample_s for sample_s in samples_s], flat_within)
        settled = len(samples_s) >= _LEAST_SAMPLES and flat
        if settled or stage.clock() >= deadline or len(samples_s) >= _MOST_SAMPLES:
            caveats = () if flat else ("NO_FLAT_TOP",)
            return Launch(amount=sampler.amount, samples_s=samples_s, clock_samples_hz=clock_hz, caveats=caveats)


def least_of_the_best(rates: dict[Candidate, float]) -> Candidate:
    """Return the smallest candidate within 0.5 % of the best rate: more chains or unrolling win only by noise."""
    return min(candidate for candidate, rate in rates.items() if rate >= 0.995 * max(rates.values()))
