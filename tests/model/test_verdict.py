"""Whether a number can be true."""

from __future__ import annotations

import pytest
from ceilings_of import compute, memory
from msgspec.structs import replace

from roofline.model.ceilings import Ceilings
from roofline.model.evidence import DataEvidence, Evidence
from roofline.model.measurement import TOLERANCE_PERCENT, Measurement, derive
from roofline.model.verdict import NOISY_SPREAD, cause_of, judged, too_low
from roofline.model.work import Work

CEILINGS = Ceilings(
    compute=(compute(100e9),),
    memory=(memory(10e9, level="DRAM"), memory(1000e9, level="L1")),
)


def measured(seconds: float, work: Work, level: str = "DRAM", samples: tuple[float, ...] | None = None) -> Measurement:
    """Return a measurement that took so long in each sample."""
    return Measurement(
        kernel="family.name",
        n=100,
        dtype="f64",
        threads=1,
        work=work,
        level=level,
        repeats=1,
        samples_s=(seconds,) * 8 if samples is None else samples,
        vector_register="ymm",
    )


ADDS = Work(flops=10**9, read_bytes=8, write_bytes=0)
MOVES = Work(flops=1, read_bytes=10**9, write_bytes=5 * 10**8, allocate_bytes=5 * 10**8)


@pytest.mark.twin("ABOVE")
def test_a_point_under_its_roof_is_ok() -> None:
    assert judged(measured(0.02, ADDS), CEILINGS).status == "ok"
    assert judged(measured(0.2, MOVES), CEILINGS).status == "ok"


def test_a_point_on_its_roof_and_a_little_above_is_ok() -> None:
    assert judged(measured(0.01, ADDS), CEILINGS).status == "ok"
    assert judged(measured(0.01 / (1 + TOLERANCE_PERCENT / 200), ADDS), CEILINGS).status == "ok"


@pytest.mark.canary("ABOVE")
def test_more_flops_than_the_machine_can_do_mean_a_roof_that_is_too_low() -> None:
    verdict = judged(measured(0.009, ADDS), CEILINGS)
    assert (verdict.status, verdict.status_codes) == ("above_roof", ("ROOF_TOO_LOW",))
    assert not verdict.drawable


def test_more_bytes_than_the_level_delivers_mean_a_nearer_level() -> None:
    verdict = judged(measured(0.1, MOVES), CEILINGS)
    assert (verdict.status, verdict.status_codes) == ("above_roof", ("NEARER_LEVEL",))


@pytest.mark.canary("ABOVE", "COUNTED_TWICE")
def test_bytes_declared_twice_are_named_before_the_level_is_accused() -> None:
    honest = Evidence(data=DataEvidence(array_bytes=MOVES.footprint_bytes))
    assert above(replace(measured(0.1, MOVES), evidence=honest)) == "NEARER_LEVEL"
    twice = replace(MOVES, read_bytes=2 * MOVES.read_bytes)
    assert above(replace(measured(0.1, twice), evidence=honest)) == "COUNTED_TWICE"


def test_a_faster_clock_than_beside_the_roof_is_named() -> None:
    own = CEILINGS.compute[0]
    beside = replace(measured(0.009, ADDS), ceiling=own.name, roof_samples=(100e9,) * 9)
    assert above(replace(beside, clock_samples_hz=(1.02 * own.clock_hz,) * 8)) == "ROOF_TOO_LOW"
    assert above(replace(beside, clock_samples_hz=(1.11 * own.clock_hz,) * 8)) == "OTHER_CLOCK"


def test_more_than_the_nearest_level_delivers_cannot_come_from_a_nearer_one() -> None:
    assert above(measured(0.001, MOVES, level="L1")) == "ROOF_TOO_LOW"
    low = Ceilings(compute=(compute(1e12),), memory=(memory(0.8e12, level="L1"), memory(10e9, level="DRAM")))
    assert above(measured(0.0015, MOVES), low) == "ROOF_TOO_LOW"  # 1 TB/s: more than either


def test_a_roof_scaled_down_refuses_what_it_would_have_held() -> None:
    fast = measured(0.0105, ADDS)
    assert judged(fast, CEILINGS).status == "ok"
    scaled = Ceilings(compute=(compute(80e9),))
    assert above(fast, scaled) == "ROOF_TOO_LOW"


