"""Layer norm and softmax of a batch of n rows of 512: each row is read again and again, or stays in the first cache.

Compulsory traffic: X (and the 2 * 512 parameters of the norm) are read once, Y is written. 8 flop (norm) and 4 flop
(softmax) per element and 2 elements moved: 1/2 and 1/4 flop/B in f64, so that memory binds at any batch.
Sources: Ba, Kiros, Hinton, "Layer Normalization", arXiv 1607.06450, 2016; Milakov, Gimelshein, "Online Normalizer
Calculation for Softmax", arXiv 1805.02867, 2018.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from roofline.kernels.data import uniform
from roofline.kernels.elementary import exponential
from roofline.kernels.kernel import kernel
from roofline.model.work import Work

WIDTH = 512
BATCHES = (1, 16, 256)
EPSILON = 1e-5
"""Added to the variance, as in the source's implementations."""


def _norm(n: int, size: int, intermediates: int = 0) -> Work:
    moved = (WIDTH * n + intermediates) * size
    return Work(
        flops=(8 * WIDTH + 5) * n,
        read_bytes=moved + 2 * WIDTH * size,
        write_bytes=moved,
        allocate_bytes=moved,
    )


def _norm_reference(Y, X, gain, bias, epsilon):
    x = X.astype("f8")
    centred = x - x.mean(axis=1, keepdims=True)
    return (centred / np.sqrt(x.var(axis=1, keepdims=True) + float(epsilon)) * gain + bias).astype(Y.dtype)


def _norm_magnitude(Y, X, gain, bias, epsilon):
    x = X.astype("f8")
    terms = np.abs(x) + np.abs(x.mean(axis=1, keepdims=True))
    return terms / np.sqrt(x.var(axis=1, keepdims=True) + float(epsilon)) * np.abs(gain) + np.abs(bias)


@kernel(
    family="network",
    work=_norm,
    own_work=lambda n, size: _norm(n, size, intermediates=2 * n),
    arguments=lambda n, dtype, rng: (
        uniform(rng, (n, WIDTH), dtype),
        uniform(rng, (n, WIDTH), dtype),
        uniform(rng, WIDTH, dtype),
        uniform(rng, WIDTH, dtype),
        dtype(EPSILON),
    ),
    reference=_norm_reference,
    magnitude=_norm_magnitude,
    roundings=lambda n: WIDTH,
    sizes=BATCHES,
)
def naive_layer_norm(Y, X, gain, bias, epsilon):
    """Y[s, i] = (X[s, i] - mean[s]) / sqrt(variance[s] + epsilon) * gain[i] + bias[i]

    Three operators, as an unfused graph runs them: all means, all deviations, all outputs. Per element: 1 addition for
    the mean, 3 flop for the variance, 4 for the output; per row 2 divisions, an addition, a root, a reciprocal. Means
    and deviations are written and read.
    """
    one = Y.dtype.type(1)
    width = Y.dtype.type(WIDTH)
    mean = np.empty(X.shape[0], Y.dtype)
    inverse = np.empty(X.shape[0], Y.dtype)
    for s in prange(X.shape[0]):
        total = Y.dtype.type(0)
        for i in range(WIDTH):
            total += X[s, i]
        mean[s] = total / width
    for s in prange(X.shape[0]):
        total = Y.dtype.type(0)
        for i in range(WIDTH):
            difference = X[s, i] - mean[s]
            total += difference * difference
        inverse[s] = one / np.sqrt(total / width + epsilon)
    for s in prange(X.shape[0]):
        for i in range(WIDTH):
            Y[s, i] = (X[s, i] - mean[s]) * inverse[s] * gain[i] + bias[i]


@kernel(improves=naive_layer_norm, fastmath=("contract", "reassoc"), sizes=BATCHES)
def fused_layer_norm(Y, X, gain, bias, epsilon):
    """Y[s, i] = (X[s, i] - mean[s]) / sqrt(variance[s] + epsilon) * gain[i] + bias[i], row by row

    The three steps while the row is in the first cache; the freed order lets its sums fill vectors.
    """
    one = Y.dtype.type(1)
    width = Y.dtype.type(WIDTH)
    for s in prange(X.shape[0]):
        x = X[s]
        y = Y[s]
        total = Y.dtype.type(0)
        for i in range(WIDTH):
            total += x[i]
        mean = total / width
        total = Y.dtype.type(0)
        for i in range(WIDTH):
            difference = x[i] - mean
            total += difference * difference
        inverse = one / np.sqrt(total / width + epsilon)
        for i in range(WIDTH):
            y[i] = (x[i] - mean) * inverse * gain[i] + bias[i]


def _softmax_reference(Y, X):
    weights = np.exp(X.astype("f8") - X.max(axis=1, keepdims=True))
    return (weights / weights.sum(axis=1, keepdims=True)).astype(Y.dtype)


def _softmax(n: int, size: int, intermediates: int = 0) -> Work:
    moved = (WIDTH * n + intermediates) * size
    return Work(flops=(4 * WIDTH + 1) * n, read_bytes=moved, write_bytes=moved, allocate_bytes=moved)


@kernel(
    family="network",
    work=_softmax,
    own_work=lambda n, size: _softmax(n, size, intermediates=2 * n),
    arguments=lambda n, dtype, rng: (uniform(rng, (n, WIDTH), dtype), uniform(rng, (n, WIDTH), dtype)),
    reference=_softmax_reference,
    roundings=lambda n: WIDTH,
    sizes=BATCHES,
)
def naive_softmax(Y, X):
    """Y[s, i] = exp(X[s, i] - max of X[s]) / sum over k of exp(X[s, k] - max of X[s])

    Three operators, as an unfused graph runs them: all maxima, all exponentials with their sums, all quotients. Per
    element a difference, an exp, an addition, a product with the reciprocal of the sum, which is 1 flop per row.
    Maxima and reciprocals are written and read.
    """
    largest = np.empty(X.shape[0], Y.dtype)
    inverse = np.empty(X.shape[0], Y.dtype)
    for s in prange(X.shape[0]):
        highest = X[s, 0]
        for i in range(1, WIDTH):
            highest = max(highest, X[s, i])
        largest[s] = highest
    for s in prange(X.shape[0]):
        total = Y.dtype.type(0)
        for i in range(WIDTH):
            Y[s, i] = np.exp(X[s, i] - largest[s])
            total += Y[s, i]
        inverse[s] = Y.dtype.type(1) / total
    for s in prange(X.shape[0]):
        for i in range(WIDTH):
            Y[s, i] *= inverse[s]


@kernel(improves=naive_softmax, fastmath=("contract", "reassoc", "nnan", "nsz"), sizes=BATCHES)
def fused_softmax(Y, X):
    """Y[s, i] = exp(X[s, i] - max of X[s]) / sum over k of exp(X[s, k] - max of X[s]), row by row

    The three steps while the row is in the first cache, with an exponential that fills vectors. A maximum in any
    order needs the promise that there is no NaN.
    """
    for s in prange(X.shape[0]):
        x = X[s]
        y = Y[s]
        highest = x[0]
        for i in range(1, WIDTH):
            if x[i] > highest:
                highest = x[i]
        total = _exponentials(y, x, highest)
        inverse = Y.dtype.type(1) / total
        for i in range(WIDTH):
            y[i] *= inverse


@njit(fastmath={"contract", "reassoc"}, error_model="numpy", boundscheck=False)
def _exponentials(y, x, highest):
    """y[i] = exp(x[i] - highest); return their sum"""
    total = y.dtype.type(0)
    for i in range(WIDTH):
        e = exponential(x[i] - highest)
        y[i] = e
        total += e
    return total
