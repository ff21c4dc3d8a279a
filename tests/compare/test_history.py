"""What became of every point from run to run."""

from __future__ import annotations

from random import Random

import pytest
from gated_run import FLOPS, point, run_of, samples
from msgspec.structs import replace

from roofline.compare.history import history_of
from roofline.compare.rule import parse_points
from roofline.errors import UnknownName, UsageError
from roofline.model.run import Run


def runs_of(*times_s: float) -> list[Run]:
    """Return a run for each time of its one kernel."""
    return [run_of(point(call_s=time_s), minute=minute) for minute, time_s in enumerate(times_s)]


def noisy(seed: int, *parts: tuple[int, float]) -> list[Run]:
    """Return runs in parts of so many, around so many milliseconds."""
    rng = Random(seed)
    return runs_of(*(1e-3 * time_ms * rng.gauss(1, 0.01) for count, time_ms in parts for _ in range(count)))


def test_one_run_is_a_history_without_trend_or_change() -> None:
    history = history_of(runs_of(1e-3), "gflops")
    (moment,) = history.moments
    (series,) = history.series
    assert (moment.run, moment.differences) == ("20261104-100000-a1b2", ())
    assert (series.name, series.trend, series.shifts) == ("toy.slow n=100 f64 ×1", None, ())
    (sighting,) = series.sightings
    assert sighting.value == pytest.approx(FLOPS / 1.035e-3 / 1e9)
    assert sighting.interval == pytest.approx((FLOPS / 1.07e-3 / 1e9, FLOPS / 1e-3 / 1e9))


def test_runs_are_told_oldest_first_whatever_their_order() -> None:
    runs = runs_of(1e-3, 2e-3, 3e-3)
    history = history_of([runs[2], runs[0], runs[1]], "time_ms")
    assert [moment.run for moment in history.moments] == [run.id for run in runs]
    assert history.series[0].values == pytest.approx((1.035, 2.07, 3.105))


@pytest.mark.parametrize(
    ("metric", "found"), [("time_ms", 1.035), ("gflops", 2 / 1.035), ("gbs", 0.4 / 1.035), ("percent_of_roof", None)]
)
def test_every_metric_is_followed_in_its_unit(metric: str, found: float | None) -> None:
    run = run_of(point())
    derived = run.derived(run.measurements[0])
    assert derived is not None
    (series,) = history_of([run], metric).series
    assert series.values[0] == pytest.approx(derived.percent_of_roof if found is None else found)


def test_a_step_is_named_by_the_first_run_after_it_with_its_size() -> None:
    runs = noisy(1, (10, 1.0), (10, 1.25))
    (series,) = history_of(runs, "time_ms").series
    (shift,) = series.shifts
    assert (shift.place, shift.run) == (10, runs[10].id)
    assert shift.size == pytest.approx(0.25, abs=0.02)
    (of_speed,) = history_of(runs, "gflops").series[0].shifts
    assert (of_speed.place, of_speed.size) == (10, pytest.approx(-0.2, abs=0.02))


def test_a_step_is_counted_in_runs_and_not_in_those_that_have_the_point() -> None:
    runs = noisy(1, (10, 1.0), (10, 1.25))
    without = [run_of(point("toy.other"), minute=30 + minute) for minute in range(3)]
    (series,) = [series for series in history_of([*without, *runs], "time_ms").series if series.kernel == "toy.slow"]
    assert [shift.run for shift in series.shifts] == [runs[10].id]
    earlier = [replace(run, started_utc=f"2026-11-03T10:0{minute}:00Z") for minute, run in enumerate(without)]
    (series,) = [s for s in history_of([*earlier, *runs], "time_ms").series if s.kernel == "toy.slow"]
    assert [(shift.place, shift.run) for shift in series.shifts] == [(13, runs[10].id)]


def test_the_size_of_a_step_is_that_between_its_neighbours() -> None:
    (series,) = history_of(noisy(2, (12, 1.0), (12, 1.5), (12, 3.0)), "time_ms").series
    assert [shift.place for shift in series.shifts] == [12, 24]
    assert [shift.size for shift in series.shifts] == pytest.approx([0.5, 1.0], abs=0.05)


def test_a_trend_is_told_from_eight_runs_on() -> None:
    growing = [1e-3 * (1 + 0.01 * run) for run in range(9)]
    assert history_of(runs_of(*growing[:7]), "time_ms").series[0].trend is None
    trend = history_of(runs_of(*growing), "time_ms").series[0].trend
    assert trend == pytest.approx(0.08, abs=0.005)


