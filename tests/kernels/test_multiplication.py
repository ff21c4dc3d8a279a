"""Products of any shape and order are A B, whatever the tiles, and touch nothing but A, B and C."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numba import njit, types

from roofline.codegen.multiply import (
    ISA,
    TILE_ROWS,
    TILE_VECTORS,
    aligned_start,
    has_contiguous_rows,
    multiply_tile,
    pack_panels,
)
from roofline.kernels.compile import compiled
from roofline.kernels.data import uniform
from roofline.kernels.multiplication import ROOM, multiply, multiply_rows
from roofline.kernels.registry import kernel_named

NUMPY = {"f64": np.float64, "f32": np.float32}
WIDTH = TILE_VECTORS * ISA.lanes("f64")
GUARD = -7.0
"""What stands around C: no product of positive numbers."""

VIEWS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "rows": lambda around: around[2:-2, 3:-3],
    "columns": lambda around: around.T[2:-2, 3:-3],
    "rows upwards": lambda around: around[-3:1:-1, 3:-3],
    "columns backwards": lambda around: around.T[2:-2, -4:2:-1],
    "every second row": lambda around: around[2:-2:2, 3:-3],
    "every third column": lambda around: around[2:-2, 3:-3:3],
    "every second and third": lambda around: around.T[2:-2:2, 3:-3:3],
}
"""Ways to lie in a larger array. All are one type to the compiler, which sees their strides only when they run."""
ROOM_AROUND = {"every second row": (2, 1), "every third column": (1, 3), "every second and third": (2, 3)}
TURNED = ("columns", "columns backwards", "every second and third")

sizes = st.one_of(
    st.integers(0, 70),
    st.sampled_from([TILE_ROWS - 1, TILE_ROWS, TILE_ROWS + 1, 3 * TILE_ROWS, 3 * TILE_ROWS + 1]),
    st.sampled_from([WIDTH - 1, WIDTH, WIDTH + 1, 2 * WIDTH, 2 * WIDTH + 1, 3 * WIDTH - 1]),
)
views = st.sampled_from(list(VIEWS))
depths = st.sampled_from([1, 3, 8, 1000])
"""Depths of a block of B, most of them so small that a product takes many."""
widths = st.sampled_from([1, WIDTH + 1, 2 * WIDTH, 1000])


@cache
def of_any_order(dtype: str) -> Any:
    """Return `multiply` compiled once for arrays of any order, also for those small ones that are in several."""
    matrix = types.Array(types.float64 if dtype == "f64" else types.float32, 2, "A")

    @njit(types.void(matrix, matrix, matrix, types.int64, types.int64))
    def product(C, A, B, tile_depth, tile_columns):  # type: ignore[no-untyped-def]
        multiply(C, A, B, tile_depth, tile_columns)

    return product


def lying(view: str, rows: int, columns: int, dtype: str, around: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a matrix that lies in a larger array as `view` says, and that array, filled with `around`."""
    row_step, column_step = ROOM_AROUND.get(view, (1, 1))
    shape = (rows * row_step + 4, columns * column_step + 6)
    larger = np.full(shape[::-1] if view in TURNED else shape, around, NUMPY[dtype])
    matrix = VIEWS[view](larger)
    assert matrix.shape == (rows, columns)
    return matrix, larger


