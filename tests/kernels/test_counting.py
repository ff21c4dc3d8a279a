from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from roofline.errors import UsageError
from roofline.kernels import network
from roofline.kernels.counting import count_work
from roofline.kernels.data import uniform
from roofline.kernels.inner import cache_tile, inner
from roofline.kernels.kernel import Kernel, kernel
from roofline.kernels.registry import all_kernels, kernel_named
from roofline.model.work import Work

COUNTABLE = [known for known in all_kernels().values() if known.compiled]


def counted(body, n=3, dtype="f64", scratch=False) -> Work:
    """Count a body of two vectors and one scalar."""
    declared = kernel(
        family="test",
        work=lambda n, size: Work(flops=0, read_bytes=0, write_bytes=0),
        arguments=lambda n, dtype, rng: (uniform(rng, n, dtype), uniform(rng, n, dtype), dtype(2)),
        reference=lambda a, b, s: a,
    )(body)
    return count_work(declared, n, dtype, scratch)


MOST_FLOPS = 200_000
"""Of a body that is counted in a test: Python takes a second for them."""


def sizes_of(known: Kernel) -> list[int]:
    """Return odd sizes that are quick to count, two at least."""
    flops = {n: known.own_work_of(n, known.dtypes[0]).flops for n in (1, 3, 7, 13)}
    return [n for n in flops if n <= 3 or flops[n] <= MOST_FLOPS]


def ways_of(known: Kernel) -> list[dict[str, bool]]:
    """Return the ways of counting of which one must give what is declared: intermediates count in all of them.

    Sweeps of a stencil are the only kernels that may count every value that an element has had.
    """
    return [{"scratch": True}, {"scratch": True, "every_value": True}][: 2 if known.family == "stencil" else 1]


@pytest.mark.twin("WA")
@pytest.mark.parametrize("known", COUNTABLE, ids=lambda known: known.name)
def test_declared_work_is_what_the_body_does(known: Kernel):
    for dtype in known.dtypes:
        for n in sizes_of(known):
            own = known.own_work_of(n, dtype)
            assert any(own == count_work(known, n, dtype, **way) for way in ways_of(known)), (n, dtype)


@pytest.mark.parametrize("known", [network.blocked_mlp, network.blocked_lstm], ids=lambda known: known.name)
def test_declared_work_counts_the_weights_that_a_large_batch_has_packed(known: Kernel):
    large = 4
    work_of = {network.blocked_mlp: network.packed_layer, network.blocked_lstm: network.packed_cell}[known]
    packing = replace(known, tiles=lambda capacity, dtype: (large,))
    assert count_work(packing, large + 1, scratch=True) == work_of(large + 1, 8, large)
    assert known.own_work_of(network.MANY, "f64") == work_of(network.MANY, 8, 1)
    assert known.own_work_of(network.MANY - 1, "f64") == work_of(network.MANY - 1, 8, network.MANY)


def test_a_cache_tile_moves_nothing_and_any_other_array_of_the_body_does():
    def body(a, b, s):
        """t"""
        tile = cache_tile(3, b.dtype)
        kept = np.empty(2, b.dtype)
        for i in range(3):
            tile[i] = b[i]
            kept[0] = tile[i]
            a[i] = kept[0] * s

    assert counted(body) == Work(flops=3, read_bytes=24, write_bytes=24, allocate_bytes=24)
    assert counted(body, scratch=True) == Work(flops=3, read_bytes=32, write_bytes=32, allocate_bytes=32)


@pytest.mark.parametrize("known", [known for known in COUNTABLE if known.own_work], ids=lambda known: known.name)
def test_own_work_is_never_less_than_the_job(known: Kernel):
    for n in (1, 7, 64, 129):
        job, own = known.work_of(n, known.dtypes[0]), known.own_work_of(n, known.dtypes[0])
        assert own.bytes >= job.bytes
    assert own != job


def test_declared_work_of_blocked_gemm_holds_beyond_one_tile_of_rows():
    known = kernel_named("gemm.blocked")
    assert count_work(known, 67) == known.work_of(67, "f64")


def test_every_uncountable_kernel_improves_a_counted_one():
    known = all_kernels()
    for name, library in known.items():
        if not library.compiled:
            assert library.improves is not None, name
            assert known[library.improves] in COUNTABLE
            assert library.work is known[library.improves].work


