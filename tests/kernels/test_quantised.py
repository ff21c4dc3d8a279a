"""Quantised layers: what compiled code runs for int8 gives the sums of the plain loops, whatever the lengths."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from roofline.codegen.assembly import assembly_of
from roofline.codegen.dot_kernels import COLUMNS, FORM, LANES, ROWS
from roofline.codegen.register import vector_register
from roofline.kernels.capacity import Capacity
from roofline.kernels.check import check
from roofline.kernels.compile import compiled
from roofline.kernels.data import whole_numbers
from roofline.kernels.quantised import TASK_ROWS
from roofline.kernels.registry import kernel_named
from roofline.kernels.row_products import dot_product, dot_tile


@njit
def compiled_dot(a, b):
    return dot_product(a, b)


@njit
def compiled_tile(sums, rows, panel, height, width, depth):
    dot_tile(sums, rows, panel, height, width, depth)


@pytest.mark.parametrize("length", [0, 1, LANES - 1, LANES, 2 * LANES - 1, 2 * LANES, 5 * LANES + 3])
def test_a_compiled_dot_product_is_that_of_the_plain_loop(length: int):
    rng = np.random.default_rng(1)
    a, b = whole_numbers(rng, length, np.int8), whole_numbers(rng, length, np.int8)
    assert compiled_dot(a, b) == int(a.astype("i8") @ b.astype("i8"))


def test_dot_products_of_the_extremes_do_not_saturate():
    for x, y in ((-128, -128), (127, -128), (-128, 127), (127, 127)):
        a, b = np.full(4 * LANES, x, np.int8), np.full(4 * LANES, y, np.int8)
        assert compiled_dot(a, b) == 4 * LANES * x * y


@pytest.mark.parametrize("depth", [1, 4, 7, 40])
def test_a_compiled_tile_is_that_of_the_plain_loop(depth: int):
    rng = np.random.default_rng(2)
    groups = (depth + 3) // 4
    rows, panel = np.zeros((groups, ROWS, 4), np.int8), np.zeros((groups, COLUMNS, 4), np.int8)
    for k in range(depth):
        rows[k // 4, :, k % 4] = rng.integers(-128, 128, ROWS)
        panel[k // 4, :, k % 4] = rng.integers(-128, 128, COLUMNS)
    sums = np.zeros((ROWS, COLUMNS), np.int32)
    compiled_tile(sums, rows, panel, ROWS, COLUMNS, depth)
    np.testing.assert_array_equal(sums, np.einsum("grk,gjk->rj", rows.astype("i4"), panel.astype("i4")))


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize(
    ("name", "n"),
    [
        ("gemm_f32", 2 * TASK_ROWS + 3),
        ("gemm_w8", 2 * TASK_ROWS + 3),
        ("gemm_i8_dot", TASK_ROWS + ROWS + 1),
        ("gemv_i8_dot", 3 * LANES + 5),
    ],
)
def test_products_are_right_beyond_one_tile(name: str, n: int, parallel: bool):
    known = kernel_named(f"quantised.{name}")
    dtype = known.dtypes[0]
    few = Capacity(first_bytes=2048, second_bytes=16 * 1024)  # several blocks in each direction
    check(known, compiled(known, parallel), known.make_arguments(n, dtype, np.random.default_rng(3), few), n, dtype)


@pytest.mark.skipif(FORM is None, reason="this CPU has no dot product instruction")
@pytest.mark.parametrize("name", ["gemv_i8_dot", "gemm_i8_dot"])
def test_compiled_code_holds_the_dot_product_instruction(name: str):
    known = kernel_named(f"quantised.{name}")
    call = compiled(known, False)
    call(*known.make_arguments(5, "i8", np.random.default_rng(4)))
    assembly = assembly_of(call)
    assert {"vnni": "vpdpbusd", "sdot": "sdot"}[FORM] in assembly
    assert vector_register(assembly, integers=True) == {64: "zmm", 32: "ymm", 16: "v"}[LANES]


def test_weights_in_int8_are_a_quarter_of_the_bytes_and_all_have_the_same_products():
    f32, w8, i8 = (kernel_named(f"quantised.gemv_{kind}") for kind in ("f32", "w8", "i8"))
    n = 4096
    assert f32.work_of(n, "f32").bytes / w8.work_of(n, "f32").bytes == pytest.approx(4, rel=0.01)
    assert i8.work_of(n, "i8").flops == f32.work_of(n, "f32").flops == w8.work_of(n, "f32").flops - n
