"""The roofline model: a minimum, told as a rate, as a time and as a name."""

from __future__ import annotations

import math

import pytest
from ceilings_of import compute, memory
from hypothesis import given, settings
from hypothesis import strategies as st

from roofline.model.ceilings import Ceilings
from roofline.model.roof import Roof, pattern_of, roof_of
from roofline.model.work import Work

RATE = st.floats(1e6, 1e15)
INTENSITY = st.floats(1e-4, 1e4)
AMOUNT = st.integers(1, 2**50)
quick = settings(max_examples=150, derandomize=True, deadline=None)


def roof(flop_per_s: float, byte_per_s: float) -> Roof:
    """Return the roof under these two ceilings."""
    return Roof(compute=compute(flop_per_s), memory=memory(byte_per_s))


@quick
@given(RATE, RATE, INTENSITY)
def test_attainable_is_the_minimum_of_peak_and_slope(peak: float, slope: float, intensity: float) -> None:
    assert roof(peak, slope).attainable_flop_per_s(intensity) == min(peak, intensity * slope)


@quick
@given(RATE, RATE, INTENSITY, INTENSITY)
def test_attainable_never_falls_with_intensity(peak: float, slope: float, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert roof(peak, slope).attainable_flop_per_s(low) <= roof(peak, slope).attainable_flop_per_s(high)


@quick
@given(RATE, RATE)
def test_both_ceilings_meet_at_the_ridge(peak: float, slope: float) -> None:
    ridge = roof(peak, slope).ridge_flop_per_byte
    assert ridge is not None
    assert roof(peak, slope).attainable_flop_per_s(ridge) == pytest.approx(peak, rel=1e-12)
    assert roof(peak, slope).attainable_flop_per_s(ridge / 2) == pytest.approx(peak / 2, rel=1e-12)
    assert roof(peak, slope).attainable_flop_per_s(ridge * 2) == peak


@quick
@given(RATE, RATE, AMOUNT, AMOUNT)
def test_the_least_time_is_the_attainable_rate_told_as_time(peak: float, slope: float, flops: int, size: int) -> None:
    work = Work(flops=flops, read_bytes=size, write_bytes=0)
    attainable = roof(peak, slope).attainable_flop_per_s(work.flop_per_byte)
    assert flops / roof(peak, slope).least_s(work) == pytest.approx(attainable, rel=1e-12)


@quick
@given(RATE, RATE, AMOUNT, AMOUNT)
def test_the_bound_is_the_ceiling_with_the_lower_limit(peak: float, slope: float, flops: int, size: int) -> None:
    work = Work(flops=flops, read_bytes=size, write_bytes=0)
    bound = roof(peak, slope).bound(work)
    assert bound is not None
    assert bound.attainable_flop_per_s(work.flop_per_byte) == pytest.approx(
        roof(peak, slope).attainable_flop_per_s(work.flop_per_byte), rel=1e-12
    )


def test_compute_binds_where_both_limit_equally() -> None:
    work = Work(flops=2, read_bytes=1, write_bytes=0)
    both = roof(200.0, 100.0)
    assert both.bound(work) is both.compute
    assert both.ridge_flop_per_byte == 2.0


def test_a_kernel_without_flops_is_bound_by_memory() -> None:
    copy = Work(flops=0, read_bytes=50, write_bytes=50)
    both = roof(1.0, 1000.0)
    assert both.bound(copy) is both.memory
    assert both.least_s(copy) == 0.1
    assert Roof(compute=compute(1.0)).bound(copy) is None


def test_a_missing_ceiling_does_not_limit() -> None:
    work = Work(flops=10, read_bytes=5, write_bytes=5)
    only_compute, only_memory, none = Roof(compute=compute(100.0)), Roof(memory=memory(50.0)), Roof()
    assert only_compute.attainable_flop_per_s(1e-9) == 100.0
    assert only_memory.attainable_flop_per_s(1e9) == 5e10
    assert none.attainable_flop_per_s(1.0) == math.inf
    assert (only_compute.least_s(work), only_memory.least_s(work), none.least_s(work)) == (0.1, 0.2, 0.0)
    assert none.bound(work) is None
    assert {only_compute.ridge_flop_per_byte, only_memory.ridge_flop_per_byte, none.ridge_flop_per_byte} == {None}


@pytest.mark.parametrize(
    ("read_bytes", "write_bytes", "allocate_bytes", "pattern"),
    [
        (1, 0, 0, "load"),
        (9, 1, 0, "load"),
        (1, 1, 0, "update"),
        (2, 1, 0, "update"),
        (2, 1, 1, "triad"),
        (100, 1, 1, "load"),
        (1, 1, 1, "copy"),
        (0, 1, 1, "store"),
        (1, 9, 9, "store"),
    ],
)
def test_a_kernel_is_held_against_the_pattern_of_its_mix(
    read_bytes: int, write_bytes: int, allocate_bytes: int, pattern: str
) -> None:
    work = Work(flops=1, read_bytes=read_bytes, write_bytes=write_bytes, allocate_bytes=allocate_bytes)
    assert pattern_of(work) == pattern


TRIAD = Work(flops=2, read_bytes=16, write_bytes=8, allocate_bytes=8)


def test_the_roof_is_that_of_the_kernels_own_dtype_threads_level_and_mix() -> None:
    own_peak, own_slope = compute(50.0), memory(10.0)
    ceilings = Ceilings(
        compute=(own_peak, compute(100.0, dtype="f32"), compute(90.0, threads=2)),
        memory=(own_slope, memory(99.0, pattern="load"), memory(80.0, level="L1"), memory(20.0, threads=2)),
    )
    assert roof_of(ceilings, dtype="f64", threads=1, level="DRAM", work=TRIAD) == Roof(
        compute=own_peak, memory=own_slope
    )


def test_the_best_pattern_of_the_level_stands_in_for_a_missing_one() -> None:
    ceilings = Ceilings(memory=(memory(7.0, pattern="store"), memory(9.0, pattern="load")))
    found = roof_of(ceilings, dtype="f64", threads=1, level="DRAM", work=TRIAD)
    assert found == Roof(compute=None, memory=ceilings.memory[1])


def test_with_an_isa_only_ceilings_of_its_width_count() -> None:
    scalar = Ceilings(compute=(compute(4.0, isa="scalar"),), memory=(memory(2.0, isa="scalar"),))
    wide = Ceilings(
        compute=(*scalar.compute, compute(32.0, isa="avx512")), memory=(*scalar.memory, memory(3.0, isa="avx512"))
    )
    width = {"dtype": "f64", "threads": 1, "level": "DRAM", "work": TRIAD}
    assert roof_of(wide, **width, isa="scalar") == roof_of(scalar, **width)
    assert roof_of(wide, **width) == Roof(compute=wide.compute[1], memory=wide.memory[1])
    assert roof_of(wide, **width, isa="neon") == Roof()


def test_non_temporal_stores_raise_the_machines_roof_but_not_that_of_a_kernels_own_width() -> None:
    plain, streaming = memory(10.0), memory(15.0, pattern="nt_triad")
    ceilings = Ceilings(memory=(plain, streaming, memory(99.0, pattern="nt_copy")))
    width = {"dtype": "f64", "threads": 1, "level": "DRAM", "work": TRIAD}
    assert roof_of(ceilings, **width).memory is streaming
    assert roof_of(ceilings, **width, isa="avx2").memory is plain
