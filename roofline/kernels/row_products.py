"""Rows times a vector, and rows times rows: the inner parts of y = A x and of Y = X W^T, weights in int8 or not."""

from __future__ import annotations

import numpy as np
from numba import njit

from roofline.codegen.dot_kernels import runs_dot_product, runs_dot_tile
from roofline.codegen.multiply import lanes_of
from roofline.codegen.row_product import multiply_neighbours, multiply_rows_apart
from roofline.codegen.rows import FAR_ROWS, NEAR_ROWS
from roofline.kernels.capacity import Capacity
from roofline.kernels.inner import inner
from roofline.kernels.multiplication import multiply_panels
from roofline.model.isa import DTYPE_BITS


@inner(fastmath=("reassoc", "contract"))
def rows_times_vector(y, A, x, first, last, elements_cached, ahead_bytes):
    """y[i] = sum over j of A[i, j] * x[j] for first <= i < last, several of them at once

    Elements of A in int8 are converted in a register, where they meet x. NEAR_ROWS neighbours while these rows have at
    most `elements_cached`: rows far apart share sets of a cache. Else FAR_ROWS, as far apart as can be, fetched ahead
    unless `ahead_bytes` is 0.
    """
    done = first
    if (last - first) * x.size <= elements_cached:
        for i in range(first, last - NEAR_ROWS + 1, NEAR_ROWS):
            multiply_neighbours(y, i, A, x)
            done = i + NEAR_ROWS
    else:
        apart = (last - first) // FAR_ROWS
        for i in range(first, first + apart):
            multiply_rows_apart(y, i, apart, A, x, ahead_bytes > 0)
        done = first + FAR_ROWS * apart
    for i in range(done, last):
        row = A[i]
        total = x.dtype.type(0)
        for j in range(x.size):
            total += x.dtype.type(row[j]) * x[j]
        y[i] = total


def row_tiles(capacity: Capacity, dtype: str) -> tuple[int, int]:
    """Return (elements_cached, ahead_bytes) of `rows_times_vector`: what one core's share of all caches holds, and how
    it reads what they do not."""
    return max(1, capacity.last_bytes // (DTYPE_BITS[dtype] // 8)), capacity.ahead_bytes


@inner
def pack_rows(panels, start, W, first, columns, depth_step):
    """Pack columns first to first + columns of W^T, as f32, into their panel of each block of depth_step rows

    panels[start + place] = W[first + c, k0 + q], where the block that begins with row k0 is followed by the next one,
    and its panels stand as `multiply_panels` takes them. Four rows of W at a time: four stores side by side.
    """
    outputs, depth = W.shape
    lanes = lanes_of(panels)
    block = (outputs + lanes - 1) // lanes * lanes
    padded = (columns + lanes - 1) // lanes * lanes
    whole = columns // 4 * 4
    for k0 in range(0, depth, depth_step):
        k1 = min(k0 + depth_step, depth)
        panel = start + k0 * block + first * (k1 - k0)
        for c in range(0, whole, 4):
            w0, w1 = W[first + c, k0:k1], W[first + c + 1, k0:k1]
            w2, w3 = W[first + c + 2, k0:k1], W[first + c + 3, k0:k1]
            for q in range(w0.size):
                place = panel + q * padded + c
                panels[place] = np.float32(w0[q])
                panels[place + 1] = np.float32(w1[q])
                panels[place + 2] = np.float32(w2[q])
                panels[place + 3] = np.float32(w3[q])
        for c in range(whole, columns):
            w = W[first + c, k0:k1]
            for q in range(w.size):
                panels[panel + q * padded + c] = np.float32(w[q])


@inner
def multiply_packed(C, A, panels, start, depth_step, column_step):
    """C = A W^T with W packed by `pack_rows`, so many rows and columns at a time as the second cache holds"""
    columns, depth = C.shape[1], A.shape[1]
    lanes = lanes_of(C)
    block = (columns + lanes - 1) // lanes * lanes
    for k0 in range(0, depth, depth_step):
        rows = min(depth_step, depth - k0)
        for j0 in range(0, columns, column_step):
            place = start + k0 * block + j0 * rows
            multiply_panels(C[:, j0 : min(j0 + column_step, columns)], A, k0, panels, place, rows, k0 > 0)


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
