"""The budget of a plan whose kernels were named."""

from __future__ import annotations

import pytest
from test_plans import kernel_points, planned

from bench.modes import MODES


@pytest.mark.parametrize("patterns", [("gemm.naive", "gemm.blocked"), ("stream", "gemv", "gemm"), ("*.*",)])
def test_every_kernel_that_is_named_has_its_share_of_the_budget(patterns: tuple[str, ...]) -> None:
    plan = planned("run", patterns)
    first = plan.points.index(kernel_points(plan)[0])
    sampling_s = (plan.budget_s - plan.overhead_s()) * plan.weight(first) / plan.weight()
    assert sampling_s / len(kernel_points(plan)) >= 0.1999


@pytest.mark.parametrize("patterns", [("gemm.naive", "gemm.blocked"), ("*.*",)])
def test_a_budget_that_was_asked_for_is_kept(patterns: tuple[str, ...]) -> None:
    assert planned("run", patterns, budget_s=3.5).budget_s == 3.5


def test_few_kernels_take_no_longer_than_the_mode_and_its_own_choice_neither() -> None:
    assert planned("run", ("gemm.naive",)).budget_s == MODES["all"].budget_s
    assert planned("thorough").budget_s == MODES["thorough"].budget_s
