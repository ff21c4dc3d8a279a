"""Whether a measured kernel can be true: judged against the roof before anybody sees it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from roofline.model.ceilings import Ceilings
from roofline.model.measurement import Measurement, derive
from roofline.model.run import Level

TOLERANCE_PERCENT = 3.0
"""A point may lie so far above its roof before it is refused: ceilings are samples too."""
NOISY_SPREAD = 0.10
"""A middle half wider than this share of the median is told of."""


def judged(measurement: Measurement, ceilings: Ceilings) -> Measurement:
    """Return the measurement with its status: ok, degraded(NOISY) or above_roof(likeliest cause).

    A point above the roof is refused whatever the cause: NOISY when its samples are so wide that the true value may
    lie below, NEARER_LEVEL when the memory roof binds (the data came from a cache), else ROOF_TOO_LOW.
    """
    derived = derive(measurement, ceilings)
    if derived is None:
        return measurement
    noisy = derived.spread > NOISY_SPREAD
    if derived.percent_of_roof is not None and derived.percent_of_roof > 100 + TOLERANCE_PERCENT:
        memory_bound = derived.bound is not None and derived.bound.startswith(f"{measurement.level} ")
        cause = "NOISY" if noisy else "NEARER_LEVEL" if memory_bound else "ROOF_TOO_LOW"
        return replace(measurement, status="above_roof", status_codes=(cause,))
    return replace(measurement, status="degraded", status_codes=("NOISY",)) if noisy else measurement


def level_of(footprint_bytes: int, threads: int, levels: Sequence[Level]) -> str:
    """Return the nearest level that holds a footprint which `threads` cores work on together; else DRAM."""
    for level in levels:
        known = [size for size in (level.effective_bytes, level.reported_bytes) if size is not None]
        instances = -(-threads // level.shared_by)
        if level.name != "DRAM" and known and footprint_bytes <= min(known) * instances:
            return level.name
    return "DRAM"
