"""What may be asserted of a point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace
from point_with import CEILINGS, FLOPS, PEAK, measurement_with, point_with

from roofline.errors import UsageError
from roofline.model.claim import claim_of
from roofline.model.evidence import Evidence
from roofline.testing.point import DISABLED, Point, Policy, outcome_of
from roofline.testing.standing import point_of

STRICT = Policy(strict=True)


def end_of(act: Callable[[], Any]) -> tuple[str, str]:
    """Return how a test that does this would end, and its reason."""
    try:
        act()
    except AssertionError as failed:
        return "failed", str(failed)
    except pytest.skip.Exception as skipped:
        return "skipped", str(skipped)
    except pytest.fail.Exception as refused:
        return "failed", str(refused)
    return "passed", ""


def test_a_point_says_where_a_call_stands() -> None:
    point = point_with(50)
    assert point.percent_of_roof == pytest.approx(50, rel=1e-3)
    assert point.flop_per_s == pytest.approx(PEAK / 2, rel=1e-3)
    assert point.gflops == pytest.approx(PEAK / 2e9, rel=1e-3)
    assert point.median_s == pytest.approx(2 * FLOPS / PEAK, rel=1e-3)
    assert (point.status, point.reasons, point.bound) == ("ok", (), "avx2 fma f64 ×1")
    assert point.interval is not None
    low, high = point.interval
    assert 49.5 <= low < 50 < high <= 50.6


@pytest.mark.parametrize(
    ("percent", "spread", "limit", "end"),
    [
        (60, 0.01, 55, "passed"),
        (50, 0.01, 55, "failed"),
        (55, 0.05, 55, "skipped"),
        (56, 0.05, 55, "skipped"),
        (54, 0.05, 55, "skipped"),
        (102, 0.001, 100, "passed"),
        (300, 0.01, 55, "failed"),
    ],
)
def test_the_whole_interval_decides(percent: float, spread: float, limit: float, end: str) -> None:
    assert end_of(lambda: point_with(percent, spread).assert_at_least(percent_of_roof=limit))[0] == end


def test_a_failure_names_what_was_found_the_limit_the_bound_and_what_to_do() -> None:
    _, message = end_of(lambda: point_with(50).assert_at_least(55))
    assert "found 50.0 % of the roof (95 %: 49" in message
    assert "expected at least 55 %" in message
    assert "avx2 fma f64 ×1 (2.00 GFLOP/s of 4.00 GFLOP/s)" in message
    assert "come nearer to that roof, or expect less" in message


@pytest.mark.parametrize(("policy", "end"), [("skip", "skipped"), ("fail", "failed"), ("pass", "passed")])
def test_the_policy_decides_where_the_interval_straddles(policy: str, end: str) -> None:
    found, reason = end_of(lambda: point_with(55, 0.05, Policy(on_inconclusive=policy)).assert_at_least(55))
    assert found == end
    assert end == "passed" or reason.startswith("inconclusive: fn: found 55.")


@pytest.mark.parametrize("policy", ["skip", "fail", "pass"])
def test_above_the_roof_is_never_a_pass(policy: str) -> None:
    end, message = end_of(lambda: point_with(130, 0.01, Policy(on_inconclusive=policy)).assert_at_least(55))
    assert end == "failed"
    assert "above the roof: what cannot be true is refused; check flops and bytes" in message


def test_above_the_roof_fails_on_an_unfit_machine_too() -> None:
    assert end_of(lambda: point_with(130, unfit=("BUSY: x",)).assert_at_least(55))[0] == "failed"


def test_above_the_roof_by_less_than_the_samples_vary_is_inconclusive() -> None:
    noisy = point_with(105, 0.2)
    assert (noisy.status, noisy.codes) == ("above_roof", ("NOISY",))
    assert end_of(lambda: noisy.assert_at_least(55))[0] == "skipped"


def test_too_few_samples_are_inconclusive() -> None:
    whole = measurement_with(60)
    few = replace(whole, samples_s=whole.samples_s[:4], roof_samples=whole.roof_samples[:5])
    point = point_of(few, CEILINGS, test="t", claim=claim_of(flops=FLOPS))
    assert point.interval is None
    assert outcome_of(point, 55).result == "inconclusive"


@pytest.mark.parametrize("percent", [50, 60])
@pytest.mark.parametrize(("policy", "end"), [(Policy(), "skipped"), (STRICT, "failed")])
def test_an_unfit_machine_decides_nothing(percent: float, policy: Policy, end: str) -> None:
    point = point_with(percent, policy=policy, unfit=("UNPINNED: threads may move",))
    found, reason = end_of(lambda: point.assert_at_least(55))
    assert found == end
    assert "this machine is unfit now: UNPINNED: threads may move" in reason


@pytest.mark.parametrize(
    ("evidence", "code"),
    [
        ({"throttled_s": 0.2}, "THROTTLE"),
        ({"stolen_s": 0.2}, "STEAL"),
        ({"others_s": 0.8}, "BUSY"),
        ({"runnable": 9, "runnable_cpus": 2}, "OVERSUB"),
        ({"suspended_s": 3.0}, "CLOCKBACK"),
    ],
)
def test_what_the_machine_does_to_the_samples_makes_it_unfit(evidence: dict[str, Any], code: str) -> None:
    measurement = measurement_with(60, **evidence)
    point = point_of(measurement, CEILINGS, test="t", claim=claim_of(flops=FLOPS))
    assert [reason.split(":")[0] for reason in point.unfit] == [code]
    assert end_of(lambda: point.assert_at_least(55))[0] == "skipped"


def test_other_doubts_are_told_and_decide_nothing() -> None:
    point = point_with(60, status="degraded", status_codes=("ALIAS4K",))
    assert point.unfit == ()
    assert point.reasons[0].startswith("ALIAS4K: ")
    assert end_of(lambda: point.assert_at_least(55))[0] == "passed"


def test_an_unsound_number_fails() -> None:
    point = point_with(60, status="invalid", status_codes=("ZERODATA",), evidence=Evidence())
    end, message = end_of(lambda: point.assert_at_least(55))
    assert end == "failed"
    assert "no sound number: ZERODATA" in message


def test_a_call_on_more_threads_than_it_says_fails() -> None:
    end, message = end_of(lambda: point_with(60, cpus_used=1.9).assert_at_least(55))
    assert end == "failed"
    assert "the call used 1.9 CPUs, expected 1" in message
    assert end_of(lambda: point_with(60, cpus_used=1.05).assert_at_least(55))[0] == "passed"


def test_what_was_not_measured_is_skipped() -> None:
    point = Point(name="fn", test="t", dtype="f64", threads=1, status=DISABLED, notes=("not measured: x",))
    assert end_of(lambda: point.assert_at_least(55)) == ("skipped", "fn: not measured: x")
    assert point.percent_of_roof is None


@pytest.mark.parametrize("limit", [0, -1, 101, float("nan"), float("inf"), "55", None, True])
def test_a_limit_that_is_no_percentage_is_refused(limit: Any) -> None:
    with pytest.raises(UsageError, match="no percentage of a roof"):
        point_with(60).assert_at_least(limit)
