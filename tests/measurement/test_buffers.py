"""Memory that is measured on: aligned, apart, without zeros."""

from __future__ import annotations

import gc
from itertools import combinations, pairwise

import numpy as np
import pytest

from roofline.measurement.buffers import HUGE_PAGE_BYTES, PAGE_BYTES, Arena, array_offsets, placed


@pytest.mark.parametrize("size_bytes", [1, HUGE_PAGE_BYTES, HUGE_PAGE_BYTES + 1])
def test_an_arena_starts_at_a_huge_page_and_is_large_enough(size_bytes: int) -> None:
    arena = Arena(size_bytes)
    assert arena.address % HUGE_PAGE_BYTES == 0
    assert arena.bytes.nbytes == arena.size_bytes >= size_bytes
    assert arena.size_bytes % HUGE_PAGE_BYTES == 0


def test_a_filled_arena_holds_no_zeros_and_no_repeated_cache_lines() -> None:
    arena = Arena(HUGE_PAGE_BYTES + 1)
    arena.fill(3)
    values = arena.bytes.view(np.float64)
    assert values.min() >= 0.5
    assert values.max() < 1.5
    assert len(np.unique(values[::8])) == values.size // 8


def test_arenas_of_other_seeds_hold_other_numbers_and_of_one_seed_the_same() -> None:
    arenas = [Arena(1) for _ in range(3)]
    for arena, seed in zip(arenas, (1, 2, 1), strict=True):
        arena.fill(seed)
    first, second, third = (arena.bytes for arena in arenas)
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, third)


@pytest.mark.parametrize("arrays", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("size_bytes", [64, 1024, 4096, 5000, 16 * 1024, 2**20, 3 * 2**20 + 192])
def test_arrays_neither_overlap_nor_alias_within_a_page(size_bytes: int, arrays: int) -> None:
    offsets = array_offsets(size_bytes, arrays)
    assert offsets[0] == 0
    assert len(offsets) == arrays
    assert all(offset % 64 == 0 for offset in offsets)
    assert all(after - before >= size_bytes for before, after in pairwise(offsets))
    for one, other in combinations(offsets, 2):
        apart = (one - other) % PAGE_BYTES
        assert min(apart, PAGE_BYTES - apart) >= 256


def test_twins_keep_shape_order_and_dtype() -> None:
    arguments = [
        np.ones((3, 5)),
        np.asfortranarray(np.ones((4, 6), np.float32)),
        2.5,
        np.ones(7, np.int64),
        np.float32(1.5),
        np.ones((1, 4)),
    ]
    twins = placed(arguments)
    assert len(twins) == len(arguments)
    for value, twin in zip(arguments, twins, strict=True):
        if isinstance(value, np.ndarray):
            assert (twin.shape, twin.dtype, twin.strides) == (value.shape, value.dtype, value.strides)
            assert twin.flags.writeable
            assert twin.ctypes.data % 64 == 0
        else:
            assert twin is value


def test_twins_do_not_overlap_each_other_or_the_arguments() -> None:
    arguments = [np.full(100 + 1000 * k, float(k)) for k in range(4)]
    twins = placed(arguments)
    for one, other in combinations([*arguments, *twins], 2):
        assert not np.may_share_memory(one, other)
    for number, twin in enumerate(twins):
        twin[:] = number + 10
    assert [set(twin) for twin in twins] == [{10.0}, {11.0}, {12.0}, {13.0}]
    assert [set(value) for value in arguments] == [{0.0}, {1.0}, {2.0}, {3.0}]


def test_arrays_of_different_sizes_lie_apart_as_well() -> None:
    twins = placed([np.ones(size) for size in (64, 512, 100_000)])
    starts = [twin.ctypes.data % PAGE_BYTES for twin in twins]
    for one, other in combinations(starts, 2):
        apart = (one - other) % PAGE_BYTES
        assert min(apart, PAGE_BYTES - apart) >= 256


def test_twins_keep_their_memory_alive() -> None:
    (twin,) = placed([np.ones(1000)])
    twin[:] = 4.0
    gc.collect()
    assert twin.sum() == 4000.0


def test_arguments_without_arrays_need_no_memory() -> None:
    assert placed([1, 2.0, "three"]) == [1, 2.0, "three"]
