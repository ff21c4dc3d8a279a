"""Sums of a vector: how the latency of the adder, not its throughput, limits a loop that waits for itself.

An addition takes 3 or 4 cycles, and the next one to the same sum cannot start before: one accumulator gets one
addition per latency. k accumulators are k independent chains, until the ports are full; vectors multiply each chain by
their lanes. These are the ceilings under the FMA roof.

All: n positive elements of one or two vectors, each read once, nothing written. They lie in the first-level cache, for
beyond it memory would hide the chains, and run on one thread: sharing so short a loop takes longer than the loop.
Source: Hager, Wellein, "Introduction to High Performance Computing for Scientists and Engineers", 2010, 1.2.3 and 2.4.
"""

from __future__ import annotations

from math import fsum, sqrt

import numpy as np
from msgspec.structs import replace

from roofline.kernels.data import uniform
from roofline.kernels.kernel import kernel
from roofline.model.work import Work

SIZES = (1024,)
"""Two vectors of 8 KiB in f64 fit the smallest first-level cache in use, and the loop is long beside its start."""


def _and_flops(flops: int, work: Work) -> Work:
    """Return `work` with the additions that bring several accumulators together."""
    return replace(work, flops=work.flops + flops)


@kernel(
    family="reduction",
    work=lambda n, size: Work(flops=n, read_bytes=n * size, write_bytes=0),
    arguments=lambda n, dtype, rng: (uniform(rng, n, dtype),),
    reference=lambda x: x.dtype.type(fsum(x)),
    sizes=SIZES,
)
def sum_1(x):
    """sum over i of x[i], one accumulator

    n flop with a sum that starts at zero; reads x. Strict order: each addition waits for the one before.
    """
    total = x.dtype.type(0)
    for i in range(x.size):
        total += x[i]
    return total


@kernel(improves=sum_1, sizes=SIZES, own_work=lambda n, size: _and_flops(1, sum_1.work(n, size)))
def sum_2(x):
    """sum over i of x[i], two accumulators

    Two scalar chains; 1 flop more, to add them.
    """
    total0 = total1 = x.dtype.type(0)
    whole = x.size // 2 * 2
    for i in range(0, whole, 2):
        total0 += x[i]
        total1 += x[i + 1]
    for i in range(whole, x.size):
        total0 += x[i]
    return total0 + total1


@kernel(improves=sum_1, sizes=SIZES, own_work=lambda n, size: _and_flops(3, sum_1.work(n, size)))
def sum_4(x):
    """sum over i of x[i], four accumulators

    Four scalar chains; 3 flop more, to add them. About where the latency of one adder is hidden.
    """
    total0 = total1 = total2 = total3 = x.dtype.type(0)
    whole = x.size // 4 * 4
    for i in range(0, whole, 4):
        total0 += x[i]
        total1 += x[i + 1]
        total2 += x[i + 2]
        total3 += x[i + 3]
    for i in range(whole, x.size):
        total0 += x[i]
    return total0 + total1 + total2 + total3


@kernel(improves=sum_1, sizes=SIZES, own_work=lambda n, size: _and_flops(7, sum_1.work(n, size)))
def sum_8(x):
    """sum over i of x[i], eight accumulators

    Eight scalar chains; 7 flop more, to add them. Enough for two adders of latency 4: the ports are full.
    """
    total0 = total1 = total2 = total3 = total4 = total5 = total6 = total7 = x.dtype.type(0)
    whole = x.size // 8 * 8
    for i in range(0, whole, 8):
        total0 += x[i]
        total1 += x[i + 1]
        total2 += x[i + 2]
        total3 += x[i + 3]
        total4 += x[i + 4]
        total5 += x[i + 5]
        total6 += x[i + 6]
        total7 += x[i + 7]
    for i in range(whole, x.size):
        total0 += x[i]
    return total0 + total1 + total2 + total3 + total4 + total5 + total6 + total7


@kernel(improves=sum_1, sizes=SIZES, fastmath=("reassoc", "contract"))
def sum_simd(x):
    """sum over i of x[i], in an order that the compiler chooses

    The order of the additions is given free: several chains of vectors.
    """
    total = x.dtype.type(0)
    for i in range(x.size):
        total += x[i]
    return total


@kernel(improves=sum_1, sizes=SIZES, own_work=lambda n, size: _and_flops(3 * n, sum_1.work(n, size)))
def sum_kahan(x):
    """sum over i of x[i], with the rounding error of each addition carried over to the next

    4 flop per element instead of 1, each waiting for the last: y = x[i] - c; t = total + y; c = (t - total) - y.
    The error is that of two roundings for any n. Strict: with the order given free c would be optimised to zero.
    Source: Kahan, "Further Remarks on Reducing Truncation Errors", Communications of the ACM 8(1), 1965.
    """
    total = x.dtype.type(0)
    lost = x.dtype.type(0)
    for i in range(x.size):
        corrected = x[i] - lost
        grown = total + corrected
        lost = (grown - total) - corrected
        total = grown
    return total


