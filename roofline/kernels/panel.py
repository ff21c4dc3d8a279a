"""Products of small matrices that stay in the first-level cache: the inner part of blocked kernels.

Sixteen products per pass over a row: four rows of the result by four rows of the right factor, so that each vector
that is loaded is used four times and each sum is stored a quarter as often. The result lies in a flat array with a
constant distance between rows: with that LLVM sees that the rows do not overlap and fills vectors.
"""

from __future__ import annotations

from numba import njit

WIDTH = 256
"""Columns that a row of a panel holds at most."""
STRIDE = WIDTH + 8
"""Elements between the rows of a panel: no power of two, which would map them to a few sets of the cache."""

DEPTH = 16
"""Rows of the right factor that are used for all rows of the result before the next: 32 KiB at most, in f64."""


@njit(fastmath={"contract", "reassoc"}, error_model="numpy", boundscheck=False)
def add_product(c, a, b, j0, j1):
    """c[i, j - j0] += sum over k of a[i, k] * b[k, j] for j0 <= j < j1, where c[i, j] is c[STRIDE * i + j]

    `a` is m x k in any order, `b` is C-ordered with k rows, `c` holds at least m rows; j1 - j0 <= WIDTH.
    2 flop per i, j, k.
    """
    rows = a.shape[0]
    quads = rows // 4 * 4
    for k0 in range(0, a.shape[1], DEPTH):
        k1 = min(k0 + DEPTH, a.shape[1])
        whole = k0 + (k1 - k0) // 4 * 4
        for i in range(0, quads, 4):
            part = c[STRIDE * i : STRIDE * (i + 4)]
            a0, a1, a2, a3 = a[i], a[i + 1], a[i + 2], a[i + 3]
            for k in range(k0, whole, 4):
                a00, a01, a02, a03 = a0[k], a0[k + 1], a0[k + 2], a0[k + 3]
                a10, a11, a12, a13 = a1[k], a1[k + 1], a1[k + 2], a1[k + 3]
                a20, a21, a22, a23 = a2[k], a2[k + 1], a2[k + 2], a2[k + 3]
                a30, a31, a32, a33 = a3[k], a3[k + 1], a3[k + 2], a3[k + 3]
                b0, b1, b2, b3 = b[k, j0:j1], b[k + 1, j0:j1], b[k + 2, j0:j1], b[k + 3, j0:j1]
                for j in range(b0.size):
                    x0, x1, x2, x3 = b0[j], b1[j], b2[j], b3[j]
                    part[j] += a00 * x0 + a01 * x1 + a02 * x2 + a03 * x3
                    part[STRIDE + j] += a10 * x0 + a11 * x1 + a12 * x2 + a13 * x3
                    part[2 * STRIDE + j] += a20 * x0 + a21 * x1 + a22 * x2 + a23 * x3
                    part[3 * STRIDE + j] += a30 * x0 + a31 * x1 + a32 * x2 + a33 * x3
            for k in range(whole, k1):
                a00, a10, a20, a30 = a0[k], a1[k], a2[k], a3[k]
                b0 = b[k, j0:j1]
                for j in range(b0.size):
                    x0 = b0[j]
                    part[j] += a00 * x0
                    part[STRIDE + j] += a10 * x0
                    part[2 * STRIDE + j] += a20 * x0
                    part[3 * STRIDE + j] += a30 * x0
        for i in range(quads, rows):
            part = c[STRIDE * i : STRIDE * (i + 1)]
            a0 = a[i]
            for k in range(k0, whole, 4):
                a00, a01, a02, a03 = a0[k], a0[k + 1], a0[k + 2], a0[k + 3]
                b0, b1, b2, b3 = b[k, j0:j1], b[k + 1, j0:j1], b[k + 2, j0:j1], b[k + 3, j0:j1]
                for j in range(b0.size):
                    part[j] += a00 * b0[j] + a01 * b1[j] + a02 * b2[j] + a03 * b3[j]
            for k in range(whole, k1):
                a00 = a0[k]
                b0 = b[k, j0:j1]
                for j in range(b0.size):
                    part[j] += a00 * b0[j]


@njit(error_model="numpy", boundscheck=False)
def clear(c, rows, columns):
    """c[i, j] = 0 for the first `rows` and `columns` of a panel"""
    for i in range(rows):
        part = c[STRIDE * i : STRIDE * (i + 1)]
        for j in range(columns):
            part[j] = 0
