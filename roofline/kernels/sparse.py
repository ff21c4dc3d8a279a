"""Sparse matrix times vector, y = A x: irregular access under the memory roof, in two formats.

CSR keeps the nonzeros row by row. SELL-C-sigma cuts the rows into chunks of C, padded to the longest row of the chunk
and kept column by column, so that C rows go side by side; within windows of sigma rows they are sorted by length
first, which leaves little to pad. The same matrix is given in both formats, and each kernel reads its own.

All: n rows, 2 flop per nonzero (its product and its addition to a sum that starts at zero). Compulsory traffic in CSR:
each nonzero's value and its column (int32) once, n + 1 row starts (int32), x once (every row has its diagonal, so
that every x[j] is used), and y, which never has to be read. About 1/6 flop/B in f64, 1/4 in f32: memory-bound.

Banded: all of |i - j| <= HALF_BAND, so that x stays in the first-level cache. Random: rows of 4 to 28 nonzeros, 16 on
average; the diagonal, and one place chosen at random in each of as many equal parts of the rest of the row.

Source: Kreutzer, Hager, Wellein, Fehske, Bishop, "A Unified Sparse Matrix Data Format for Efficient General Sparse
Matrix-Vector Multiplication on Modern Processors with Wide SIMD Units", SIAM J. Sci. Comput. 36(5), 2014.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from scipy.sparse import csr_array, diags_array

from roofline.codegen.gather import CHUNK, multiply_chunk
from roofline.kernels.data import uniform
from roofline.kernels.inner import cache_tile, inner
from roofline.kernels.kernel import kernel
from roofline.model.work import Work

HALF_BAND = 8
"""Diagonals on each side of the main one."""
SHORTEST, LONGEST = 4, 28
"""Nonzeros in a row of the random matrix."""
PERIOD = LONGEST - SHORTEST + 1
"""Rows after which their lengths come again."""
WINDOW = 16 * CHUNK
"""Sigma, rows that are sorted by length among themselves: few enough for their results to lie near each other."""
TASK = 64
"""Chunks per task."""
INDEX_BYTES = 4
"""Of an int32."""


def banded_lengths(n: int) -> np.ndarray:
    """Return the nonzeros in each row of the banded matrix."""
    rows = np.arange(n)
    return np.minimum(rows, HALF_BAND) + np.minimum(n - 1 - rows, HALF_BAND) + 1


def random_lengths(n: int) -> np.ndarray:
    """Return the nonzeros in each row of the random matrix: all lengths in turn, in a scattered order."""
    return np.minimum(SHORTEST + 7 * np.arange(n) % PERIOD, n)


def banded_nonzeros(n: int) -> int:
    """Return the sum of `banded_lengths` for any n, however large."""
    return sum(max(n - abs(diagonal), 0) for diagonal in range(-HALF_BAND, HALF_BAND + 1))


def random_nonzeros(n: int) -> int:
    """Return the sum of `random_lengths` for any n, however large."""
    if n < LONGEST:
        return int(random_lengths(n).sum())
    turns, rest = divmod(n, PERIOD)
    lengths = random_lengths(LONGEST)
    return turns * int(lengths[:PERIOD].sum()) + int(lengths[:rest].sum())


def banded(n: int, rng: np.random.Generator) -> csr_array:
    """Return the pattern of the banded matrix."""
    diagonals = [diagonal for diagonal in range(-HALF_BAND, HALF_BAND + 1) if abs(diagonal) < n]
    return csr_array(diags_array([np.ones(n - abs(d)) for d in diagonals], offsets=diagonals, shape=(n, n)))


def random(n: int, rng: np.random.Generator) -> csr_array:
    """Return the pattern of the random matrix."""
    lengths = random_lengths(n)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    place = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
    parts = np.repeat(np.maximum(lengths - 1, 1), lengths)
    first, last = (place - 1) * (n - 1) // parts, place * (n - 1) // parts
    beside = 1 + first + (rng.random(place.size) * (last - first)).astype(int)
    columns = (np.repeat(np.arange(n), lengths) + np.where(place > 0, beside, 0)) % n
    pattern = csr_array((np.ones(place.size), columns, starts), shape=(n, n))
    pattern.sort_indices()
    return pattern


def chunks(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows in the order of SELL-C-sigma, and where each chunk starts among the padded nonzeros."""
    rows = np.lexsort((-lengths, np.arange(lengths.size) // WINDOW))
    padded = np.zeros(-(-lengths.size // CHUNK) * CHUNK, int)
    padded[: lengths.size] = lengths[rows]
    return rows, np.concatenate(([0], np.cumsum(CHUNK * padded.reshape(-1, CHUNK).max(axis=1))))


def problem(pattern: csr_array, dtype: Any, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return y, x, the matrix in CSR (values, columns, starts) and in SELL-C-sigma (the same, and the rows' order)."""
    n, lengths = pattern.shape[0], np.diff(pattern.indptr)
    values, columns = uniform(rng, pattern.nnz, dtype), pattern.indices.astype(np.int32)
    rows, starts = chunks(lengths)
    position = np.empty(n, int)
    position[rows] = np.arange(n)
    base = starts[position // CHUNK] + position % CHUNK
    place = np.arange(pattern.nnz) - np.repeat(pattern.indptr[:-1], lengths)
    target = np.repeat(base, lengths) + CHUNK * place
    padded_values, padded_columns = np.zeros(starts[-1], dtype), np.zeros(starts[-1], np.int32)
    padded_values[target], padded_columns[target] = values, columns
    csr = (values, columns, pattern.indptr.astype(np.int32))
    sell = (padded_values, padded_columns, starts.astype(np.int32), rows.astype(np.int32))
    return (uniform(rng, n, dtype), uniform(rng, n, dtype), *csr, *sell)


def csr_work(nonzeros: int, n: int, size: int) -> Work:
    """Return what CSR moves and computes."""
    read_bytes = nonzeros * (size + INDEX_BYTES) + (n + 1) * INDEX_BYTES + n * size
    return Work(flops=2 * nonzeros, read_bytes=read_bytes, write_bytes=n * size, allocate_bytes=n * size)


def sell_work(lengths: np.ndarray, size: int) -> Work:
    """Return what SELL-C-sigma moves and computes: padding too, a start per chunk, and the rows' order."""
    n, starts = lengths.size, chunks(lengths)[1]
    read_bytes = int(starts[-1]) * (size + INDEX_BYTES) + (starts.size + n) * INDEX_BYTES + n * size
    return Work(flops=2 * int(starts[-1]), read_bytes=read_bytes, write_bytes=n * size, allocate_bytes=n * size)


@inner
def multiply_chunks(y, x, values, columns, starts, rows, first, last):
    """y[i] = sum over the nonzeros of row i of A[i, j] * x[j] for the rows of the chunks from `first` to `last`"""
    sums = cache_tile(CHUNK, x.dtype)
    for chunk in range(first, last):
        multiply_chunk(sums, values, columns, x, starts[chunk], starts[chunk + 1])
        row = rows[chunk * CHUNK : (chunk + 1) * CHUNK]
        for r in range(row.size):
            y[row[r]] = sums[r]


def product(y, x, values, columns, starts, *sell):
    """Return A x, by SciPy in f64."""
    matrix = csr_array((values.astype("f8"), columns, starts), shape=(y.size, y.size))
    return (matrix @ x.astype("f8")).astype(y.dtype)


@kernel(
    family="sparse",
    work=lambda n, size: csr_work(banded_nonzeros(n), n, size),
    arguments=lambda n, dtype, rng: problem(banded(n, rng), dtype, rng),
    reference=product,
    roundings=lambda n: 2 * HALF_BAND + 2,
)
def csr_banded(y, x, values, columns, starts, sell_values, sell_columns, sell_starts, rows):
    """y[i] = sum over the nonzeros k of row i of values[k] * x[columns[k]], banded matrix in CSR

    Row by row in strict order: one scalar chain of additions per row, too short to hide its start and its end.
    """
    for i in prange(y.size):
        total = x.dtype.type(0)
        for k in range(starts[i], starts[i + 1]):
            total += values[k] * x[columns[k]]
        y[i] = total


@kernel(improves=csr_banded, own_work=lambda n, size: sell_work(banded_lengths(n), size))
def sell_banded(y, x, values, columns, starts, sell_values, sell_columns, sell_starts, rows):
    """y[i] = sum over the nonzeros of row i of A[i, j] * x[j], banded matrix in SELL-C-sigma

    CHUNK rows at once, a nonzero of each per step, in the lanes of vectors: as many independent chains of additions,
    and no row starts. Only the elements of x are loaded one by one; see `codegen.gather`.
    """
    chunk_count = sell_starts.size - 1
    for task in prange((chunk_count + TASK - 1) // TASK):
        first, last = task * TASK, min((task + 1) * TASK, chunk_count)
        multiply_chunks(y, x, sell_values, sell_columns, sell_starts, rows, first, last)


@kernel(improves=csr_banded, compiled=False, parallel=False)
def scipy_banded(y, x, values, columns, starts, sell_values, sell_columns, sell_starts, rows):
    """y = A x, banded matrix in CSR, by SciPy

    The library's own product, on one thread, with what it takes to make a matrix of the three arrays.
    """
    y[:] = csr_array((values, columns, starts), shape=(y.size, y.size)) @ x


@kernel(
    family="sparse",
    work=lambda n, size: csr_work(random_nonzeros(n), n, size),
    arguments=lambda n, dtype, rng: problem(random(n, rng), dtype, rng),
    reference=product,
    roundings=lambda n: LONGEST + 1,
)
def csr_random(y, x, values, columns, starts, sell_values, sell_columns, sell_starts, rows):
    """y[i] = sum over the nonzeros k of row i of values[k] * x[columns[k]], random matrix in CSR

    Row by row in strict order: one scalar chain of additions per row, too short to hide its start and its end.
    """
    for i in prange(y.size):
        total = x.dtype.type(0)
        for k in range(starts[i], starts[i + 1]):
            total += values[k] * x[columns[k]]
        y[i] = total


@kernel(improves=csr_random, own_work=lambda n, size: sell_work(random_lengths(n), size))
def sell_random(y, x, values, columns, starts, sell_values, sell_columns, sell_starts, rows):
    """y[i] = sum over the nonzeros of row i of A[i, j] * x[j], random matrix in SELL-C-sigma

    CHUNK rows at once, a nonzero of each per step, in the lanes of vectors: as many independent chains of additions,
    and no row starts. Only the elements of x are loaded one by one; see `codegen.gather`.
    """
    chunk_count = sell_starts.size - 1
    for task in prange((chunk_count + TASK - 1) // TASK):
        first, last = task * TASK, min((task + 1) * TASK, chunk_count)
        multiply_chunks(y, x, sell_values, sell_columns, sell_starts, rows, first, last)


@kernel(improves=csr_random, compiled=False, parallel=False)
def scipy_random(y, x, values, columns, starts, sell_values, sell_columns, sell_starts, rows):
    """y = A x, random matrix in CSR, by SciPy

    The library's own product, on one thread, with what it takes to make a matrix of the three arrays.
    """
    y[:] = csr_array((values, columns, starts), shape=(y.size, y.size)) @ x
