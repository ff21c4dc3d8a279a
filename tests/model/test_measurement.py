"""What follows from samples and ceilings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from ceilings_of import compute, memory
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from roofline.model.ceilings import Ceilings
from roofline.model.measurement import Measurement, block_ratios, derive
from roofline.model.work import Work

COPY = Work(flops=0, read_bytes=500, write_bytes=500, allocate_bytes=500)
TRIAD = Work(flops=200, read_bytes=1600, write_bytes=800, allocate_bytes=800)
GEMM = Work(flops=10**6, read_bytes=2000, write_bytes=1000, allocate_bytes=1000)
PEAK, SCALAR = compute(4e9), compute(1e9, isa="scalar")
SLOPE, COPY_SLOPE = memory(1e9), memory(2e9, pattern="copy")
ROOFS = Ceilings(compute=(PEAK, SCALAR), memory=(SLOPE, COPY_SLOPE))
quick = settings(max_examples=150, derandomize=True, deadline=None)


def measured(work: Work, samples_s: tuple[float, ...], **fields: Any) -> Measurement:
    """Return a measurement of this work in DRAM, with these samples."""
    return Measurement(
        kernel="a.b", n=10, dtype="f64", threads=1, work=work, level="DRAM", repeats=1, samples_s=samples_s, **fields
    )


@dataclass(frozen=True)
class Percents:
    """The two percentages of a derivation."""

    roof: float | None
    ceiling: float | None


def percents(measurement: Measurement, ceilings: Ceilings = ROOFS) -> Percents:
    """Return what is derived as percentages."""
    derived = derive(measurement, ceilings)
    assert derived is not None
    return Percents(derived.percent_of_roof, derived.percent_of_ceiling)


def test_rates_are_work_over_the_median_time() -> None:
    derived = derive(measured(TRIAD, (1e-6, 4e-6, 2e-6)), ROOFS)
    assert derived is not None
    assert derived.median_s == 2e-6
    assert derived.flop_per_s == 200 / 2e-6
    assert derived.byte_per_s == 2400 / 2e-6
    assert derived.flop_per_byte == 200 / 2400
    assert derived.interval_s is None
    assert derived.spread == pytest.approx(1.5e-6 / 2e-6)


def test_without_samples_nothing_follows() -> None:
    assert derive(measured(TRIAD, (), status="failed"), ROOFS) is None


def test_unpaired_percent_of_roof_is_the_least_time_over_the_median() -> None:
    derived = derive(measured(TRIAD, (4.8e-6,) * 6), ROOFS)
    assert derived is not None
    assert derived.percent_of_roof == pytest.approx(50.0)
    assert derived.percent_of_ceiling is None
    assert derived.bound == SLOPE.name
    assert derived.roof_flop_per_s == pytest.approx(1e9 * 200 / 2400)
    assert derived.interval_s == (4.8e-6, 4.8e-6)


def test_a_kernel_of_high_intensity_is_bound_by_compute() -> None:
    derived = derive(measured(GEMM, (5e-4,)), ROOFS)
    assert derived is not None
    assert (derived.bound, derived.roof_flop_per_s) == (PEAK.name, 4e9)
    assert derived.percent_of_roof == pytest.approx(50.0)


def test_a_kernel_without_flops_has_a_percent_of_roof_but_no_roof_in_flops() -> None:
    derived = derive(measured(COPY, (1e-6,)), ROOFS)
    assert derived is not None
    assert (derived.bound, derived.roof_flop_per_s, derived.flop_per_s) == (COPY_SLOPE.name, None, 0.0)
    assert derived.percent_of_roof == pytest.approx(50.0)


def test_without_ceilings_there_is_no_percent_and_no_bound() -> None:
    derived = derive(measured(TRIAD, (1e-6,), ceiling=SLOPE.name, roof_samples=(1e9, 1e9)), Ceilings())
    assert derived is not None
    assert (derived.percent_of_roof, derived.percent_of_ceiling) == (None, None)
    assert (derived.bound, derived.roof_flop_per_s) == (None, None)
    assert derived.byte_per_s == 2400 / 1e-6


def test_with_one_kind_of_ceiling_that_kind_binds() -> None:
    copy = replace(TRIAD, flops=0)
    for work, ceilings, name in (
        (TRIAD, Ceilings(compute=(PEAK,)), PEAK.name),
        (copy, Ceilings(memory=(SLOPE,)), SLOPE.name),
    ):
        derived = derive(measured(work, (1e-6,)), ceilings)
        assert derived is not None
        assert derived.bound == name


def test_a_memory_roof_alone_is_no_roof_of_a_kernel_that_computes() -> None:
    derived = derive(measured(TRIAD, (1e-6,)), Ceilings(memory=(SLOPE,)))
    assert derived is not None
    assert (derived.bound, derived.percent_of_roof, derived.roof_flop_per_s) == (None, None, None)


@quick
@given(st.floats(0.01, 1.0), st.floats(0.5, 2.0), st.integers(1, 20))
def test_what_slows_kernel_and_roof_alike_cancels_exactly(share: float, weather: float, count: int) -> None:
    paired = measured(
        TRIAD,
        (TRIAD.bytes / SLOPE.byte_per_s / share / weather,) * count,
        ceiling=SLOPE.name,
        roof_samples=(SLOPE.byte_per_s * weather,) * (count + 1),
    )
    assert percents(paired).ceiling == pytest.approx(100 * share, rel=1e-9)
    assert percents(paired).roof == pytest.approx(100 * share, rel=1e-9)


@quick
@given(st.floats(0.9, 1.1), st.integers(1, 30), st.floats(0.01, 1.0))
def test_steady_drift_over_the_whole_run_cancels_exactly(step: float, count: int, share: float) -> None:
    """A sample lies between two roof blocks: at a geometric drift it runs at their geometric mean."""
    least_s = TRIAD.bytes / SLOPE.byte_per_s
    paired = measured(
        TRIAD,
        tuple(least_s / share / step ** (index + 0.5) for index in range(count)),
        ceiling=SLOPE.name,
        roof_samples=tuple(SLOPE.byte_per_s * step**index for index in range(count + 1)),
    )
    assert block_ratios(paired, float(TRIAD.bytes)) == pytest.approx([share] * count, rel=1e-9)
    assert percents(paired).roof == pytest.approx(100 * share, rel=1e-9)


def test_a_roof_that_was_slower_beside_the_kernel_parts_the_paired_percentage_from_the_one_as_timed() -> None:
    paired = measured(TRIAD, (4.8e-6,) * 3, ceiling=SLOPE.name, roof_samples=(0.5e9,) * 4)
    derived = derive(paired, ROOFS)
    assert derived is not None
    assert (derived.percent_of_roof, derived.percent_as_timed) == (pytest.approx(100.0), pytest.approx(50.0))
    assert not derived.is_above_roof


@pytest.mark.parametrize("beside", [1e9, 4e9])
def test_a_point_is_above_its_roof_when_either_percentage_is(beside: float) -> None:
    above = derive(measured(TRIAD, (1.2e-6,) * 3, ceiling=SLOPE.name, roof_samples=(beside,) * 4), ROOFS)
    assert above is not None
    assert above.is_above_roof


def test_percent_of_ceiling_is_the_median_over_blocks() -> None:
    paired = measured(TRIAD, (2.4e-6, 4.8e-6, 24e-6), ceiling=SLOPE.name, roof_samples=(1e9,) * 4)
    assert percents(paired).ceiling == pytest.approx(50.0)


def test_percent_of_roof_counts_what_the_own_ceiling_is_of_the_roof() -> None:
    """Scalar code at 80 % of the scalar peak, which is a quarter of the machine's peak."""
    paired = measured(GEMM, (1.25e-3,) * 3, ceiling=SCALAR.name, roof_samples=(1e9,) * 4)
    assert percents(paired).ceiling == pytest.approx(80.0)
    assert percents(paired).roof == pytest.approx(20.0)