def test_a_library_call_cannot_be_counted():
    with pytest.raises(UsageError, match="calls a library"):
        count_work(kernel_named("gemm.blas"), 4)


def test_arithmetic_is_one_flop_each_and_signs_and_comparisons_are_none():
    def body(a, b, s):
        """t"""
        x = (a[0] + 1) * 2 - b[0] / s
        y = 1 + (2 - a[0]) * (1 / b[0])
        z = np.float64(3) * x
        for unlikely in (-x == y, abs(z) > s, x == y, x <= y, +x < y, z >= 99):
            if unlikely:
                a[0] = x

    assert counted(body).flops == 4 + 4 + 1


def test_an_element_read_before_it_is_written_is_not_allocated():
    def body(a, b, s):
        """t"""
        a[0] += b[0]

    assert counted(body) == Work(flops=1, read_bytes=16, write_bytes=8, allocate_bytes=0)


def test_an_element_written_before_it_is_read_is_not_compulsory_to_read():
    def body(a, b, s):
        """t"""
        for i in range(a.size):
            a[i] = a.dtype.type(0)
        for i in range(a.size):
            a[i] += b[0]

    assert counted(body, dtype="f32") == Work(flops=3, read_bytes=4, write_bytes=12, allocate_bytes=12)


def test_an_element_counts_once_however_often_and_through_whatever_view_it_is_touched():
    def body(a, b, s):
        """t"""
        view = b[1:]
        a[:2] = view[0] + b[1] + view[-2]

    assert counted(body) == Work(flops=2, read_bytes=8, write_bytes=16, allocate_bytes=16)


def test_copying_a_view_reads_its_elements():
    def body(a, b, s):
        """t"""
        a[1:] = b[1:]

    assert counted(body) == Work(flops=0, read_bytes=16, write_bytes=16, allocate_bytes=16)


def test_scratch_arrays_move_no_compulsory_bytes_but_their_arithmetic_counts():
    def body(a, b, s):
        """t"""
        scratch = np.empty(len(b), b.dtype)
        scratch[:] = b
        for x in scratch:
            a[0] = x * s

    assert counted(body) == Work(flops=3, read_bytes=24, write_bytes=8, allocate_bytes=8)


def test_every_value_counts_as_moved_where_sweeps_take_turns_in_one_array():
    def body(a, b, s):
        """t"""
        for _ in range(2):
            for i in range(a.size):
                a[i] = b[i] + s
            for i in range(a.size):
                b[i] = a[i]

    declared = kernel(
        family="test",
        work=lambda n, size: Work(flops=0, read_bytes=0, write_bytes=0),
        arguments=lambda n, dtype, rng: (uniform(rng, n, dtype), uniform(rng, n, dtype), dtype(2)),
        reference=lambda a, b, s: a,
    )(body)
    assert count_work(declared, 3) == Work(flops=6, read_bytes=24, write_bytes=48, allocate_bytes=24)
    every = count_work(declared, 3, every_value=True)
    assert every == Work(flops=6, read_bytes=4 * 24, write_bytes=4 * 24, allocate_bytes=2 * 24)


def test_one_array_passed_twice_is_one_array():
    def twice(n, dtype, rng):
        a = uniform(rng, n, dtype)
        return a, a

    @kernel(
        family="test",
        work=lambda n, size: Work(flops=n, read_bytes=n * size, write_bytes=n * size),
        arguments=twice,
        reference=lambda a, b: a + b,
    )
    def double(a, b):
        """a[i] = a[i] + b[i]"""
        for i in range(a.size):
            a[i] += b[i]

    assert count_work(double, 5) == double.work_of(5, "f64")


@pytest.mark.canary("WA")
def test_lines_that_are_written_without_having_been_read_cannot_be_left_out():
    def copy(a, b, s):
        """a = b"""
        for i in range(a.size):
            a[i] = b[i]

    done = counted(copy)
    forgotten = Work(flops=0, read_bytes=24, write_bytes=24)
    assert done != forgotten
    assert (done.allocate_bytes, done.bytes, done.bus_bytes) == (24, 48, 72)


@inner
def doubled(value):
    return value + value


def test_a_compiled_function_of_a_users_own_file_is_counted_too() -> None:
    def body(a, b, s):
        """a[i] = 2 b[i]"""
        for i in range(a.size):
            a[i] = doubled(b[i])

    assert counted(body, n=5).flops == 5