def above(measurement: Measurement, ceilings: Ceilings = CEILINGS) -> str:
    """Return the cause of a point that must be above its roof."""
    derived = derive(measurement, ceilings)
    assert derived is not None
    verdict = judged(measurement, ceilings)
    assert (verdict.status, verdict.status_codes) == ("above_roof", (cause_of(measurement, derived, ceilings),))
    return verdict.status_codes[0]


@pytest.mark.canary("DCE")
@pytest.mark.parametrize(("work", "seconds"), [(ADDS, 0.002), (MOVES, 0.0005)])
def test_more_in_a_cycle_than_any_core_does_is_invalid_not_above_the_roof(work: Work, seconds: float) -> None:
    verdict = judged(measured(seconds, work), CEILINGS)
    assert (verdict.status, verdict.status_codes) == ("invalid", ("DCE",))


@pytest.mark.canary("LICENCE")
@pytest.mark.twin("LICENCE")
@pytest.mark.parametrize(("share", "codes"), [(1.0, ()), (1.02, ()), (0.9, ("LICENCE",)), (1.1, ("LICENCE",))])
def test_a_clock_that_the_roof_did_not_hold_is_told_of(share: float, codes: tuple[str, ...]) -> None:
    own = CEILINGS.compute[0]
    beside = replace(measured(0.02, ADDS), ceiling=own.name, clock_samples_hz=(share * own.clock_hz,) * 8)
    assert judged(beside, CEILINGS).status_codes == codes


@pytest.mark.twin("LICENCE")
@pytest.mark.parametrize(("share", "codes"), [(1.0, ()), (1.02, ()), (0.9, ("LICENCE",)), (1.1, ("LICENCE",))])
def test_a_chip_that_has_warmed_up_since_the_ceiling_was_measured_is_no_other_clock(
    share: float, codes: tuple[str, ...]
):
    own = CEILINGS.compute[0]
    drifted_hz = 0.93 * own.clock_hz
    beside = replace(measured(0.02, ADDS), ceiling=own.name, roof_clock_samples_hz=(drifted_hz,) * 9)
    assert judged(replace(beside, clock_samples_hz=(share * drifted_hz,) * 8), CEILINGS).status_codes == codes


@pytest.mark.canary("WIDTH")
@pytest.mark.twin("WIDTH")
@pytest.mark.parametrize(("seconds", "codes"), [(0.0105, ()), (0.0098, ()), (0.008, ("WIDTH",))])
def test_a_kernel_faster_than_the_registers_seen_in_it_is_doubted(seconds: float, codes: tuple[str, ...]) -> None:
    narrow, wide = compute(100e9, isa="scalar"), compute(800e9, isa="avx512")
    beside = replace(measured(seconds, ADDS), ceiling=narrow.name, roof_samples=(100e9,) * 9)
    assert judged(beside, Ceilings(compute=(narrow, wide))).status_codes == codes


@pytest.mark.canary("TIMER")
@pytest.mark.twin("TIMER")
@pytest.mark.parametrize(
    ("resolution_s", "status"), [(None, "ok"), (41.67e-9, "ok"), (1e-6, "ok"), (1e-3, "invalid"), (15.6e-3, "invalid")]
)
def test_samples_too_short_for_their_clock_are_invalid(resolution_s: float | None, status: str) -> None:
    evidence = Evidence(clock_resolution_s=resolution_s, clock_overhead_s=None)
    assert judged(replace(measured(0.02, ADDS), evidence=evidence), CEILINGS).status == status


def test_what_the_evidence_says_reaches_the_status() -> None:
    throttled = Evidence(throttled_s=0.1, collections=1)
    verdict = judged(replace(measured(0.02, ADDS), evidence=throttled), CEILINGS)
    assert (verdict.status, verdict.status_codes) == ("invalid", ("THROTTLE",))
    assert not verdict.drawable
    collected = judged(replace(measured(0.02, ADDS), evidence=Evidence(collections=1)), CEILINGS)
    assert (collected.status, collected.status_codes) == ("degraded", ("GC",))
    moved = replace(measured(0.02, ADDS), evidence=Evidence(cpus=(3,)))
    assert judged(moved, CEILINGS, cpus=(2,)).status_codes == ("UNPINNED",)
    assert judged(moved, CEILINGS, cpus=(3,)).status == "ok"


