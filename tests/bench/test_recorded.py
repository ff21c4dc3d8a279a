"""What a run file says of its plan."""

from __future__ import annotations

from bench.recorded import recorded
from roofline.measurement.plan import ComputePoint, KernelPoint, MemoryPoint, Plan, SweepPoints


def test_a_run_file_says_which_ceilings_every_launch_measures() -> None:
    arithmetic = [ComputePoint(isa="avx2", dtype="f64", op="fma", threads=1, launch=launch) for launch in (1, 2)]
    once = MemoryPoint(level="L1", pattern="load", isa="scalar", threads=1)
    kernel = KernelPoint(kernel="stream.triad", dtype="f64", threads=1, level="L1", launch=2)
    plan = Plan(
        mode="run",
        budget_s=1.0,
        threads=(1,),
        cpus=(0,),
        dtypes=("f64",),
        isas=("scalar", "avx2"),
        points=(SweepPoints(), arithmetic[0], once, arithmetic[1], kernel),
    )
    document = recorded(plan, ("stream.triad",), ())
    assert document["again"] == ["avx2 fma f64 ×1"]
    assert document["launches"] == 2
    assert document["points"] == [SweepPoints().name, "avx2 fma f64 ×1", "L1 load scalar ×1", kernel.name]
