"""Whether a measured kernel can be true: judged against the roof before anybody sees it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from roofline.model.ceilings import Ceiling, Ceilings, ComputeCeiling, level_order
from roofline.model.drift import never_settled
from roofline.model.judging import (
    CLOCK_APART,
    DECLARED_MORE,
    LEAST_BYTES,
    MOST_BYTE_PER_CYCLE,
    MOST_FLOP_PER_CYCLE,
    Circumstances,
    clock_ratio,
    is_impossible,
    is_too_short,
    other_clock,
    verdict_of,
)
from roofline.model.measurement import TOLERANCE_PERCENT, Derived, Measurement, derive
from roofline.model.statistics import median, relative_spread

FEW_SAMPLES = 6
"""Below so many samples the median has no 95 % interval."""
UNSTEADY = 0.20
"""A roof beside the kernel that differs by more from the archived one makes the percentage doubtful."""
LEAST_SAMPLE_S = 0.25e-3
"""A kernel's samples should last a millisecond; of one that got faster after its calibration they may be shorter."""
NOISY_SPREAD = 0.10
"""A middle half wider than this share of the median is told of."""


def judged(measurement: Measurement, ceilings: Ceilings, cpus: tuple[int, ...] = ()) -> Measurement:
    """Return the measurement with its status: ok, degraded(codes), invalid(codes) or above_roof(likeliest cause).

    `cpus` are those that the threads were pinned to. See `judging` for what evidence says. A point above the roof is
    refused whatever the cause; `cause_of` names the likeliest.
    """
    derived = derive(measurement, ceilings)
    if derived is None:
        return measurement
    evidence = verdict_of(measurement.evidence, _circumstances(measurement, cpus))
    if invalid := (*_impossible(measurement, derived), *evidence.invalid):
        return replace(measurement, status="invalid", status_codes=tuple(dict.fromkeys(invalid)))
    noisy = ("NOISY",) if derived.spread > NOISY_SPREAD else ()
    unsteady = _unsteady(measurement, ceilings)
    if derived.is_above_roof:
        unsure = bool(noisy or unsteady) or len(measurement.samples_s) < FEW_SAMPLES
        cause = "NOISY" if unsure and _may_lie_below(measurement, derived) else cause_of(measurement, derived, ceilings)
        return replace(measurement, status="above_roof", status_codes=(cause,))
    own = ceilings.named(measurement.ceiling)
    licence = (
        ("LICENCE",) if own and other_clock(measurement.clock_samples_hz, _clocks_of_roof(measurement, own)) else ()
    )
    warming = ("WARMUP",) if never_settled(measurement.samples_s) else ()
    codes = (*noisy, *unsteady, *licence, *warming, *_too_wide(measurement, own), *evidence.degraded)
    return replace(measurement, status="degraded" if codes else "ok", status_codes=codes)


def cause_of(measurement: Measurement, derived: Derived, ceilings: Ceilings) -> str:
    """Return the likeliest cause of a point above its roof, from recorded evidence.

    COUNTED_TWICE: it declares more bytes than its arrays have. OTHER_CLOCK: the clock beside it was higher than beside
    its roof. NEARER_LEVEL: memory binds, and its rate fits under the roof of a nearer level. Else ROOF_TOO_LOW.
    """
    data = measurement.evidence.data if measurement.evidence else None
    held_bytes = data.array_bytes if data is not None else None
    if held_bytes is not None and measurement.work.footprint_bytes > (1 + DECLARED_MORE) * held_bytes + LEAST_BYTES:
        return "COUNTED_TWICE"
    own = ceilings.named(measurement.ceiling)
    if (
        own is not None
        and clock_ratio(measurement.clock_samples_hz, _clocks_of_roof(measurement, own)) > 1 + CLOCK_APART
    ):
        return "OTHER_CLOCK"
    if derived.bound is not None and derived.bound.startswith(f"{measurement.level} "):
        order = level_order(measurement.level)
        nearer = [level for level in ceilings.levels if level_order(level) < order]
        roofs = [ceilings.best_memory(level, measurement.threads) for level in nearer]
        allowed = 1 + TOLERANCE_PERCENT / 100
        if any(roof is not None and derived.byte_per_s <= allowed * roof.byte_per_s for roof in roofs):
            return "NEARER_LEVEL"
    return "ROOF_TOO_LOW"


