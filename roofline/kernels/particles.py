"""Gravity of n bodies on one another, all pairs, softened: the compute-bound case with a root and a division inside.

a[:, i] = sum over j of m[j] * d / (d . d + s)^(3/2) with d = r[:, j] - r[:, i] and the softening s, which keeps the
pair of a body with itself at zero and its neighbours finite. Structure of arrays: r and a have a row per axis.

All: 20 flop a pair: 3 subtractions, 3 products and 3 additions for d . d + s, a root, a division, 3 products for
m / |d|^3, 3 products and 3 additions to the sums. This is the convention of the literature, which counts the root and
the division as one each. Compulsory traffic: r and m are read (4 n elements), a is written (3 n).
20 n / 7 flop per element moved, 366 flop/B in f64 at n = 1024: no memory level binds, and neither do the loads from
the first-level cache: several targets at once, which share them, gain nothing.
Source: Nyland, Harris, Prins, "Fast N-Body Simulation with CUDA", GPU Gems 3, chapter 31, 2007.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit, prange

from roofline.kernels.data import uniform
from roofline.kernels.kernel import kernel
from roofline.model.work import Work

SOFTENING = 0.01
"""Square of a length, a tenth of the edge of the cube that holds the bodies."""


def _pulls(r: np.ndarray, m: np.ndarray, softening: float, of: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return the sums over all bodies in f64, a target at a time: all pairs at once would not fit the memory."""
    positions = r.astype("f8")
    result = np.empty(r.shape)
    for i in range(m.size):
        d = positions - positions[:, i : i + 1]
        result[:, i] = of(d) @ (m * (np.sum(d * d, axis=0) + softening) ** -1.5)
    return result


@njit(inline="always")
def _acceleration(i, r, m, softening):
    """Return the acceleration of body i, as its three components; compiled with the liberties of its caller."""
    x, y, z = r[0], r[1], r[2]
    one = r.dtype.type(1)
    ax = r.dtype.type(0)
    ay = r.dtype.type(0)
    az = r.dtype.type(0)
    for j in range(m.size):
        dx = x[j] - x[i]
        dy = y[j] - y[i]
        dz = z[j] - z[i]
        inverse = one / np.sqrt(dx * dx + dy * dy + dz * dz + softening)
        scale = m[j] * inverse * inverse * inverse
        ax += scale * dx
        ay += scale * dy
        az += scale * dz
    return ax, ay, az


@kernel(
    family="particles",
    work=lambda n, size: Work(
        flops=20 * n * n, read_bytes=4 * n * size, write_bytes=3 * n * size, allocate_bytes=3 * n * size
    ),
    arguments=lambda n, dtype, rng: (
        uniform(rng, (3, n), dtype),
        uniform(rng, (3, n), dtype),
        uniform(rng, n, dtype),
        dtype(SOFTENING),
    ),
    reference=lambda a, r, m, softening: _pulls(r, m, softening, np.positive).astype(r.dtype),
    magnitude=lambda a, r, m, softening: _pulls(r, m, softening, np.abs),
    roundings=lambda n: n + 12,
    sizes=(1024,),
)
def naive(a, r, m, softening):
    """a[:, i] = sum over j of m[j] * d / (d . d + s)^(3/2), d = r[:, j] - r[:, i]

    One pair after the other in strict order: a scalar root and a scalar division each, and sums that wait.
    """
    for i in prange(m.size):
        a[0, i], a[1, i], a[2, i] = _acceleration(i, r, m, softening)


@kernel(improves=naive, fastmath=("reassoc", "contract"))
def vectorised(a, r, m, softening):
    """a[:, i] = sum over j of m[j] * d / (d . d + s)^(3/2), d = r[:, j] - r[:, i], sums in any order

    The freed order fills vectors with sources j. Root and division stay correctly rounded: the divider binds.
    """
    for i in prange(m.size):
        a[0, i], a[1, i], a[2, i] = _acceleration(i, r, m, softening)


@kernel(improves=naive, fastmath=("reassoc", "contract", "arcp", "afn"))
def estimated(a, r, m, softening):
    """a[:, i] = sum over j of m[j] * d / (d . d + s)^(3/2), d = r[:, j] - r[:, i], with an approximate 1 / root

    Allowed to approximate, LLVM replaces root and division in f32 on x86-64 by the 12 or 14 bits of `vrsqrtps` or
    `vrsqrt14ps` and one step of Newton: products bind. In f64, and on AArch64, it keeps both: as `vectorised`.
    """
    for i in prange(m.size):
        a[0, i], a[1, i], a[2, i] = _acceleration(i, r, m, softening)


@kernel(
    improves=naive,
    fastmath=("reassoc", "contract", "arcp", "afn"),
    dtypes=("f64",),
    own_work=lambda n, size: Work(
        flops=28 * n * n, read_bytes=4 * n * size, write_bytes=3 * n * size, allocate_bytes=3 * n * size
    ),
)
def refined(a, r, m, softening):
    """a[:, i] = sum over j of m[j] * d / (d . d + s)^(3/2), d = r[:, j] - r[:, i], 1 / root refined from f32

    What LLVM does not do in f64: y = 1 / root in f32, at least 22 bits, then one step of third order,
    y + y h (1/2 + 3/8 h) with h = 1 - (d . d + s) y^2, whose error 5/16 h^3 is below the rounding. 8 flop a pair
    more than the formula, all of them products and sums, for which the divider is not needed.
    Source of the step: Householder, "The Numerical Treatment of a Single Nonlinear Equation", 1970, section 4.4.
    """
    x, y, z = r[0], r[1], r[2]
    one = r.dtype.type(1)
    half = r.dtype.type(0.5)
    three_eighths = r.dtype.type(0.375)
    for i in prange(m.size):
        ax = r.dtype.type(0)
        ay = r.dtype.type(0)
        az = r.dtype.type(0)
        for j in range(m.size):
            dx = x[j] - x[i]
            dy = y[j] - y[i]
            dz = z[j] - z[i]
            square = dx * dx + dy * dy + dz * dz + softening
            estimate = np.float64(np.float32(1) / np.sqrt(np.float32(square)))
            h = one - square * estimate * estimate
            inverse = estimate + estimate * h * (half + three_eighths * h)
            scale = m[j] * inverse * inverse * inverse
            ax += scale * dx
            ay += scale * dy
            az += scale * dz
        a[0, i] = ax
        a[1, i] = ay
        a[2, i] = az
