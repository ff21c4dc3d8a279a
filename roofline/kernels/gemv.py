"""Matrix times vector, y = A x, with a square row-major matrix: from a loop that waits for itself to the memory roof.

All: 2 n^2 flop (n products and n additions to a sum that starts at zero, per row). Compulsory traffic: A and x are
read once, y is written: (n^2 + n) and n elements. About 1/4 flop/B in f64: memory-bound wherever A does not fit.
Source: Dongarra, Du Croz, Hammarling, Hanson, "An Extended Set of Fortran Basic Linear Algebra Subprograms",
ACM TOMS 14(1), 1988.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from roofline.kernels.data import uniform
from roofline.kernels.kernel import kernel
from roofline.model.work import Work


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


@kernel(improves=naive, fastmath=("reassoc", "contract"))
def blocked(y, A, x):
    """y[i] = sum over j of A[i, j] * x[j], four rows at once

    Each x[j] is loaded once for four rows, and the freed order lets every row's sum fill vectors.
    """
    for block in prange((y.size + 3) // 4):
        i = 4 * block
        if i + 4 <= y.size:
            row0 = A[i]
            row1 = A[i + 1]
            row2 = A[i + 2]
            row3 = A[i + 3]
            total0 = A.dtype.type(0)
            total1 = A.dtype.type(0)
            total2 = A.dtype.type(0)
            total3 = A.dtype.type(0)
            for j in range(x.size):
                total0 += row0[j] * x[j]
                total1 += row1[j] * x[j]
                total2 += row2[j] * x[j]
                total3 += row3[j] * x[j]
            y[i] = total0
            y[i + 1] = total1
            y[i + 2] = total2
            y[i + 3] = total3
        else:
            for last in range(i, y.size):
                row = A[last]
                total = A.dtype.type(0)
                for j in range(row.size):
                    total += row[j] * x[j]
                y[last] = total


@kernel(improves=naive, compiled=False, parallel=True)
def blas(y, A, x):
    """y[i] = sum over j of A[i, j] * x[j], by NumPy's BLAS

    The library's own gemv, on as many threads as it is set to.
    """
    np.dot(A, x, out=y)
