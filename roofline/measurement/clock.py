"""The clock that samples are taken with: its resolution and cost, and how long a sample must therefore be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

Clock = Callable[[], int]
"""Returns nanoseconds that never go back, e.g. `time.perf_counter_ns`. Tests pass a fake one."""

LEAST_SAMPLE_S = 1e-3
LEAST_RESOLUTIONS = 1000
"""A sample lasts at least 1 ms and at least a thousand times the clock's resolution: an error of 0.1 % at most."""


@dataclass(frozen=True)
class ClockQuality:
    """What a clock was measured to be."""

    resolution_s: float
    """Smallest step seen between two different readings."""
    overhead_s: float
    """Median time from one reading to the next, back to back."""

    @property
    def least_sample_s(self) -> float:
        """Shortest interval worth taking with this clock."""
        return max(LEAST_SAMPLE_S, LEAST_RESOLUTIONS * self.resolution_s)


def quality_of(clock: Clock, readings: int = 2000) -> ClockQuality:
    """Read `clock` back to back and return its resolution and overhead.

    A clock that never moves within the readings gets the whole span as its resolution, so that samples grow.
    """
    times = [clock() for _ in range(readings)]
    steps = sorted(after - before for before, after in pairwise(times))
    positive = [step for step in steps if step > 0]
    resolution_ns = positive[0] if positive else max(1, times[-1] - times[0])
    return ClockQuality(resolution_s=resolution_ns * 1e-9, overhead_s=steps[len(steps) // 2] * 1e-9)
