"""From the samples of a call to its point."""

from __future__ import annotations

from roofline.model.ceilings import Ceilings, ComputeCeiling
from roofline.model.claim import Claim
from roofline.model.guard import GUARDS
from roofline.model.judging import Circumstances, verdict_of
from roofline.model.measurement import Derived, Measurement, block_ratios, derive
from roofline.model.statistics import interval_of_median, median
from roofline.testing.point import Point, Policy

UNFIT = ("THROTTLE", "STEAL", "BUSY", "OVERSUB", "UNPINNED", "CLOCKBACK")
"""Codes of what the machine does to a number: the code under test cannot help it."""
MOST_CPUS = 1.3
"""A call that uses more CPUs than its threads, times this, runs on more threads than it says."""


def point_of(
    measurement: Measurement,
    ceilings: Ceilings,
    *,
    test: str,
    claim: Claim,
    cpus_used: float = 0.0,
    unfit: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
    policy: Policy = Policy(),  # noqa: B008  a frozen value
) -> Point:
    """Return the point of a measured call; `unfit` and `notes` are what is known beside it."""
    derived = derive(measurement, ceilings)
    assert derived is not None  # the yardstick takes samples, or raises
    own = ceilings.named(measurement.ceiling)
    bound = ceilings.named(derived.bound) if derived.bound else None
    count = len(measurement.samples_s)
    verdict = verdict_of(measurement.evidence, Circumstances(samples=count, threads=measurement.threads))
    seen = dict.fromkeys((*measurement.status_codes, *verdict.invalid, *verdict.degraded))
    invalid = measurement.status_codes if measurement.status == "invalid" else ()
    of_machine = tuple(code for code in seen if code in UNFIT)
    wrong = tuple(code for code in invalid if code not in UNFIT)
    doubts = (*measurement.status_codes, *(own.caveats if own is not None else ()))
    noted = tuple(code for code in dict.fromkeys(doubts) if code not in (*of_machine, *wrong))
    unsound = tuple(map(_worded, wrong))
    if cpus_used > MOST_CPUS * measurement.threads:
        unsound += (
            f"the call used {cpus_used:.1f} CPUs, expected {measurement.threads}: declare its threads=, or hold it to "
            "them",
        )
    return Point(
        name=measurement.kernel,
        test=test,
        dtype=measurement.dtype,
        threads=measurement.threads,
        status=measurement.status,
        codes=measurement.status_codes,
        level=measurement.level,
        percent_of_roof=derived.percent_of_roof,
        interval=percent_interval(measurement, derived, ceilings),
        flop_per_s=derived.flop_per_s,
        byte_per_s=claim.bytes / derived.median_s,
        flop_per_byte=derived.flop_per_byte,
        median_s=derived.median_s,
        bound=derived.bound,
        roof_per_s=None if bound is None else bound.attainable_flop_per_s(1.0),
        unfit=(*unfit, *map(_worded, of_machine)),
        unsound=unsound,
        notes=(*notes, *map(_worded, noted)),
        measurement=measurement,
        policy=policy,
    )


def percent_interval(measurement: Measurement, derived: Derived, ceilings: Ceilings) -> tuple[float, float] | None:
    """Return the 95 % interval of the percentage of the roof, from the blocks; None below 6 samples, or unpaired."""
    own = ceilings.named(measurement.ceiling)
    work = measurement.work
    amount = float(work.flops if isinstance(own, ComputeCeiling) else work.bytes)
    ratios = block_ratios(measurement, amount) if own is not None else []
    interval = interval_of_median(ratios)
    if interval is None or derived.percent_of_roof is None:
        return None
    scale = derived.percent_of_roof / median(ratios)
    return interval[0] * scale, interval[1] * scale


def _worded(code: str) -> str:
    guard = GUARDS.get(code)
    return code if guard is None else f"{code}: {guard.catches}; {guard.remedy}"
