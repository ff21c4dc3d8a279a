"""The roofline model: the attainable rate is the minimum over ceilings, and the bound is the same minimum with a name.

Williams, Waterman, Patterson, "Roofline: an insightful visual performance model", CACM 52(4), 2009.
"""

from __future__ import annotations

from math import hypot

from roofline.model.ceilings import (
    ALLOCATING_PATTERNS,
    PATTERN_WRITE_SHARE,
    Ceiling,
    Ceilings,
    ComputeCeiling,
    MemoryCeiling,
)
from roofline.model.struct import Value
from roofline.model.work import Work


def pattern_of(work: Work) -> str:
    """Return the plain access pattern that is most like `work`.

    Nearest in two shares of the bytes: those written, and those written without having been read (which a
    write-allocate cache fetches in vain).
    """

    def distance(pattern: str) -> float:
        share = PATTERN_WRITE_SHARE[pattern]
        allocated = share if pattern in ALLOCATING_PATTERNS else 0.0
        return hypot(work.write_share - share, work.allocate_share - allocated)

    return min(PATTERN_WRITE_SHARE, key=distance)


class Roof(Value, frozen=True, kw_only=True):
    """One compute and one memory ceiling. Either may be missing (None), never both when it is asked for a limit."""

    compute: ComputeCeiling | None = None
    memory: MemoryCeiling | None = None

    def attainable_flop_per_s(self, flop_per_byte: float) -> float:
        """Return min(peak, intensity x bandwidth) in flop/s; infinity when there is no ceiling."""
        ceilings = [ceiling for ceiling in (self.compute, self.memory) if ceiling is not None]
        return min((ceiling.attainable_flop_per_s(flop_per_byte) for ceiling in ceilings), default=float("inf"))

    @property
    def ridge_flop_per_byte(self) -> float | None:
        """Intensity at which both ceilings meet; None when one of them is missing."""
        if self.compute is None or self.memory is None:
            return None
        return self.compute.flop_per_s / self.memory.byte_per_s

    def least_s(self, work: Work) -> float:
        """Return the least time in which this roof lets `work` be done; 0 when nothing limits it.

        The same minimum as `attainable_flop_per_s`, told as time so that it also holds for kernels without flops.
        """
        return max((time_s for time_s, _ in self._times(work)), default=0.0)

    def bound(self, work: Work) -> Ceiling | None:
        """Return the ceiling that limits `work`: the compute ceiling when both do equally."""
        times = self._times(work)
        return max(times, key=lambda pair: pair[0])[1] if times else None

    def _times(self, work: Work) -> list[tuple[float, Ceiling]]:
        times: list[tuple[float, Ceiling]] = []
        if self.compute is not None and work.flops:
            times.append((work.flops / self.compute.flop_per_s, self.compute))
        if self.memory is not None and work.bytes:
            times.append((work.bytes / self.memory.byte_per_s, self.memory))
        return times


def roof_of(ceilings: Ceilings, *, dtype: str, threads: int, level: str, work: Work, isa: str | None = None) -> Roof:
    """Return the roof over a kernel: its dtype, threads, memory level and mix of reads and writes.

    With `isa`, only ceilings of that register width and plain stores count: like is timed beside like. Without it
    the highest ceiling counts, of any width and with non-temporal stores too: what the machine can do. Where the
    level has no ceiling of the kernel's own pattern, its best pattern stands in.
    """
    pattern = pattern_of(work)
    patterns = (pattern, f"nt_{pattern}") if isa is None else (pattern,)
    memory = ceilings.best_memory(level, threads, patterns, isa) or ceilings.best_memory(level, threads, None, isa)
    return Roof(compute=ceilings.best_compute(dtype, threads, isa), memory=memory)
