"""What both kinds of ceiling share: how samples are collected, and how they become rates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from roofline.measurement.blocks import Intervals, compiled_clock_quality
from roofline.measurement.sampling import has_flat_top
from roofline.measurement.team import Team
from roofline.model.statistics import median

SEARCH_SAMPLES = 6
"""Samples per candidate while searching for the best shape of the code."""

_BATCH = 5
_LEAST_SAMPLES = 15
_MOST_SAMPLES = 150
_LEAST_BEST = 3
"""Of a few samples so many count among the best: the clock held beside a single one may have been disturbed."""
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
class Rates:
    """Samples of one ceiling as rates."""

    intervals: Intervals
    per_s: tuple[float, ...]
    """Of all threads together."""

    @property
    def clock_hz(self) -> float:
        """Clock held: median over the best third of the samples."""
        return median([hz for _, hz in self._best_third()])

    def per_cycle(self, threads: int) -> float:
        """Return the rate of one core per cycle of the clock held in the same sample: median over the best third.

        The others lost time to something that is not the core.
        """
        return median([rate / threads / hz for rate, hz in self._best_third()])

    def _best_third(self) -> list[tuple[float, float]]:
        pairs = sorted(zip(self.per_s, self.intervals.clock_hz, strict=True), reverse=True)
        return pairs[: max(_LEAST_BEST, len(pairs) // 3)]


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


def collect(sampler: Sampler, stage: Stage, budget_s: float, flat_within: float) -> Rates:
    """Take batches of samples until the best three agree within `flat_within`, or the budget is spent."""
    deadline = stage.clock() + budget_s
    samples_s: tuple[float, ...] = ()
    clock_hz: tuple[float, ...] = ()
    while True:
        batch = sampler.take(_BATCH)
        samples_s, clock_hz = samples_s + batch.samples_s, clock_hz + batch.clock_hz
        rates = tuple(sampler.amount / sample_s for sample_s in samples_s)
        settled = len(rates) >= _LEAST_SAMPLES and has_flat_top(rates, flat_within)
        if settled or stage.clock() >= deadline or len(rates) >= _MOST_SAMPLES:
            return Rates(Intervals(samples_s, clock_hz), rates)


def flat_top_caveats(rates: Sequence[float], within: float) -> tuple[str, ...]:
    """Return the caveat of a ceiling whose best sample stands alone."""
    return () if has_flat_top(rates, within) else ("NO_FLAT_TOP",)


def least_of_the_best(rates: dict[Candidate, float]) -> Candidate:
    """Return the smallest candidate within 0.5 % of the best rate: more chains or unrolling win only by noise."""
    return min(candidate for candidate, rate in rates.items() if rate >= 0.995 * max(rates.values()))
