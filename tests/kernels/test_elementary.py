from __future__ import annotations

from types import FunctionType

import numpy as np
import pytest
from numba import njit
from scipy.special import ndtr

from roofline.codegen.assembly import assembly_of
from roofline.codegen.register import vector_register
from roofline.kernels.counting import count_work
from roofline.kernels.data import uniform
from roofline.kernels.digest import digest_of
from roofline.kernels.elementary import exponential, logarithm, normal_distribution
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


def each_logarithm(y, x):
    """y[i] = log(x[i])"""
    for i in range(x.size):
        y[i] = logarithm(x[i])


def each_normal(y, x):
    """y[i] = N(x[i])"""
    for i in range(x.size):
        y[i] = normal_distribution(x[i])


LOGARITHMS = njit(each_logarithm)
NORMALS = njit(each_normal)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_logarithm_is_right_to_two_and_a_half_units_in_the_last_place(dtype: str):
    limits = np.finfo(dtype)
    x = np.concatenate((np.linspace(0.5, 3, 20_001), np.geomspace(limits.tiny, limits.max / 2, 5001))).astype(dtype)
    y = np.empty_like(x)
    LOGARITHMS(y, x)
    exact = np.log(x.astype(np.longdouble))
    assert np.max(np.abs(y - exact)[exact != 0] / np.abs(exact[exact != 0])) <= 2.5 * limits.eps
    assert not y[exact == 0].any()


@pytest.mark.parametrize(("dtype", "lowest"), [("f8", -37.5), ("f4", -12.5)])
def test_the_normal_distribution_is_right_in_its_tail_too(dtype: str, lowest: float):
    x = np.linspace(lowest, 9, 20_001).astype(dtype)
    y = np.empty_like(x)
    NORMALS(y, x)
    exact = ndtr(x.astype("f8"))
    units = 4 + np.where(x < 0, x.astype("f8") ** 2, 0)
    assert np.max(np.abs(y - exact) / exact / units) <= np.finfo(dtype).eps


def test_the_normal_distribution_keeps_nan_and_ends_at_0_and_1():
    x = np.array([np.nan, -np.inf, -100, 100, np.inf])
    y = np.empty_like(x)
    NORMALS(y, x)
    assert np.isnan(y[0])
    assert y[1:] == pytest.approx([0, 0, 1, 1], abs=1e-300)


def test_logarithm_and_normal_distribution_fill_vectors():
    for call in (LOGARITHMS, NORMALS):
        call(np.empty(8), np.ones(8))
        assert vector_register(assembly_of(call, next(iter(call.overloads)))) not in (None, "scalar")


def test_the_plain_functions_are_those_of_the_library():
    assert logarithm(2.5) == np.log(2.5)
    assert normal_distribution(-1.5) == pytest.approx(ndtr(-1.5), rel=1e-15)
