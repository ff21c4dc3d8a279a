"""Ratios within a run: what is paired with what, and what decides."""

from __future__ import annotations

from math import exp
from random import Random

import pytest
from gated_run import point, run_of, samples
from hypothesis import given, settings
from hypothesis import strategies as st

from roofline.compare.gate import judge
from roofline.compare.rule import parse_rule
from roofline.errors import UnknownName, UsageError
from roofline.model.measurement import Measurement
from roofline.model.outcome import Outcome
from roofline.model.run import Failure, Run

SLOW, FAST = point(), point("toy.fast", 2e-4)


def judged(run: Run, rule: str) -> tuple[Outcome, ...]:
    return judge(run, [parse_rule(rule)])


def result(rule: str, *points: Measurement) -> str:
    (outcome,) = judged(run_of(*points), rule)
    return outcome.result


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        # 5 times as fast, and between 5 / 1.07 and 5 * 1.07.
        ("toy.fast / toy.slow >= 4.6", "passed"),
        ("toy.fast / toy.slow >= 5", "inconclusive"),
        ("toy.fast / toy.slow >= 5.4", "failed"),
        ("toy.fast / toy.slow <= 5.4", "passed"),
        ("toy.fast / toy.slow <= 5", "inconclusive"),
        ("toy.fast / toy.slow <= 4.6", "failed"),
        ("toy.slow / toy.fast >= 0.18", "passed"),
        ("toy.slow / toy.fast >= 0.22", "failed"),
    ],
)
def test_a_ratio_is_one_of_speeds_and_its_interval_decides(rule: str, expected: str) -> None:
    assert result(rule, SLOW, FAST) == expected


def test_an_outcome_names_both_sides() -> None:
    (outcome,) = judged(run_of(SLOW, FAST), "toy.fast / toy.slow >= 4")
    assert (outcome.kernel, outcome.point) == ("toy.fast", "toy.fast n=100 f64 ×1 / toy.slow")
    assert (outcome.found, outcome.unit) == (pytest.approx(5), "")
    assert outcome.interval == pytest.approx((5 / 1.07, 5 * 1.07))


def places(kernel: str, call_s: float) -> tuple[Measurement, ...]:
    wanted = ({}, {"n": 200}, {"dtype": "f32"}, {"threads": 2}, {"level": "L1"})
    return tuple(point(kernel, call_s * (1 + index), **fields) for index, fields in enumerate(wanted))


def test_each_point_is_held_against_its_like() -> None:
    run = run_of(*places("toy.slow", 1e-3), *reversed(places("toy.fast", 1e-4)))
    outcomes = judged(run, "toy.fast / toy.slow >= 2")
    assert [outcome.found for outcome in outcomes] == [pytest.approx(10)] * 5


def test_what_has_no_counterpart_is_left_out() -> None:
    assert result("toy.fast / toy.slow >= 4", SLOW, FAST, point("toy.fast", 2e-4, threads=2)) == "passed"


