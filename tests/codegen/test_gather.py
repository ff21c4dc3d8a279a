"""A chunk of a sparse matrix times a vector: emitted code gives the sums of the plain loop, in vectors."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numba import njit

from roofline.codegen.assembly import assembly_of
from roofline.codegen.gather import CHUNK, multiply_chunk
from roofline.codegen.multiply import ISA

GUARD = 1234.5


@njit
def chunk(sums, values, columns, x, first, last):
    multiply_chunk(sums, values, columns, x, first, last)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_chunk_has_the_sums_of_the_plain_loop_whatever_its_length(dtype):
    rng = np.random.default_rng(1)
    x = rng.random(50).astype(dtype)
    for steps in (0, 1, 2, 9):
        first = CHUNK
        last = first + steps * CHUNK
        values, columns = rng.random(last + CHUNK).astype(dtype), rng.integers(0, 50, last + CHUNK).astype(np.int32)
        emitted, plain = np.full(CHUNK + 3, GUARD, dtype), np.full(CHUNK + 3, GUARD, dtype)
        chunk(emitted, values, columns, x, first, last)
        multiply_chunk(plain, values, columns, x, first, last)
        np.testing.assert_allclose(emitted, plain, rtol=64 * np.finfo(dtype).eps)
        assert np.all(emitted[CHUNK:] == GUARD)


@pytest.mark.skipif(ISA.arch != "x86_64", reason="registers are named by their width on x86 only")
def test_a_chunk_is_multiplied_in_the_widest_vectors():
    x = np.ones(CHUNK)
    call = njit(lambda sums, values, columns, x: multiply_chunk(sums, values, columns, x, 0, CHUNK))
    call(np.empty(CHUNK), x, np.zeros(CHUNK, np.int32), x)
    register = {"avx512": "zmm", "avx2": "ymm"}.get(ISA.name, "xmm")
    assert re.search(rf"(vfmadd\w*p|addp)d .*%{register}", assembly_of(call).replace("\t", " "))
