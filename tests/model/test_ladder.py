"""Ladders: which rungs make the path, what a step gained, what it crossed and what binds next."""

from __future__ import annotations

import pytest
from ladder_run import gemm, ladder_run, rung
from msgspec.structs import replace

from roofline.errors import UnknownName, UsageError
from roofline.model.ceilings import Ceilings
from roofline.model.ladder import Ladder, ladders_of, steps
from roofline.model.measurement import Measurement
from roofline.model.run import Run


@pytest.fixture(scope="module")
def climbed() -> Run:
    return ladder_run()


def with_only(run: Run, *measurements: Measurement) -> Run:
    return replace(run, measurements=measurements)


def only(run: Run, family: str, **chosen: str | int | None) -> Ladder:
    found = ladders_of(run, family, **chosen)  # type: ignore[arg-type]
    assert len(found) == 1
    return found[0]


def points(ladder: Ladder) -> list[tuple[str, str, int, int]]:
    """Kernel without family, dtype, threads and n of each rung."""
    return [(m.kernel.partition(".")[2], m.dtype, m.threads, m.n) for m in (r.measurement for r in ladder.rungs)]


def test_the_path_is_on_one_thread_and_ends_with_what_exists_on_all_only(climbed: Run) -> None:
    ladder = only(climbed, "gemm")
    assert ladder.foot == "gemm.naive"
    serial = ("naive", "interchanged", "blocked", "packed", "register")
    assert points(ladder) == [*((name, "f64", 1, 1000) for name in serial), ("parallel", "f64", 2, 1000)]


def test_a_library_stands_beside_the_path_on_each_thread_count_of_it(climbed: Run) -> None:
    beside = only(climbed, "gemm").references
    assert [(r.measurement.kernel, r.measurement.threads, r.before and r.before.kernel) for r in beside] == [
        ("gemm.blas", 1, "gemm.register"),
        ("gemm.blas", 2, "gemm.parallel"),
    ]
    assert beside[0].step == pytest.approx(47.4 / 54.1)


def test_the_size_is_the_largest_that_most_kernels_share_or_the_one_that_is_asked_for(climbed: Run) -> None:
    assert {n for *_, n in points(only(climbed, "gemm"))} == {1000}
    larger = only(climbed, "gemm", size=2000)
    assert {n for *_, n in points(larger)} == {2000}
    assert larger.left_out == ("gemm.naive",)


def test_what_is_given_is_kept_to_strictly(climbed: Run) -> None:
    assert {dtype for _, dtype, _, _ in points(only(climbed, "gemm", dtype="f32"))} == {"f32"}
    assert [threads for _, _, threads, _ in points(only(climbed, "gemm", threads=2))] == [2] * 6
    assert only(climbed, "gemm", threads=1).left_out == ("gemm.parallel",)
    assert [name for name, *_ in points(only(climbed, "quantised", dtype="f32"))] == ["gemv_f32", "gemv_w8"]


def test_a_kernel_of_another_dtype_continues_the_path_and_level_stands_for_size(climbed: Run) -> None:
    assert points(only(climbed, "quantised")) == [
        ("gemv_f32", "f32", 1, 4096),
        ("gemv_w8", "f32", 1, 8192),
        ("gemv_i8", "i8", 1, 8192),
    ]


def test_a_family_can_have_several_ladders(climbed: Run) -> None:
    assert [ladder.foot for ladder in ladders_of(climbed, "reduction")] == ["reduction.dot_1", "reduction.sum_1"]


def test_a_step_is_a_ratio_of_the_job_done_and_the_gain_is_that_over_the_first(climbed: Run) -> None:
    rungs = only(climbed, "gemm").rungs
    ratios = (20.4 / 2.68, 24.8 / 20.4, 31 / 24.8, 54.1 / 31, 56.3 * 1.9 / 54.1)
    assert [rung.step for rung in rungs] == [None, *map(pytest.approx, ratios)]
    assert rungs[-1].gain == pytest.approx(56.3 * 1.9 / 2.68)


def test_more_flops_for_the_same_job_raise_neither_the_rate_nor_the_intensity(climbed: Run) -> None:
    kahan = ladders_of(climbed, "reduction")[1].rungs[-1]
    assert kahan.flop_per_s == pytest.approx(0.24e9)
    assert kahan.step == pytest.approx(0.24 / 13.1)
    assert kahan.flop_per_byte == pytest.approx(0.125)


@pytest.mark.parametrize("family", ["gemm", "attention", "reduction"])
def test_a_rung_has_the_rate_and_the_percent_of_roof_that_the_tables_show(climbed: Run, family: str) -> None:
    for ladder in ladders_of(climbed, family):
        for one in ladder.rungs:
            derived = climbed.derived(one.measurement)
            assert derived is not None
            assert (one.flop_per_s, one.percent_of_roof) == (derived.flop_per_s, derived.percent_of_roof)


def test_a_rung_stands_at_the_intensity_of_what_it_moves_itself(climbed: Run) -> None:
    naive, flash = only(climbed, "attention").rungs
    assert naive.measurement.work == flash.measurement.work
    assert naive.flop_per_byte == naive.measurement.own_work.flop_per_byte < flash.flop_per_byte / 30


