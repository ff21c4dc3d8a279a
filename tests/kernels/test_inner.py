"""Tiles that kernels' bodies fill and use up in a cache."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from roofline.kernels.digest import digest_of
from roofline.kernels.inner import cache_tile


@njit
def _addresses(dtype):
    found = np.empty(96, np.intp)
    for size in range(32):
        between = np.empty(size, np.uint8)  # moves what is allocated next
        row = cache_tile(size + 1, dtype)
        matrix = cache_tile((3, size + 1), dtype)
        cube = cache_tile((2, 3, size + 1), dtype)
        row[:] = between.size
        matrix[:, :] = 1
        cube[:, :, :] = 2
        found[3 * size] = row.ctypes.data
        found[3 * size + 1] = matrix.ctypes.data
        found[3 * size + 2] = cube.ctypes.data
    return found


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
def test_a_compiled_tile_starts_a_cache_line_wherever_the_heap_stands(dtype):
    assert set(_addresses(np.dtype(dtype)) % 64) == {0}


@njit
def _filled(rows, columns, dtype):
    tile = cache_tile((rows, columns), dtype)
    for i in range(rows):
        for j in range(columns):
            tile[i, j] = 10 * i + j
    return tile.copy()


def test_a_tile_has_the_shape_and_the_type_that_were_asked_for_in_either_form():
    compiled, plain = _filled(3, 5, np.dtype("f4")), _filled.py_func(3, 5, np.dtype("f4"))
    assert compiled.shape == plain.shape == (3, 5)
    assert compiled.dtype == plain.dtype == np.float32
    np.testing.assert_array_equal(compiled, plain)


def test_the_digest_of_what_uses_a_tile_covers_what_compiled_code_runs_in_its_place(monkeypatch):
    def body(n):
        return cache_tile(n, np.float64)

    body.__module__ = cache_tile.__module__
    before = digest_of(body)
    monkeypatch.setattr(cache_tile, "implementations", ())
    assert digest_of(body) != before