def _clocks_of_roof(measurement: Measurement, own: Ceiling) -> tuple[float, ...]:
    """Return the clocks held in the roof's blocks beside the kernel, else those that the ceiling was measured with.

    Where other guests warm the same chip, its clock drifts by more within a run than any instruction costs.
    """
    return measurement.roof_clock_samples_hz or own.clocks_hz


def _may_lie_below(measurement: Measurement, derived: Derived) -> bool:
    """Return whether noise can explain a point above its roof: a sample, or what few of them may vary by, is below."""
    percents = [percent for percent in (derived.percent_of_roof, derived.percent_as_timed) if percent is not None]
    slowest = max(measurement.samples_s) / derived.median_s
    return max(percents, default=0.0) <= (100 + TOLERANCE_PERCENT) * max(slowest, 1 + NOISY_SPREAD)


def _circumstances(measurement: Measurement, cpus: tuple[int, ...]) -> Circumstances:
    return Circumstances(
        samples=len(measurement.samples_s),
        threads=measurement.threads,
        cpus=cpus,
        sample_bytes=measurement.repeats * measurement.work.bytes,
    )


def _impossible(measurement: Measurement, derived: Derived) -> Iterator[str]:
    """Yield the codes of what no code on no core does."""
    work = measurement.work
    if measurement.compiled and measurement.vector_register is None and work.flops:
        yield "DCE"  # compiled code that should compute, and holds no arithmetic
    most = MOST_FLOP_PER_CYCLE.get(measurement.dtype)
    if most is not None and is_impossible(derived.flop_per_s / measurement.threads, most):
        yield "DCE"
    if is_impossible(derived.byte_per_s / measurement.threads, MOST_BYTE_PER_CYCLE):
        yield "DCE"
    evidence = measurement.evidence
    if evidence is not None and evidence.clock_resolution_s is not None:
        interval_s = derived.median_s * measurement.repeats
        if is_too_short(interval_s, evidence.clock_resolution_s, evidence.clock_overhead_s or 0.0, LEAST_SAMPLE_S):
            yield "TIMER"


def too_low(measurement: Measurement, ceilings: Ceilings) -> Ceiling | None:
    """Return the measurement's own ceiling when the roof's blocks beside the kernel were faster than it, else None.

    A ceiling that was disturbed when it was measured: the blocks run the same code on the same cores.
    """
    own = ceilings.named(measurement.ceiling)
    if own is None or not measurement.roof_samples:
        return None
    beside = median(measurement.roof_samples) / own.attainable_flop_per_s(1.0)
    return own if beside > 1 + TOLERANCE_PERCENT / 100 else None


def _too_wide(measurement: Measurement, own: Ceiling | None) -> tuple[str, ...]:
    """Return WIDTH when a kernel beats the arithmetic of the registers that were seen in it.

    Its work is declared too high, or what was read is not the code that ran.
    """
    if not isinstance(own, ComputeCeiling) or not measurement.roof_samples:
        return ()
    work = measurement.own_work or measurement.work
    rate = work.flops / median(measurement.samples_s)
    return ("WIDTH",) if rate > (1 + TOLERANCE_PERCENT / 100) * median(measurement.roof_samples) else ()


def _unsteady(measurement: Measurement, ceilings: Ceilings) -> tuple[str, ...]:
    """Return ROOF_UNSTEADY when the roof beside the kernel varied, or was not the roof that is archived."""
    own = ceilings.named(measurement.ceiling)
    if own is None or not measurement.roof_samples:
        return ()
    apart = abs(median(measurement.roof_samples) / own.attainable_flop_per_s(1.0) - 1)
    varied = relative_spread(measurement.roof_samples) > NOISY_SPREAD
    return ("ROOF_UNSTEADY",) if varied or apart > UNSTEADY else ()
