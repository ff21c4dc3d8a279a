"""Attention of one head, O = softmax(Q K^T / sqrt(d)) V, d = 64: n x n scores in memory, or never outside a cache.

The job: per score, d products and d additions for Q K^T, the same for its share of P V, and 5 for the softmax (scale,
subtract the row's maximum, exp, add, divide): (4 d + 5) n^2 = 261 n^2 flop; exp is 1, a maximum 0. Compulsory
traffic: Q, K and V are read once, O is written: 3 n d and n d elements. 1.02 n / 8 flop/B in f64.
Sources: Vaswani et al., "Attention Is All You Need", NeurIPS 2017; Milakov, Gimelshein, "Online Normalizer Calculation
for Softmax", 2018; Dao, Fu, Ermon, Rudra, Re, "FlashAttention", NeurIPS 2022.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from roofline.kernels.capacity import Capacity
from roofline.kernels.data import uniform
from roofline.kernels.elementary import exponential
from roofline.kernels.kernel import kernel, numpy_type
from roofline.kernels.panel import STRIDE, WIDTH, add_product, clear
from roofline.model.work import Work

HEAD = 64
"""Elements of a query, a key and a value: d."""
KEYS = 16
"""Keys per tile."""


def _reference(out, Q, K, V, scale):
    scores = (Q.astype("f8") @ K.T.astype("f8")) * float(scale)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return (weights / weights.sum(axis=1, keepdims=True) @ V).astype(out.dtype)


def _queries(capacity: Capacity, dtype: str) -> tuple[int, ...]:
    """Return the queries per tile: as many as leave half of the first cache to a tile of scores."""
    row_bytes = KEYS * np.dtype(numpy_type(dtype)).itemsize
    return (min(max(capacity.first_bytes // 2 // row_bytes // 16 * 16, 16), WIDTH),)


def _job(n: int, size: int, more_flops: int = 0, intermediates: int = 0) -> Work:
    moved = (n * HEAD + intermediates) * size
    return Work(
        flops=(4 * HEAD + 5) * n * n + more_flops,
        read_bytes=moved + 2 * n * HEAD * size,
        write_bytes=moved,
        allocate_bytes=moved,
    )


def _flash_work(n: int, size: int) -> Work:
    """Per query: Q is scaled instead of the scores, and O divided instead of the weights. Per query and tile of keys:
    the factor for the new maximum (a difference and an exp) and its product with the sum and with out."""
    tiles = (n + KEYS - 1) // KEYS  # of keys
    return _job(n, size, more_flops=-2 * n * n + n * (HEAD + HEAD + 1) + n * tiles * (HEAD + 3))


@kernel(
    family="attention",
    work=_job,
    own_work=lambda n, size: _job(n, size, intermediates=n * n),
    arguments=lambda n, dtype, rng: (
        *(uniform(rng, (n, HEAD), dtype) for _ in range(4)),
        dtype(1 / np.sqrt(HEAD)),
    ),
    reference=_reference,
    roundings=lambda n: n + 2 * HEAD,
    sizes=(256, 1024),
)
def naive(out, Q, K, V, scale):
    """out[i] = sum over j of softmax(scale * Q[i] . K[j]) * V[j], scores in memory

    Three passes over an n x n matrix: all scores, their softmax row by row, the sums of values. Moves that matrix
    beside the job's traffic: n^2 elements written once and read once at least. Dot products in strict order.
    """
    n = Q.shape[0]
    scores = np.empty((n, n), out.dtype)
    for i in prange(n):
        for j in range(n):
            total = out.dtype.type(0)
            for d in range(HEAD):
                total += Q[i, d] * K[j, d]
            scores[i, j] = total * scale
    for i in prange(n):
        row = scores[i]
        largest = row[0]
        for j in range(1, n):
            largest = max(largest, row[j])
        total = out.dtype.type(0)
        for j in range(n):
            row[j] = np.exp(row[j] - largest)
            total += row[j]
        for j in range(n):
            row[j] /= total
    for i in prange(n):
        o = out[i]
        for d in range(HEAD):
            o[d] = 0
        for j in range(n):
            weight = scores[i, j]
            v = V[j]
            for d in range(HEAD):
                o[d] += weight * v[d]


@kernel(
    improves=naive,
    fastmath=("contract", "reassoc"),
    sizes=(256, 1024),
    own_work=lambda n, size: _job(
        n,
        size,
        more_flops=-2 * n * n + n * (HEAD + HEAD + 1),
        intermediates=n * n + n * (2 * HEAD + 2) + n * min(n, KEYS),
    ),
    tiles=_queries,
)
def materialised(out, Q, K, V, scale, tile):
    """out[i] = sum over j of softmax(scale * Q[i] . K[j]) * V[j], fast products and scores in memory

    The passes of the naive form made of the parts of the flash form: same register blocks, same exponential. What is
    left between the two is the way of the scores through the memory. Q is scaled instead of the scores and O is
    divided instead of the weights. Beside the n^2 scores, tiles of Q, of O and of scores are written and read.
    """
    n = Q.shape[0]
    scores = np.empty((n, n), out.dtype)
    total = np.zeros(n, out.dtype)
    largest = np.full(n, -np.inf, out.dtype)
    for task in prange((n + tile - 1) // tile):
        i0 = task * tile
        i1 = min(i0 + tile, n)
        scaled = np.empty((HEAD, STRIDE), out.dtype)
        for i in range(i0, i1):
            for d in range(HEAD):
                scaled[d, i - i0] = Q[i, d] * scale
        panel = np.empty(KEYS * STRIDE, out.dtype)
        for j0 in range(0, n, KEYS):
            keys = K[j0 : j0 + KEYS]
            clear(panel, keys.shape[0], i1 - i0)
            add_product(panel, keys, scaled, 0, i1 - i0)
            for j in range(keys.shape[0]):
                row = scores[j0 + j, i0:i1]
                part = panel[STRIDE * j : STRIDE * (j + 1)]
                for i in range(row.size):
                    row[i] = part[i]
    for task in prange((n + tile - 1) // tile):
        i0 = task * tile
        i1 = min(i0 + tile, n)
        for j in range(n):
            _raise(largest[i0:i1], scores[j, i0:i1])
        for j in range(n):
            _weigh(scores[j, i0:i1], largest[i0:i1], total[i0:i1])
    for task in prange((n + tile - 1) // tile):
        i0 = task * tile
        i1 = min(i0 + tile, n)
        result = np.empty(HEAD * STRIDE, out.dtype)
        clear(result, HEAD, i1 - i0)
        for j0 in range(0, n, KEYS):
            add_product(result, V[j0 : j0 + KEYS].T, scores[j0 : j0 + KEYS], i0, i1)
        _divide(out[i0:i1], result, total[i0:i1])


@kernel(
    improves=naive,
    fastmath=("contract", "reassoc"),
    sizes=(256, 1024),
    own_work=_flash_work,
    tiles=_queries,
)
def flash(out, Q, K, V, scale, tile):
    """out[i] = sum over j of softmax(scale * Q[i] . K[j]) * V[j], scores in a tile that stays in the first cache

    For each tile of queries, over tiles of keys: their scores, the running maximum m and sum l of each query, and
    O' = O exp(m_old - m) + P V. Everything is transposed, so that queries lie along the vectors: both products run in
    register blocks, maximum, exp and sum need no step across a vector, and only Q is ever copied.
    """
    n = Q.shape[0]
    for task in prange((n + tile - 1) // tile):
        queries = Q[task * tile : min(task * tile + tile, n)]
        columns = queries.shape[0]
        scaled = np.empty((HEAD, STRIDE), out.dtype)
        for i in range(columns):
            for d in range(HEAD):
                scaled[d, i] = queries[i, d] * scale
        result = np.empty(HEAD * STRIDE, out.dtype)
        clear(result, HEAD, columns)
        scores = np.empty((KEYS, STRIDE), out.dtype)
        panel = scores.reshape(KEYS * STRIDE)
        largest = np.full(columns, -np.inf, out.dtype)
        total = np.zeros(columns, out.dtype)
        factor = np.empty(columns, out.dtype)
        for j0 in range(0, n, KEYS):
            keys = K[j0 : j0 + KEYS]
            rows = keys.shape[0]
            clear(panel, rows, columns)
            add_product(panel, keys, scaled, 0, columns)
            for i in range(columns):
                factor[i] = largest[i]
            for j in range(rows):
                _raise(largest, scores[j, :columns])
            for i in range(columns):
                factor[i] = exponential(factor[i] - largest[i])
                total[i] *= factor[i]
            for j in range(rows):
                _weigh(scores[j, :columns], largest, total)
            for d in range(HEAD):
                o = result[STRIDE * d : STRIDE * (d + 1)]
                for i in range(columns):
                    o[i] *= factor[i]
            add_product(result, V[j0 : j0 + KEYS].T, scores, 0, columns)
        _divide(out[task * tile : task * tile + columns], result, total)


@njit(error_model="numpy")
def _raise(largest, scores):
    """largest[i] = max(largest[i], scores[i])"""
    for i in range(scores.size):
        largest[i] = max(largest[i], scores[i])


@njit(error_model="numpy", fastmath={"contract"})
def _weigh(scores, largest, total):
    """scores[i] = exp(scores[i] - largest[i]), added to total[i]"""
    for i in range(scores.size):
        p = exponential(scores[i] - largest[i])
        scores[i] = p
        total[i] += p


@njit(error_model="numpy", fastmath={"contract"})
def _divide(out, result, total):
    """out[i, d] = result[d, i] / total[i]"""
    for i in range(total.size):
        inverse = out.dtype.type(1) / total[i]
        o = out[i]
        for d in range(HEAD):
            o[d] = result[STRIDE * d + i] * inverse
