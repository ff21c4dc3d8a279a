"""Tile sizes follow from what the caches hold: never none, more for larger caches, never more than fits."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roofline.codegen.multiply import TILE_ROWS
from roofline.kernels.capacity import UNKNOWN, Capacity, capacity_of
from roofline.kernels.kernel import Kernel
from roofline.kernels.multiplication import even_share, product_tiles
from roofline.kernels.registry import all_kernels
from roofline.model.isa import DTYPE_BITS

KIB, MIB = 2**10, 2**20
TILED = [known for known in all_kernels().values() if known.tiles is not None]

capacities = st.builds(
    Capacity,
    first_bytes=st.integers(4 * KIB, 512 * KIB),
    second_bytes=st.integers(4 * KIB, 64 * MIB),
    last_bytes=st.integers(4 * KIB, 2**30),
    threads=st.integers(1, 256),
)
dtypes = st.sampled_from(["f64", "f32"])
often = settings(max_examples=150, deadline=None, derandomize=True)


@pytest.mark.parametrize("known", TILED, ids=lambda known: known.name)
@settings(max_examples=20, deadline=None, derandomize=True)
@given(capacity=capacities)
def test_tiles_are_at_least_one_whatever_the_caches(known, capacity: Capacity) -> None:  # type: ignore[no-untyped-def]
    for dtype in known.dtypes:
        tiles = known.tiles_for(capacity, dtype)
        assert len(tiles) == len(known.tiles_for(UNKNOWN, dtype)) > 0
        assert all(isinstance(size, int) and size >= 1 for size in tiles)


def test_caches_of_no_size_at_all_still_give_a_tile() -> None:
    for dtype in ("f64", "f32"):
        assert product_tiles(Capacity(first_bytes=0, second_bytes=0), dtype) == (TILE_ROWS, 1)


@often
@given(capacity=capacities, dtype=dtypes)
def test_the_rows_of_a_fit_the_first_cache_and_the_block_of_b_the_second(capacity: Capacity, dtype: str) -> None:
    item = DTYPE_BITS[dtype] // 8
    depth, columns = product_tiles(capacity, dtype)
    assert depth * TILE_ROWS * item <= capacity.first_bytes or depth == TILE_ROWS
    assert depth * columns * item <= capacity.second_bytes or columns == 1


@often
@given(capacity=capacities, dtype=dtypes, times=st.integers(2, 16))
def test_a_larger_first_cache_deepens_the_block_and_a_larger_second_one_widens_it(
    capacity: Capacity, dtype: str, times: int
) -> None:
    def tiles(first: int, second: int) -> tuple[int, int]:
        caches = (first * capacity.first_bytes, second * capacity.second_bytes)
        return product_tiles(Capacity(first_bytes=caches[0], second_bytes=caches[1]), dtype)

    depth, columns = tiles(1, 1)
    assert tiles(times, 1)[0] >= depth
    assert tiles(1, times)[0] == depth
    assert tiles(1, times)[1] >= columns


def test_caches_that_are_twice_as_large_hold_twice_as_much_and_f32_twice_as_many_as_f64() -> None:
    depth, columns = product_tiles(Capacity(first_bytes=32 * KIB, second_bytes=512 * KIB), "f64")
    assert product_tiles(Capacity(first_bytes=64 * KIB, second_bytes=2 * MIB), "f64")[0] == 2 * depth
    assert product_tiles(Capacity(first_bytes=32 * KIB, second_bytes=1 * MIB), "f64") == (
        depth,
        pytest.approx(2 * columns, abs=1),
    )
    assert product_tiles(Capacity(first_bytes=32 * KIB, second_bytes=512 * KIB), "f32")[0] == 2 * depth


@often
@given(size=st.integers(0, 10_000), most=st.integers(1, 10_000), unit=st.integers(1, 64))
def test_even_shares_are_whole_units_as_few_as_can_be_and_cover_everything(size: int, most: int, unit: int) -> None:
    share = even_share.py_func(size, most, unit)
    assert share >= 1
    assert share % unit == 0
    parts = max(1, -(-size // most))
    assert parts * share >= size
    assert share - unit < -(-size // parts) or share == unit  # no larger than an even part in whole units
    assert share < most + unit


@pytest.mark.parametrize(
    ("size", "most", "unit", "share"),
    [(100, 100, 1, 100), (101, 100, 1, 51), (1000, 300, 1, 250), (1000, 300, 8, 256), (5, 100, 8, 8), (0, 9, 4, 4)],
)
def test_a_size_is_cut_into_equal_parts(size: int, most: int, unit: int, share: int) -> None:
    assert even_share.py_func(size, most, unit) == share


def test_three_caches_are_the_first_the_second_and_the_last() -> None:
    assert capacity_of([32, 256, 4096], threads=3) == Capacity(
        first_bytes=32, second_bytes=256, last_bytes=4096, threads=3
    )
    assert capacity_of([32, 256, 4096, 65536]).last_bytes == 65536


def test_the_farthest_cache_stands_for_those_that_are_missing() -> None:
    assert capacity_of([32, 256]) == Capacity(first_bytes=32, second_bytes=256, last_bytes=256)
    assert capacity_of([32]) == Capacity(first_bytes=32, second_bytes=32, last_bytes=32)


def test_where_no_cache_is_known_a_usual_core_is_assumed() -> None:
    assert capacity_of([]) == UNKNOWN
    assert capacity_of([], threads=4) == Capacity(threads=4)


@pytest.mark.parametrize("kernel", TILED, ids=lambda kernel: kernel.name)
def test_tiles_are_never_empty_however_small_the_caches(kernel: Kernel) -> None:
    for dtype in kernel.dtypes:
        assert min(kernel.tiles_for(Capacity(first_bytes=1, second_bytes=1, last_bytes=1), dtype)) >= 1
