"""Whether a measured kernel can be true: judged against the roof before anybody sees it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from roofline.model.ceilings import Ceiling, Ceilings
from roofline.model.measurement import TOLERANCE_PERCENT, Measurement, derive
from roofline.model.run import Level
from roofline.model.statistics import median, relative_spread

FEW_SAMPLES = 6
"""Below so many samples the median has no 95 % interval."""
UNSTEADY = 0.20
"""A roof beside the kernel that differs by more from the archived one makes the percentage doubtful."""
NOISY_SPREAD = 0.10
"""A middle half wider than this share of the median is told of."""


def judged(measurement: Measurement, ceilings: Ceilings, compiled: bool = True) -> Measurement:
    """Return the measurement with its status: ok, degraded(codes), invalid(DCE) or above_roof(likeliest cause).

    Invalid is compiled code that should compute and holds no arithmetic: the compiler has removed the work.

    A point above the roof is refused whatever the cause: NOISY when its samples are so wide or so few that the true
    value may lie below, NEARER_LEVEL when the memory roof binds (the data came from a cache), else ROOF_TOO_LOW.
    """
    derived = derive(measurement, ceilings)
    if derived is None:
        return measurement
    if measurement.vector_register is None and compiled and measurement.work.flops:
        return replace(measurement, status="invalid", status_codes=("DCE",))
    codes = (*(("NOISY",) if derived.spread > NOISY_SPREAD else ()), *_unsteady(measurement, ceilings))
    if derived.is_above_roof:
        memory_bound = derived.bound is not None and derived.bound.startswith(f"{measurement.level} ")
        unsure = bool(codes) or len(measurement.samples_s) < FEW_SAMPLES
        cause = "NOISY" if unsure else "NEARER_LEVEL" if memory_bound else "ROOF_TOO_LOW"
        return replace(measurement, status="above_roof", status_codes=(cause,))
    return replace(measurement, status="degraded", status_codes=codes) if codes else measurement


def too_low(measurement: Measurement, ceilings: Ceilings) -> Ceiling | None:
    """Return the measurement's own ceiling when the roof's blocks beside the kernel were faster than it, else None.

    A ceiling that was disturbed when it was measured: the blocks run the same code on the same cores.
    """
    own = ceilings.named(measurement.ceiling)
    if own is None or not measurement.roof_samples:
        return None
    beside = median(measurement.roof_samples) / own.attainable_flop_per_s(1.0)
    return own if beside > 1 + TOLERANCE_PERCENT / 100 else None


def _unsteady(measurement: Measurement, ceilings: Ceilings) -> tuple[str, ...]:
    """Return ROOF_UNSTEADY when the roof beside the kernel varied, or was not the roof that is archived."""
    own = ceilings.named(measurement.ceiling)
    if own is None or not measurement.roof_samples:
        return ()
    apart = abs(median(measurement.roof_samples) / own.attainable_flop_per_s(1.0) - 1)
    varied = relative_spread(measurement.roof_samples) > NOISY_SPREAD
    return ("ROOF_UNSTEADY",) if varied or apart > UNSTEADY else ()


def level_of(footprint_bytes: int, threads: int, levels: Sequence[Level]) -> str:
    """Return the nearest level that holds a footprint which `threads` cores work on together; else DRAM."""
    for level in levels:
        known = [size for size in (level.effective_bytes, level.reported_bytes) if size is not None]
        instances = -(-threads // level.shared_by)
        if level.name != "DRAM" and known and footprint_bytes <= min(known) * instances:
            return level.name
    return "DRAM"
