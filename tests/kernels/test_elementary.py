from __future__ import annotations

from types import FunctionType

import numpy as np
import pytest
from numba import njit

from roofline.codegen.assembly import assembly_of
from roofline.codegen.reading import vector_register
from roofline.kernels.counting import count_work
from roofline.kernels.data import uniform
from roofline.kernels.digest import digest_of
from roofline.kernels.elementary import exponential
from roofline.kernels.kernel import kernel
from roofline.model.work import Work


def each(y, x):
    """y[i] = exp(x[i])"""
    for i in range(x.size):
        y[i] = exponential(x[i])


COMPILED = njit(each)
LIMITS = {"f8": (-708.0, 709.0), "f4": (-87.0, 88.0)}


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_exponential_is_right_to_two_units_in_the_last_place_over_its_range(dtype: str):
    x = np.concatenate((np.linspace(*LIMITS[dtype], 20_001), np.linspace(-1, 1, 2001))).astype(dtype)
    y = np.empty_like(x)
    COMPILED(y, x)
    exact = np.exp(x.astype(np.longdouble))
    assert np.max(np.abs(y - exact) / exact) <= 2 * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_exponential_keeps_nan_and_clamps_what_is_out_of_range(dtype: str):
    low, high = LIMITS[dtype]
    x = np.array([np.nan, -np.inf, 10 * low, np.inf, 10 * high, 0], dtype)
    y = np.empty_like(x)
    COMPILED(y, x)
    ends = np.exp(np.array([low, low, high, high, 0]))
    assert np.isnan(y[0])
    assert y[1:] == pytest.approx(ends, rel=1e-5)


def test_exponential_fills_vectors():
    COMPILED(np.empty(8), np.empty(8))
    assert vector_register(assembly_of(COMPILED, next(iter(COMPILED.overloads)))) not in (None, "scalar")


def test_exponential_counts_as_one_flop():
    declared = kernel(
        family="test",
        work=lambda n, size: Work(flops=n, read_bytes=n * size, write_bytes=n * size, allocate_bytes=n * size),
        arguments=lambda n, dtype, rng: (uniform(rng, n, dtype), uniform(rng, n, dtype)),
        reference=lambda y, x: np.exp(x),
    )(each)
    assert count_work(declared, 5) == declared.work_of(5, "f64")


def test_the_digest_sees_what_is_compiled_in_place_of_the_plain_function():
    plain = FunctionType(exponential.__code__, exponential.__globals__)
    assert digest_of(exponential) != digest_of(plain)