@pytest.mark.parametrize("status", ["invalid", "above_roof", "failed"])
def test_a_number_that_cannot_be_true_is_left_out(status: str) -> None:
    runs = [*runs_of(1e-3, 1e-3), run_of(point(call_s=1e-9, status=status), minute=2)]
    history = history_of(runs, "time_ms")
    assert [sighting.place for sighting in history.series[0].sightings] == [0, 1]
    assert len(history.moments) == 3
    with pytest.raises(UsageError, match="no point of 1 run has a drawable number"):
        history_of(runs[2:], "time_ms")


def test_a_degraded_number_is_told_as_one() -> None:
    runs = [run_of(point()), run_of(point(status="degraded", status_codes=("STEAL",)), minute=1)]
    assert [sighting.degraded for sighting in history_of(runs).series[0].sightings] == [False, True]


def test_an_incomplete_run_counts_with_what_it_measured() -> None:
    history = history_of([run_of(point(), complete=False, reason="SIGINT")])
    assert [moment.complete for moment in history.moments] == [False]
    assert len(history.series[0].sightings) == 1


def test_a_change_of_conditions_is_told_where_it_came() -> None:
    runs = runs_of(1e-3, 1e-3, 1e-3, 1e-3)
    other = replace(runs[0].environment, governor="powersave", numba="9.9")
    runs[2:] = [replace(run, environment=other) for run in runs[2:]]
    moments = history_of(runs).moments
    assert [len(moment.differences) for moment in moments] == [0, 0, 1, 0]
    assert "environment.numba" in moments[2].differences[0]  # of the governor nothing was known before


def test_points_are_told_apart_by_all_that_names_them() -> None:
    wanted = ({}, {"n": 200}, {"dtype": "f32"}, {"threads": 2}, {"level": "L1"}, {"n": 200, "level": "L1"})
    runs = [run_of(*(point(**fields) for fields in wanted), minute=minute) for minute in (0, 1)]
    assert [len(series.sightings) for series in history_of(runs, "time_ms").series] == [2] * 6


def test_a_point_that_is_sized_by_its_level_is_one_whatever_its_n() -> None:
    plan = {"points": ["toy.slow in L2 f64 ×1"]}
    runs = [run_of(point(n=n), minute=minute, plan=plan) for minute, n in enumerate((100, 104, 96))]
    (series,) = history_of(runs).series
    assert (series.n, series.name) == (None, "toy.slow in L2 f64 ×1")
    assert [sighting.n for sighting in series.sightings] == [100, 104, 96]


@pytest.mark.parametrize("plan", [{}, {"points": None}, {"points": "toy.slow in L2 f64 ×1"}, {"points": [7, {}]}])
def test_a_plan_that_does_not_name_points_is_no_obstacle(plan: dict[str, object]) -> None:
    assert history_of([run_of(point(), plan=plan)]).series[0].n == 100


def test_of_a_point_measured_twice_in_a_run_the_first_counts() -> None:
    (series,) = history_of([run_of(point(), point(call_s=5e-3))], "time_ms").series
    assert series.values == pytest.approx([1.035])


MANY = [run_of(point(), point("toy.fast", dtype="f32"), point("game.slow"), minute=minute) for minute in (0, 1)]


@pytest.mark.parametrize(
    ("patterns", "kernels"),
    [
        ((), ["toy.slow", "toy.fast", "game.slow"]),
        (("toy",), ["toy.slow", "toy.fast"]),
        (("*.slow",), ["toy.slow", "game.slow"]),
        (("toy[f32]", "game.slow"), ["toy.fast", "game.slow"]),
        (("toy.slow", "toy.*"), ["toy.slow", "toy.fast"]),
    ],
)
def test_patterns_choose_points(patterns: tuple[str, ...], kernels: list[str]) -> None:
    history = history_of(MANY, "time_ms", [parse_points(pattern) for pattern in patterns])
    assert [series.kernel for series in history.series] == kernels


def test_a_pattern_that_means_nothing_is_an_error() -> None:
    with pytest.raises(UnknownName, match=r"did you mean 'toy\.slow'.*in 2 runs"):
        history_of(MANY, wanted=[parse_points("toy"), parse_points("toy.slo")])
    with pytest.raises(UsageError, match=r"means no point .* it has toy\.slow n=100 f64 ×1 in L2, toy\.fast [^,]*$"):
        history_of(MANY, wanted=[parse_points("toy[i8]")])


def test_a_metric_that_no_point_has_is_an_error() -> None:
    unpaired = [run_of(point(samples_s=samples(1e-3)))]
    with pytest.raises(UsageError, match="percent_of_ceiling; choose another --metric"):
        history_of(unpaired, "percent_of_ceiling")
