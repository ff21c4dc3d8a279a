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
from numba import prange
from numpy.lib.stride_tricks import sliding_window_view

from roofline.codegen.multiply import TILE_VECTORS, aligned_start, lanes_of, pack_panels
from roofline.kernels.capacity import Capacity
from roofline.kernels.data import uniform
from roofline.kernels.inner import cache_tile, inner
from roofline.kernels.kernel import kernel
from roofline.kernels.multiplication import ROOM, even_share, multiply_panels, multiply_rows
from roofline.model.isa import DTYPE_BITS
from roofline.model.work import Work

CHANNELS = 32
"""Of the input and of the output, a multiple of 4."""
TAPS = 9


def _pixels(capacity: Capacity, dtype: str) -> tuple[int, ...]:
    """Return the pixels per tile: as many as let all input channels of a tile fill half of the second cache."""
    return (max(1, capacity.second_bytes // 2 // (CHANNELS * DTYPE_BITS[dtype] // 8)),)


def _elements(capacity: Capacity, dtype: str) -> tuple[int, ...]:
    """Return the elements of packed input that fill half of the second cache."""
    return (max(1, capacity.second_bytes // 2 // (DTYPE_BITS[dtype] // 8)),)


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


@kernel(improves=naive_1x1, sizes=(56,), tiles=_pixels)
def blocked_1x1(Y, W, X, tile):
    """Y[o, p] = sum over c of W[o, c] * X[c, p], in tiles of pixels

    The product of GEMM's register form, with very few rows: a tile of pixels of all input channels is packed in the
    second cache, and the sums of its outputs stay in registers for all channels.
    """
    pixels = Y.shape[1]
    step = even_share(pixels, max(tile, TILE_VECTORS * lanes_of(Y)), lanes_of(Y))
    for task in prange((pixels + step - 1) // step):
        p0 = task * step
        p1 = min(p0 + step, pixels)
        multiply_rows(Y[:, p0:p1], W, X[:, p0:p1], CHANNELS, step)


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
    sizes=(56,),
    own_work=lambda n, size: _job(n, size, TAPS, CHANNELS * TAPS * (n * n + CHANNELS)),
)
def im2col_3x3(Y, W, X):
    """Y[o, y, x] = sum over c, i, j of W[o, c, i, j] * X[c, y + i, x + j], as one matrix product

    Every tap of every pixel is copied into a matrix of 288 x n^2, nine times the input, laid out as the packed panels
    of GEMM's register form, which multiplies it by the weights, taps first. Beside the job's traffic, that matrix and
    the weights in their new order are written and read once.
    """
    n = Y.shape[1]
    lanes = lanes_of(Y)
    width = TILE_VECTORS * lanes
    weights = _taps_first(W)
    stride = CHANNELS * TAPS * ((n + lanes - 1) // lanes * lanes)
    panels = np.empty(n * stride + ROOM, Y.dtype)
    base = aligned_start(panels)
    for y in prange(n):
        for x in range(0, n, width):
            columns = min(width, n - x)
            for i in range(3):
                start = base + y * stride + CHANNELS * TAPS * x
                _pack_row(panels, start, X[:, y + i], i, x, columns)
    for y in prange(n):
        for x in range(0, n, width):
            start = base + y * stride + CHANNELS * TAPS * x
            x1 = min(x + width, n)
            multiply_panels(Y[:, y, x:x1], weights, 0, panels, start, CHANNELS * TAPS, False)


@kernel(
    improves=naive_3x3,
    sizes=(56,),
    own_work=lambda n, size: _job(n, size, TAPS, CHANNELS * TAPS * CHANNELS),
    tiles=_elements,
)
def blocked_3x3(Y, W, X, tile):
    """Y[o, y, x] = sum over c, i, j of W[o, c, i, j] * X[c, y + i, x + j], as a product that is never stored whole

    Bands of a few rows and as many columns as a register tile has: each row of input is packed three times, shifted by
    0, 1 and 2, and serves as the upper, middle and lower taps of three rows of output. The packed band stays in the
    second cache. Beside the job's traffic, the weights in their new order are written and read once.
    """
    n = Y.shape[1]
    width = TILE_VECTORS * lanes_of(Y)
    weights = _taps_first(W)
    rows = even_share(n, max(1, tile // (3 * CHANNELS * width) - 2), 1)
    for task in prange((n + rows - 1) // rows):
        y0 = task * rows
        y1 = min(y0 + rows, n)
        panels = cache_tile((y1 - y0 + 2) * 3 * CHANNELS * width + ROOM, Y.dtype)
        base = aligned_start(panels)
        for x in range(0, n, width):
            columns = min(width, n - x)
            stride = 3 * CHANNELS * ((columns + lanes_of(Y) - 1) // lanes_of(Y) * lanes_of(Y))
            for y in range(y0, y1 + 2):
                _pack_row(panels, base, X[:, y], y - y0, x, columns)
            for y in range(y0, y1):
                start = base + (y - y0) * stride
                multiply_panels(Y[:, y, x : x + columns], weights, 0, panels, start, CHANNELS * TAPS, False)


@inner
def _taps_first(W):
    """Return weights[o, (3 i + j) CHANNELS + c] = W[o, c, i, j]"""
    weights = np.empty((CHANNELS, TAPS * CHANNELS), W.dtype)
    for o in range(CHANNELS):
        for i in range(3):
            for j in range(3):
                for c in range(CHANNELS):
                    weights[o, (3 * i + j) * CHANNELS + c] = W[o, c, i, j]
    return weights


@inner
def _pack_row(panels, start, row, number, x, columns):
    """Pack `columns` pixels from x on of a row of all channels three times, shifted by 0, 1 and 2, as rows of a panel

    `number` is how many rows of input come before it in the panel that begins at `start`.
    """
    padded = (columns + lanes_of(panels) - 1) // lanes_of(panels) * lanes_of(panels)
    for j in range(3):
        pack_panels(panels, start + (3 * number + j) * CHANNELS * padded, row, 0, CHANNELS, x + j, columns)
