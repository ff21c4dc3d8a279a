"""Level 1 of the BLAS: vectors, memory-bound beyond the caches.

Lawson, Hanson, Kincaid, Krogh, "Basic Linear Algebra Subprograms for Fortran Usage", ACM TOMS 5(3), 1979.
"""

from __future__ import annotations

from numba import prange

from roofline.kernels.data import FIXED_POINT_SCALAR, uniform
from roofline.kernels.kernel import kernel
from roofline.model.work import Work


@kernel(
    family="blas",
    work=lambda n, size: Work(flops=2 * n, read_bytes=2 * n * size, write_bytes=n * size),
    arguments=lambda n, dtype, rng: (uniform(rng, n, dtype), uniform(rng, n, dtype), dtype(FIXED_POINT_SCALAR)),
    reference=lambda y, x, a: y + a * x,
    roundings=lambda n: 2,
)
def axpy(y, x, a):
    """y[i] = y[i] + a * x[i]

    2 flop; reads x and y, writes y: 3 elements per i, and nothing is allocated in vain.
    Repeats are harmless: all is positive, so y grows by at most 0.63 per call and never shrinks, and it stands
    still once a * x is below half a unit in its last place: beneath 2^25 in f32 and 2^54 in f64, for ever.
    """
    for i in prange(y.size):
        y[i] += a * x[i]


@kernel(
    family="blas",
    work=lambda n, size: Work(flops=2 * n, read_bytes=2 * n * size, write_bytes=0),
    arguments=lambda n, dtype, rng: (uniform(rng, n, dtype), uniform(rng, n, dtype)),
    reference=lambda x, y: (x.astype("f8") @ y.astype("f8")).astype(x.dtype),
    fastmath=("reassoc", "contract"),
)
def dot(x, y):
    """sum over i of x[i] * y[i]

    2n flop with a sum that starts at zero; reads x and y: 2 elements per i.
    The BLAS leaves the order of the sum open; in strict order its chain of additions, not memory, would be timed.
    """
    total = x.dtype.type(0)
    for i in prange(x.size):
        total += x[i] * y[i]
    return total