@pytest.mark.parametrize(
    ("rule", "points", "words"),
    [
        ("toy.fast / toy.slow >= 1", (SLOW, point("toy.fast", n=7)), "measure both at the same n, dtype, threads"),
        ("toy.fast / toy.fast >= 1", (SLOW, FAST), "pairs nothing"),
        ("toy.slow / toy.* >= 1", (SLOW, FAST, point("toy.other")), "name one of them"),
        ("toy.* / toy.* >= 1", (SLOW, FAST), "name one of them"),
    ],
)
def test_what_cannot_be_paired_is_refused(rule: str, points: tuple[Measurement, ...], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        judged(run_of(*points), rule)


@pytest.mark.parametrize("rule", ["toy.fas / toy.slow >= 1", "toy.slow / toy.fas >= 1"])
def test_a_side_that_means_nothing_is_refused(rule: str) -> None:
    with pytest.raises(UnknownName, match=r"unknown kernel 'toy\.fas'; did you mean 'toy\.fast'"):
        judged(run_of(SLOW, FAST), rule)


def test_a_pattern_is_held_against_one_kernel() -> None:
    outcomes = judged(run_of(SLOW, FAST, point("toy.other", 5e-4)), "toy.* / toy.slow >= 1.5")
    assert [(outcome.kernel, outcome.result) for outcome in outcomes] == [
        ("toy.fast", "passed"),
        ("toy.other", "passed"),
    ]


@pytest.mark.parametrize("status", ["invalid", "above_roof", "failed"])
@pytest.mark.parametrize("rule", ["toy.fast / toy.slow >= 0.001", "toy.slow / toy.fast <= 1000"])
def test_a_side_that_cannot_be_true_never_passes(status: str, rule: str) -> None:
    assert result(rule, SLOW, point("toy.fast", 2e-4, status=status)) == "failed"
    assert result(rule, point(status=status), FAST) == "failed"


@pytest.mark.parametrize("code", ["NOISY", "BUSY", "STEAL", "OVERSUB"])
def test_a_side_that_was_disturbed_decides_nothing(code: str) -> None:
    disturbed = point("toy.fast", 2e-4, status="degraded", status_codes=(code,))
    assert result("toy.fast / toy.slow >= 1", SLOW, disturbed) == "inconclusive"
    assert result("toy.slow / toy.fast >= 1", SLOW, disturbed) == "inconclusive"


def test_a_side_with_few_samples_decides_nothing() -> None:
    few = point("toy.fast", samples_s=(1e-9,) * 5)
    assert result("toy.fast / toy.slow >= 1", SLOW, few) == "inconclusive"
    assert result("toy.fast / toy.slow >= 1", SLOW, point("toy.fast", samples_s=(1e-9,) * 6)) == "passed"


@pytest.mark.parametrize(("kind", "expected"), [("crashed", "failed"), ("skipped", "inconclusive")])
@pytest.mark.parametrize("rule", ["toy.fast / toy.slow >= 1", "toy.slow / toy.fast >= 0.001"])
def test_a_side_without_a_number_is_told(kind: str, expected: str, rule: str) -> None:
    failure = Failure(kind=kind, point="toy.fast n=100 f64 ×1", message="it did")
    (outcome,) = judged(run_of(SLOW, failures=(failure,)), rule)
    assert (outcome.result, outcome.kernel) == (expected, "toy.fast")


SHARES = st.lists(st.floats(1.0, 2.0), min_size=6, max_size=15)


@settings(max_examples=50, derandomize=True, deadline=None)
@given(SHARES, SHARES, st.floats(0.2, 5.0))
def test_a_ratio_turned_round_says_the_same(one: list[float], other: list[float], limit: float) -> None:
    pair = point("toy.a", samples_s=samples(1e-3, one)), point("toy.b", samples_s=samples(1e-3, other))
    forth = result(f"toy.a / toy.b >= {limit!r}", *pair)
    back = result(f"toy.b / toy.a <= {1 / limit!r}", *pair)
    assert forth == back or "inconclusive" in (forth, back)  # where rounding puts a limit inside


def under_noise(speedup: float) -> list[str]:
    """Return what 200 runs say of a kernel that is so many times as fast as another, against a limit of 1."""
    rng = Random(5)
    found = []
    for _ in range(200):
        a, b = ([1e-3 * exp(rng.gauss(0, 0.05)) for _ in range(10)] for _ in range(2))
        pair = point("t.a", samples_s=tuple(sample_s / speedup for sample_s in a)), point("t.b", samples_s=tuple(b))
        found.append(result("t.a / t.b >= 1", *pair))
    return found


def test_equal_kernels_under_noise_are_seldom_called_unequal() -> None:
    assert under_noise(1.0).count("inconclusive") >= 190  # the interval holds the true ratio 95 times in 100


def test_unequal_ones_are_found() -> None:
    assert under_noise(1.3).count("passed") >= 180
    assert under_noise(1 / 1.3).count("failed") >= 180
