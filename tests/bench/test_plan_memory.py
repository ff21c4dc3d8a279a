"""A request whose data cannot fit is refused before anything is measured."""

from __future__ import annotations

import pytest
from sample_host import sample_machine

from bench.plans import plan_for
from roofline.errors import UsageError
from roofline.measurement.plan import KernelPoint, Plan


def planned(sizes: tuple[int, ...], memory_budget_bytes: int | None = 2**30) -> Plan:
    return plan_for(
        "run",
        machine=sample_machine(),
        cpus=(0, 1),
        threads=(1, 2),
        dtypes=("f64", "f32"),
        isas=("scalar", "avx2"),
        patterns=("gemm",),
        sizes=sizes,
        budget_s=None,
        memory_budget_bytes=memory_budget_bytes,
    )


def test_what_cannot_fit_is_refused_with_the_least_that_it_takes() -> None:
    with pytest.raises(
        UsageError, match=r"gemm\.naive at n = 100000 in f32 takes 224 GiB .* 1 GiB may be used; choose"
    ):
        planned((10**5, 10**6))


@pytest.mark.parametrize(("sizes", "budget_bytes"), [((64, 10**6), 2**30), ((10**6,), None)])
def test_what_fits_in_part_or_may_fit_is_planned(sizes: tuple[int, ...], budget_bytes: int | None) -> None:
    assert any(isinstance(point, KernelPoint) for point in planned(sizes, budget_bytes).points)
