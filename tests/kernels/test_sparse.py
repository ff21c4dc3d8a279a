from __future__ import annotations

import numpy as np
import pytest

from roofline.kernels import sparse
from roofline.kernels.check import check
from roofline.kernels.compile import compiled
from roofline.kernels.counting import count_work
from roofline.kernels.registry import kernel_named

MATRICES = ("banded", "random")


@pytest.mark.parametrize("matrix", MATRICES)
def test_the_closed_count_of_nonzeros_is_that_of_the_rows_and_of_the_matrix(matrix: str):
    nonzeros, lengths, pattern = (getattr(sparse, matrix + part) for part in ("_nonzeros", "_lengths", ""))
    for n in (*range(1, 60), 129, 1000):
        made = pattern(n, np.random.default_rng(n))
        assert np.array_equal(np.diff(made.indptr), lengths(n)), n
        assert made.nnz == nonzeros(n), n
        assert made.has_canonical_format, n


@pytest.mark.parametrize("matrix", MATRICES)
def test_every_row_has_its_diagonal_so_that_all_of_x_is_used(matrix: str):
    assert (getattr(sparse, matrix)(77, np.random.default_rng(0)).diagonal() == 1).all()


def test_random_columns_depend_on_the_generator_and_row_lengths_do_not():
    one, other = (sparse.random(200, np.random.default_rng(seed)) for seed in (1, 2))
    assert np.array_equal(one.indptr, other.indptr)
    assert not np.array_equal(one.indices, other.indices)


@pytest.mark.parametrize("matrix", MATRICES)
def test_both_formats_hold_the_same_matrix(matrix: str):
    n = 2 * sparse.WINDOW + 37
    _, _, values, columns, starts, padded, padded_columns, chunk_starts, rows = kernel_named(
        f"sparse.csr_{matrix}"
    ).make_arguments(n, "f64", np.random.default_rng(4))
    dense, again = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        dense[i, columns[starts[i] : starts[i + 1]]] = values[starts[i] : starts[i + 1]]
    for position, row in enumerate(rows):
        chunk, lane = divmod(position, sparse.CHUNK)
        mine = slice(chunk_starts[chunk] + lane, chunk_starts[chunk + 1], sparse.CHUNK)
        np.add.at(again[row], padded_columns[mine], padded[mine])
    assert np.array_equal(dense, again)


def test_sorting_within_windows_leaves_less_to_pad():
    lengths = sparse.random_lengths(4 * sparse.WINDOW)
    unsorted_padded = sparse.CHUNK * lengths.reshape(-1, sparse.CHUNK).max(axis=1).sum()
    rows, starts = sparse.chunks(lengths)
    assert lengths.sum() <= starts[-1] < 1.1 * lengths.sum() < unsorted_padded
    assert np.array_equal(np.sort(rows), np.arange(lengths.size))


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("name", ["sell_banded", "sell_random"])
def test_several_tasks_and_windows_give_the_product(name: str, parallel: bool):
    known = kernel_named(f"sparse.{name}")
    n = sparse.TASK * sparse.CHUNK + sparse.WINDOW + 5
    check(known, compiled(known, parallel), known.make_arguments(n, "f64", np.random.default_rng(6)), n, "f64")


@pytest.mark.parametrize("name", ["csr_random", "sell_random"])
def test_work_holds_beyond_one_window(name: str):
    known = kernel_named(f"sparse.{name}")
    n = sparse.WINDOW + 21
    assert count_work(known, n) == known.own_work_of(n, "f64")