def test_a_pairing_that_does_not_fit_the_samples_counts_as_none() -> None:
    for roof_samples in ((), (1e9,), (1e9, 1e9, 1e9)):
        unpaired = measured(TRIAD, (4.8e-6,), ceiling=SLOPE.name, roof_samples=roof_samples)
        assert percents(unpaired) == percents(measured(TRIAD, (4.8e-6,)))


@pytest.mark.parametrize(("work", "ceiling"), [(COPY, PEAK), (Work(flops=9, read_bytes=0, write_bytes=0), SLOPE)])
def test_a_ceiling_that_limits_nothing_of_the_work_counts_as_no_pair(work: Work, ceiling: Any) -> None:
    paired = measured(work, (1e-6,), ceiling=ceiling.name, roof_samples=(1e9, 1e9))
    assert percents(paired) == percents(measured(work, (1e-6,)))
    assert percents(paired).ceiling is None


def test_an_unknown_ceiling_counts_as_no_pair() -> None:
    paired = measured(TRIAD, (4.8e-6,), ceiling="none of these", roof_samples=(1e9, 1e9))
    assert percents(paired) == percents(measured(TRIAD, (4.8e-6,)))


@pytest.mark.parametrize(
    ("status", "samples_s", "drawable"),
    [
        ("ok", (1.0,), True),
        ("degraded", (1.0,), True),
        ("invalid", (1.0,), False),
        ("above_roof", (1.0,), False),
        ("failed", (), False),
        ("ok", (), False),
    ],
)
def test_only_sound_numbers_are_drawn(status: str, samples_s: tuple[float, ...], drawable: bool) -> None:
    assert measured(TRIAD, samples_s, status=status).drawable is drawable
