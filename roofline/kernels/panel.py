"""Rows of sums that stay in the first-level cache.

They lie in a flat array with a constant distance between rows: with that LLVM sees that the rows do not overlap and
fills vectors.
"""

from __future__ import annotations

from numba import njit

WIDTH = 256
"""Columns that a row of a panel holds at most."""
STRIDE = WIDTH + 8
"""Elements between the rows of a panel: no power of two, which would map them to a few sets of the cache."""


@njit(error_model="numpy", boundscheck=False)
def clear(c, rows, columns):
    """c[i, j] = 0 for the first `rows` and `columns` of a panel"""
    for i in range(rows):
        part = c[STRIDE * i : STRIDE * (i + 1)]
        for j in range(columns):
            part[j] = 0
