"""What the fast forms of attention are made of: transposed tiles, and a softmax whose queries lie along the vectors."""

from __future__ import annotations

import numpy as np

from roofline.codegen.multiply import aligned_start, pack_panels
from roofline.kernels.elementary import exponential
from roofline.kernels.inner import cache_tile, inner

HEAD = 64
"""Elements of a query, a key and a value: d."""
KEYS = 64
"""Keys per tile: as many steps for each sum of values that is loaded and stored."""
PAD = 8
"""Elements between rows of scores that no query has: rows a power of two apart would share a few sets of the cache."""
FEW = 8
"""Values that are transposed at once: a line of f64 of each row that is written."""


@inner
def transposed(V):
    """Return values[d, j] = V[j, d]; rows of C order, as the micro-kernel takes its left factor."""
    n = V.shape[0]
    values = np.empty((HEAD, n + PAD), V.dtype)
    for j0 in range(0, n, FEW):
        j1 = min(j0 + FEW, n)
        for d in range(HEAD):
            for j in range(j0, j1):
                values[d, j] = V[j, d]
    return values


@inner
def pack_queries(panels, Q, scale):
    """Pack the transposed and scaled queries into panels for the micro-kernel."""
    columns = Q.shape[0]
    scaled = cache_tile((HEAD, columns + PAD), Q.dtype)
    for i in range(columns):
        for d in range(HEAD):
            scaled[d, i] = Q[i, d] * scale
    pack_panels(panels, aligned_start(panels), scaled, 0, HEAD, 0, columns)


@inner
def raise_maxima(largest, scores):
    """largest[i] = max(largest[i], scores[i])"""
    for i in range(scores.size):
        largest[i] = max(largest[i], scores[i])


@inner(fastmath=("contract",))
def weigh(scores, largest, total):
    """scores[i] = exp(scores[i] - largest[i]), added to total[i]"""
    for i in range(scores.size):
        p = exponential(scores[i] - largest[i])
        scores[i] = p
        total[i] += p


@inner(fastmath=("contract",))
def divide_rows(out, result, total):
    """out[i, d] = result[d, i] / total[i]"""
    for i in range(total.size):
        inverse = out.dtype.type(1) / total[i]
        o = out[i]
        for d in range(HEAD):
            o[d] = result[d, i] * inverse
