"""How much faster, and whether two runs can tell."""

from __future__ import annotations

from math import exp, log
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from two_runs import CEILING, one_kernel_run, two_runs

from roofline.compare.change import MARGIN, SAME_CODE, VERDICTS, change_of, ratio_of, verdict_of
from roofline.errors import NotComparable
from roofline.model.ceilings import Ceilings
from roofline.model.measurement import Measurement
from roofline.model.run import Run
from roofline.model.statistics import interval_of_median

MIRRORED = {"faster": "slower", "slower": "faster", "same": "same", "inconclusive": "inconclusive"}
SIDES = st.tuples(st.integers(0, 2**32), st.sampled_from((1.0, 0.5, 0.8, 0.95, 1.004)), st.integers(6, 30))


def changed(before: Run, after: Run, **options: object) -> object:
    return change_of(before.measurements[0], after.measurements[0], before, after, **options)


def of(run: Run, **fields: object) -> Run:
    """Return the run with other fields in its only measurement."""
    return replace(run, measurements=(replace(run.measurements[0], **fields),))


@given(SIDES, st.booleans())
@settings(max_examples=60, deadline=None)
def test_swapping_the_sides_mirrors_the_verdict_and_inverts_the_ratio(
    side: tuple[int, float, int], paired: bool
) -> None:
    seed, time, samples = side
    before, after = two_runs(seed, time=time, samples=samples, paired=paired)
    there, back = changed(before, after), changed(after, before)
    assert back.verdict == MIRRORED[there.verdict]
    assert back.speedup == pytest.approx(1 / there.speedup)
    assert back.interval == pytest.approx((1 / there.interval[1], 1 / there.interval[0]))
    assert back.smallest_effect == pytest.approx(there.smallest_effect)
    assert there.basis == back.basis == ("percent of roof" if paired else "time")


@given(SIDES, st.floats(0.1, 10))
@settings(max_examples=60, deadline=None)
def test_a_side_that_takes_times_as_long_moves_the_ratio_and_its_interval_by_that(
    side: tuple[int, float, int], factor: float
) -> None:
    seed, time, samples = side
    before, after = two_runs(seed, time=time, samples=samples)
    slower = of(after, samples_s=tuple(factor * sample_s for sample_s in after.measurements[0].samples_s))
    first, second = changed(before, after), changed(before, slower)
    assert second.speedup == pytest.approx(first.speedup / factor)
    assert second.interval == pytest.approx(tuple(end / factor for end in first.interval))
    assert second.time.speedup == pytest.approx(first.time.speedup / factor)


@given(SIDES, st.booleans())
@settings(max_examples=60, deadline=None)
def test_identical_runs_are_never_faster_or_slower(side: tuple[int, float, int], paired: bool) -> None:
    run, _ = two_runs(side[0], samples=side[2], paired=paired)
    change = changed(run, replace(run, id="20261104-101500-ffff"))
    assert change.verdict in ("same", "inconclusive")
    assert change.speedup == pytest.approx(1)
    assert change.interval[0] <= 1 <= change.interval[1]


@given(st.floats(0.2, 5), st.floats(1, 3), st.floats(1, 3), st.floats(0.01, 1))
def test_a_verdict_is_one_of_four_and_never_of_what_lies_within_the_margin(
    middle: float, below: float, above: float, within: float
) -> None:
    low, high = middle / below, middle * above
    verdict = verdict_of((low, high), within)
    assert verdict in VERDICTS
    assert verdict_of((1 / high, 1 / low), within) == MIRRORED[verdict] or {low, high} & {1 + MARGIN, 1 / (1 + MARGIN)}
    if low <= 1 + MARGIN and high >= 1 / (1 + MARGIN):
        assert verdict in ("same", "inconclusive")


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        ((1.011, 1.012), "faster"),
        ((1.001, 1.004), "same"),
        ((1.009, 1.03), "same"),
        ((0.98, 0.989), "slower"),
        ((0.94, 1.04), "inconclusive"),
        ((0.5, 2.0), "inconclusive"),
    ],
)
def test_the_interval_decides(interval: tuple[float, float], verdict: str) -> None:
    assert verdict_of(interval) == verdict
    assert verdict_of((0.94, 1.04), within=0.10) == "same"


