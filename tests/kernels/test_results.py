from __future__ import annotations

import re

import numpy as np
import pytest

from roofline.errors import UsageError
from roofline.kernels.check import check
from roofline.kernels.compile import compiled
from roofline.kernels.gemm import TILE_COLUMNS
from roofline.kernels.kernel import NUMPY_TYPES, Kernel, kernel
from roofline.kernels.registry import all_kernels, kernel_named
from roofline.model.work import Work

KERNELS = list(all_kernels().values())
SIZES = (1, 7, 64, 129)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(2009)


@pytest.mark.parametrize("dtype", ["f64", "f32"])
@pytest.mark.parametrize("known", KERNELS, ids=lambda known: known.name)
def test_the_serial_kernel_gives_the_reference_result(known: Kernel, dtype: str, rng: np.random.Generator):
    for n in SIZES:
        check(known, compiled(known, parallel=False), known.make_arguments(n, dtype, rng))


@pytest.mark.parametrize("known", [known for known in KERNELS if known.compiled], ids=lambda known: known.name)
def test_the_parallel_kernel_gives_the_reference_result(known: Kernel, rng: np.random.Generator):
    dtype = "f32" if known.name == "blas.dot" else "f64"  # a shared sum must keep the dtype; the rest is one loop
    for n in SIZES:
        check(known, compiled(known, parallel=True), known.make_arguments(n, dtype, rng))


@pytest.mark.parametrize("parallel", [False, True])
def test_blocked_gemm_is_right_beyond_one_tile_of_columns(parallel: bool, rng: np.random.Generator):
    known = kernel_named("gemm.blocked")
    n = TILE_COLUMNS + 3
    check(known, compiled(known, parallel), known.make_arguments(n, "f64", rng))


@pytest.mark.parametrize("known", KERNELS, ids=lambda known: known.name)
def test_references_agree_with_plain_arithmetic_in_the_body(known: Kernel, rng: np.random.Generator):
    steps = kernel_named(known.improves).body if not known.compiled and known.improves else known.body
    check(known, steps, known.make_arguments(5, "f64", rng))


@pytest.mark.parametrize("dtype", ["f64", "f32"])
@pytest.mark.parametrize("known", KERNELS, ids=lambda known: known.name)
def test_all_data_is_of_the_dtype_random_and_near_one(known: Kernel, dtype: str, rng: np.random.Generator):
    for argument in known.make_arguments(40, dtype, rng):
        assert argument.dtype == NUMPY_TYPES[dtype]
        assert np.min(argument) >= 0.25
        assert np.max(argument) <= 1.5
        if argument.ndim:
            assert argument.flags.c_contiguous
            assert np.unique(argument).size > 0.9 * argument.size


@pytest.mark.parametrize("dtype", ["f64", "f32"])
def test_ten_thousand_repeats_keep_axpy_finite_and_normal(dtype: str, rng: np.random.Generator):
    axpy = kernel_named("blas.axpy")
    y, x, a = axpy.make_arguments(64, dtype, rng)
    before = y.copy()
    call = compiled(axpy, parallel=False)
    for _ in range(10_000):
        call(y, x, a)
    assert (y > before).all()
    assert (y <= before + 10_000 * 0.63).all()


@pytest.mark.parametrize(("dtype", "height"), [("f32", 2.0**25), ("f64", 2.0**54)])
def test_axpy_stands_still_at_a_finite_height(dtype: str, height: float, rng: np.random.Generator):
    axpy = kernel_named("blas.axpy")
    y, x, a = axpy.make_arguments(64, dtype, rng)
    y[:] = height
    compiled(axpy, parallel=False)(y, x, a)
    assert (y == height).all()


@pytest.mark.parametrize("known", KERNELS, ids=lambda known: known.name)
def test_repeats_of_a_kernel_that_only_writes_its_output_change_nothing(known: Kernel, rng: np.random.Generator):
    arguments = known.make_arguments(33, "f64", rng)
    call = compiled(known, parallel=False)
    first = call(*arguments)
    once = [np.copy(argument) for argument in arguments]
    assert call(*arguments) == first
    unchanged = all(np.array_equal(a, b) for a, b in zip(once, arguments, strict=True))
    assert unchanged == (known.name != "blas.axpy")


def test_a_chain_of_streams_four_kernels_neither_grows_nor_decays(rng: np.random.Generator):
    copy, scale, add, triad = (
        compiled(kernel_named(f"stream.{name}"), False) for name in ("copy", "scale", "add", "triad")
    )
    a, b, c, q = kernel_named("stream.triad").make_arguments(100, "f64", rng)
    start = a.copy()
    for _ in range(1000):
        copy(c, a)
        scale(b, c, q)
        add(c, a, b)
        triad(a, b, c, q)
    np.testing.assert_allclose(a, start, rtol=1e-12)


@pytest.mark.parametrize("known", [known for known in KERNELS if known.compiled], ids=lambda known: known.name)
def test_a_kernel_of_f32_computes_nothing_in_f64(known: Kernel, rng: np.random.Generator):
    call = compiled(known, parallel=False, cache=False)  # Numba shows no code that it loaded from its cache
    call(*known.make_arguments(8, "f32", rng))
    (code,) = call.inspect_llvm().values()  # type: ignore[attr-defined]
    assert "float" in code
    assert not re.search(r"= f(add|sub|mul|div) .*double", code)  # the wrapper that talks to Python converts scalars


def test_one_kernel_and_variant_is_compiled_once():
    triad = kernel_named("stream.triad")
    assert compiled(triad, False) is compiled(triad, False)
    assert compiled(triad, False) is not compiled(triad, True)


def test_variants_and_sources_have_names_of_their_own_in_the_disk_cache():
    known = kernel_named("stream.triad")
    names = [compiled(known, parallel).py_func.__qualname__ for parallel in (False, True)]  # type: ignore[attr-defined]
    assert names == [f"stream_triad_serial_{known.digest}", f"stream_triad_parallel_{known.digest}"]


def test_naive_rungs_are_strict_and_freed_ones_say_so():
    freed = {known.name for known in KERNELS if known.fastmath}
    assert freed == {"blas.dot", "gemv.blocked", "gemm.blocked"}
    for known in KERNELS:
        if known.compiled:
            options = compiled(known, False).targetoptions  # type: ignore[attr-defined]
            assert set(options["fastmath"] or ()) == known.fastmath
            assert options["nogil"]
            assert options["error_model"] == "numpy"


def test_a_kernel_without_prange_has_no_parallel_version():
    @kernel(
        family="test",
        work=lambda n, size: Work(flops=0, read_bytes=0, write_bytes=0),
        arguments=lambda n, dtype, rng: (rng.random(n, dtype),),
        reference=lambda a: a,
    )
    def still(a):
        """a[i] = a[i]"""

    with pytest.raises(UsageError, match=r"test\.still has no prange loop"):
        compiled(still, parallel=True)


def test_a_library_call_is_its_plain_body():
    known = kernel_named("gemm.blas")
    assert compiled(known, parallel=True) is known.body
