"""What both sides of a trial time alike: the size, the roof and the number of calls that their rehearsals agree on."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from roofline.measurement.message import Rehearsed
from roofline.measurement.plan import KernelPoint
from roofline.model.trial import SIDES, STRETCH, SideOfPoint, TrialFailure, TrialPoint


@dataclass(frozen=True)
class Agreed:
    """A point that both sides can time."""

    point: KernelPoint
    """With its size."""
    rehearsed: Rehearsed
    """Its roof, calls and memory, for the processes of both sides."""
    described: TrialPoint
    """The same for the record."""


def disagreement(name: str, base: Rehearsed, head: Rehearsed) -> tuple[TrialFailure, ...]:
    """Return why a point cannot be timed on both sides; nothing when it can."""
    failures = tuple(
        TrialFailure(point=name, side=side, kind=answer.failure.kind, message=answer.failure.message)
        for side, answer in zip(SIDES, (base, head), strict=True)
        if answer.failure is not None
    )
    if not failures and base.n != head.n:
        message = f"its size is {base.n} on the one side and {head.n} on the other: their declared work differs"
        return (TrialFailure(point=name, side="", kind="skipped", message=message),)
    return failures


def agreed(
    name: str, point: KernelPoint, base: Rehearsed, head: Rehearsed, control: str = "", stretched: bool = False
) -> Agreed:
    """Return what two sides that do not disagree time: the base's size and roof, and the more calls of both.

    `stretched`: the head's calls are slowed down on purpose, in steps that the number of calls must allow.
    """
    repeats = max(base.repeats, head.repeats)
    if stretched:
        repeats = -(-repeats // STRETCH[1]) * STRETCH[1]
    sides = [
        SideOfPoint(
            digest=answer.digest,
            vector_register=answer.vector_register,
            assembly_digest=answer.assembly_digest,
            error=answer.error,
            tolerance=answer.tolerance,
        )
        for answer in (base, head)
    ]
    footprint_bytes = max(base.footprint_bytes, head.footprint_bytes)
    return Agreed(
        point=replace(point, n=base.n, level=point.level or base.level or None),
        rehearsed=replace(base, repeats=repeats, footprint_bytes=footprint_bytes),
        described=TrialPoint(
            name=name,
            kernel=point.kernel,
            n=base.n,
            dtype=point.dtype,
            threads=point.threads,
            level=base.level,
            control=control,
            stretched=stretched,
            ceiling=base.ceiling,
            repeats=repeats,
            base=sides[0],
            head=sides[1],
        ),
    )