def test_both_sides_cover_together_what_is_claimed() -> None:
    rng = Random(1)
    before, after = ([exp(rng.gauss(0, 0.1)) for _ in range(20)] for _ in range(2))
    ratio = ratio_of(before, after, 0.0)
    low, high = interval_of_median(before, 0.95**0.5), interval_of_median(after, 0.95**0.5)
    assert ratio.inside == ratio.interval == pytest.approx((high[0] / low[1], high[1] / low[0]))
    assert ratio.confidence == pytest.approx(0.95)


def test_launches_widen_the_interval_as_an_independent_error() -> None:
    rates = [1.0] * 4 + [0.97, 1.03, 0.96, 1.04]
    inside, widened = ratio_of(rates, rates, 0.0).interval, ratio_of(rates, rates, 0.04).interval
    assert log(widened[1]) ** 2 == pytest.approx(log(inside[1]) ** 2 + 0.04**2)
    assert widened[0] == pytest.approx(1 / widened[1])


def test_six_samples_a_side_are_the_fewest_and_say_what_they_cover() -> None:
    before, after = two_runs(1, time=0.5, samples=6)
    assert changed(before, after).verdict == "faster"
    assert changed(before, after).paired.confidence == pytest.approx((1 - 2**-5) ** 2)
    few = of(after, samples_s=after.measurements[0].samples_s[:5], roof_samples=after.measurements[0].roof_samples[:6])
    change = changed(before, few)
    assert (change.verdict, change.interval, change.smallest_effect) == ("inconclusive", None, None)
    assert change.reason == "6 and 5 samples, 6 needed"
    assert change.speedup == pytest.approx(2, rel=0.1)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"status": "invalid", "status_codes": ("TIMER",)}, "after: invalid (TIMER)"),
        ({"status": "above_roof", "status_codes": ("NOISY",)}, "after: above_roof (NOISY)"),
        ({"status": "failed", "samples_s": (), "roof_samples": ()}, "after: failed"),
    ],
)
def test_only_numbers_that_may_be_compared_get_a_verdict(fields: dict[str, object], reason: str) -> None:
    before, after = two_runs(1, time=0.5)
    change = changed(before, of(after, **fields))
    assert (change.verdict, change.reason) == ("inconclusive", reason)


def test_other_ceilings_leave_only_raw_times_to_go_by() -> None:
    before, after = two_runs(1, time=0.5)
    change = changed(before, of(after, ceiling="scalar fma f64 ×1"))
    assert (change.basis, change.paired) == ("time", None)
    assert change.time.speedup == change.speedup == pytest.approx(2, rel=0.1)


def test_a_slower_clock_is_no_slower_kernel_where_it_is_paired() -> None:
    before, after = two_runs(1, clock=0.8)
    change = changed(before, after)
    assert change.basis == "percent of roof"
    assert change.verdict == "same"
    assert change.speedup == pytest.approx(1, abs=0.02)
    assert change.time.speedup == pytest.approx(0.8, abs=0.03)
    assert changed(*two_runs(1, clock=0.8, paired=False)).verdict != "slower"  # the ceilings slowed as much


def test_launches_of_the_ceiling_that_differ_hide_a_small_change() -> None:
    quiet = changed(*two_runs(3, time=0.9, launch_spread=0.002))
    noisy = changed(*two_runs(3, time=0.9, launch_spread=0.08))
    assert quiet.verdict == "faster"
    assert noisy.verdict == "inconclusive"
    assert quiet.paired.launch_noise < 0.02 < 0.10 < noisy.paired.launch_noise
    assert quiet.smallest_effect < 0.1 < noisy.smallest_effect


def test_a_clock_that_floats_between_launches_widens_raw_times_only() -> None:
    """Each launch ran at another clock, and so did its ceiling."""
    runs = []
    for run in two_runs(3, launch_spread=0.0):
        (ceiling,) = run.ceilings.compute
        floating = tuple(
            replace(
                launch,
                samples_s=tuple(sample_s / clock for sample_s in launch.samples_s),
                clock_samples_hz=tuple(clock * hz for hz in launch.clock_samples_hz),
            )
            for launch, clock in zip(ceiling.launches, (0.8, 1.0, 1.2), strict=True)
        )
        runs.append(replace(run, ceilings=Ceilings(compute=(replace(ceiling, launches=floating),))))
    change = changed(*runs)
    assert change.paired.launch_noise < 0.02
    assert change.time.launch_noise > 0.3


