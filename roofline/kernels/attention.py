"""Attention of one head, O = softmax(Q K^T / sqrt(d)) V, d = 64: n x n scores in memory, or never outside a cache.

The job: per score, d products and d additions for Q K^T, the same for its share of P V, and 5 for the softmax (scale,
subtract the row's maximum, exp, add, divide): (4 d + 5) n^2 = 261 n^2 flop; exp is 1, a maximum 0. Compulsory
traffic: Q, K and V are read once, O is written: 3 n d and n d elements. 1.02 n / 8 flop/B in f64.
Sources: Vaswani et al., "Attention Is All You Need", NeurIPS 2017; Milakov, Gimelshein, "Online Normalizer Calculation
for Softmax", 2018; Dao, Fu, Ermon, Rudra, Re, "FlashAttention", NeurIPS 2022.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from roofline.codegen.multiply import aligned_start, lanes_of, pack_panels
from roofline.kernels.attention_parts import (
    HEAD,
    KEYS,
    PAD,
    divide_rows,
    pack_queries,
    raise_maxima,
    transposed,
    weigh,
)
from roofline.kernels.capacity import Capacity
from roofline.kernels.data import uniform
from roofline.kernels.elementary import exponential
from roofline.kernels.inner import cache_tile
from roofline.kernels.kernel import kernel
from roofline.kernels.multiplication import ROOM, even_share, multiply_panels
from roofline.model.isa import DTYPE_BITS
from roofline.model.work import Work


def _reference(out, Q, K, V, scale):
    scores = (Q.astype("f8") @ K.T.astype("f8")) * float(scale)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return (weights / weights.sum(axis=1, keepdims=True) @ V).astype(out.dtype)


def _queries(capacity: Capacity, dtype: str) -> tuple[int, ...]:
    """Return the queries per tile: as many as leave a quarter of the second cache to a tile of scores."""
    return (min(max(capacity.second_bytes // 4 // (KEYS * DTYPE_BITS[dtype] // 8), 16), 192),)


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
    the factor for the new maximum (a difference and an exp) and its product with the sum and with out. The transposed
    V is written and read.
    """
    tiles = (n + KEYS - 1) // KEYS  # of keys
    more_flops = -2 * n * n + n * (HEAD + HEAD + 1) + n * tiles * (HEAD + 3)
    return _job(n, size, more_flops, intermediates=n * HEAD)


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
        intermediates=n * n + n * (HEAD + 2),
    ),
    tiles=_queries,
)
def materialised(out, Q, K, V, scale, tile):
    """out[i] = sum over j of softmax(scale * Q[i] . K[j]) * V[j], fast products and scores in memory

    The passes of the naive form made of the parts of the flash form: same register tiles, same exponential. What is
    left between the two is the way of the scores through the memory. Q is scaled instead of the scores and O is
    divided instead of the weights. Beside the n^2 scores, the transposed V and the sums and maxima of all queries are
    written and read.
    """
    n = Q.shape[0]
    step = even_share(n, tile, lanes_of(out))
    values = transposed(V)
    scores = np.empty((n, n), out.dtype)
    total = np.zeros(n, out.dtype)
    largest = np.full(n, -np.inf, out.dtype)
    for task in prange((n + step - 1) // step):
        i0 = task * step
        i1 = min(i0 + step, n)
        panels = cache_tile(HEAD * (step + 2 * ROOM) + ROOM, out.dtype)
        pack_queries(panels, Q[i0:i1], scale)
        for j0 in range(0, n, KEYS):
            keys = K[j0 : j0 + KEYS]
            multiply_panels(scores[j0 : j0 + KEYS, i0:i1], keys, 0, panels, aligned_start(panels), HEAD, False)
    for task in prange((n + step - 1) // step):
        i0 = task * step
        i1 = min(i0 + step, n)
        for j in range(n):
            raise_maxima(largest[i0:i1], scores[j, i0:i1])
        for j in range(n):
            weigh(scores[j, i0:i1], largest[i0:i1], total[i0:i1])
    for task in prange((n + step - 1) // step):
        i0 = task * step
        i1 = min(i0 + step, n)
        panels = cache_tile(KEYS * (step + 2 * ROOM) + ROOM, out.dtype)
        result = cache_tile((HEAD, step + PAD), out.dtype)
        for j0 in range(0, n, KEYS):
            keys = min(KEYS, n - j0)
            pack_panels(panels, aligned_start(panels), scores[j0 : j0 + keys], 0, keys, i0, i1 - i0)
            multiply_panels(result[:, : i1 - i0], values, j0, panels, aligned_start(panels), keys, j0 > 0)
        divide_rows(out[i0:i1], result, total[i0:i1])


@kernel(
    improves=naive,
    fastmath=("contract", "reassoc"),
    sizes=(256, 1024),
    own_work=_flash_work,
    tiles=_queries,
)
def flash(out, Q, K, V, scale, tile):
    """out[i] = sum over j of softmax(scale * Q[i] . K[j]) * V[j], scores in a tile that stays in the second cache

    For each tile of queries, over tiles of keys: their scores, the running maximum m and sum l of each query, and
    O' = O exp(m_old - m) + P V. Everything is transposed, so that queries lie along the vectors: both products run in
    register tiles as GEMM's, and maximum, exp and sum need no step across a vector. V is transposed once:
    n d elements that are written and read beside the job's.
    """
    n = Q.shape[0]
    step = even_share(n, tile, lanes_of(out))
    values = transposed(V)
    for task in prange((n + step - 1) // step):
        i0 = task * step
        columns = min(step, n - i0)
        queries = cache_tile(HEAD * (step + 2 * ROOM) + ROOM, out.dtype)
        pack_queries(queries, Q[i0 : i0 + columns], scale)
        result = cache_tile((HEAD, step + PAD), out.dtype)
        scores = cache_tile((KEYS, step + PAD), out.dtype)
        panels = cache_tile(KEYS * (step + 2 * ROOM) + ROOM, out.dtype)
        largest = cache_tile(columns, out.dtype)
        total = cache_tile(columns, out.dtype)
        factor = cache_tile(columns, out.dtype)
        for i in range(columns):
            largest[i] = -np.inf
            total[i] = 0
        for d in range(HEAD):
            o = result[d]
            for i in range(columns):
                o[i] = 0
        for j0 in range(0, n, KEYS):
            keys = min(KEYS, n - j0)
            multiply_panels(scores[:keys, :columns], K[j0 : j0 + keys], 0, queries, aligned_start(queries), HEAD, False)
            for i in range(columns):
                factor[i] = largest[i]
            for j in range(keys):
                raise_maxima(largest, scores[j, :columns])
            for i in range(columns):
                factor[i] = exponential(factor[i] - largest[i])
                total[i] *= factor[i]
            for j in range(keys):
                weigh(scores[j, :columns], largest, total)
            for d in range(HEAD):
                o = result[d]
                for i in range(columns):
                    o[i] *= factor[i]
            pack_panels(panels, aligned_start(panels), scores, 0, keys, 0, columns)
            multiply_panels(result[:, :columns], values, j0, panels, aligned_start(panels), keys, True)
        divide_rows(out[i0 : i0 + columns], result, total)
