"""What one launch of a worker measured of a ceiling, and the number that several launches give together.

Inside a launch the best sample counts: whatever disturbs a sample slows it. Between launches the median counts: memory
lies elsewhere, the system has placed the process elsewhere, and the best over all would only grow with their number.
(Chen and Revels, "Robust benchmarking in noisy environments", 2016; Kalibera and Jones, "Rigorous benchmarking in
reasonable time", 2013.)
"""

from __future__ import annotations

from collections.abc import Sequence

from roofline.model.evidence import Evidence
from roofline.model.statistics import interval_of_median, median
from roofline.model.struct import Value

LAUNCHES_SPREAD = 0.03
"""Launches whose best samples lie further apart, in all, degrade the ceiling."""
LEAST_BEST = 3
"""Of a few samples so many count among the best: the clock held beside a single one may have been disturbed."""


class Launch(Value, frozen=True, kw_only=True):
    """The samples of one ceiling in one process, in order."""

    amount: int
    """Flops or bytes of all threads together in each sample."""
    samples_s: tuple[float, ...]
    """Raw times: last end minus first start over the threads."""
    clock_samples_hz: tuple[float, ...] = ()
    """Held clock after each sample, median over the threads."""
    caveats: tuple[str, ...] = ()
    """Codes of what degrades these samples."""
    invalid: tuple[str, ...] = ()
    """Codes of what makes them worthless."""
    evidence: Evidence | None = None
    """What the process and the system said meanwhile."""

    @property
    def rates_per_s(self) -> tuple[float, ...]:
        """The rate of each sample, of all threads together."""
        return tuple(self.amount / sample_s for sample_s in self.samples_s)

    @property
    def best_per_s(self) -> float:
        """The highest rate."""
        return self.amount / min(self.samples_s)

    @property
    def median_per_s(self) -> float:
        """The rate of the median sample."""
        return self.amount / median(self.samples_s)


def has_flat_top(rates: Sequence[float], within: float = 0.01) -> bool:
    """Return whether the third-best rate is within `within` of the best: a lone spike is luck, not a ceiling."""
    best = sorted(rates, reverse=True)
    return len(best) >= LEAST_BEST and best[LEAST_BEST - 1] >= (1 - within) * best[0]


def sound(launches: Sequence[Launch]) -> Sequence[Launch]:
    """Return those that count: the ones with samples and without a defect, or all with samples where each has one."""
    sampled = [launch for launch in launches if launch.samples_s]
    return [launch for launch in sampled if not launch.invalid] or sampled


def burst_per_s(launches: Sequence[Launch]) -> float:
    """Return the median over launches of their best samples: what the published ceiling is. 0 without samples."""
    return median([launch.best_per_s for launch in sound(launches)] or [0.0])


def sustained_per_s(launches: Sequence[Launch]) -> float:
    """Return the median over launches of their median samples. 0 without samples."""
    return median([launch.median_per_s for launch in sound(launches)] or [0.0])


def interval_per_s(launches: Sequence[Launch]) -> tuple[float, float] | None:
    """Return the exact 95 % interval of the launches' best samples, from order statistics; None below six launches."""
    return interval_of_median([launch.best_per_s for launch in sound(launches)])


def spread_of(launches: Sequence[Launch]) -> float:
    """Return (highest - lowest) / median of the launches' best samples; 0 for one launch."""
    bests = [launch.best_per_s for launch in sound(launches)]
    return (max(bests) - min(bests)) / median(bests) if len(bests) > 1 else 0.0


def best_third(launches: Sequence[Launch]) -> list[tuple[float, float]]:
    """Return (rate, clock held) of the best third of all samples: the others lost time to something beside the core."""
    pairs = [
        pair
        for launch in sound(launches)
        for pair in zip(launch.rates_per_s, launch.clock_samples_hz, strict=False)
        if pair[1]
    ]
    return sorted(pairs, reverse=True)[: max(LEAST_BEST, len(pairs) // 3)]


def clock_hz_of(launches: Sequence[Launch]) -> float:
    """Return the clock held: median over the best third of the samples. 0 where none was measured."""
    return median([hz for _, hz in best_third(launches)] or [0.0])


def per_cycle_of(launches: Sequence[Launch], threads: int) -> float:
    """Return the rate of one core per cycle of the clock held in the same sample: median over the best third."""
    return median([rate / threads / hz for rate, hz in best_third(launches)] or [0.0])


def caveats_of(launches: Sequence[Launch]) -> tuple[str, ...]:
    """Return the codes of at least half of the launches that count, and LAUNCHES when their best samples lie apart."""
    counting = sound(launches)
    codes = dict.fromkeys(code for launch in counting for code in launch.caveats)
    often = tuple(code for code in codes if 2 * sum(code in launch.caveats for launch in counting) >= len(counting))
    return (*often, "LAUNCHES") if spread_of(launches) > LAUNCHES_SPREAD else often


def invalid_of(launches: Sequence[Launch]) -> tuple[str, ...]:
    """Return the codes of all launches when every one is worthless, else none."""
    if not launches or any(not launch.invalid for launch in launches):
        return ()
    return tuple(dict.fromkeys(code for launch in launches for code in launch.invalid))
