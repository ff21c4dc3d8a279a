"""Products of rows with rows, in f32 and int8: the inner parts of Y = X W^T, where both factors lie row by row."""

from __future__ import annotations

import numpy as np
from numba import njit

from roofline.codegen.dot_kernels import runs_dot_product, runs_dot_tile

TILE_DEPTH = 64
"""Columns of W per tile, a multiple of 4: with TILE_COLUMNS 64 KiB in f32, which the second-level cache holds."""
TILE_COLUMNS = 256
"""Rows of W, columns of Y, per tile: long enough for the vector loop to pay for its start."""
STRIDE = TILE_COLUMNS + 16
"""Elements between rows of a tile: no power of two, which would map them to a few sets of the cache."""


@njit(fastmath={"reassoc", "contract"}, error_model="numpy", boundscheck=False)
def four_sums(row0, row1, row2, row3, x):
    """Return the sums over j of row[j] * x[j] for four rows, each x[j] loaded once, rows converted to f32: 8 flop a j.

    Four rows are four streams from memory, which keep it busier than one.
    """
    total0 = x.dtype.type(0)
    total1 = x.dtype.type(0)
    total2 = x.dtype.type(0)
    total3 = x.dtype.type(0)
    for j in range(x.size):
        total0 += np.float32(row0[j]) * x[j]
        total1 += np.float32(row1[j]) * x[j]
        total2 += np.float32(row2[j]) * x[j]
        total3 += np.float32(row3[j]) * x[j]
    return total0, total1, total2, total3


@njit(fastmath={"reassoc", "contract"}, error_model="numpy", boundscheck=False)
def one_sum(row, x):
    """Return the sum over j of row[j] * x[j], the row converted to f32: 2 flop a j."""
    total = x.dtype.type(0)
    for j in range(x.size):
        total += np.float32(row[j]) * x[j]
    return total


@njit(error_model="numpy", boundscheck=False)
def transpose_tile(tile, W, j0, j1, k0, k1):
    """tile[k - k0, j - j0] = W[j, k] in f32; rows of the tile are STRIDE apart in a flat array"""
    for j in range(j0, j1):
        w = W[j, k0:k1]
        for k in range(w.size):
            tile[STRIDE * k + j - j0] = np.float32(w[k])


@njit(fastmath={"reassoc", "contract"}, error_model="numpy", boundscheck=False)
def add_four_rows(sums, X, i, k0, k1, tile, width):
    """sums[r, j] += sum over k of X[i + r, k] * tile[k - k0, j] for r < 4, j < width, 16 products at a time

    Each element of the tile that is loaded is used for four rows, each sum for four k. Sums and tile are flat arrays
    whose rows are STRIDE apart: so LLVM sees that they do not overlap, and fills vectors.
    """
    x0, x1, x2, x3 = X[i, k0:k1], X[i + 1, k0:k1], X[i + 2, k0:k1], X[i + 3, k0:k1]
    whole = x0.size // 4 * 4
    for k in range(0, whole, 4):
        w = tile[STRIDE * k : STRIDE * (k + 4)]
        x00, x01, x02, x03 = x0[k], x0[k + 1], x0[k + 2], x0[k + 3]
        x10, x11, x12, x13 = x1[k], x1[k + 1], x1[k + 2], x1[k + 3]
        x20, x21, x22, x23 = x2[k], x2[k + 1], x2[k + 2], x2[k + 3]
        x30, x31, x32, x33 = x3[k], x3[k + 1], x3[k + 2], x3[k + 3]
        for j in range(width):
            w0, w1, w2, w3 = w[j], w[STRIDE + j], w[2 * STRIDE + j], w[3 * STRIDE + j]
            sums[j] += x00 * w0 + x01 * w1 + x02 * w2 + x03 * w3
            sums[STRIDE + j] += x10 * w0 + x11 * w1 + x12 * w2 + x13 * w3
            sums[2 * STRIDE + j] += x20 * w0 + x21 * w1 + x22 * w2 + x23 * w3
            sums[3 * STRIDE + j] += x30 * w0 + x31 * w1 + x32 * w2 + x33 * w3
    for k in range(whole, x0.size):
        w = tile[STRIDE * k : STRIDE * (k + 1)]
        x00, x10, x20, x30 = x0[k], x1[k], x2[k], x3[k]
        for j in range(width):
            w0 = w[j]
            sums[j] += x00 * w0
            sums[STRIDE + j] += x10 * w0
            sums[2 * STRIDE + j] += x20 * w0
            sums[3 * STRIDE + j] += x30 * w0