def test_the_ceilings_between_two_rungs_are_crossed_lowest_first(climbed: Run) -> None:
    crossed = [[ceiling.name for ceiling in rung.crossed] for rung in only(climbed, "gemm").rungs]
    assert crossed[:5] == [[], ["scalar fma f64 ×1"], [], ["sse2 fma f64 ×1"], []]
    assert sorted(crossed[5]) == ["avx2 fma f64 ×1", "avx512 fma f64 ×1", "sse2 fma f64 ×2"]
    in_l1 = [ceiling.name for ceiling in ladders_of(climbed, "reduction")[0].rungs[2].crossed]
    assert in_l1 == ["L3 load avx512 ×1", "scalar fma f64 ×1", "L2 load avx512 ×1"]


def test_what_binds_next_is_the_lowest_ceiling_above_for_code_of_its_width(climbed: Run) -> None:
    names = [rung.binds and rung.binds.name for rung in only(climbed, "gemm").rungs]
    assert names == ["scalar fma f64 ×1", *["avx512 fma f64 ×1"] * 4, "avx512 fma f64 ×2"]
    scalar, _, wide, _ = ladders_of(climbed, "reduction")[0].rungs
    assert scalar.binds is not None and scalar.binds.name == "L1 load scalar ×1"
    assert wide.binds is not None and wide.binds.name == "L1 load avx512 ×1"


def test_narrow_code_that_has_passed_its_own_roof_is_bound_by_the_next(climbed: Run) -> None:
    foot = rung("gemm.naive", 2e9, register="xmm")
    run = with_only(climbed, foot, rung("gemm.better", 29.9e9, improves="gemm.naive", register="xmm"))
    assert [r.binds and r.binds.isa for r in only(run, "gemm").rungs] == [
        "sse2",
        "avx512",
    ]  # avx2 is as high as the roof


def test_a_rung_at_its_roof_is_bound_by_that(climbed: Run) -> None:
    run = with_only(climbed, rung("gemm.naive", 2e9), rung("gemm.better", 59.5e9, improves="gemm.naive"))
    last = only(run, "gemm").rungs[-1]
    assert last.binds is not None and last.binds == last.roof.compute
    assert last.limit_flop_per_s is not None and last.flop_per_s > last.limit_flop_per_s


def test_without_ceilings_there_is_a_path_and_nothing_that_binds(climbed: Run) -> None:
    ladder = only(replace(climbed, ceilings=Ceilings()), "gemm")
    assert len(ladder.rungs) == 6
    assert all(rung.binds is None and rung.crossed == () for rung in ladder.rungs)


def test_only_what_may_be_drawn_is_a_rung(climbed: Run) -> None:
    bad = rung("gemm.bad", 1e9, improves="gemm.naive", status="invalid")
    ladder = only(with_only(climbed, *gemm(1000, "f64", 1.0), bad), "gemm")
    assert "bad" not in [name for name, *_ in points(ladder)]
    assert ladder.left_out == ("gemm.bad",)


def test_an_improvement_of_an_improvement_stands_on_the_same_ladder(climbed: Run) -> None:
    run = with_only(
        climbed, rung("a.one", 1e9), rung("a.two", 2e9, improves="a.one"), rung("a.three", 3e9, improves="a.two")
    )
    assert [name for name, *_ in points(only(run, "a"))] == ["one", "two", "three"]


def test_kernels_that_improve_each_other_in_a_circle_do_not_hang(climbed: Run) -> None:
    run = with_only(climbed, rung("a.one", 1e9, improves="a.two"), rung("a.two", 2e9, improves="a.one"))
    assert len(steps(run)) == 2


def test_what_is_not_there_is_refused_with_what_there_is(climbed: Run) -> None:
    with pytest.raises(UnknownName, match=r"unknown family 'gem'; did you mean 'gemm'.*attention, conv"):
        ladders_of(climbed, "gem")
    with pytest.raises(UnknownName, match=r"unknown dtype 'i8' \(known: f32, f64\)"):
        ladders_of(climbed, "gemm", dtype="i8")
    with pytest.raises(UsageError, match="at n = 7; what it holds has n = 248, 1000, 2000"):
        ladders_of(climbed, "gemm", size=7)
    with pytest.raises(UsageError, match=r"holds no kernels; measure a family: python -m bench run gemm"):
        ladders_of(replace(climbed, measurements=()), "gemm")
    refused = tuple(replace(m, status="above_roof") for m in climbed.measurements)
    with pytest.raises(
        UsageError, match=r"without a number that can be drawn: gemm\.naive n=\d+ f64 ×1 is above_roof, "
    ):
        ladders_of(replace(climbed, measurements=refused), "gemm")


def test_a_family_of_one_rung_and_one_of_different_jobs_say_so(climbed: Run) -> None:
    with pytest.raises(UsageError, match=r"only conv.naive of conv, and a ladder has at least two rungs"):
        ladders_of(climbed, "conv")
    with pytest.raises(UsageError, match="does not say which kernel of stream improves which"):
        ladders_of(climbed, "stream")


def test_steps_compare_the_same_size_dtype_and_threads_and_leave_libraries_out(climbed: Run) -> None:
    found = {(m.kernel, m.n, m.dtype, m.threads): s for m, s in zip(climbed.measurements, steps(climbed), strict=True)}
    assert found["gemm.naive", 1000, "f64", 1] is None
    assert found["gemm.interchanged", 1000, "f64", 2] == pytest.approx(20.4 / 2.68)
    assert found["gemm.interchanged", 2000, "f64", 1] is None
    assert found["gemm.blas", 1000, "f64", 1] is None
    assert found["gemm.parallel", 1000, "f64", 2] == pytest.approx(56.3 / 54.1)
    assert found["quantised.gemv_w8", 8192, "f32", 1] is None
    assert found["quantised.gemv_i8", 8192, "i8", 1] is None
    assert found["stream.add", 1024, "f64", 1] is None
