"""What both kinds of ceiling share: how samples are collected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from roofline.errors import MeasurementError
from roofline.measurement.blocks import Intervals, compiled_clock_quality
from roofline.measurement.team import Team
from roofline.measurement.witness import Witness
from roofline.model.evidence import DataEvidence
from roofline.model.judging import Circumstances, verdict_of
from roofline.model.launch import Launch, has_flat_top

SEARCH_SAMPLES = 6
"""Samples per candidate while searching for the best shape of the code."""

_BATCH = 5
_FEWEST_SAMPLES = 10
"""Samples that a ceiling gets whatever its budget ..."""
_LEAST_SAMPLES = 15
"""... and those from which on it may stop because the best agree."""
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
        return self.best(samples)[0]

    def best(self, samples: int) -> tuple[float, float]:
        """Return the highest rate (per second) among so many samples, and the clock held after that one in Hz."""
        intervals = self.take(samples)
        shortest_s, hz = min(zip(intervals.samples_s, intervals.clock_hz, strict=True))
        return self.amount / shortest_s, hz


@dataclass(frozen=True)
class Stage:
    """Where ceilings are measured: the team, the clock that watches the budget, the shortest sample."""

    team: Team
    clock: Callable[[], float]
    """Seconds; samples themselves are timed in compiled code."""
    sample_s: float
    witness: Witness
    """Sees what happens beside the samples."""
    cpus: tuple[int, ...] = ()
    """Where the team's threads were pinned, by rank; empty when they were not."""
    nodes: tuple[int, ...] = ()
    """NUMA nodes of these CPUs, on a machine with several."""


def stage_for(team: Team, clock: Callable[[], float], cpus: tuple[int, ...] = (), nodes: tuple[int, ...] = ()) -> Stage:
    """Return the stage for a team, with samples as long as the compiled clock demands."""
    quality = compiled_clock_quality()
    witness = Witness(team, quality=quality)
    return Stage(
        team=team, clock=clock, sample_s=max(_SAMPLE_S, quality.least_sample_s), witness=witness, cpus=cpus, nodes=nodes
    )


def collect(
    sampler: Sampler, stage: Stage, budget_s: float, flat_within: float, data: DataEvidence | None = None
) -> Launch:
    """Take batches of samples until the best three agree within `flat_within`, or the budget is spent.

    `data` is what was seen of the data that they work on. A sample in which the clock stood still is dropped.
    Raises MeasurementError when it always does.
    """
    deadline = stage.clock() + budget_s
    samples_s: list[float] = []
    clock_hz: list[float] = []
    taken = 0
    with stage.witness.watch() as note:
        while True:
            with note.sample():
                batch = sampler.take(_BATCH)
            for sample_s, hz in zip(batch.samples_s, batch.clock_hz, strict=True):
                if sample_s > 0:
                    samples_s.append(sample_s)
                    clock_hz.append(hz)
                else:
                    note.clock_steps_back += 1
            taken += _BATCH
            flat = has_flat_top([1 / sample_s for sample_s in samples_s], flat_within)
            settled = len(samples_s) >= _LEAST_SAMPLES and flat
            spent = stage.clock() >= deadline and taken >= _FEWEST_SAMPLES
            if settled or spent or taken >= _MOST_SAMPLES:
                break
    if not samples_s:
        raise MeasurementError(f"the clock did not move forward in any of {taken} samples; mend the clock source")
    evidence = note.evidence(data)
    verdict = verdict_of(evidence, Circumstances(samples=taken, threads=sampler.threads, cpus=stage.cpus))
    return Launch(
        amount=sampler.amount,
        samples_s=tuple(samples_s),
        clock_samples_hz=tuple(clock_hz),
        caveats=(*(() if flat else ("NO_FLAT_TOP",)), *verdict.degraded),
        invalid=verdict.invalid,
        evidence=evidence,
    )


def least_of_the_best(rates: dict[Candidate, float]) -> Candidate:
    """Return the smallest candidate within 0.5 % of the best rate: more chains or unrolling win only by noise."""
    return min(candidate for candidate, rate in rates.items() if rate >= 0.995 * max(rates.values()))