@kernel(
    family="reduction",
    work=lambda n, size: Work(flops=2 * n + 1, read_bytes=n * size, write_bytes=0),
    arguments=lambda n, dtype, rng: (uniform(rng, n, dtype),),
    reference=lambda x: x.dtype.type(sqrt(fsum(x.astype("f8") ** 2))),
    sizes=SIZES,
)
def norm_1(x):
    """sqrt(sum over i of x[i] * x[i]), one accumulator

    2n + 1 flop with a sum that starts at zero; reads x. Strict order, without the BLAS's scaling against overflow.
    The products do not wait, the additions do: as many elements per second as `sum_1`, and twice the flops.
    """
    total = x.dtype.type(0)
    for i in range(x.size):
        total += x[i] * x[i]
    return np.sqrt(total)


@kernel(improves=norm_1, sizes=SIZES, fastmath=("reassoc", "contract"))
def norm_simd(x):
    """sqrt(sum over i of x[i] * x[i]), in an order that the compiler chooses

    Several chains of vector multiply-adds.
    """
    total = x.dtype.type(0)
    for i in range(x.size):
        total += x[i] * x[i]
    return np.sqrt(total)


@kernel(
    family="reduction",
    work=lambda n, size: Work(flops=2 * n, read_bytes=2 * n * size, write_bytes=0),
    arguments=lambda n, dtype, rng: (uniform(rng, n, dtype), uniform(rng, n, dtype)),
    reference=lambda x, y: x.dtype.type(fsum(x.astype("f8") * y.astype("f8"))),
    sizes=SIZES,
)
def dot_1(x, y):
    """sum over i of x[i] * y[i], one accumulator

    2n flop with a sum that starts at zero; reads x and y. Strict: the products do not wait, the additions do.
    """
    total = x.dtype.type(0)
    for i in range(x.size):
        total += x[i] * y[i]
    return total


@kernel(improves=dot_1, sizes=SIZES, own_work=lambda n, size: _and_flops(1, dot_1.work(n, size)))
def dot_2(x, y):
    """sum over i of x[i] * y[i], two accumulators

    Two scalar chains; 1 flop more, to add them.
    """
    total0 = total1 = x.dtype.type(0)
    whole = x.size // 2 * 2
    for i in range(0, whole, 2):
        total0 += x[i] * y[i]
        total1 += x[i + 1] * y[i + 1]
    for i in range(whole, x.size):
        total0 += x[i] * y[i]
    return total0 + total1


@kernel(improves=dot_1, sizes=SIZES, own_work=lambda n, size: _and_flops(3, dot_1.work(n, size)))
def dot_4(x, y):
    """sum over i of x[i] * y[i], four accumulators

    Four scalar chains; 3 flop more, to add them. Two loads per element fill two load ports: the loads bind now.
    """
    total0 = total1 = total2 = total3 = x.dtype.type(0)
    whole = x.size // 4 * 4
    for i in range(0, whole, 4):
        total0 += x[i] * y[i]
        total1 += x[i + 1] * y[i + 1]
        total2 += x[i + 2] * y[i + 2]
        total3 += x[i + 3] * y[i + 3]
    for i in range(whole, x.size):
        total0 += x[i] * y[i]
    return total0 + total1 + total2 + total3


@kernel(improves=dot_1, sizes=SIZES, own_work=lambda n, size: _and_flops(7, dot_1.work(n, size)))
def dot_8(x, y):
    """sum over i of x[i] * y[i], eight accumulators

    Eight scalar chains; 7 flop more, to add them. No gain where the loads bind.
    """
    total0 = total1 = total2 = total3 = total4 = total5 = total6 = total7 = x.dtype.type(0)
    whole = x.size // 8 * 8
    for i in range(0, whole, 8):
        total0 += x[i] * y[i]
        total1 += x[i + 1] * y[i + 1]
        total2 += x[i + 2] * y[i + 2]
        total3 += x[i + 3] * y[i + 3]
        total4 += x[i + 4] * y[i + 4]
        total5 += x[i + 5] * y[i + 5]
        total6 += x[i + 6] * y[i + 6]
        total7 += x[i + 7] * y[i + 7]
    for i in range(whole, x.size):
        total0 += x[i] * y[i]
    return total0 + total1 + total2 + total3 + total4 + total5 + total6 + total7


@kernel(improves=dot_1, sizes=SIZES, fastmath=("reassoc", "contract"))
def dot_simd(x, y):
    """sum over i of x[i] * y[i], in an order that the compiler chooses

    The loop of `dot_1` with the order of the additions given free: several chains of vector multiply-adds.
    """
    total = x.dtype.type(0)
    for i in range(x.size):
        total += x[i] * y[i]
    return total