@pytest.mark.canary("NOISY")
@pytest.mark.twin("NOISY")
def test_a_wide_spread_is_told_of() -> None:
    wide = 1 + NOISY_SPREAD
    verdict = judged(measured(0, ADDS, samples=(0.02, 0.02, 0.02 * wide, 0.02 * wide * wide) * 3), CEILINGS)
    assert (verdict.status, verdict.status_codes) == ("degraded", ("NOISY",))
    assert verdict.drawable
    narrow = 1 + NOISY_SPREAD / 4
    assert judged(measured(0, ADDS, samples=(0.02, 0.02, 0.02 * narrow) * 3), CEILINGS).status == "ok"


def test_without_a_roof_nothing_can_be_above_it() -> None:
    assert judged(measured(0.004, ADDS), Ceilings()).status == "ok"


@pytest.mark.canary("DCE")
@pytest.mark.twin("DCE")
def test_compiled_code_that_should_compute_and_holds_no_arithmetic_is_invalid() -> None:
    empty_loop = replace(measured(0.02, ADDS), vector_register=None)
    verdict = judged(empty_loop, CEILINGS)
    assert (verdict.status, verdict.status_codes) == ("invalid", ("DCE",))
    assert judged(replace(empty_loop, compiled=False), CEILINGS).status == "ok"  # a library's code cannot be read
    moved = replace(measured(0.2, replace(MOVES, flops=0)), vector_register=None)
    assert judged(moved, CEILINGS).status == "ok"


@pytest.mark.canary("ROOF_UNSTEADY")
@pytest.mark.twin("ROOF_UNSTEADY")
@pytest.mark.parametrize("roofs", [(100e9, 100e9, 40e9, 100e9, 60e9, 100e9, 50e9, 100e9, 100e9), (70e9,) * 9])
def test_a_roof_that_varies_or_is_not_the_archived_one_is_told_of(roofs: tuple[float, ...]) -> None:
    own = CEILINGS.compute[0].name
    beside = replace(measured(0.03, ADDS), ceiling=own, roof_samples=roofs)
    assert judged(beside, CEILINGS).status_codes == ("ROOF_UNSTEADY",)
    steady = replace(beside, roof_samples=(99e9,) * 9)
    assert judged(steady, CEILINGS).status == "ok"


def test_a_point_above_the_archived_roof_is_refused_though_the_blocks_beside_it_were_faster_still() -> None:
    """80 % of the blocks beside it, and 160 % of the ceiling that the figure would draw under it."""
    beside = replace(measured(0.00625, ADDS), ceiling=CEILINGS.compute[0].name, roof_samples=(200e9,) * 9)
    assert judged(beside, CEILINGS).status == "above_roof"


@pytest.mark.parametrize(("beside", "low"), [(99e9, False), (102e9, False), (110e9, True), (200e9, True)])
def test_a_ceiling_is_too_low_when_its_blocks_beside_a_kernel_are_faster(beside: float, low: bool) -> None:
    own = CEILINGS.compute[0]
    # One fast block in five proves nothing: the middle one counts.
    roofs = (beside, beside, 300e9, beside, beside)
    measurement = replace(measured(0.03, ADDS, samples=(0.03,) * 4), ceiling=own.name, roof_samples=roofs)
    assert too_low(measurement, CEILINGS) == (own if low else None)


def test_a_ceiling_without_blocks_beside_a_kernel_is_not_too_low() -> None:
    assert too_low(replace(measured(0.03, ADDS), ceiling=CEILINGS.compute[0].name), CEILINGS) is None
    assert too_low(replace(measured(0.03, ADDS), roof_samples=(9e99,) * 9), CEILINGS) is None


def test_few_samples_above_the_roof_accuse_only_the_noise() -> None:
    verdict = judged(measured(0, ADDS, samples=(0.009,) * 3), CEILINGS)
    assert (verdict.status, verdict.status_codes) == ("above_roof", ("NOISY",))


def test_a_measurement_without_samples_stays_as_it_is() -> None:
    empty = measured(0, ADDS, samples=())
    assert judged(empty, CEILINGS) == empty
