"""STREAM's four kernels: what memory bandwidth feeds.

McCalpin, "Memory Bandwidth and Machine Balance in Current High Performance Computers", IEEE TCCA Newsletter, 1995.
Bytes are counted as STREAM does: each element that is read or written once. What a write-allocate cache fetches of
the output in vain is counted apart. Each kernel overwrites an array that it does not read: repeats change nothing.
"""

from __future__ import annotations

from numba import prange

from roofline.kernels.data import FIXED_POINT_SCALAR, uniform
from roofline.kernels.kernel import kernel
from roofline.model.work import Work


@kernel(
    family="stream",
    work=lambda n, size: Work(flops=0, read_bytes=n * size, write_bytes=n * size, allocate_bytes=n * size),
    arguments=lambda n, dtype, rng: (uniform(rng, n, dtype), uniform(rng, n, dtype)),
    reference=lambda c, a: a,
    roundings=lambda n: 0,
    levels=True,
)
def copy(c, a):
    """c[i] = a[i]

    0 flop; reads a, writes c: 2 elements per i.
    """
    for i in prange(c.size):
        c[i] = a[i]


@kernel(
    family="stream",
    work=lambda n, size: Work(flops=n, read_bytes=n * size, write_bytes=n * size, allocate_bytes=n * size),
    arguments=lambda n, dtype, rng: (uniform(rng, n, dtype), uniform(rng, n, dtype), dtype(FIXED_POINT_SCALAR)),
    reference=lambda b, c, q: q * c,
    roundings=lambda n: 1,
    levels=True,
)
def scale(b, c, q):
    """b[i] = q * c[i]

    1 flop; reads c, writes b: 2 elements per i.
    """
    for i in prange(b.size):
        b[i] = q * c[i]


@kernel(
    family="stream",
    work=lambda n, size: Work(flops=n, read_bytes=2 * n * size, write_bytes=n * size, allocate_bytes=n * size),
    arguments=lambda n, dtype, rng: (uniform(rng, n, dtype), uniform(rng, n, dtype), uniform(rng, n, dtype)),
    reference=lambda c, a, b: a + b,
    roundings=lambda n: 1,
    levels=True,
)
def add(c, a, b):
    """c[i] = a[i] + b[i]

    1 flop; reads a and b, writes c: 3 elements per i.
    """
    for i in prange(c.size):
        c[i] = a[i] + b[i]


@kernel(
    family="stream",
    work=lambda n, size: Work(flops=2 * n, read_bytes=2 * n * size, write_bytes=n * size, allocate_bytes=n * size),
    arguments=lambda n, dtype, rng: (
        uniform(rng, n, dtype),
        uniform(rng, n, dtype),
        uniform(rng, n, dtype),
        dtype(FIXED_POINT_SCALAR),
    ),
    reference=lambda a, b, c, q: b + q * c,
    roundings=lambda n: 2,
    levels=True,
)
def triad(a, b, c, q):
    """a[i] = b[i] + q * c[i]

    2 flop; reads b and c, writes a: 3 elements per i.
    """
    for i in prange(a.size):
        a[i] = b[i] + q * c[i]