@njit(fastmath={"reassoc", "contract"}, error_model="numpy", boundscheck=False)
def add_one_row(sums, x, tile, width):
    """sums[j] += sum over k of x[k] * tile[k, j]: for the rows that four do not divide"""
    for k in range(x.size):
        w = tile[STRIDE * k : STRIDE * (k + 1)]
        xk = x[k]
        for j in range(width):
            sums[j] += xk * w[j]


@njit(error_model="numpy", boundscheck=False)
def rows_times_rows(Y, X, W, i0, i1):
    """Y[i, j] = sum over k of X[i, k] * W[j, k] for i0 <= i < i1: 2 flop per i, j, k

    Tiles of W are transposed, and converted, once for all these rows. The sums of a tile's columns stay in a flat
    array, four rows at a time in the first-level cache.
    """
    n = X.shape[1]
    tile = np.empty(TILE_DEPTH * STRIDE, X.dtype)
    sums = np.empty((i1 - i0 + 3) // 4 * 4 * STRIDE, X.dtype)
    whole = (i1 - i0) // 4 * 4
    for j0 in range(0, W.shape[0], TILE_COLUMNS):
        j1 = min(j0 + TILE_COLUMNS, W.shape[0])
        for place in range(sums.size):
            sums[place] = 0
        for k0 in range(0, n, TILE_DEPTH):
            k1 = min(k0 + TILE_DEPTH, n)
            transpose_tile(tile, W, j0, j1, k0, k1)
            for r in range(0, whole, 4):
                add_four_rows(sums[STRIDE * r : STRIDE * (r + 4)], X, i0 + r, k0, k1, tile, j1 - j0)
            for r in range(whole, i1 - i0):
                add_one_row(sums[STRIDE * r : STRIDE * (r + 1)], X[i0 + r, k0:k1], tile, j1 - j0)
        for r in range(i1 - i0):
            y = Y[i0 + r, j0:j1]
            row = sums[STRIDE * r : STRIDE * (r + 1)]
            for j in range(y.size):
                y[j] = row[j]


@runs_dot_product
def dot_product(a, b):
    """Return the sum over k of a[k] * b[k], int8 times int8, in int32."""
    total = np.int32(0)
    for k in range(a.size):
        total = np.int32(total + np.int32(a[k]) * np.int32(b[k]))
    return total


@runs_dot_tile
def dot_tile(sums, rows, panel, height, width, depth):
    """sums[r, j] = sum over k of rows[k // 4, r, k % 4] * panel[k // 4, j, k % 4] for r < height, j < width"""
    for r in range(height):
        for j in range(width):
            total = np.int32(0)
            for k in range(depth):
                total = np.int32(total + np.int32(rows[k // 4, r, k % 4]) * np.int32(panel[k // 4, j, k % 4]))
            sums[r, j] = total


@njit(error_model="numpy", boundscheck=False)
def pack_fours(packed, A, first, last):
    """packed[k // 4, r - first, k % 4] = A[r, k] for first <= r < last"""
    for r in range(first, last):
        row = A[r]
        whole = row.size // 4
        for group in range(whole):
            a0, a1, a2, a3 = row[4 * group], row[4 * group + 1], row[4 * group + 2], row[4 * group + 3]
            packed[group, r - first, 0] = a0
            packed[group, r - first, 1] = a1
            packed[group, r - first, 2] = a2
            packed[group, r - first, 3] = a3
        for k in range(4 * whole, row.size):
            packed[whole, r - first, k - 4 * whole] = row[k]
