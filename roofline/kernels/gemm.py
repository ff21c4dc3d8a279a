"""Matrix times matrix, C = A B, with square row-major matrices: the ladder from the triple loop to the BLAS and beyond.

All: 2 n^3 flop (n products and n additions to a sum that starts at zero, per element of C). Compulsory traffic: A and
B are read once, C is written once and never has to be read: 2 n^2 and n^2 elements. n/12 flop/B in f64.
Source: Goto, van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 34(3), 2008.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from roofline.codegen.multiply import lanes_of
from roofline.kernels.capacity import Capacity
from roofline.kernels.data import uniform
from roofline.kernels.inner import cache_tile, inner
from roofline.kernels.kernel import kernel
from roofline.kernels.multiplication import even_share, multiply_rows, product_tiles
from roofline.model.isa import DTYPE_BITS
from roofline.model.work import Work

FREED = ("reassoc", "contract")
"""Sums may be formed in any order, products and sums in one instruction."""
TILE_ROWS = 64
"""Rows of C per task: each copied tile of B is used this often, and n = 512 still gives eight threads a task."""
TILE_DEPTH = 16
"""Rows of B per tile: with TILE_COLUMNS 32 KiB in f64, what the first-level cache holds; a multiple of 4."""
TILE_COLUMNS = 256
"""Columns of B per tile: long enough for the vector loop to pay for its start."""


@kernel(
    family="gemm",
    work=lambda n, size: Work(
        flops=2 * n**3, read_bytes=2 * n * n * size, write_bytes=n * n * size, allocate_bytes=n * n * size
    ),
    arguments=lambda n, dtype, rng: (
        uniform(rng, (n, n), dtype),
        uniform(rng, (n, n), dtype),
        uniform(rng, (n, n), dtype),
    ),
    reference=lambda C, A, B: A @ B,
)
def naive(C, A, B):
    """C[i, j] = sum over k of A[i, k] * B[k, j]

    The triple loop ijk in strict order: it walks down the columns of B and waits for each addition.
    """
    n = C.shape[0]
    for i in prange(n):
        for j in range(n):
            total = C.dtype.type(0)
            for k in range(n):
                total += A[i, k] * B[k, j]
            C[i, j] = total


@kernel(improves=naive)
def interchanged(C, A, B):
    """C[i, j] = sum over k of A[i, k] * B[k, j], loops in the order i k j

    The inner loop runs along rows of B and C, which vectors like; B is streamed through once per row of C.
    """
    n = C.shape[0]
    for i in prange(n):
        for j in range(n):
            C[i, j] = 0
        for k in range(n):
            a = A[i, k]
            for j in range(n):
                C[i, j] += a * B[k, j]


@kernel(improves=naive, fastmath=FREED)
def blocked(C, A, B):
    """C[i, j] = sum over k of A[i, k] * B[k, j], in cache tiles

    The order i k j within tiles of B that are copied to where they fit in the first-level cache and do not
    collide (a row stride of a power of two would map them to a few sets). Four k at once: C moves a quarter as often.
    """
    n = C.shape[0]
    for task in prange((n + TILE_ROWS - 1) // TILE_ROWS):
        i0 = task * TILE_ROWS
        i1 = min(i0 + TILE_ROWS, n)
        tile = cache_tile((TILE_DEPTH, TILE_COLUMNS), B.dtype)
        for i in range(i0, i1):
            for j in range(n):
                C[i, j] = 0
        for k0 in range(0, n, TILE_DEPTH):
            k1 = min(k0 + TILE_DEPTH, n)
            for j0 in range(0, n, TILE_COLUMNS):
                j1 = min(j0 + TILE_COLUMNS, n)
                for k in range(k0, k1):
                    b = B[k, j0:j1]
                    for j in range(b.size):
                        tile[k - k0, j] = b[j]
                for i in range(i0, i1):
                    a = A[i, k0:k1]
                    c = C[i, j0:j1]
                    whole = a.size // 4 * 4
                    for k in range(0, whole, 4):
                        b0 = tile[k]
                        b1 = tile[k + 1]
                        b2 = tile[k + 2]
                        b3 = tile[k + 3]
                        a0 = a[k]
                        a1 = a[k + 1]
                        a2 = a[k + 2]
                        a3 = a[k + 3]
                        for j in range(c.size):
                            c[j] += a0 * b0[j] + a1 * b1[j] + a2 * b2[j] + a3 * b3[j]
                    for k in range(whole, a.size):
                        b = tile[k]
                        ak = a[k]
                        for j in range(c.size):
                            c[j] += ak * b[j]


def _block_tiles(capacity: Capacity, dtype: str) -> tuple[int, int]:
    """Return (depth, columns) of the block of B: eight of its rows fill the first cache, all half of the second."""
    item = DTYPE_BITS[dtype] // 8
    columns = max(1, capacity.first_bytes // (8 * item))
    return max(1, capacity.second_bytes // (2 * columns * item)), columns


@kernel(improves=naive, fastmath=FREED, tiles=_block_tiles)
def packed(C, A, B, tile_depth, tile_columns):
    """C[i, j] = sum over k of A[i, k] * B[k, j], from a packed block of B

    A block of B that fills half of the second cache, as measured, is copied into one piece, so that whatever the row
    stride of B it lies in few pages and in all cache sets. Two rows of C and four k at once: B moves half as often.
    """
    n = C.shape[0]
    depth_step = even_share(n, tile_depth, 4)
    column_step = even_share(n, tile_columns, 1)
    block = cache_tile((depth_step, column_step), C.dtype)
    for i in range(n):
        for j in range(n):
            C[i, j] = 0
    for k0 in range(0, n, depth_step):
        depth = min(depth_step, n - k0)
        for j0 in range(0, n, column_step):
            columns = min(column_step, n - j0)
            for k in range(depth):
                source = B[k0 + k, j0 : j0 + columns]
                for j in range(columns):
                    block[k, j] = source[j]
            for i in range(0, n, 2):
                second = min(i + 1, n - 1)
                even = C[i, j0 : j0 + columns]
                odd = C[second, j0 : j0 + columns]
                _add_rows(even, odd, A[i, k0 : k0 + depth], A[second, k0 : k0 + depth], block, second - i)


@inner(fastmath=FREED)
def _add_rows(even, odd, a_even, a_odd, block, pair):
    """Add a product with a block of B to two rows of C; to the even one alone where `pair` is 0."""
    whole = a_even.size // 4 * 4 * pair
    for k in range(0, whole, 4):
        b0 = block[k]
        b1 = block[k + 1]
        b2 = block[k + 2]
        b3 = block[k + 3]
        e0 = a_even[k]
        e1 = a_even[k + 1]
        e2 = a_even[k + 2]
        e3 = a_even[k + 3]
        o0 = a_odd[k]
        o1 = a_odd[k + 1]
        o2 = a_odd[k + 2]
        o3 = a_odd[k + 3]
        for j in range(even.size):
            even[j] += e0 * b0[j] + e1 * b1[j] + e2 * b2[j] + e3 * b3[j]
            odd[j] += o0 * b0[j] + o1 * b1[j] + o2 * b2[j] + o3 * b3[j]
    for k in range(whole, a_even.size):
        b = block[k]
        for j in range(even.size):
            even[j] += a_even[k] * b[j]
        if pair:
            for j in range(odd.size):
                odd[j] += a_odd[k] * b[j]


@kernel(improves=naive, tiles=product_tiles)
def register(C, A, B, tile_depth, tile_columns):
    """C[i, j] = sum over k of A[i, k] * B[k, j], tile by tile in registers

    Panels of B as in `packed`, and an emitted micro-kernel whose tile of C, shaped by the register file of the ISA,
    stays in registers for the whole depth of a panel: each loaded vector of B is used for every row of the tile.
    """
    multiply_rows(C, A, B, tile_depth, tile_columns)


@kernel(
    improves=naive,
    tiles=lambda capacity, dtype: (*product_tiles(capacity, dtype), capacity.threads),
    serial=False,
)
def parallel(C, A, B, tile_depth, tile_columns, threads):
    """C[i, j] = sum over k of A[i, k] * B[k, j], every thread a block of columns

    As `register`, on all threads: each packs the columns of B that are its own, and all read the same rows of A.
    """
    n = C.shape[0]
    step = even_share(n, (n + threads - 1) // threads, lanes_of(C))
    for task in prange((n + step - 1) // step):
        j0 = task * step
        j1 = min(j0 + step, n)
        multiply_rows(C[:, j0:j1], A, B[:, j0:j1], tile_depth, tile_columns)


@kernel(improves=naive, compiled=False, parallel=True)
def blas(C, A, B):
    """C[i, j] = sum over k of A[i, k] * B[k, j], by NumPy's BLAS

    The library's own gemm, on as many threads as it is set to.
    """
    np.dot(A, B, out=C)
