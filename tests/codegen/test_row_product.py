"""Rows times a vector: emitted code gives the sums of the plain loop, near and far, whatever the lanes."""

from __future__ import annotations

import numpy as np
import pytest
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from roofline.codegen.intrinsics import HAS_FMA
from roofline.codegen.multiply import elements
from roofline.codegen.row_product import multiply_neighbours, multiply_rows_apart
from roofline.codegen.rows import FAR_ROWS, NEAR_ROWS, rows_function
from roofline.kernels.capacity import Capacity
from roofline.kernels.check import check
from roofline.kernels.compile import compiled
from roofline.kernels.registry import kernel_named

GUARD = 1234.5


@njit
def rows(y, i, apart, A, x, fetched):
    multiply_rows_apart(y, i, apart, A, x, fetched)


@njit
def neighbours(y, i, A, x):
    multiply_neighbours(y, i, A, x)


@pytest.mark.parametrize("fetched", [False, True])
@pytest.mark.parametrize(("dtype", "stored"), [("f8", "f8"), ("f4", "f4"), ("f4", "i1")])
def test_rows_near_and_far_have_the_sums_of_the_plain_loop(dtype: str, stored: str, fetched: bool):
    rng = np.random.default_rng(1)
    for apart in (1, 3):
        for columns in (0, 1, 7, 8, 16, 37, 63, 64, 150):
            A = rng.integers(-128, 128, (NEAR_ROWS * apart + 2, columns)) / (1 if stored == "i1" else 3)
            A, x = A.astype(stored), rng.random(columns).astype(dtype)
            emitted, plain = np.full(len(A), GUARD, dtype), np.full(len(A), GUARD, dtype)
            rows(emitted, 1, apart, A, x, fetched)
            multiply_rows_apart(plain, 1, apart, A, x, fetched)
            np.testing.assert_allclose(emitted, plain, rtol=64 * np.finfo(dtype).eps, atol=1e4 * np.finfo(dtype).eps)
            assert np.count_nonzero(emitted != GUARD) == FAR_ROWS
            emitted[:], plain[:] = GUARD, GUARD
            neighbours(emitted, 1, A, x)
            multiply_neighbours(plain, 1, A, x)
            np.testing.assert_allclose(emitted, plain, rtol=64 * np.finfo(dtype).eps, atol=1e4 * np.finfo(dtype).eps)
            assert np.count_nonzero(emitted != GUARD) == NEAR_ROWS


def of_lanes(lanes: int):
    """Return a compiled function of f64 on vectors of `lanes`, whatever this host has."""

    @intrinsic
    def emitted(typing_context, y, A, x):
        def codegen(context, builder, _, arguments):
            data = [elements(context, builder, kind, value) for kind, value in zip((y, A, x), arguments, strict=True)]
            (to, to_strides), (a, a_strides), (factors, _) = data
            columns = builder.extract_value(context.make_array(x)(context, builder, arguments[2]).shape, 0)
            function = rows_function(builder.module, "f64", lanes, HAS_FMA, False)
            builder.call(function, [columns, a, a_strides[0], factors, to, to_strides[0]])
            return ir.Constant(ir.IntType(8).as_pointer(), None)

        return types.void(y, A, x), codegen

    @njit
    def call(y, A, x):
        emitted(y, A, x)

    return call


@pytest.mark.parametrize("lanes", [2, 4, 16])
def test_sums_of_lanes_are_right_for_vectors_of_any_width(lanes: int):
    rng = np.random.default_rng(2)
    A, x, y = rng.random((NEAR_ROWS, 35)), rng.random(35), np.zeros(2 * NEAR_ROWS)
    of_lanes(lanes)(y[::2], A, x)
    np.testing.assert_allclose(y[::2], A @ x, rtol=1e-13)


@pytest.mark.parametrize(("last_bytes", "ahead_bytes"), [(1, 2048), (1, 0), (2**30, 2048), (2**30, 0)])
def test_a_product_is_right_however_the_matrix_is_read(last_bytes: int, ahead_bytes: int):
    known, n = kernel_named("gemv.blocked"), 47
    capacity = Capacity(last_bytes=last_bytes, ahead_bytes=ahead_bytes)
    arguments = known.make_arguments(n, "f64", np.random.default_rng(3), capacity)
    check(known, compiled(known, False), arguments, n, "f64")
