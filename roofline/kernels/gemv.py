"""Matrix times vector, y = A x, with a square row-major matrix: from a loop that waits for itself to the memory roof.

All: 2 n^2 flop (n products and n additions to a sum that starts at zero, per row). Compulsory traffic: A and x are
read once, y is written: (n^2 + n) and n elements. About 1/4 flop/B in f64: memory-bound wherever A does not fit.
Source: Dongarra, Du Croz, Hammarling, Hanson, "An Extended Set of Fortran Basic Linear Algebra Subprograms",
ACM TOMS 14(1), 1988.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from roofline.kernels.data import uniform
from roofline.kernels.kernel import kernel
from roofline.kernels.row_products import row_tiles, rows_times_vector
from roofline.model.work import Work

FREED = ("reassoc", "contract")
"""Sums may be formed in any order, products and sums in one instruction."""


@kernel(
    family="gemv",
    work=lambda n, size: Work(
        flops=2 * n * n, read_bytes=(n * n + n) * size, write_bytes=n * size, allocate_bytes=n * size
    ),
    arguments=lambda n, dtype, rng: (uniform(rng, n, dtype), uniform(rng, (n, n), dtype), uniform(rng, n, dtype)),
    reference=lambda y, A, x: np.einsum("ij,j->i", A, x, dtype="f8").astype(A.dtype),
)
def naive(y, A, x):
    """y[i] = sum over j of A[i, j] * x[j]

    Row by row in strict order: each addition waits for the one before, so this shows the adder's latency.
    """
    for i in prange(y.size):
        row = A[i]
        total = A.dtype.type(0)
        for j in range(row.size):
            total += row[j] * x[j]
        y[i] = total


def _column_major(n: int, dtype: Any, rng: np.random.Generator) -> tuple[Any, ...]:
    y, A, x = naive.arguments(n, dtype, rng)
    return y, np.asfortranarray(A), x


@kernel(improves=naive, arguments=_column_major)
def columns(y, A, x):
    """y[i] = sum over j of A[i, j] * x[j], column by column of a column-major matrix

    The other loop order, on the layout that it suits. No sum waits for itself and the order is strict, yet it
    vectorises; the price is that y is loaded and stored again for every column.
    """
    for i in range(y.size):
        y[i] = 0
    for j in range(x.size):
        column = A[:, j]
        xj = x[j]
        for i in range(y.size):
            y[i] += column[i] * xj


@kernel(improves=naive, fastmath=FREED, tiles=row_tiles)
def blocked(y, A, x, elements_cached, ahead_bytes):
    """y[i] = sum over j of A[i, j] * x[j], several rows at once

    Each vector of x is loaded once for all of them. Of an A that no cache holds four rows are read, a fourth of it
    apart, since memory serves far streams better than neighbours; every line is fetched ahead where the load ceiling
    is reached so, else not. In a cache both cost: there eight rows are neighbours, and nothing is fetched.
    """
    rows_times_vector(y, A, x, 0, y.size, elements_cached, ahead_bytes)


@kernel(
    improves=naive,
    fastmath=FREED,
    tiles=lambda capacity, dtype: (capacity.threads, *row_tiles(capacity, dtype)),
    serial=False,
)
def parallel(y, A, x, threads, elements_cached, ahead_bytes):
    """y[i] = sum over j of A[i, j] * x[j], every thread a block of rows

    As `blocked`, on all threads.
    """
    n = y.size
    for task in prange(threads):
        rows_times_vector(y, A, x, task * n // threads, (task + 1) * n // threads, elements_cached, ahead_bytes)


@kernel(improves=naive, compiled=False, parallel=True)
def blas(y, A, x):
    """y[i] = sum over j of A[i, j] * x[j], by NumPy's BLAS

    The library's own gemv, on as many threads as it is set to.
    """
    np.dot(A, x, out=y)
