"""Points of calls that nobody has timed."""

from __future__ import annotations

from typing import Any

from ceilings_of import CLOCK_HZ, compute, memory
from msgspec.structs import replace

from roofline.model.ceilings import Ceilings
from roofline.model.claim import claim_of
from roofline.model.evidence import Evidence
from roofline.model.measurement import Measurement
from roofline.model.verdict import judged
from roofline.testing.point import Point, Policy
from roofline.testing.standing import point_of

PEAK = 4e9
CEILINGS = Ceilings(compute=(compute(PEAK),), memory=(memory(1e9, level="L1"),))
FLOPS = 4 * 10**6
SAMPLES = 12


def measurement_with(percent: float, spread: float = 0.01, name: str = "fn", **evidence: Any) -> Measurement:
    """Return a call that reaches so many percent of the arithmetic roof, give or take `spread`, in 12 samples."""
    ideal_s = 100 / percent * FLOPS / PEAK
    samples_s = tuple(ideal_s * (1 + spread * (2 * k / (SAMPLES - 1) - 1)) for k in range(SAMPLES))
    measurement = Measurement(
        kernel=name,
        n=0,
        dtype="f64",
        threads=1,
        work=claim_of(flops=FLOPS).readings[0],
        level="",
        ceiling=CEILINGS.compute[0].name,
        repeats=10,
        samples_s=samples_s,
        roof_samples=(PEAK,) * (SAMPLES + 1),
        roof_clock_samples_hz=(CLOCK_HZ,) * (SAMPLES + 1),
        clock_samples_hz=(CLOCK_HZ,) * SAMPLES,
        compiled=False,
        evidence=Evidence(interval_s=1.0, **evidence),
    )
    return judged(measurement, CEILINGS)


def point_with(percent: float, spread: float = 0.01, policy: Policy = Policy(), **fields: Any) -> Point:  # noqa: B008
    """Return the point of such a call; `fields` of the measurement are set as given."""
    known = {name: fields.pop(name) for name in ("cpus_used", "unfit", "notes") if name in fields}
    measurement = replace(measurement_with(percent, spread), **fields)
    return point_of(measurement, CEILINGS, test="test_x", claim=claim_of(flops=FLOPS), policy=policy, **known)


class FakeYardstick:
    """Measures nothing: whatever is called reaches the same percentage."""

    def __init__(self, percent: float, spread: float = 0.01, **evidence: Any) -> None:
        self.answer = (percent, spread, evidence)
        self.ceilings = CEILINGS
        self.spent_s = 1.5

    def measure(self, function: Any, name: str, *_: Any) -> Measurement:
        percent, spread, evidence = self.answer
        return measurement_with(percent, spread, name, **evidence)

    def __exit__(self, *_: object) -> None:
        pass
