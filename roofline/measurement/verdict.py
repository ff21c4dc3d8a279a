"""Whether a measured kernel can be true: judged against the roof before anybody sees it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from roofline.model.ceilings import Ceiling, Ceilings, ComputeCeiling
from roofline.model.measurement import TOLERANCE_PERCENT, Measurement, derive
from roofline.model.run import Level
from roofline.model.statistics import median, relative_spread

LEAST_SCALING = 0.9
"""Share of (one core's rate x cores) that a private ceiling must reach to be believed at once."""
LEAST_WIDENING = 0.97
"""Share of a narrower register's rate that a wider one must reach."""
FEW_SAMPLES = 6
"""Below so many samples the median has no 95 % interval."""
UNSTEADY = 0.20
"""A roof beside the kernel that differs by more from the archived one makes the percentage doubtful."""
FEW_CLOCKS = 2
"""Fewer clocks tell nothing of another one."""
STEADY_CLOCK = 0.05
"""Ceilings of one ISA and thread count hold clocks within this share of their median."""
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


def doubts(ceiling: Ceiling, ceilings: Ceilings, private_levels: Collection[str]) -> tuple[str, ...]:
    """Return the codes of what makes a ceiling hard to believe beside those measured before; empty when nothing does.

    CORES: what each core has to itself (arithmetic, and the caches in `private_levels`) should grow with the cores.
    WIDTH: a wider register should not be slower than a narrower one. CLOCK: one ISA on as many threads should hold one
    clock; else what is said per cycle is wrong.
    """
    kind: type = type(ceiling)
    alike = [other for other in ceilings.all if type(other) is kind and _what(other) == _what(ceiling)]
    rate = ceiling.attainable_flop_per_s(1.0)
    found = []
    private = isinstance(ceiling, ComputeCeiling) or ceiling.level in private_levels
    for other in alike:
        one_core = other.threads == 1 < ceiling.threads and other.isa == ceiling.isa
        if private and one_core and rate < LEAST_SCALING * ceiling.threads * other.attainable_flop_per_s(1.0):
            found.append("CORES")
    if isinstance(ceiling, ComputeCeiling):
        narrower = [other for other in alike if other.threads == ceiling.threads and other.isa != ceiling.isa]
        if any(rate < LEAST_WIDENING * other.attainable_flop_per_s(1.0) for other in narrower):
            found.append("WIDTH")
    clocks_hz = [
        c.clock_hz for c in ceilings.all if (c.isa, c.threads) == (ceiling.isa, ceiling.threads) and c.clock_hz
    ]
    if len(clocks_hz) >= FEW_CLOCKS and abs(ceiling.clock_hz / median(clocks_hz) - 1) > STEADY_CLOCK:
        found.append("CLOCK")
    return tuple(found)


def _what(ceiling: Ceiling) -> tuple[str, str]:
    if isinstance(ceiling, ComputeCeiling):
        return ceiling.op, ceiling.dtype
    return ceiling.level, ceiling.pattern


def level_of(footprint_bytes: int, threads: int, levels: Sequence[Level]) -> str:
    """Return the nearest level that holds a footprint which `threads` cores work on together; else DRAM."""
    for level in levels:
        known = [size for size in (level.effective_bytes, level.reported_bytes) if size is not None]
        instances = -(-threads // level.shared_by)
        if level.name != "DRAM" and known and footprint_bytes <= min(known) * instances:
            return level.name
    return "DRAM"
