"""Layers with quantised weights: y = W x and Y = X W^T with weights in f32, in int8, and with all factors in int8.

All: 2 operations for each product (n^2 in the matrix-vector kernels, n^3 in the others): the product, and its addition
to a sum that starts at zero. A scale for each row of W turns int8 weights into numbers: it multiplies the finished sum,
once. Conversions are no flops. Each array is read or written once, in the bytes that its elements have:

            W      x, X   y, Y          flop/B, large n: gemv   gemm
f32         4 B    4 B    4 B, f32                       1/2    n/6
w8          1 B    4 B    4 B, f32                       2      2n/9
i8          1 B    1 B    4 B, int32                     2      n/3

Where memory binds, a quarter of the bytes is four times the speed, whatever the arithmetic is in; where arithmetic
binds, weights alone in int8 gain nothing, and int8 products as much as the CPU has instructions for them.
Sources: Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference",
CVPR 2018; Dettmers, Lewis, Belkada, Zettlemoyer, "LLM.int8()", NeurIPS 2022 (scales by row).
"""

from __future__ import annotations

import numpy as np
from numba import prange

from roofline.codegen.dot_kernels import COLUMNS, ROWS
from roofline.codegen.multiply import TILE_VECTORS, aligned_start, lanes_of
from roofline.kernels.data import uniform, whole_numbers
from roofline.kernels.inner import cache_tile
from roofline.kernels.kernel import kernel
from roofline.kernels.multiplication import ROOM, even_share, product_tiles
from roofline.kernels.row_products import (
    dot_product,
    dot_tile,
    multiply_packed,
    pack_fours,
    pack_rows,
    row_tiles,
    rows_times_vector,
)
from roofline.model.work import Work

TASK_ROWS = 64
"""Rows of Y per task: each tile of W that is packed or converted is used so often."""
SIZES = (512,)
FAR_SIZES = (8128,)
"""Even with weights in int8 W exceeds most last caches; rows of an odd number of cache lines spread over all sets."""


def _product(n: int, read_bytes: int, packed_bytes: int = 0, scalings: int = 0) -> Work:
    """Return the work of Y = X W^T with Y in 4 bytes; what is packed is written and read once."""
    written_bytes = 4 * n * n + packed_bytes
    return Work(
        flops=2 * n**3 + scalings,
        read_bytes=read_bytes + packed_bytes,
        write_bytes=written_bytes,
        allocate_bytes=written_bytes,
    )


