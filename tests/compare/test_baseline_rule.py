"""Regressions against a baseline: how much slower, by verdicts that compare would stand by."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from two_runs import two_runs

from roofline.compare.gate import judge
from roofline.compare.rule import parse_rule
from roofline.errors import NotComparable, UnknownName, UsageError
from roofline.model.measurement import Measurement
from roofline.model.outcome import Outcome
from roofline.model.run import Failure, Run

RULE = "gemm.naive: regression <= 5"
BEFORE, AFTER = two_runs(1)


def of(run: Run, **fields: object) -> Run:
    """Return the run with other fields in its only measurement."""
    return replace(run, measurements=(replace(run.measurements[0], **fields),))


def judged(after: Run, before: Run, rule: str = RULE) -> Outcome:
    (outcome,) = judge(after, [parse_rule(rule)], before)
    return outcome


def against(**sides: object) -> Outcome:
    before, after = two_runs(1, **sides)
    return judged(after, before)


@pytest.mark.parametrize(
    ("time", "expected"),
    [(0.5, "passed"), (1.0, "passed"), (1.05, "inconclusive"), (1.2, "failed"), (3.0, "failed")],
)
def test_the_interval_of_the_change_decides(time: float, expected: str) -> None:
    outcome = against(time=time)
    assert outcome.result == expected
    assert outcome.found == pytest.approx(100 * (time - 1), abs=3 * time)
    assert outcome.interval is not None
    assert outcome.interval[0] < outcome.found < outcome.interval[1]
    assert (outcome.unit, outcome.limit) == ("%", 5.0)


def test_a_limit_of_its_own_is_held() -> None:
    before, after = two_runs(1, time=1.2)
    assert judged(after, before, "gemm: regression <= 30 %").result == "passed"
    assert judged(after, before, "gemm: regression <= 19.5").result == "inconclusive"
    assert judged(after, before, "gemm: regression <= 0").result == "failed"


def test_unchanged_code_seldom_fails() -> None:
    results = [judged(after, before).result for before, after in map(two_runs, range(200))]
    assert results.count("failed") == 0
    assert results.count("passed") > 100


def test_a_regression_of_a_fifth_seldom_passes() -> None:
    results = [judged(after, before).result for before, after in (two_runs(seed, time=1.2) for seed in range(200))]
    assert results.count("passed") == 0
    assert results.count("failed") > 100


def test_too_few_samples_on_either_side_decide_nothing() -> None:
    assert against(time=3.0, samples=5).result == "inconclusive"
    assert against(time=3.0, samples=6).result == "failed"


Spoil = Callable[[Run], Run]
TO_DOUBT: dict[str, Spoil] = {
    "disturbed": lambda run: of(run, status="degraded", status_codes=("STEAL",)),
    "few": lambda run: of(run, samples_s=run.measurements[0].samples_s[:5], roof_samples=()),
}


@pytest.mark.parametrize("spoil", TO_DOUBT.values(), ids=TO_DOUBT)
def test_doubt_about_either_side_decides_nothing(spoil: Spoil) -> None:
    assert judged(spoil(AFTER), BEFORE).result == "inconclusive"
    assert judged(AFTER, spoil(BEFORE)).result == "inconclusive"


@pytest.mark.parametrize("status", ["invalid", "above_roof", "failed"])
def test_a_number_that_cannot_be_true_fails_and_in_the_baseline_it_decides_nothing(status: str) -> None:
    assert judged(of(AFTER, status=status), BEFORE).result == "failed"
    outcome = judged(AFTER, of(BEFORE, status=status))
    assert outcome.result == "inconclusive"
    assert f"before: {status}" in outcome.message


def test_a_difference_of_the_same_machine_code_is_noise_and_no_difference_passes() -> None:
    before, after = two_runs(1, time=1.5)
    outcome = judged(of(after, assembly_digest="0" * 16), of(before, assembly_digest="0" * 16))
    assert outcome.result == "inconclusive"
    assert "same code" in outcome.message
    assert judged(of(after, assembly_digest="1" * 16), of(before, assembly_digest="0" * 16)).result == "failed"
    assert judged(of(AFTER, assembly_digest="0" * 16), of(BEFORE, assembly_digest="0" * 16)).result == "passed"


def test_a_kernel_that_became_faster_passes_though_its_code_is_the_same() -> None:
    before, after = two_runs(1, time=0.5)
    assert judged(of(after, assembly_digest="0" * 16), of(before, assembly_digest="0" * 16)).result == "passed"


def test_other_declared_work_is_not_compared() -> None:
    work = replace(BEFORE.measurements[0].work, flops=7)
    outcome = judged(of(AFTER, work=work), BEFORE)
    assert (outcome.result, outcome.found) == ("inconclusive", None)
    assert "its declared work is another" in outcome.message


def other(measurement: Measurement) -> Measurement:
    return replace(measurement, kernel="gemm.other")


def test_a_point_that_only_one_run_has_is_undecided_and_says_which() -> None:
    both = replace(AFTER, measurements=(AFTER.measurements[0], other(AFTER.measurements[0])))
    known, fresh = judge(both, [parse_rule("gemm.*: regression <= 5")], BEFORE)
    assert (known.result, fresh.result) == ("passed", "inconclusive")
    assert f"baseline {BEFORE.id} has no such point" in fresh.message
    before = replace(BEFORE, measurements=(BEFORE.measurements[0], other(BEFORE.measurements[0])))
    known, gone = judge(AFTER, [parse_rule("gemm.*: regression <= 5")], before)
    assert (known.result, gone.result, gone.kernel) == ("passed", "inconclusive", "gemm.other")
    assert f"run {AFTER.id} has not" in gone.message


def test_a_point_that_crashed_since_the_baseline_fails_and_is_told_once() -> None:
    failure = Failure(kind="crashed", point="gemm.naive n=100 f64 ×1", message="SIGSEGV")
    assert judged(replace(AFTER, measurements=(), failures=(failure,)), BEFORE).result == "failed"


def test_a_point_that_was_invalid_in_the_baseline_and_is_gone_is_nobodys_loss() -> None:
    spoiled = replace(other(BEFORE.measurements[0]), status="invalid")
    before = replace(BEFORE, measurements=(BEFORE.measurements[0], spoiled))
    assert judged(AFTER, before, "gemm.*: regression <= 5").result == "passed"


def test_a_rule_that_means_nothing_in_either_run_is_an_error() -> None:
    with pytest.raises(UnknownName, match=r"did you mean 'gemm\.naive'"):
        judged(AFTER, BEFORE, "gemm.nave: regression <= 5")
    with pytest.raises(UsageError, match="means no point"):
        judged(AFTER, BEFORE, "gemm.naive[n=7]: regression <= 5")


def test_there_must_be_a_baseline_and_it_must_be_another_run() -> None:
    with pytest.raises(UsageError, match="--baseline NAME"):
        judge(AFTER, [parse_rule(RULE)], None)
    with pytest.raises(UsageError, match="itself"):
        judged(AFTER, AFTER)


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ({"machine": replace(BEFORE.machine, cpu_model="another")}, "machine.cpu_model: another and AMD EPYC"),
        ({"environment": replace(BEFORE.environment, governor="powersave", smt=True)}, "environment.smt"),
    ],
)
def test_a_baseline_of_another_machine_or_other_conditions_is_refused(what: dict[str, object], words: str) -> None:
    with pytest.raises(NotComparable, match=words):
        judged(AFTER, replace(BEFORE, **what))


def test_a_baseline_is_not_looked_at_where_no_rule_compares_with_it() -> None:
    strange = replace(BEFORE, machine=replace(BEFORE.machine, cpu_model="another"))
    (outcome,) = judge(AFTER, [parse_rule("gemm: gflops >= 0.001")], strange)
    assert outcome.result == "passed"
