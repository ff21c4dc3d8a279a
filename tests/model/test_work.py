"""Flops and bytes of one call."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from roofline.model.work import Work

AMOUNT = st.integers(0, 2**60)
WORKS = st.builds(Work, flops=AMOUNT, read_bytes=AMOUNT, write_bytes=AMOUNT, allocate_bytes=AMOUNT)
quick = settings(max_examples=100, derandomize=True, deadline=None)


def test_triad_counts_as_stream_does() -> None:
    n = 1000
    triad = Work(flops=2 * n, read_bytes=16 * n, write_bytes=8 * n, allocate_bytes=8 * n)
    assert triad.bytes == 24 * n
    assert triad.bus_bytes == 32 * n
    assert triad.footprint_bytes == 24 * n
    assert triad.flop_per_byte == 2 / 24
    assert triad.write_share == 1 / 3


def test_an_update_in_place_allocates_nothing_and_is_touched_once() -> None:
    axpy = Work(flops=2, read_bytes=16, write_bytes=8)
    assert axpy.bus_bytes == axpy.bytes == 24
    assert axpy.footprint_bytes == 16


def test_a_kernel_without_flops_or_bytes_has_no_intensity() -> None:
    assert Work(flops=0, read_bytes=8, write_bytes=0).flop_per_byte == 0.0
    nothing = Work(flops=5, read_bytes=0, write_bytes=0)
    assert (nothing.flop_per_byte, nothing.write_share) == (0.0, 0.0)


@quick
@given(WORKS)
def test_the_bus_carries_at_least_the_compulsory_bytes(work: Work) -> None:
    assert work.bus_bytes >= work.bytes >= max(work.read_bytes, work.write_bytes)
    assert 0 <= work.write_share <= 1


@quick
@given(WORKS, st.integers(1, 1000))
def test_intensity_does_not_depend_on_how_often_the_work_is_done(work: Work, times: int) -> None:
    more = Work(
        flops=times * work.flops,
        read_bytes=times * work.read_bytes,
        write_bytes=times * work.write_bytes,
        allocate_bytes=times * work.allocate_bytes,
    )
    assert (more.flop_per_byte, more.write_share) == (work.flop_per_byte, work.write_share)
