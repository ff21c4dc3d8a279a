from __future__ import annotations

import platform
import re

import numpy as np
import pytest

from roofline.codegen.assembly import assembly_of
from roofline.codegen.reading import innermost_loops
from roofline.kernels.compile import compiled
from roofline.kernels.kernel import Kernel
from roofline.kernels.particles import estimated, naive, refined, vectorised

RUNGS = [naive, vectorised, estimated, refined]
on_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="LLVM estimates roots unasked on x86-64 only")
every_rung = pytest.mark.parametrize("known", RUNGS, ids=lambda known: known.name)


def called(known: Kernel, a, r, m, softening):
    compiled(known, parallel=False)(a, r, m, softening)
    return a


def exact_roots_in_loops(known: Kernel, dtype: str) -> int:
    """Return how many packed roots and divisions the innermost loops of a kernel hold."""
    call = compiled(known, parallel=False)
    arguments = known.make_arguments(8, dtype, np.random.default_rng(3))
    call(*arguments)
    wanted = next(signature for signature in call.overloads if dtype[1:] in str(signature[0]))  # type: ignore[attr-defined]
    loops = innermost_loops(assembly_of(call, wanted))
    return sum(bool(re.match(r"v?(sqrt|div)p", line.mnemonic)) for loop in loops for line in loop)


@every_rung
def test_two_bodies_attract_one_another_along_their_line(known: Kernel):
    r = np.array([[1.0, 3.0], [1.0, 1.0], [2.0, 2.0]])
    a = called(known, np.full((3, 2), np.nan), r, np.array([5.0, 7.0]), 0.25)
    pull = 2 / 4.25**1.5
    np.testing.assert_allclose(a, [[7 * pull, -5 * pull], [0, 0], [0, 0]], rtol=1e-14)


@every_rung
def test_a_body_does_not_pull_itself(known: Kernel):
    a = called(known, np.full((3, 1), np.nan), np.ones((3, 1)), np.ones(1), 0.01)
    assert np.array_equal(a, np.zeros((3, 1)))


@every_rung
def test_forces_sum_to_zero(known: Kernel):
    arguments = known.make_arguments(100, "f64", np.random.default_rng(4))
    a = called(known, *arguments)
    assert np.abs(a @ arguments[2]).max() <= 1e-12 * np.abs(a).max() * 100


def test_the_refined_root_is_as_good_as_an_exact_one():
    arguments = naive.make_arguments(100, "f64", np.random.default_rng(5))
    exact = called(vectorised, *arguments).copy()
    error = np.abs(called(refined, *arguments) - exact).max() / np.abs(exact).max()
    assert error <= 16 * np.finfo("f8").eps


@on_x86
def test_only_what_may_approximate_is_rid_of_roots_and_divisions():
    assert exact_roots_in_loops(vectorised, "f32") > 0
    assert exact_roots_in_loops(estimated, "f32") == 0
    assert exact_roots_in_loops(estimated, "f64") > 0
    assert exact_roots_in_loops(refined, "f64") == 0
