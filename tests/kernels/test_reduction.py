from __future__ import annotations

from math import fsum

import numpy as np
import pytest
from numba import typeof

from roofline.codegen.assembly import assembly_of
from roofline.codegen.reading import innermost_loops
from roofline.codegen.register import vector_register
from roofline.kernels.compile import compiled
from roofline.kernels.kernel import NUMPY_TYPES
from roofline.kernels.registry import kernel_named, select

CHAINS = (1, 2, 4, 8)


def loops_of(name: str, dtype: str = "f64"):
    """Return the assembly of a kernel's serial code and its innermost loops."""
    known = kernel_named(name)
    call = compiled(known, parallel=False)
    arguments = known.make_arguments(8, dtype, np.random.default_rng(0))
    call(*arguments)
    assembly = assembly_of(call, tuple(map(typeof, arguments)))
    return assembly, innermost_loops(assembly)


def accumulators_in(loop) -> set[str]:
    """Return the registers that an x86 loop adds to themselves."""
    additions = [step for step in loop if step.mnemonic.removeprefix("v").startswith("adds")]
    return {step.operands[-1] for step in additions if step.operands[-1] in step.operands[:-1]}


@pytest.mark.parametrize("dtype", ["f64", "f32"])
@pytest.mark.parametrize("job", ["sum", "dot"])
@pytest.mark.parametrize("chains", CHAINS)
def test_k_accumulators_are_k_scalar_chains(job: str, chains: int, dtype: str):
    assembly, loops = loops_of(f"reduction.{job}_{chains}", dtype)
    assert vector_register(assembly) == "scalar"
    if "xmm" not in assembly:
        pytest.skip("chains are read from the registers of x86")
    assert max(len(accumulators_in(loop)) for loop in loops) == chains


@pytest.mark.parametrize("name", ["sum_simd", "dot_simd", "norm_simd"])
def test_a_free_order_lets_sums_fill_vectors(name: str):
    assert vector_register(loops_of(f"reduction.{name}")[0]) in ("xmm", "ymm", "zmm", "v")


@pytest.mark.parametrize("name", ["sum_1", "norm_1", "dot_1", "sum_kahan"])
def test_a_strict_sum_is_scalar(name: str):
    assert vector_register(loops_of(f"reduction.{name}")[0]) == "scalar"


@pytest.mark.parametrize("dtype", ["f64", "f32"])
def test_a_compensated_sum_is_right_to_two_roundings_where_a_plain_one_is_not(dtype: str):
    plain, kahan = (compiled(kernel_named(f"reduction.{name}"), False) for name in ("sum_1", "sum_kahan"))
    errors = []
    for seed in range(5):
        (x,) = kernel_named("reduction.sum_1").make_arguments(50_000, dtype, np.random.default_rng(seed))
        errors.append([abs(float(call(x)) / fsum(x) - 1) for call in (plain, kahan)])
    plain_error, kahan_error = np.max(errors, axis=0)
    eps = float(np.finfo(NUMPY_TYPES[dtype]).eps)
    assert kahan_error <= eps
    assert plain_error > 8 * eps


def test_reductions_run_on_one_thread_in_the_first_level_cache():
    for known in select(["reduction"]):
        assert not known.parallel
        for n in known.sizes:
            assert known.work_of(n, "f64").footprint_bytes <= 16 * 1024
