"""Names, code and weights of points."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from roofline.measurement.plan import (
    WEIGHTS,
    ComputePoint,
    KernelPoint,
    MemoryPoint,
    Plan,
    Point,
    SweepPoints,
    points_by_source,
)

SWEEP = SweepPoints()
FMA = ComputePoint(isa="avx512", dtype="f64", op="fma", threads=1)
LOAD = MemoryPoint(level="L1", pattern="load", isa="avx2", threads=2)
GEMM = KernelPoint(kernel="gemm.naive", dtype="f32", threads=2, n=384)
TRIAD = KernelPoint(kernel="stream.triad", dtype="f64", threads=1, level="DRAM")


def plan_of(*points: Point) -> Plan:
    """Return a plan of these points."""
    return Plan(mode="all", budget_s=10, threads=(1,), cpus=(), dtypes=("f64",), isas=("scalar",), points=points)


@pytest.mark.parametrize(
    ("point", "name", "code"),
    [
        (FMA, "avx512 fma f64 ×1", "avx512 fma f64"),
        (LOAD, "L1 load avx2 ×2", "avx2 load"),
        (GEMM, "gemm.naive n=384 f32 ×2", "gemm.naive f32 parallel"),
        (TRIAD, "stream.triad in DRAM f64 ×1", "stream.triad f64 serial"),
        (SWEEP, "working sets: which memory levels there are", "sweep"),
    ],
)
def test_a_point_is_named_in_words_and_names_its_code(point: Point, name: str, code: str) -> None:
    assert point.name == name
    assert point.code == code


def test_code_does_not_depend_on_what_is_not_compiled_in() -> None:
    one, two = (ComputePoint(isa="avx2", dtype="f64", op="fma", threads=threads) for threads in (1, 2))
    assert one.code == two.code
    near, far = (MemoryPoint(level=level, pattern="load", isa="avx2", threads=1) for level in ("L1", "DRAM"))
    assert near.code == far.code


def test_versions_of_one_function_stand_together_once_each_and_only_those_asked_for() -> None:
    serial = replace(GEMM, threads=1)
    elsewhere = replace(LOAD, level="DRAM")
    plan = plan_of(SWEEP, FMA, LOAD, elsewhere, GEMM, TRIAD, serial)
    wanted = [point.code for point in (SWEEP, LOAD, GEMM, serial, TRIAD)]
    assert points_by_source(plan, wanted) == [[SWEEP, LOAD], [GEMM, serial], [TRIAD]]


def test_every_kind_of_point_has_a_weight() -> None:
    assert {type(point) for point in (SWEEP, FMA, LOAD, GEMM)} == set(WEIGHTS)
    assert min(WEIGHTS.values()) > 0


def test_the_weight_of_a_plan_is_that_of_its_points_from_one_on() -> None:
    plan = plan_of(SWEEP, FMA, LOAD, GEMM, TRIAD)
    weights = [WEIGHTS[type(point)] for point in plan.points]
    assert plan.weight() == sum(weights)
    assert plan.weight(1) == sum(weights[1:])
    assert plan.weight(4) == weights[4]
    assert plan.weight(5) == 0