@kernel(
    family="quantised",
    dtypes=("f32",),
    sizes=FAR_SIZES,
    fastmath=("reassoc", "contract"),
    tiles=lambda capacity, dtype: (capacity.threads, *row_tiles(capacity, "f32")),
    work=lambda n, size: Work(
        flops=2 * n * n, read_bytes=(n * n + n) * size, write_bytes=n * size, allocate_bytes=n * size
    ),
    arguments=lambda n, dtype, rng: (uniform(rng, n, dtype), uniform(rng, (n, n), dtype), uniform(rng, n, dtype)),
    reference=lambda y, W, x: np.einsum("ij,j->i", W, x, dtype="f8").astype(W.dtype),
)
def gemv_f32(y, W, x, threads, elements_cached, ahead_bytes):
    """y[i] = sum over j of W[i, j] * x[j]

    Weights in f32: the fastest form of `gemv`, every thread a block of rows.
    """
    n = y.size
    for task in prange(threads):
        rows_times_vector(y, W, x, task * n // threads, (task + 1) * n // threads, elements_cached, ahead_bytes)


@kernel(
    improves=gemv_f32,
    dtypes=("f32",),
    fastmath=("reassoc", "contract"),
    tiles=lambda capacity, dtype: (capacity.threads, *row_tiles(capacity, "i8")),
    work=lambda n, size: Work(
        flops=2 * n * n + n, read_bytes=n * n + 2 * n * size, write_bytes=n * size, allocate_bytes=n * size
    ),
    arguments=lambda n, dtype, rng: (
        uniform(rng, n, dtype),
        whole_numbers(rng, (n, n), np.int8),
        uniform(rng, n, dtype),
        uniform(rng, n, dtype),
    ),
    reference=lambda y, W, scale, x: (scale * np.einsum("ij,j->i", W, x, dtype="f8")).astype(x.dtype),
    magnitude=lambda y, W, scale, x: scale * np.einsum("ij,j->i", np.abs(W), x, dtype="f8"),
)
def gemv_w8(y, W, scale, x, threads, elements_cached, ahead_bytes):
    """y[i] = scale[i] * sum over j of W[i, j] * x[j], weights in int8

    A quarter of the bytes; each weight is converted to f32 in a register, where it meets x: three instructions for a
    vector of products in place of one, which then bind sooner than memory.
    """
    n = y.size
    for task in prange(threads):
        first, last = task * n // threads, (task + 1) * n // threads
        rows_times_vector(y, W, x, first, last, elements_cached, ahead_bytes)
        for i in range(first, last):
            y[i] *= scale[i]


@kernel(
    improves=gemv_f32,
    dtypes=("i8",),
    work=lambda n, size: Work(flops=2 * n * n, read_bytes=n * n + n, write_bytes=4 * n, allocate_bytes=4 * n),
    arguments=lambda n, dtype, rng: (
        whole_numbers(rng, n, np.int32),
        whole_numbers(rng, (n, n), np.int8),
        whole_numbers(rng, n, np.int8),
    ),
    reference=lambda y, W, x: np.einsum("ij,j->i", W, x, dtype="i4"),
)
def gemv_i8(y, W, x):
    """y[i] = sum over j of W[i, j] * x[j], int8 times int8, summed in int32

    A plain loop: the compiler widens both factors to int16, and adds up pairs of products where the CPU can.
    """
    for i in prange(y.size):
        row = W[i]
        total = np.int32(0)
        for j in range(row.size):
            total = np.int32(total + np.int32(row[j]) * np.int32(x[j]))
        y[i] = total


@kernel(improves=gemv_f32, dtypes=("i8",), work=gemv_i8.work, arguments=gemv_i8.arguments, reference=gemv_i8.reference)
def gemv_i8_dot(y, W, x):
    """y[i] = sum over j of W[i, j] * x[j], by dot product instructions

    One instruction multiplies a register of int8 and adds four products to each sum: VPDPBUSD on x86, SDOT on AArch64;
    the plain loop on CPUs without. VPDPBUSD multiplies unsigned by signed: 128 is added to each x, and 128 times the
    sum of the row subtracted, which a second instruction of the same kind adds up.
    """
    for i in prange(y.size):
        y[i] = dot_product(x, W[i])


@kernel(
    family="quantised",
    dtypes=("f32",),
    sizes=SIZES,
    tiles=product_tiles,
    work=lambda n, size: _product(n, 2 * n * n * size),
    own_work=lambda n, size: _product(n, 2 * n * n * size, packed_bytes=n * n * size),
    arguments=lambda n, dtype, rng: tuple(uniform(rng, (n, n), dtype) for _ in ("Y", "X", "W")),
    reference=lambda Y, X, W: X @ W.T,
)
def gemm_f32(Y, X, W, tile_depth, tile_columns):
    """Y[i, j] = sum over k of X[i, k] * W[j, k]

    Weights in f32: transposed into packed panels once, then GEMM's register form, TASK_ROWS rows of Y at a time. Beside
    the job's traffic the packed weights are written and read once.
    """
    n = Y.shape[0]
    width = TILE_VECTORS * lanes_of(Y)
    depth_step = even_share(n, tile_depth, 1)
    column_step = even_share(n, max(tile_columns, width), width)
    panels = np.empty(n * (n + ROOM) + ROOM, X.dtype)
    base = aligned_start(panels)
    for panel in prange((n + width - 1) // width):
        pack_rows(panels, base, W, panel * width, min(width, n - panel * width), depth_step)
    for task in prange((n + TASK_ROWS - 1) // TASK_ROWS):
        i0 = task * TASK_ROWS
        i1 = min(i0 + TASK_ROWS, n)
        multiply_packed(Y[i0:i1], X[i0:i1], panels, base, depth_step, column_step)


@kernel(
    improves=gemm_f32,
    dtypes=("f32",),
    sizes=SIZES,
    tiles=product_tiles,
    work=lambda n, size: _product(n, n * n + (n * n + n) * size, scalings=n * n),
    own_work=lambda n, size: _product(n, n * n + (n * n + n) * size, packed_bytes=n * n * size, scalings=n * n),
    arguments=lambda n, dtype, rng: (
        uniform(rng, (n, n), dtype),
        uniform(rng, (n, n), dtype),
        whole_numbers(rng, (n, n), np.int8),
        uniform(rng, n, dtype),
    ),
    reference=lambda Y, X, W, scale: (X.astype("f8") @ W.T.astype("f8") * scale).astype(X.dtype),
    magnitude=lambda Y, X, W, scale: X.astype("f8") @ np.abs(W.T).astype("f8") * scale,
)
def gemm_w8(Y, X, W, scale, tile_depth, tile_columns):
    """Y[i, j] = scale[j] * sum over k of X[i, k] * W[j, k], weights in int8

    The weights are converted to f32 while they are packed; from there on the arithmetic is that of f32 and binds as
    there. Beside the job's traffic the packed weights, in f32, are written and read once: no less than W in f32.
    """
    n = Y.shape[0]
    width = TILE_VECTORS * lanes_of(Y)
    depth_step = even_share(n, tile_depth, 1)
    column_step = even_share(n, max(tile_columns, width), width)
    panels = np.empty(n * (n + ROOM) + ROOM, X.dtype)
    base = aligned_start(panels)
    for panel in prange((n + width - 1) // width):
        pack_rows(panels, base, W, panel * width, min(width, n - panel * width), depth_step)
    for task in prange((n + TASK_ROWS - 1) // TASK_ROWS):
        i0 = task * TASK_ROWS
        i1 = min(i0 + TASK_ROWS, n)
        multiply_packed(Y[i0:i1], X[i0:i1], panels, base, depth_step, column_step)
        for i in range(i0, i1):
            y = Y[i]
            for j in range(y.size):
                y[j] *= scale[j]


@kernel(
    improves=gemm_f32,
    dtypes=("i8",),
    sizes=SIZES,
    work=lambda n, size: _product(n, 2 * n * n),
    arguments=lambda n, dtype, rng: (
        whole_numbers(rng, (n, n), np.int32),
        whole_numbers(rng, (n, n), np.int8),
        whole_numbers(rng, (n, n), np.int8),
    ),
    reference=lambda Y, X, W: (X.astype("f8") @ W.T.astype("f8")).astype("i4"),  # exact: below 2^53
)
def gemm_i8(Y, X, W):
    """Y[i, j] = sum over k of X[i, k] * W[j, k], int8 times int8, summed in int32

    A plain loop over rows that lie side by side: the compiler widens both factors to int16 for each product.
    """
    n = Y.shape[0]
    for i in prange(n):
        x = X[i]
        for j in range(n):
            w = W[j]
            total = np.int32(0)
            for k in range(n):
                total = np.int32(total + np.int32(x[k]) * np.int32(w[k]))
            Y[i, j] = total


@kernel(
    improves=gemm_f32,
    dtypes=("i8",),
    sizes=SIZES,
    work=gemm_i8.work,
    own_work=lambda n, size: _product(n, 2 * n * n, packed_bytes=2 * n * n),
    arguments=gemm_i8.arguments,
    reference=gemm_i8.reference,
)
def gemm_i8_dot(Y, X, W):
    """Y[i, j] = sum over k of X[i, k] * W[j, k], by dot product instructions on a tile of sums in registers

    Both factors are packed once, four k of each row side by side: what one instruction multiplies and adds to a sum.
    A panel of W stays in the first-level cache while TASK_ROWS rows of X pass; a tile of Y never leaves the registers
    before it is done. Goto and van de Geijn's scheme (see `gemm`), with the layout of the instruction. Beside the job's
    traffic both packed factors are written and read once. VPDPBUSD multiplies unsigned by signed: 128 is added to each
    element of W, and 128 times the sum of each row of X subtracted; a CPU without such an instruction widens to int16.
    """
    n = Y.shape[0]
    groups = (n + 3) // 4
    panels = (n + COLUMNS - 1) // COLUMNS
    packed = np.zeros((panels, groups, COLUMNS, 4), W.dtype)
    for p in prange(panels):
        pack_fours(packed[p], W, p * COLUMNS, min((p + 1) * COLUMNS, n))
    for task in prange((n + TASK_ROWS - 1) // TASK_ROWS):
        i0 = task * TASK_ROWS
        i1 = min(i0 + TASK_ROWS, n)
        bands = (i1 - i0 + ROWS - 1) // ROWS
        rows = np.zeros((bands, groups, ROWS, 4), X.dtype)
        sums = cache_tile((ROWS, COLUMNS), Y.dtype)
        for band in range(bands):
            pack_fours(rows[band], X, i0 + band * ROWS, min(i0 + (band + 1) * ROWS, i1))
        for p in range(panels):
            j0 = p * COLUMNS
            width = min(COLUMNS, n - j0)
            for band in range(bands):
                first = i0 + band * ROWS
                height = min(ROWS, i1 - first)
                dot_tile(sums, rows[band], packed[p], height, width, n)
                for r in range(height):
                    y = Y[first + r, j0 : j0 + width]
                    for j in range(y.size):
                        y[j] = sums[r, j]
