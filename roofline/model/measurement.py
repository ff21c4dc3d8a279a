"""What was measured of a kernel, and what is derived from it."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from roofline.model.ceilings import Ceilings, ComputeCeiling
from roofline.model.evidence import Evidence
from roofline.model.roof import roof_of
from roofline.model.statistics import interval_of_median, median, relative_spread
from roofline.model.struct import Value
from roofline.model.work import Work

MOST_TOLERANCE = 0.05
"""A scaled error beyond this is no rounding."""
TOLERANCE_PERCENT = 3.0
"""A point may lie so far above its roof before it is refused: ceilings are samples too."""
STATUSES = ("ok", "degraded", "invalid", "above_roof", "failed")
"""How a measurement can end. Only ok and degraded ones are drawn and compared."""


class Measurement(Value, frozen=True, kw_only=True):
    """One kernel at one size, dtype and thread count. Raw samples are the record."""

    kernel: str
    """`family.name`, e.g. `gemm.blocked`."""
    variant: str = "serial"
    """`serial`, or `parallel` when its loops were shared between threads."""
    n: int
    """Problem size, as the kernel's docstring defines it."""
    dtype: str
    threads: int
    digest: str = ""
    """Hash of the kernel's source: what was measured."""
    work: Work
    """Of one call: what the job compels."""
    own_work: Work | None = None
    """What this form of the kernel does in one call where it does more: recomputes, or moves intermediates."""
    improves: str | None = None
    """Name of the kernel at the foot of its ladder; None for that one itself."""
    tiles: dict[str, int] = {}
    """What it got from the measured caches, by the names of its parameters: mostly sizes of tiles."""
    level: str
    """Memory level that holds the footprint; empty when no level is known."""
    ceiling: str = ""
    """Name of the ceiling that binds this code at its own register width; its blocks were timed alternately."""
    repeats: int
    """Calls in one clock interval."""
    samples_s: tuple[float, ...]
    """Seconds per call: each a clock interval divided by `repeats`, in order."""
    roof_samples: tuple[float, ...] = ()
    """Rates of the ceiling's blocks (flop/s or B/s), in order: one before each sample and one after the last."""
    roof_clock_samples_hz: tuple[float, ...] = ()
    """Clock held after each of `roof_samples`, median over the threads."""
    clock_samples_hz: tuple[float, ...] = ()
    """Clock held after each sample, of the first thread."""
    error: float | None = None
    """Largest difference of an element from the reference, relative to that element or to what its terms add up to
    without their signs. In runs of earlier code, to the largest element."""
    tolerance: float | None = None
    """What `error` had to stay below."""
    compiled: bool = True
    """False for a call of a library, whose assembly is not read."""
    vector_register: str | None = None
    """Widest register that does the kernel's arithmetic in its assembly; None when it has none (a library call)."""
    assembly_digest: str = ""
    """Hash of the machine code as it ran, 16 hexadecimal digits; empty for a library call, and in runs before it was
    kept. Names, labels, addresses and constants do not count."""
    evidence: Evidence | None = None
    """What the process, the system and the data were like meanwhile."""
    stopped: str = ""
    """Why sampling stopped: `precise` (interval narrow enough), `budget` or `samples`."""
    status: str = "ok"
    """One of STATUSES."""
    status_codes: tuple[str, ...] = ()
    """What degraded or invalidated it, or the likely cause of a point above the roof."""
    caveats: tuple[str, ...] = ()

    @property
    def drawable(self) -> bool:
        """True when the number may be drawn and compared."""
        return self.status in ("ok", "degraded") and bool(self.samples_s)


class Derived(Value, frozen=True, kw_only=True):
    """Numbers that follow from a measurement and the run's ceilings."""

    median_s: float
    """Seconds per call."""
    interval_s: tuple[float, float] | None
    """95 % confidence interval of the median; None below 6 samples."""
    spread: float
    """Interquartile range / median."""
    flop_per_s: float
    byte_per_s: float
    """Compulsory bytes, read + written."""
    flop_per_byte: float
    percent_of_roof: float | None
    """Of what the machine can do: its highest ceilings for this dtype, thread count, level and access mix."""
    percent_as_timed: float | None
    """The same without pairing: the least time that the archived roof allows, over the median time. The two differ
    where the roof was slower beside the kernel than when it was archived."""
    roof_flop_per_s: float | None
    """That roof at the kernel's intensity; None for a kernel without flops."""
    bound: str | None
    """Name of the ceiling of that roof that binds: what to lift, or to come nearer to."""
    percent_of_ceiling: float | None
    """Of `Measurement.ceiling`, the one that binds at the kernel's own register width; None when not paired."""

    @property
    def is_above_roof(self) -> bool:
        """True when the point, paired or as timed, lies further above its roof than samples can."""
        percents = [percent for percent in (self.percent_of_roof, self.percent_as_timed) if percent is not None]
        return max(percents, default=0.0) > 100 + TOLERANCE_PERCENT


def block_ratios(measurement: Measurement, amount: float) -> list[float]:
    """Return, for each sample, its rate (`amount` per second) over the rate of the roof blocks around it.

    A block's roof is the geometric mean of the roof rates before and after the sample: drift that hits both
    cancels. Empty when the measurement is not paired, or does nothing (`amount` 0) of what the roof limits.
    """
    roofs: Sequence[float] = measurement.roof_samples
    if not amount or len(roofs) != len(measurement.samples_s) + 1:
        return []
    return [
        amount / sample_s / sqrt(before * after)
        for sample_s, before, after in zip(measurement.samples_s, roofs, roofs[1:], strict=False)
    ]


def derive(measurement: Measurement, ceilings: Ceilings) -> Derived | None:
    """Return what follows from the samples; None when there are none.

    Percent of roof is the median over blocks of (kernel / its own ceiling within the block), times what that
    ceiling is of the machine's roof. Unpaired, it is the roof's least time over the median time.
    """
    if not measurement.samples_s:
        return None
    work = measurement.work
    median_s = median(measurement.samples_s)
    roof = roof_of(ceilings, dtype=measurement.dtype, threads=measurement.threads, level=measurement.level, work=work)
    least_s = roof.least_s(work)
    # Without a ceiling of its arithmetic, a memory roof says nothing of how much could be computed under it.
    known = roof.compute is not None or not work.flops
    bound = roof.bound(work) if known else None
    percent_as_timed = 100 * least_s / median_s if bound is not None else None
    percent_of_roof = percent_as_timed
    percent_of_ceiling = None
    own = ceilings.named(measurement.ceiling)
    if own is not None:
        if isinstance(own, ComputeCeiling):
            amount, own_s = float(work.flops), work.flops / own.flop_per_s
        else:
            amount, own_s = float(work.bytes), work.bytes / own.byte_per_s
        ratios = block_ratios(measurement, amount)
        if ratios:
            percent_of_ceiling = 100 * median(ratios)
            if bound is not None:
                percent_of_roof = percent_of_ceiling * least_s / own_s
    return Derived(
        median_s=median_s,
        interval_s=interval_of_median(measurement.samples_s),
        spread=relative_spread(measurement.samples_s),
        flop_per_s=work.flops / median_s,
        byte_per_s=work.bytes / median_s,
        flop_per_byte=work.flop_per_byte,
        percent_of_roof=percent_of_roof,
        percent_as_timed=percent_as_timed,
        roof_flop_per_s=roof.attainable_flop_per_s(work.flop_per_byte) if bound and work.flops else None,
        bound=bound.name if bound is not None else None,
        percent_of_ceiling=percent_of_ceiling,
    )
