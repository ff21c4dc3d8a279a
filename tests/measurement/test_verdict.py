"""Whether a number can be true, and where a footprint lies."""

from __future__ import annotations

import pytest
from ceilings_of import compute, memory
from msgspec.structs import replace

from roofline.measurement.verdict import NOISY_SPREAD, judged, level_of, too_low
from roofline.model.ceilings import Ceilings
from roofline.model.measurement import TOLERANCE_PERCENT, Measurement
from roofline.model.run import Level
from roofline.model.work import Work

KIB, MIB = 2**10, 2**20
CEILINGS = Ceilings(
    compute=(compute(100e9),),
    memory=(memory(10e9, level="DRAM"), memory(1000e9, level="L1")),
)
LEVELS = (
    Level(name="L1", reported_bytes=32 * KIB, effective_bytes=40 * KIB),
    Level(name="L2", reported_bytes=1 * MIB, effective_bytes=None),
    Level(name="L3", reported_bytes=32 * MIB, effective_bytes=10 * MIB, shared_by=2),
    Level(name="DRAM"),
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


def test_a_point_under_its_roof_is_ok() -> None:
    assert judged(measured(0.02, ADDS), CEILINGS).status == "ok"
    assert judged(measured(0.2, MOVES), CEILINGS).status == "ok"


def test_a_point_on_its_roof_and_a_little_above_is_ok() -> None:
    assert judged(measured(0.01, ADDS), CEILINGS).status == "ok"
    assert judged(measured(0.01 / (1 + TOLERANCE_PERCENT / 200), ADDS), CEILINGS).status == "ok"


def test_more_flops_than_the_machine_can_do_mean_a_roof_that_is_too_low() -> None:
    verdict = judged(measured(0.009, ADDS), CEILINGS)
    assert (verdict.status, verdict.status_codes) == ("above_roof", ("ROOF_TOO_LOW",))
    assert not verdict.drawable


def test_more_bytes_than_the_level_delivers_mean_a_nearer_level() -> None:
    verdict = judged(measured(0.1, MOVES), CEILINGS)
    assert (verdict.status, verdict.status_codes) == ("above_roof", ("NEARER_LEVEL",))


def test_a_wide_spread_is_told_of() -> None:
    wide = 1 + NOISY_SPREAD
    verdict = judged(measured(0, ADDS, samples=(0.02, 0.02, 0.02 * wide, 0.02 * wide * wide) * 3), CEILINGS)
    assert (verdict.status, verdict.status_codes) == ("degraded", ("NOISY",))
    assert verdict.drawable
    narrow = 1 + NOISY_SPREAD / 4
    assert judged(measured(0, ADDS, samples=(0.02, 0.02, 0.02 * narrow) * 3), CEILINGS).status == "ok"


def test_without_a_roof_nothing_can_be_above_it() -> None:
    assert judged(measured(1e-9, ADDS), Ceilings()).status == "ok"


def test_compiled_code_that_should_compute_and_holds_no_arithmetic_is_invalid() -> None:
    empty_loop = replace(measured(0.02, ADDS), vector_register=None)
    verdict = judged(empty_loop, CEILINGS)
    assert (verdict.status, verdict.status_codes) == ("invalid", ("DCE",))
    assert judged(empty_loop, CEILINGS, compiled=False).status == "ok"  # a library's code cannot be read
    moved = replace(measured(0.2, replace(MOVES, flops=0)), vector_register=None)
    assert judged(moved, CEILINGS).status == "ok"


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


@pytest.mark.parametrize(
    ("footprint", "threads", "level"),
    [
        (0, 1, "L1"),
        (32 * KIB, 1, "L1"),  # the smaller of measured and reported counts
        (32 * KIB + 1, 1, "L2"),
        (64 * KIB, 2, "L1"),  # two private instances
        (1 * MIB, 1, "L2"),
        (1 * MIB + 1, 1, "L3"),
        (10 * MIB, 2, "L3"),  # one instance that both share
        (10 * MIB + 1, 2, "DRAM"),
        (20 * MIB, 3, "L3"),  # the third core brings another instance
        (10**12, 64, "DRAM"),
    ],
)
def test_a_footprint_lies_in_the_nearest_level_that_holds_it(footprint: int, threads: int, level: str) -> None:
    assert level_of(footprint, threads, LEVELS) == level


def test_without_levels_everything_lies_in_dram() -> None:
    assert level_of(8, 1, ()) == "DRAM"
    assert level_of(8, 1, (Level(name="L1"), Level(name="DRAM"))) == "DRAM"
