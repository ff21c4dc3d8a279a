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


POINTS = [(known, dtype) for known in KERNELS for dtype in known.dtypes]
MOST_FLOPS = 2e8
"""Of one call in these tests: larger sizes of heavy kernels are left out."""
every_point = pytest.mark.parametrize(
    ("known", "dtype"), POINTS, ids=[f"{known.name}-{dtype}" for known, dtype in POINTS]
)


def sizes_of(known: Kernel, dtype: str) -> list[int]:
    """Return the sizes at which a kernel is tested: the smallest, odd ones, round ones, as far as it is quick."""
    return [n for n in SIZES if n == SIZES[0] or known.work_of(n, dtype).flops <= MOST_FLOPS]


@every_point
def test_the_serial_kernel_gives_the_reference_result(known: Kernel, dtype: str, rng: np.random.Generator):
    for n in sizes_of(known, dtype):
        check(known, compiled(known, parallel=False), known.make_arguments(n, dtype, rng), n, dtype)


@pytest.mark.parametrize("known", [k for k in KERNELS if k.compiled and k.parallel], ids=lambda known: known.name)
def test_the_parallel_kernel_gives_the_reference_result(known: Kernel, rng: np.random.Generator):
    dtype = known.dtypes[-1]  # a shared sum must keep the narrower dtype; the rest is one loop
    for n in sizes_of(known, dtype):
        check(known, compiled(known, parallel=True), known.make_arguments(n, dtype, rng), n, dtype)


@pytest.mark.parametrize("parallel", [False, True])
def test_blocked_gemm_is_right_beyond_one_tile_of_columns(parallel: bool, rng: np.random.Generator):
    known = kernel_named("gemm.blocked")
    n = TILE_COLUMNS + 3
    check(known, compiled(known, parallel), known.make_arguments(n, "f64", rng), n, "f64")


@pytest.mark.parametrize("known", KERNELS, ids=lambda known: known.name)
def test_references_agree_with_plain_arithmetic_in_the_body(known: Kernel, rng: np.random.Generator):
    steps = kernel_named(known.improves).body if not known.compiled and known.improves else known.body
    dtype = known.dtypes[0]
    check(known, steps, known.make_arguments(3, dtype, rng), 3, dtype)


@pytest.mark.parametrize(
    ("known", "dtype"), [(k, d) for k, d in POINTS if d != "i8"], ids=lambda value: getattr(value, "name", value)
)
def test_all_data_is_of_the_dtype_random_and_normal(known: Kernel, dtype: str, rng: np.random.Generator):
    for argument in known.make_arguments(40, dtype, rng):
        if np.asarray(argument).dtype.kind != "f":
            continue  # tile sizes, indices, quantised weights
        assert argument.dtype == NUMPY_TYPES[dtype]
        values = np.asarray(argument).ravel()
        assert np.max(np.abs(values)) <= 200
        assert np.min(np.abs(values[values != 0])) >= 2.0**-30
        if values.size > 1:
            assert np.count_nonzero(values) >= 0.5 * values.size
            assert np.unique(values).size > 0.4 * values.size


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
    dtype, n = known.dtypes[0], max(sizes_of(known, known.dtypes[0])[:2])
    arguments = known.make_arguments(n, dtype, rng)
    call = compiled(known, parallel=False)
    first = call(*arguments)
    once = [np.copy(argument) for argument in arguments]
    assert np.array_equal(call(*arguments), first)
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


@pytest.mark.parametrize(
    "known", [k for k in KERNELS if k.compiled and "f32" in k.dtypes], ids=lambda known: known.name
)
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
    for known in KERNELS:
        assert not (known.fastmath and known.name.partition(".")[2].startswith("naive")), known.name
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