def close(found: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
    """Assert that `found` is A B but for rounding, for positive numbers.

    Whatever the order, a sum of k rounded products is off by at most a share of k eps (Higham, Accuracy and
    Stability of Numerical Algorithms, 3.1).
    """
    bound = (A.shape[1] + 1) * np.finfo(found.dtype).eps
    np.testing.assert_allclose(found, A.astype("f8") @ B.astype("f8"), rtol=bound, atol=0)


@pytest.mark.parametrize("dtype", ["f64", "f32"])
@settings(max_examples=80, deadline=None, derandomize=True)
@given(m=sizes, n=sizes, k=sizes, of_c=views, of_a=views, of_b=views, depth=depths, width=widths)
@example(m=70, n=WIDTH + 1, k=65, of_c="rows", of_a="rows", of_b="rows", depth=3, width=1)
@example(m=9, n=3, k=0, of_c="columns", of_a="rows", of_b="rows", depth=1, width=1)
def test_a_product_of_any_shape_and_order_is_right_and_touches_nothing_else(
    dtype: str, m: int, n: int, k: int, of_c: str, of_a: str, of_b: str, depth: int, width: int
) -> None:
    rng = np.random.default_rng(m * 10_000 + n * 100 + k)
    A, _ = lying(of_a, m, k, dtype, np.nan)  # were they read, NaN would spread
    B, _ = lying(of_b, k, n, dtype, np.nan)
    C, around = lying(of_c, m, n, dtype, GUARD)
    A[:] = uniform(rng, (m, k), NUMPY[dtype])
    B[:] = uniform(rng, (k, n), NUMPY[dtype])
    C[:] = np.nan
    of_any_order(dtype)(C, A, B, depth, width)
    close(C, A, B)
    C[:] = GUARD
    assert np.all(around == GUARD), "an element outside of C was written"


def test_whole_arrays_in_fortran_order_give_the_product() -> None:
    rng = np.random.default_rng(1)
    for m, n, k in ((13, 29, 7), (TILE_ROWS, WIDTH, 64), (33, 2 * WIDTH + 5, 70)):
        C, A, B = (np.asfortranarray(uniform(rng, shape, np.float64)) for shape in ((m, n), (m, k), (k, n)))
        multiply(C, A, B, 16, WIDTH)
        close(C, A, B)


def product_of_rows(call: Any, dtype: str, m: int, n: int, k: int, depth: int, width: int) -> None:
    rng = np.random.default_rng(2)
    A, B = uniform(rng, (m, k), NUMPY[dtype]), uniform(rng, (k, n), NUMPY[dtype])
    C = np.full((m, n), np.nan, NUMPY[dtype])
    call(C, A, B, depth, width)
    close(C, A, B)


@pytest.mark.parametrize("call", [multiply_rows, multiply_rows.py_func], ids=["compiled", "plain"])
def test_rows_are_multiplied_alike_by_the_compiled_and_the_plain_function(call: Any) -> None:
    for m, n, k in ((1, 1, 1), (TILE_ROWS + 1, WIDTH + 3, 5), (3, 2 * WIDTH + 1, 9), (2, 3, 0)):
        for depth, width in ((4, 1), (100, 100)):
            product_of_rows(call, "f64", m, n, k, depth, width)


def test_the_plain_function_multiplies_any_dtype() -> None:
    product_of_rows(multiply_rows.py_func, "f32", TILE_ROWS + 1, WIDTH + 3, 5, 4, 1)


@njit
def packed(panels, B, k, depth, j, columns):  # type: ignore[no-untyped-def]
    pack_panels(panels, 5, B, k, depth, j, columns)


@njit
def tile(C, rows, columns, A, panel, width, depth, accumulate):  # type: ignore[no-untyped-def]
    multiply_tile(C, 1, 2, rows, columns, A, 1, panel, 5, width, depth, accumulate)


@njit
def alignment(array):  # type: ignore[no-untyped-def]
    return aligned_start(array)


def test_panels_are_packed_alike_by_the_emitted_and_the_plain_function() -> None:
    B = uniform(np.random.default_rng(3), (12, 3 * WIDTH + 4), np.float64)
    for depth in (1, 7):
        for columns in (1, ISA.lanes("f64"), WIDTH - 1, WIDTH, WIDTH + 1, 3 * WIDTH):
            emitted, plain = (np.full(5 + depth * 4 * WIDTH, GUARD) for _ in range(2))
            packed(emitted, B, 2, depth, 3, columns)
            pack_panels(plain, 5, B, 2, depth, 3, columns)
            written = plain != GUARD
            np.testing.assert_array_equal(emitted[written], plain[written])
            assert set(emitted[~written]) <= {0.0, GUARD}, "what fills up a vector is zero"
            lanes = ISA.lanes("f64")
            assert np.count_nonzero(emitted != GUARD) == depth * ((columns + lanes - 1) // lanes * lanes)


@pytest.mark.parametrize("accumulate", [False, True])
def test_a_tile_is_multiplied_alike_by_the_emitted_and_the_plain_function(accumulate: bool) -> None:
    rng = np.random.default_rng(4)
    lanes, depth = ISA.lanes("f64"), 6
    A = uniform(rng, (TILE_ROWS + 2, depth + 3), np.float64)
    for vectors in range(1, TILE_VECTORS + 1):
        panel = uniform(rng, 5 + depth * WIDTH, np.float64)
        for rows in (1, TILE_ROWS - 1, TILE_ROWS):
            for columns in (1, vectors * lanes - 1, vectors * lanes):
                emitted = np.full((TILE_ROWS + 2, WIDTH + 4), GUARD)
                plain = emitted.copy()
                for call, C in ((tile, emitted), (tile.py_func, plain)):
                    call(C, rows, columns, A, panel, vectors * lanes, depth, accumulate)
                np.testing.assert_allclose(emitted, plain, rtol=0, atol=16 * np.finfo("f8").eps * depth)
                assert np.count_nonzero(emitted != GUARD) == rows * columns


@njit
def rows_of(array):  # type: ignore[no-untyped-def]
    return has_contiguous_rows(array)


def test_rows_that_are_no_whole_elements_apart_are_not_taken_for_contiguous() -> None:
    records = np.zeros(5, dtype=[("matrix", "f8", (4,)), ("number", "i4")])
    assert records["matrix"].strides == (36, 8)
    assert not rows_of(records["matrix"])
    whole = np.zeros((5, 4))
    assert rows_of(whole) and rows_of(whole[::2, 1:]) and rows_of(whole[::-1])
    assert not (rows_of(whole.T) or rows_of(whole[:, ::2]) or rows_of(whole[:, ::-1]))


def test_a_vector_that_starts_a_cache_line_is_found_within_the_room_for_it() -> None:
    for first in range(ROOM):
        array = np.zeros(64)[first:]
        start = alignment(array)
        assert 0 <= start < ROOM
        assert (array.ctypes.data + start * array.itemsize) % 64 == 0


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
def test_all_threads_together_make_the_whole_product_however_many_have_no_columns(threads: int) -> None:
    known = kernel_named("gemm.parallel")
    call = compiled(known, parallel=True)
    rng = np.random.default_rng(5)
    for n in (1, 3, ISA.lanes("f64") * threads - 1, ISA.lanes("f64") * threads + 1, 77):
        A, B = (uniform(rng, (n, n), np.float64) for _ in range(2))
        C = np.full((n, n), np.nan)
        call(C, A, B, 16, WIDTH, threads)
        close(C, A, B)