def test_a_roof_beside_the_kernel_unlike_the_archived_one_hides_a_small_change() -> None:
    before, after = two_runs(3, time=0.9, launch_spread=0.002)
    roof = tuple(0.7 * rate for rate in after.measurements[0].roof_samples)
    samples_s = tuple(sample_s / 0.7 for sample_s in after.measurements[0].samples_s)
    assert changed(before, of(after, roof_samples=roof, samples_s=samples_s)).verdict == "inconclusive"


def test_the_same_machine_code_is_never_faster() -> None:
    before, after = (of(run, assembly_digest="0123456789abcdef") for run in two_runs(1, time=0.5))
    change = changed(before, after)
    assert (change.verdict, change.reason, change.same_code) == ("inconclusive", SAME_CODE, True)
    assert changed(before, after, across=True).verdict == "faster"
    other = changed(before, of(after, assembly_digest="0123456789abcdee"))
    assert (other.verdict, other.same_code) == ("faster", False)
    tiled = changed(before, of(after, tiles={"tile": 64}))
    assert (tiled.verdict, tiled.same_code) == ("faster", False)
    assert changed(*two_runs(1)).same_code is None


def test_the_source_is_told_apart() -> None:
    before, after = two_runs(1)
    assert changed(before, after).source == "same source"
    assert changed(before, of(after, digest="ffff")).source == "code changed"
    assert changed(before, of(after, digest="")).source == ""


def test_other_declared_work_is_refused_unless_percent_of_roof_is_asked_for() -> None:
    before, after = two_runs(1)
    work = replace(after.measurements[0].work, flops=3 * after.measurements[0].work.flops)
    with pytest.raises(NotComparable, match=r"its declared work is 2000000 flops before and 6000000 after"):
        changed(before, of(after, work=work))
    change = changed(before, of(after, work=work), across=True)
    assert change.basis == "percent of roof"
    assert change.time is None
    assert change.speedup == pytest.approx(3, rel=0.05)


def test_across_goes_by_percent_of_the_roof_alone() -> None:
    """Everything, ceilings too, runs at half the speed: in time that is slower, at the roof it is the same."""
    before, after = two_runs(1, clock=0.5)
    change = changed(before, after, across=True)
    assert change.speedup == pytest.approx(1, abs=0.05)
    assert change.time is None
    roofless = replace(after, ceilings=Ceilings())
    nothing = changed(before, roofless, across=True)
    assert (nothing.verdict, nothing.basis, nothing.speedup) == ("inconclusive", "percent of roof", None)
    assert nothing.reason == "no roof to compare with"


def test_nothing_known_of_launches_is_not_taken_for_quiet() -> None:
    before, after = (of(replace(run, ceilings=Ceilings()), roof_samples=()) for run in two_runs(1, time=0.95))
    assert before.measurements[0].ceiling == CEILING
    change = changed(before, after)
    assert change.verdict == "inconclusive"
    assert change.time.launch_noise > 0.08


def test_false_alarms_are_rare_and_changes_of_a_fifth_are_found() -> None:
    """Kernel and ceiling share a standard deviation between launches, and have samples that only ever get slower."""
    alarms = dict.fromkeys((True, False), 0)
    found = dict(alarms)
    trials = 150
    for paired in alarms:
        for seed in range(trials):
            same = changed(*two_runs(seed, paired=paired, kernel_spread=0.01, launch_spread=0.01))
            moved = changed(*two_runs(seed, time=1 / 1.2, paired=paired, kernel_spread=0.01, launch_spread=0.01))
            alarms[paired] += same.verdict in ("faster", "slower")
            found[paired] += moved.verdict == "faster"
    assert all(count <= 0.03 * trials for count in alarms.values()), alarms
    assert all(count >= 0.95 * trials for count in found.values()), found


def test_the_simulated_noise_between_launches_does_fool_samples_alone() -> None:
    """Without the widening the test above would fail: it shows something."""
    runs = [two_runs(seed, kernel_spread=0.02, launch_spread=0.02) for seed in range(100)]
    alone = [verdict_of(changed(*pair).paired.inside) for pair in runs]
    assert sum(verdict in ("faster", "slower") for verdict in alone) > 20
    assert sum(changed(*pair).verdict in ("faster", "slower") for pair in runs) <= 5


def test_one_kernel_run_is_what_these_tests_think(run: Run) -> None:
    measurement: Measurement = one_kernel_run(Random(1), "20261104-101500-a1b2").measurements[0]
    assert measurement.drawable
    assert measurement.ceiling == CEILING
