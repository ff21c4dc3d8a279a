"""Dense convolutions of deep networks, Y = W * X, 1x1 and 3x3, stride 1, channels first: direct or as a product.

Y[o, y, x] = sum over c, i, j of W[o, c, i, j] * X[c, y + i, x + j], 32 channels to 32, n x n outputs each; X comes
padded to n + k - 1 in both directions. 2 * 32^2 k^2 n^2 flop: a product and an addition to a sum that starts at zero
per tap. Compulsory traffic: X and W are read once, Y is written. For large n in f64 that is 4 flop/B for 1x1 and 36
for 3x3: the one is near the ridge of most CPUs, the other far to its right.
Sources: Chellapilla, Puri, Simard, "High Performance Convolutional Neural Networks for Document Processing", IWFHR
2006 (im2col); He, Zhang, Ren, Sun, "Deep Residual Learning for Image Recognition", CVPR 2016 (the shapes).
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.lib.stride_tricks import sliding_window_view

from roofline.kernels.capacity import Capacity
from roofline.kernels.data import uniform
from roofline.kernels.kernel import kernel, numpy_type
from roofline.kernels.panel import STRIDE, WIDTH, add_product, clear
from roofline.model.work import Work

CHANNELS = 32
"""Of the input and of the output, a multiple of 4."""
TAPS = 9


def _columns(capacity: Capacity, dtype: str) -> tuple[int, ...]:
    """Return the pixels per tile: as many as let a tile of all output channels fill half of the first cache."""
    column_bytes = CHANNELS * np.dtype(numpy_type(dtype)).itemsize
    return (min(max(capacity.first_bytes // 2 // column_bytes // 16 * 16, 16), WIDTH),)


def _job(n: int, size: int, taps: int, intermediates: int = 0) -> Work:
    edge = {1: 0, 9: 2}[taps]
    read = CHANNELS * (n + edge) ** 2 + CHANNELS * CHANNELS * taps
    written = CHANNELS * n * n + intermediates
    return Work(
        flops=2 * CHANNELS * CHANNELS * taps * n * n,
        read_bytes=(read + intermediates) * size,
        write_bytes=written * size,
        allocate_bytes=written * size,
    )


@kernel(
    family="conv",
    work=lambda n, size: _job(n, size, 1),
    arguments=lambda n, dtype, rng: (
        uniform(rng, (CHANNELS, n * n), dtype),
        uniform(rng, (CHANNELS, CHANNELS), dtype),
        uniform(rng, (CHANNELS, n * n), dtype),
    ),
    reference=lambda Y, W, X: (W.astype("f8") @ X.astype("f8")).astype(Y.dtype),
    roundings=lambda n: CHANNELS,
    sizes=(56,),
)
def naive_1x1(Y, W, X):
    """Y[o, p] = sum over c of W[o, c] * X[c, p]

    Pixel by pixel, in strict order down the channels.
    """
    for o in prange(Y.shape[0]):
        for p in range(Y.shape[1]):
            total = Y.dtype.type(0)
            for c in range(X.shape[0]):
                total += W[o, c] * X[c, p]
            Y[o, p] = total


@kernel(improves=naive_1x1, fastmath=("contract", "reassoc"), sizes=(56,), tiles=_columns)
def blocked_1x1(Y, W, X, tile):
    """Y[o, p] = sum over c of W[o, c] * X[c, p], in tiles of pixels

    A matrix product with very few rows: a tile of pixels of all output channels stays in the first cache.
    """
    pixels = Y.shape[1]
    for task in prange((pixels + tile - 1) // tile):
        _tile_of_product(Y, W, X, task * tile, min(task * tile + tile, pixels))


@njit(error_model="numpy", boundscheck=False)
def _tile_of_product(Y, W, X, p0, p1):
    """Y[o, p] = sum over c of W[o, c] * X[c, p] for p0 <= p < p1"""
    panel = np.empty(CHANNELS * STRIDE, Y.dtype)
    clear(panel, CHANNELS, p1 - p0)
    add_product(panel, W, X, p0, p1)
    for o in range(CHANNELS):
        _copy(Y[o, p0:p1], panel[STRIDE * o : STRIDE * (o + 1)])


@njit(error_model="numpy", boundscheck=False)
def _copy(y, x):
    for i in range(y.size):
        y[i] = x[i]


@kernel(
    family="conv",
    work=lambda n, size: _job(n, size, TAPS),
    arguments=lambda n, dtype, rng: (
        uniform(rng, (CHANNELS, n, n), dtype),
        uniform(rng, (CHANNELS, CHANNELS, 3, 3), dtype),
        uniform(rng, (CHANNELS, n + 2, n + 2), dtype),
    ),
    reference=lambda Y, W, X: np.tensordot(
        W.astype("f8"), sliding_window_view(X.astype("f8"), (3, 3), axis=(1, 2)), ((1, 2, 3), (0, 3, 4))
    ).astype(Y.dtype),
    roundings=lambda n: CHANNELS * TAPS,
    sizes=(56,),
)
def naive_3x3(Y, W, X):
    """Y[o, y, x] = sum over c, i, j of W[o, c, i, j] * X[c, y + i, x + j]

    Pixel by pixel, in strict order over channels and taps.
    """
    for o in prange(Y.shape[0]):
        for y in range(Y.shape[1]):
            for x in range(Y.shape[2]):
                total = Y.dtype.type(0)
                for c in range(X.shape[0]):
                    for i in range(3):
                        for j in range(3):
                            total += W[o, c, i, j] * X[c, y + i, x + j]
                Y[o, y, x] = total


@kernel(
    improves=naive_3x3,
    fastmath=("contract", "reassoc"),
    sizes=(56,),
    own_work=lambda n, size: _job(n, size, TAPS, intermediates=CHANNELS * (TAPS + 1) * n * n),
    tiles=_columns,
)
def im2col_3x3(Y, W, X, tile):
    """Y[o, y, x] = sum over c, i, j of W[o, c, i, j] * X[c, y + i, x + j], as one matrix product

    Every tap of every pixel is copied into a matrix of 288 x n^2, nine times the input, which the 1x1 product then
    takes. Beside the job's traffic, that matrix and the tiles of Y are written and read once.
    """
    n = Y.shape[1]
    columns = np.empty((CHANNELS * TAPS, n * n), Y.dtype)
    for c in prange(CHANNELS):
        for i in range(3):
            for j in range(3):
                for y in range(n):
                    _copy(columns[c * TAPS + 3 * i + j, y * n : y * n + n], X[c, y + i, j : j + n])
    pixels = Y.reshape(CHANNELS, n * n)
    weights = W.reshape(CHANNELS, CHANNELS * TAPS)
    for task in prange((n * n + tile - 1) // tile):
        _tile_of_product(pixels, weights, columns, task * tile, min(task * tile + tile, n * n))


@kernel(improves=naive_3x3, fastmath=("contract", "reassoc"), sizes=(56,), tiles=_columns)
def blocked_3x3(Y, W, X, tile):
    """Y[o, y, x] = sum over c, i, j of W[o, c, i, j] * X[c, y + i, x + j], row by row

    Part of an output row of all channels stays in the first cache. Each vector of input, shifted by 0, 1 and 2, is
    used for four output channels at once; nothing is copied.
    """
    n = Y.shape[1]
    for y in prange(n):
        panel = np.empty(CHANNELS * STRIDE, Y.dtype)
        for x0 in range(0, n, tile):
            x1 = min(x0 + tile, n)
            clear(panel, CHANNELS, x1 - x0)
            for c in range(CHANNELS):
                for i in range(3):
                    _add_three_taps(panel, W[:, c, i], X[c, y + i, x0 : x1 + 2])
            for o in range(CHANNELS):
                _copy(Y[o, y, x0:x1], panel[STRIDE * o : STRIDE * (o + 1)])


@njit(fastmath={"contract", "reassoc"}, error_model="numpy", boundscheck=False)
def _add_three_taps(panel, w, row):
    """panel[o, x] += w[o, 0] * row[x] + w[o, 1] * row[x + 1] + w[o, 2] * row[x + 2] for all channels o"""
    width = row.size - 2
    for o in range(0, CHANNELS, 4):
        part = panel[STRIDE * o : STRIDE * (o + 4)]
        a0, a1, a2 = w[o, 0], w[o, 1], w[o, 2]
        b0, b1, b2 = w[o + 1, 0], w[o + 1, 1], w[o + 1, 2]
        c0, c1, c2 = w[o + 2, 0], w[o + 2, 1], w[o + 2, 2]
        d0, d1, d2 = w[o + 3, 0], w[o + 3, 1], w[o + 3, 2]
        for x in range(width):
            x0, x1, x2 = row[x], row[x + 1], row[x + 2]
            part[x] += a0 * x0 + a1 * x1 + a2 * x2
            part[STRIDE + x] += b0 * x0 + b1 * x1 + b2 * x2
            part[2 * STRIDE + x] += c0 * x0 + c1 * x1 + c2 * x2
            part[3 * STRIDE + x] += d0 * x0 + d1 * x1 + d2 * x2
