"""What the modes and verbs measure, on machines that are not here."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from msgspec.structs import replace
from sample_host import sample_machine

from bench.modes import MODES
from bench.plans import plan_for
from roofline.errors import UnknownName, UsageError
from roofline.kernels.registry import all_kernels
from roofline.measurement.plan import ComputePoint, KernelPoint, MemoryPoint, Plan, SweepPoints

MACHINE = sample_machine()


def planned(mode: str = "all", patterns: tuple[str, ...] = ("*",), **changes: Any) -> Plan:
    """Return the plan of a mode on the sample machine, but for some changes."""
    request: dict[str, Any] = {
        "machine": MACHINE,
        "cpus": (0, 1),
        "threads": (1, 2),
        "dtypes": ("f64", "f32"),
        "isas": ("scalar", "sse2", "avx2", "avx512"),
        "budget_s": None,
        "memory_budget_bytes": 2**30,
    }
    return plan_for(mode, patterns=patterns, **{**request, **changes})


def compute_points(plan: Plan) -> list[ComputePoint]:
    return [point for point in plan.points if isinstance(point, ComputePoint)]


def memory_points(plan: Plan) -> list[MemoryPoint]:
    return [point for point in plan.points if isinstance(point, MemoryPoint)]


def kernel_points(plan: Plan) -> list[KernelPoint]:
    return [point for point in plan.points if isinstance(point, KernelPoint)]


@pytest.mark.parametrize("mode", MODES)
def test_levels_come_first_then_ceilings_then_kernels(mode: str) -> None:
    plan = planned(mode)
    kinds = [
        "levels" if isinstance(p, SweepPoints) else "kernel" if isinstance(p, KernelPoint) else "ceiling"
        for p in plan.points
    ]
    assert list(dict.fromkeys(kinds)) == ["levels", "ceiling", "kernel"]
    assert Counter(type(point) for point in plan.points)[SweepPoints] == 1
    assert (plan.mode, plan.budget_s) == (mode, MODES[mode].budget_s)
    assert plan.memory_budget_bytes == 2**30


@pytest.mark.parametrize("mode", MODES)
def test_no_point_stands_twice_in_one_launch(mode: str) -> None:
    points = [(point.launch, point.name) for point in planned(mode).points]
    assert len(set(points)) == len(points)


@pytest.mark.parametrize(("mode", "launches"), [("quick", 1), ("all", 3), ("ceilings", 3), ("run", 3), ("thorough", 8)])
def test_ceilings_are_measured_in_so_many_launches_and_kernels_in_the_last(mode: str, launches: int) -> None:
    plan = planned(mode)
    assert plan.launches == launches
    assert [point.launch for point in plan.points] == sorted(point.launch for point in plan.points)
    assert {point.launch for point in kernel_points(plan)} == {launches}
    first = {point.name for point in plan.points if point.launch == 1}
    assert {point.name for point in plan.points if not isinstance(point, KernelPoint)} <= first
    for launch in range(1, launches + 1):
        fma = {point.name for point in compute_points(plan) if point.launch == launch and point.op == "fma"}
        assert len(fma) == 4 * 2 * 2


def test_what_blanks_the_memory_comes_last_in_each_launch() -> None:
    plan = planned("thorough")
    for launch in range(1, 9):
        points = [p for p in plan.points if p.launch == launch and isinstance(p, ComputePoint | MemoryPoint)]
        stores = [isinstance(p, MemoryPoint) and p.pattern.endswith("store") for p in points]
        assert any(stores)
        assert stores == sorted(stores)


def test_each_launch_measures_in_an_order_of_its_own_that_the_seed_decides() -> None:
    def order(plan: Plan, launch: int) -> list[str]:
        return [point.name for point in plan.points if point.launch == launch]

    one, same, other = planned("ceilings", (), seed=1), planned("ceilings", (), seed=1), planned("ceilings", (), seed=2)
    assert one == same
    assert set(order(one, 2)) == set(order(one, 3))
    assert order(one, 2) != order(one, 3)
    assert order(one, 3) != order(other, 3)


@pytest.mark.parametrize("mode", MODES)
def test_every_isa_dtype_and_thread_count_gets_its_fma_ceiling(mode: str) -> None:
    plan = planned(mode)
    found = {(point.isa, point.dtype, point.threads) for point in compute_points(plan) if point.op == "fma"}
    assert found == {(isa, dtype, count) for isa in plan.isas for dtype in plan.dtypes for count in plan.threads}


@pytest.mark.parametrize("mode", MODES)
def test_every_level_gets_load_and_triad_for_every_thread_count(mode: str) -> None:
    points = memory_points(planned(mode))
    for level in ("L1", "L2", "L3", "DRAM"):
        for pattern in ("load", "triad"):
            threads = {p.threads for p in points if (p.level, p.pattern, p.isa) == (level, pattern, "avx512")}
            assert threads == {1, 2}, (level, pattern)


@pytest.mark.parametrize("mode", MODES)
def test_non_temporal_stores_are_measured_in_dram_with_vectors_only(mode: str) -> None:
    points = [point for point in memory_points(planned(mode)) if point.pattern.startswith("nt_")]
    assert {point.level for point in points} == {"DRAM"}
    assert "scalar" not in {point.isa for point in points}


def test_the_whole_job_measures_scalar_memory_and_quick_does_not() -> None:
    assert "scalar" in {point.isa for point in memory_points(planned("all"))}
    assert "scalar" not in {point.isa for point in memory_points(planned("quick"))}


def test_a_host_without_vectors_measures_scalar_memory_in_any_mode() -> None:
    assert {point.isa for point in memory_points(planned("quick", isas=("scalar",)))} == {"scalar"}


def test_other_operations_are_measured_at_the_widest_register_only() -> None:
    others = [point for point in compute_points(planned("all")) if point.op != "fma"]
    assert {point.isa for point in others} == {"avx512"}
    assert {point.op for point in others} == {"add", "fma_add"}


def test_a_host_without_fma_has_multiply_and_add_as_its_roof() -> None:
    machine = replace(MACHINE, features=("avx", "sse2"))
    plan = planned("all", machine=machine, isas=("scalar", "sse2", "avx"))
    assert {point.op for point in compute_points(plan)} == {"mul_add"}


def test_an_arm_host_has_fma_without_saying_so() -> None:
    plan = planned("quick", machine=replace(MACHINE, arch="aarch64", features=("neon",)), isas=("scalar", "neon"))
    assert {point.op for point in compute_points(plan)} == {"fma"}


def test_the_whole_job_shows_every_family_and_thorough_runs_every_kernel() -> None:
    whole, thorough = (planned(mode, dtypes=("f64", "f32", "i8")) for mode in ("all", "thorough"))
    families = {known.family for known in all_kernels().values()}
    assert {point.kernel.partition(".")[0] for point in kernel_points(whole)} == families
    assert {point.kernel for point in kernel_points(thorough)} == set(all_kernels())


def test_stream_kernels_run_in_every_level() -> None:
    points = [point for point in kernel_points(planned("all")) if point.kernel == "stream.triad"]
    assert {point.level for point in points} == {"L1", "L2", "L3", "DRAM"}
    assert all(point.n is None for point in points)


def test_matrix_products_run_at_a_size_and_kernels_without_reuse_in_a_level() -> None:
    known = all_kernels()
    for point in kernel_points(planned("all", dtypes=("f64", "f32", "i8"))):
        if known[point.kernel].sizes:
            assert (point.n in known[point.kernel].sizes, point.level) == (True, None)
        elif point.kernel.startswith("gemm."):
            assert (point.n, point.level) == (MODES["all"].gemm_n, None)
        elif point.kernel.startswith(("stream.", "blas.", "gemv.", "quantised.gemv")):  # 2 flop/B in int8, at any n
            assert point.n is None
            assert point.level is not None


def test_ceilings_of_int8_are_measured_alone_or_where_a_kernel_is_of_int8() -> None:
    usual = {"dtypes": ("f64", "f32", "i8"), "machine": replace(MACHINE, features=(*MACHINE.features, "avx512bw"))}

    def found(mode: str, patterns: tuple[str, ...], **changes: Any) -> set[tuple[str, str, int]]:
        points = compute_points(planned(mode, patterns, **{**usual, **changes}))
        return {(point.isa, point.op, point.threads) for point in points if point.dtype == "i8"}

    dots = {(isa, "dot", count) for isa in ("scalar", "sse2", "avx2", "avx512") for count in (1, 2)}
    assert found("ceilings", ()) == found("all", ("*",)) == found("run", ("quantised.gemm_i8",)) == dots
    assert found("run", ("gemm",)) == found("quick", ("*",)) == set()
    assert found("ceilings", (), dtypes=("f64",)) == set()
    without_bytes = found("ceilings", (), machine=MACHINE)  # AVX-512 that has no arithmetic of int8 and int16
    assert without_bytes == {dot for dot in dots if dot[0] != "avx512"}


def test_levels_of_ones_own_are_used_by_one_thread_only() -> None:
    for point in kernel_points(planned("all")):
        if point.level in ("L1", "L2"):
            assert point.threads == 1, point.name
    shared = {(point.level, point.threads) for point in kernel_points(planned("all")) if point.level in ("L3", "DRAM")}
    assert shared >= {("L3", 2), ("DRAM", 2)}


def test_caches_shared_by_hardware_threads_of_one_core_are_its_own() -> None:
    caches = tuple(replace(cache, shared_by=2 * cache.shared_by) for cache in MACHINE.caches)
    machine = replace(MACHINE, caches=caches, hardware_threads=4)
    assert kernel_points(planned("all", machine=machine)) == kernel_points(planned("all"))


def test_named_kernels_run_with_the_ceilings_that_they_need() -> None:
    plan = planned("run", ("gemm.naive", "stream.triad"))
    assert {point.kernel.split(".")[0] for point in kernel_points(plan)} == {"gemm", "stream"}
    assert compute_points(plan)
    assert memory_points(plan)
    assert plan.budget_s == MODES["all"].budget_s


def test_ceilings_alone_have_no_kernels_and_a_smaller_budget() -> None:
    plan = planned("ceilings", ())
    assert kernel_points(plan) == []
    assert {p.name for p in memory_points(plan)} == {p.name for p in memory_points(planned("all"))}
    assert len(memory_points(plan)) > len(memory_points(planned("all")))  # later launches repeat every one of them
    assert 0 < plan.budget_s < MODES["all"].budget_s


def test_quick_measures_less_than_all_and_all_less_than_thorough() -> None:
    quick, whole, thorough = (planned(mode) for mode in ("quick", "all", "thorough"))
    assert quick.weight() < whole.weight() < thorough.weight()
    assert quick.budget_s < whole.budget_s < thorough.budget_s


def test_an_asked_budget_replaces_the_modes_own() -> None:
    assert planned("quick", budget_s=3.5).budget_s == 3.5
    assert planned("ceilings", (), budget_s=3.5).budget_s == 3.5


def test_a_pattern_that_fits_no_kernel_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"unknown kernel 'gemm.naiv'; did you mean 'gemm.naive'"):
        planned("run", ("gemm.naiv",))


def test_a_machine_that_reports_no_caches_is_measured_in_dram() -> None:
    plan = planned("all", machine=replace(MACHINE, caches=(), cores=None, hardware_threads=None))
    assert {point.level for point in memory_points(plan)} == {"DRAM"}
    assert {point.level for point in kernel_points(plan)} == {"DRAM", None}


def test_one_thread_one_dtype_and_one_isa_narrow_everything() -> None:
    plan = planned("all", threads=(1,), dtypes=("f32",), isas=("avx2",))
    assert {(p.isa, p.dtype, p.threads) for p in compute_points(plan)} == {("avx2", "f32", 1)}
    assert {(p.isa, p.threads) for p in memory_points(plan)} == {("avx2", 1)}
    assert {(p.dtype, p.threads) for p in kernel_points(plan)} == {("f32", 1)}


def test_asked_sizes_replace_the_kernels_own_the_modes_and_the_levels() -> None:
    names = ("gemm.naive", "network.blocked_mlp", "stream.triad")
    assert {len(all_kernels()[name].sizes) > 0 for name in names} == {True, False}
    plan = planned("run", names, sizes=(96, 1000))
    found = {(point.kernel, point.n, point.level) for point in kernel_points(plan)}
    assert found == {(name, n, None) for name in names for n in (96, 1000)}


def test_asked_sizes_hold_for_kernels_that_are_shown_once_too() -> None:
    assert {point.n for point in kernel_points(planned("all", sizes=(50, 60)))} == {50, 60}
    mentioned = [point for point in kernel_points(planned("all")) if point.kernel == "network.blocked_mlp"]
    assert [point.n for point in mentioned] == [all_kernels()["network.blocked_mlp"].sizes[-1]]


def test_a_kernel_without_a_serial_form_is_measured_on_several_threads_only() -> None:
    only_all = [name for name, known in all_kernels().items() if not known.serial]
    assert "gemm.parallel" in only_all
    for mode in MODES:
        points = kernel_points(planned(mode, dtypes=("f64", "f32", "i8")))
        assert {point.threads for point in points if point.kernel in only_all} == {2}


def test_a_kernel_without_a_parallel_form_is_measured_on_one_thread_only() -> None:
    only_one = [name for name, known in all_kernels().items() if not known.parallel]
    assert "gemm.register" in only_one
    assert {point.threads for point in kernel_points(planned("run", tuple(only_one)))} == {1}


def test_a_kernel_is_measured_in_the_dtypes_that_it_is_written_for() -> None:
    plan = planned("thorough", dtypes=("f64", "f32", "i8"))
    found: dict[str, set[str]] = {}
    for point in kernel_points(plan):
        found.setdefault(point.kernel, set()).add(point.dtype)
    assert found == {name: set(known.dtypes) for name, known in all_kernels().items()}
    assert {point.dtype for point in kernel_points(planned("thorough", dtypes=("f32",)))} == {"f32"}


@pytest.mark.parametrize(
    ("pattern", "narrowed", "words"),
    [
        ("gemm", {"dtypes": ("i8",)}, "gemm.naive runs in f64, f32"),
        ("gemm.parallel", {"threads": (1,)}, "on two or more threads"),
        ("spectral.naive", {"threads": (2,)}, "on one thread"),
    ],
)
def test_kernels_that_cannot_be_measured_so_are_refused_with_what_they_run_in(
    pattern: str, narrowed: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        planned("run", (pattern,), **narrowed)
