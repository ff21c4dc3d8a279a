"""Depthwise convolutions of deep networks, 3x3 and 31x31, stride 1, channels first: each channel has its own filter.

Y[c, y, x] = sum over i, j of W[c, i, j] * X[c, y + i, x + j], 8 channels, n x n outputs each; X comes padded to
n + k - 1 in both directions. 2 * 8 k^2 n^2 flop: a product and an addition to a sum that starts at zero per tap.
Compulsory traffic: X and W are read once, Y is written. For large n in f64 that is 1.1 flop/B for 3x3 and 120 for
31x31: with no sum over channels, only the size of the filter moves a depthwise convolution along the intensity axis.
Sources: Howard et al., "MobileNets: Efficient Convolutional Neural Networks for Mobile Vision Applications", arXiv
1704.04861, 2017; Ding, Zhang, Han, Ding, "Scaling Up Your Kernels to 31x31", CVPR 2022.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, prange
from numpy.lib.stride_tricks import sliding_window_view

from roofline.kernels.data import uniform
from roofline.kernels.inner import cache_tile
from roofline.kernels.kernel import kernel
from roofline.kernels.panel import STRIDE, WIDTH, clear
from roofline.model.work import Work

CHANNELS = 8
LARGE = 31
"""Taps of the large filter in each direction."""


def _job(side: int) -> Callable[[int, int], Work]:
    return lambda n, size: Work(
        flops=2 * CHANNELS * side * side * n * n,
        read_bytes=CHANNELS * ((n + side - 1) ** 2 + side * side) * size,
        write_bytes=CHANNELS * n * n * size,
        allocate_bytes=CHANNELS * n * n * size,
    )


def _data(side: int) -> Callable[[int, Any, np.random.Generator], tuple[Any, ...]]:
    return lambda n, dtype, rng: (
        uniform(rng, (CHANNELS, n, n), dtype),
        uniform(rng, (CHANNELS, side, side), dtype),
        uniform(rng, (CHANNELS, n + side - 1, n + side - 1), dtype),
    )


def _reference(Y, W, X):
    windows = sliding_window_view(X, W.shape[1:], axis=(1, 2))
    return np.einsum("cyxij,cij->cyx", windows, W, dtype="f8").astype(Y.dtype)


@kernel(
    family="conv",
    work=_job(3),
    arguments=_data(3),
    reference=_reference,
    roundings=lambda n: 3 * 3,
    sizes=(56, 224),
)
def naive_depthwise_3x3(Y, W, X):
    """Y[c, y, x] = sum over i, j of W[c, i, j] * X[c, y + i, x + j], 3 x 3 taps

    Pixel by pixel, in strict order over the taps. The nine taps are few enough for LLVM to unroll them and to lay
    vectors along x, so even this form is fast; it multiplies and adds in separate instructions.
    """
    for c in prange(Y.shape[0]):
        for y in range(Y.shape[1]):
            for x in range(Y.shape[2]):
                total = Y.dtype.type(0)
                for i in range(3):
                    for j in range(3):
                        total += W[c, i, j] * X[c, y + i, x + j]
                Y[c, y, x] = total


@kernel(
    improves=naive_depthwise_3x3,
    fastmath=("contract", "reassoc"),
    sizes=(56, 224),
    own_work=lambda n, size: _one_addition_less(_job(3)(n, size), CHANNELS * n * n),
)
def blocked_depthwise_3x3(Y, W, X):
    """Y[c, y, x] = sum over i, j of W[c, i, j] * X[c, y + i, x + j], 3 x 3 taps at once

    All nine taps for a whole row in multiply-adds, weights in registers. Its sum starts with a product, which saves
    an addition per pixel. Nine loads for nine multiply-adds: the loads bind.
    """
    for c in prange(CHANNELS):
        w00, w01, w02 = W[c, 0, 0], W[c, 0, 1], W[c, 0, 2]
        w10, w11, w12 = W[c, 1, 0], W[c, 1, 1], W[c, 1, 2]
        w20, w21, w22 = W[c, 2, 0], W[c, 2, 1], W[c, 2, 2]
        for y in range(Y.shape[1]):
            above, here, below = X[c, y], X[c, y + 1], X[c, y + 2]
            row = Y[c, y]
            for x in range(row.size):
                first = w00 * above[x] + w01 * above[x + 1] + w02 * above[x + 2]
                second = w10 * here[x] + w11 * here[x + 1] + w12 * here[x + 2]
                third = w20 * below[x] + w21 * below[x + 1] + w22 * below[x + 2]
                row[x] = first + second + third


def _one_addition_less(job: Work, outputs: int) -> Work:
    return Work(
        flops=job.flops - outputs,
        read_bytes=job.read_bytes,
        write_bytes=job.write_bytes,
        allocate_bytes=job.allocate_bytes,
    )


@kernel(
    family="conv",
    work=_job(LARGE),
    arguments=_data(LARGE),
    reference=_reference,
    roundings=lambda n: LARGE * LARGE,
    sizes=(56,),
)
def naive_depthwise_31x31(Y, W, X):
    """Y[c, y, x] = sum over i, j of W[c, i, j] * X[c, y + i, x + j], 31 x 31 taps

    Pixel by pixel, in strict order over the taps.
    """
    for c in prange(Y.shape[0]):
        for y in range(Y.shape[1]):
            for x in range(Y.shape[2]):
                total = Y.dtype.type(0)
                for i in range(LARGE):
                    for j in range(LARGE):
                        total += W[c, i, j] * X[c, y + i, x + j]
                Y[c, y, x] = total


@kernel(improves=naive_depthwise_31x31, fastmath=("contract", "reassoc"), sizes=(56,))
def blocked_depthwise_31x31(Y, W, X):
    """Y[c, y, x] = sum over i, j of W[c, i, j] * X[c, y + i, x + j], 31 x 31 taps, four rows at once

    An input row is a different row of taps to each of four output rows. Four shifts of it by four outputs are
    sixteen products per pass, and a vector that is loaded is used four times.
    """
    n = Y.shape[1]
    bands = (n + 3) // 4
    for task in prange(CHANNELS * bands):
        c = task // bands
        y0 = (task - c * bands) * 4
        rows = min(4, n - y0)
        panel = cache_tile(4 * STRIDE, Y.dtype)
        for x0 in range(0, n, WIDTH):
            x1 = min(x0 + WIDTH, n)
            clear(panel, rows, x1 - x0)
            for i in range(rows + LARGE - 1):
                row = X[c, y0 + i, x0 : x1 + LARGE - 1]
                if rows == 4 and 3 <= i < LARGE:
                    _add_four_rows(panel, W[c, i], W[c, i - 1], W[c, i - 2], W[c, i - 3], row)
                else:
                    for y in range(max(0, i - LARGE + 1), min(rows, i + 1)):
                        _add_row(panel[STRIDE * y : STRIDE * (y + 1)], W[c, i - y], row)
            for y in range(rows):
                out = Y[c, y0 + y, x0:x1]
                part = panel[STRIDE * y : STRIDE * (y + 1)]
                for x in range(out.size):
                    out[x] = part[x]


@njit(fastmath={"contract", "reassoc"}, error_model="numpy", boundscheck=False)
def _add_four_rows(panel, a, b, c, d, row):
    """panel[y, x] += sum over j of w[j] * row[x + j], with w = a, b, c, d for y = 0, 1, 2, 3"""
    width = row.size - LARGE + 1
    whole = LARGE // 4 * 4
    for j in range(0, whole, 4):
        a0, a1, a2, a3 = a[j], a[j + 1], a[j + 2], a[j + 3]
        b0, b1, b2, b3 = b[j], b[j + 1], b[j + 2], b[j + 3]
        c0, c1, c2, c3 = c[j], c[j + 1], c[j + 2], c[j + 3]
        d0, d1, d2, d3 = d[j], d[j + 1], d[j + 2], d[j + 3]
        part = row[j:]
        for x in range(width):
            x0, x1, x2, x3 = part[x], part[x + 1], part[x + 2], part[x + 3]
            panel[x] += a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3
            panel[STRIDE + x] += b0 * x0 + b1 * x1 + b2 * x2 + b3 * x3
            panel[2 * STRIDE + x] += c0 * x0 + c1 * x1 + c2 * x2 + c3 * x3
            panel[3 * STRIDE + x] += d0 * x0 + d1 * x1 + d2 * x2 + d3 * x3
    for j in range(whole, LARGE):
        a0, b0, c0, d0 = a[j], b[j], c[j], d[j]
        part = row[j:]
        for x in range(width):
            x0 = part[x]
            panel[x] += a0 * x0
            panel[STRIDE + x] += b0 * x0
            panel[2 * STRIDE + x] += c0 * x0
            panel[3 * STRIDE + x] += d0 * x0


@njit(fastmath={"contract", "reassoc"}, error_model="numpy", boundscheck=False)
def _add_row(out, w, row):
    """out[x] += sum over j of w[j] * row[x + j]"""
    width = row.size - LARGE + 1
    whole = LARGE // 4 * 4
    for j in range(0, whole, 4):
        w0, w1, w2, w3 = w[j], w[j + 1], w[j + 2], w[j + 3]
        part = row[j:]
        for x in range(width):
            out[x] += w0 * part[x] + w1 * part[x + 1] + w2 * part[x + 2] + w3 * part[x + 3]
    for j in range(whole, LARGE):
        w0 = w[j]
        part = row[j:]
        for x in range(width):
            out[x] += w0 * part[x]
