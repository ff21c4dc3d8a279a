"""What several launches say together."""

from __future__ import annotations

import pytest
from ceilings_of import compute, launch, memory
from msgspec.structs import replace

from roofline.model.ceilings import Ceilings
from roofline.model.launch import (
    Launch,
    burst_per_s,
    caveats_of,
    clock_hz_of,
    interval_per_s,
    invalid_of,
    per_cycle_of,
    sound,
    spread_of,
    sustained_per_s,
)


def test_the_best_counts_inside_a_launch_and_the_median_between_launches() -> None:
    launches = [launch(90.0, 100.0, 80.0), launch(70.0, 60.0, 50.0), launch(99.0, 20.0, 10.0)]
    assert burst_per_s(launches) == pytest.approx(99.0)
    assert sustained_per_s(launches) == pytest.approx(60.0)


def test_the_best_over_all_launches_would_grow_with_their_number_and_the_median_does_not() -> None:
    ordinary = [launch(100.0, 99.0, 98.0)] * 4
    assert burst_per_s([*ordinary, launch(150.0, 99.0, 98.0)]) == burst_per_s(ordinary)


def test_an_interval_needs_six_launches_and_is_exact_then() -> None:
    bests = [104.0, 101.0, 103.0, 100.0, 102.0, 105.0]
    launches = [launch(best, best - 1, best - 2) for best in bests]
    assert interval_per_s(launches[:5]) is None
    assert interval_per_s(launches) == pytest.approx((100.0, 105.0))


def test_without_samples_there_is_no_number_and_no_failure() -> None:
    assert (burst_per_s([]), sustained_per_s([]), spread_of([]), clock_hz_of([])) == (0.0, 0.0, 0.0, 0.0)


def test_a_rate_per_cycle_comes_from_the_best_samples_only() -> None:
    one = Launch(
        amount=1,
        samples_s=tuple(1 / rate for rate in (100.0, 400.0, 390.0, 200.0, 150.0, 120.0)),
        clock_samples_hz=(9.0, 2.0, 2.0, 7.0, 8.0, 9.0),
    )
    assert clock_hz_of([one]) == 2.0
    assert per_cycle_of([one], 1) == pytest.approx(195)
    assert per_cycle_of([one], 2) == pytest.approx(97.5)


def test_one_disturbed_clock_is_not_the_clock_held_even_beside_the_best_of_few_samples() -> None:
    one = Launch(
        amount=1,
        samples_s=tuple(1 / rate for rate in (100.0, 101.0, 99.0, 98.0, 97.0)),
        clock_samples_hz=(3.69, 1.25, 3.69, 3.69, 3.69),
    )
    assert clock_hz_of([one]) == 3.69
    assert per_cycle_of([one], 1) == pytest.approx(100 / 3.69)


@pytest.mark.canary("LAUNCHES")
def test_launches_that_lie_apart_degrade_their_ceiling() -> None:
    ceiling = replace(compute(100e9), launches=(launch(100e9), launch(104e9), launch(100e9))).rederived()
    assert ceiling.caveats == ("LAUNCHES",)
    assert ceiling.status == "degraded"
    assert ceiling.flop_per_s == pytest.approx(100e9)


@pytest.mark.twin("LAUNCHES")
def test_launches_that_agree_leave_their_ceiling_sound() -> None:
    ceiling = replace(compute(100e9), launches=(launch(100e9), launch(102e9), launch(100e9))).rederived()
    assert (ceiling.caveats, ceiling.status) == ((), "ok")


def test_what_degrades_one_launch_of_three_does_not_degrade_the_ceiling() -> None:
    lonely = replace(launch(100.0), caveats=("NO_FLAT_TOP",))
    assert caveats_of([lonely, launch(100.0), launch(100.0)]) == ()
    assert caveats_of([lonely, lonely, launch(100.0)]) == ("NO_FLAT_TOP",)
    assert caveats_of([lonely]) == ("NO_FLAT_TOP",)


def test_an_invalid_launch_does_not_count_beside_sound_ones_and_makes_the_ceiling_worthless_alone() -> None:
    stopped = replace(launch(900.0), invalid=("THROTTLE",))
    assert list(sound([stopped, launch(100.0)])) == [launch(100.0)]
    assert burst_per_s([stopped, launch(100.0)]) == pytest.approx(100.0)
    assert invalid_of([stopped, launch(100.0)]) == ()
    alone = replace(memory(900.0), launches=(stopped,)).rederived()
    assert (alone.status, alone.is_roof, alone.invalid) == ("invalid", False, ("THROTTLE",))
    assert Ceilings(memory=(alone,)).best_memory("DRAM", 1) is None


@pytest.mark.canary("RAISED")
def test_a_raised_ceiling_is_what_its_last_launch_measured() -> None:
    known = Ceilings(compute=(compute(100e9),))
    raised = known.with_launch(replace(compute(120e9), raised_by="gemm.register")).compute[0]
    assert (raised.flop_per_s, len(raised.launches)) == (pytest.approx(120e9), 2)
    assert raised.caveats == ("LAUNCHES", "RAISED")


@pytest.mark.twin("RAISED")
def test_a_later_launch_joins_the_earlier_ones() -> None:
    known = Ceilings(compute=(compute(100e9),))
    grown = known.with_launch(compute(102e9)).with_launch(compute(101e9))
    (ceiling,) = grown.compute
    assert (ceiling.flop_per_s, len(ceiling.launches), ceiling.caveats) == (pytest.approx(101e9), 3, ())


def test_a_ceiling_that_was_raised_keeps_all_its_launches_and_the_highest_raise_stays_the_last() -> None:
    known = Ceilings(compute=(compute(100e9),))
    raised = known.with_launch(replace(compute(120e9), raised_by="gemm.register"))
    (again,) = raised.with_launch(compute(101e9)).compute
    assert [launch.best_per_s / 1e9 for launch in again.launches] == pytest.approx([100, 101, 120])
    assert (again.flop_per_s, again.raised_by) == (pytest.approx(120e9), "gemm.register")
    (more,) = raised.with_launch(replace(compute(125e9), raised_by="gemm.parallel")).compute
    assert [launch.best_per_s / 1e9 for launch in more.launches] == pytest.approx([100, 120, 125])
    assert (more.flop_per_s, more.raised_by) == (pytest.approx(125e9), "gemm.parallel")


def test_ceilings_stand_in_the_order_of_the_tables_whatever_order_they_were_measured_in() -> None:
    measured = [
        memory(1e9, level="DRAM", pattern="nt_copy"),
        compute(1e9, isa="avx512", dtype="f32"),
        memory(1e9, level="L1", pattern="copy", threads=2),
        compute(1e9, isa="scalar"),
        memory(1e9, level="L1", pattern="load"),
        compute(1e9, isa="avx512"),
        memory(1e9, level="L1", pattern="copy"),
    ]
    ceilings = Ceilings()
    for ceiling in measured:
        ceilings = ceilings.with_ceiling(ceiling)
    assert [ceiling.name for ceiling in ceilings.all] == [
        "scalar fma f64 ×1",
        "avx512 fma f64 ×1",
        "avx512 fma f32 ×1",
        "L1 load avx2 ×1",
        "L1 copy avx2 ×1",
        "L1 copy avx2 ×2",
        "DRAM nt_copy avx2 ×1",
    ]
