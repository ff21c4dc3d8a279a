"""Floors, and what a gate makes of them: passed, failed or inconclusive, and never a pass for what has no number."""

from __future__ import annotations

import pytest
from gated_run import BYTES, FLOPS, point, run_of, samples
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from roofline.compare.gate import exit_code, judge, needs_baseline
from roofline.compare.rule import parse_rule
from roofline.errors import NothingMeasured, UnknownName, UsageError
from roofline.model.measurement import Measurement
from roofline.model.outcome import Outcome
from roofline.model.run import Failure, Run
from roofline.model.work import Work

quick = settings(max_examples=60, derandomize=True, deadline=None)
FAILED_POINT = "toy.slow n=100 f64 ×1"


def judged(run: Run, *rules: str) -> tuple[Outcome, ...]:
    return judge(run, [parse_rule(rule) for rule in rules])


def result(measurement: Measurement, rule: str) -> str:
    (outcome,) = judged(run_of(measurement), rule)
    return outcome.result


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        # Of 1.00 to 1.07 ms: 2 MFLOP and 0.4 MB a call.
        ("toy.slow: time_ms <= 1.07", "passed"),
        ("toy.slow: time_ms <= 1.0699", "inconclusive"),
        ("toy.slow: time_ms <= 1", "inconclusive"),
        ("toy.slow: time_ms <= 0.999", "failed"),
        ("toy.slow: gflops >= 1.869", "passed"),
        ("toy.slow: gflops >= 1.9", "inconclusive"),
        ("toy.slow: gflops >= 2.001", "failed"),
        ("toy.slow: gbs >= 0.373", "passed"),
        ("toy.slow: gbs >= 0.38", "inconclusive"),
        ("toy.slow: gbs >= 0.401", "failed"),
    ],
)
def test_the_whole_interval_decides_on_either_side_of_the_limit(rule: str, expected: str) -> None:
    assert result(point(), rule) == expected


def test_an_interval_that_ends_at_the_limit_is_on_its_good_side() -> None:
    steady = point(samples_s=(1e-3,) * 6)
    assert result(steady, "toy.slow: gflops >= 2") == result(steady, "toy.slow: time_ms <= 1") == "passed"
    assert result(steady, "toy.slow: gflops >= 2.001") == result(steady, "toy.slow: time_ms <= 0.999") == "failed"


def test_an_outcome_holds_what_was_found_in_the_unit_of_the_rule() -> None:
    (outcome,) = judged(run_of(point()), "toy.slow: gflops >= 3")
    assert (outcome.rule, outcome.kernel, outcome.point) == ("toy.slow: gflops >= 3", "toy.slow", FAILED_POINT)
    assert (outcome.result, outcome.unit, outcome.limit) == ("failed", "GFLOP/s", 3.0)
    assert outcome.found == pytest.approx(FLOPS / 1.035e-3 / 1e9)
    assert outcome.interval == pytest.approx((FLOPS / 1.07e-3 / 1e9, FLOPS / 1e-3 / 1e9))
    assert outcome.median_s == pytest.approx(1.035e-3)
    assert outcome.message.startswith("found 1.932 GFLOP/s [1.869, 2], expected >= 3 GFLOP/s; all of the interval")


def test_bytes_are_those_that_are_read_and_written() -> None:
    (outcome,) = judged(run_of(point()), "toy.slow: gbs >= 0.001")
    assert outcome.found == pytest.approx(BYTES / 1.035e-3 / 1e9)


def test_a_percentage_is_that_of_the_table_with_an_interval_within_which_drift_cancels() -> None:
    roofs = tuple(14.6e9 * 0.9**block for block in range(9))  # the machine becomes ever slower, the kernel with it
    beside = [1.0 + 0.001 * block for block in range(8)]
    drifting = [1e-3 * 0.9 ** -(block + 0.5) * share for block, share in enumerate(beside)]
    run = run_of(point(samples_s=tuple(drifting), roof_samples=roofs))
    (measurement,) = run.measurements
    derived = run.derived(measurement)
    (outcome,) = judged(run, "toy.slow: percent_of_roof >= 1%")
    assert derived is not None and derived.percent_of_roof is not None
    assert (outcome.result, outcome.found, outcome.unit) == ("passed", derived.percent_of_roof, "%")
    assert outcome.interval is not None
    low, high = outcome.interval
    assert low < outcome.found < high < 1.0071 * low
    (of_time,) = judged(run, "toy.slow: time_ms <= 1000")
    assert of_time.interval is not None
    assert of_time.interval[1] > 2 * of_time.interval[0]


@pytest.mark.parametrize("count", [1, 5, 6])
def test_below_six_samples_nothing_is_decided_however_far_the_number_is(count: int) -> None:
    few = point(samples_s=(1e-3,) * count)
    (outcome,) = judged(run_of(few), "toy.slow: time_ms <= 1000")
    assert outcome.result == ("passed" if count >= 6 else "inconclusive")
    assert ("have no 95 % interval" in outcome.message) == (count < 6)
    assert result(few, "toy.slow: time_ms <= 0.001") == ("failed" if count >= 6 else "inconclusive")


@pytest.mark.parametrize("code", ["NOISY", "BUSY", "STEAL", "OVERSUB"])
def test_what_was_not_measured_alone_decides_nothing(code: str) -> None:
    disturbed = point(status="degraded", status_codes=(code,))
    (outcome,) = judged(run_of(disturbed), "toy.slow: time_ms <= 1000")
    assert outcome.result == "inconclusive"
    assert f"degraded ({code})" in outcome.message


def test_an_unsteady_roof_makes_percentages_doubtful_and_nothing_else() -> None:
    doubted = point(status="degraded", status_codes=("ROOF_UNSTEADY",))
    assert result(doubted, "toy.slow: percent_of_roof >= 0.1") == "inconclusive"
    assert result(doubted, "toy.slow: time_ms <= 1000") == "passed"
    assert result(point(status="degraded", status_codes=("UNHEARD_OF",)), "toy.slow: time_ms <= 1000") == "passed"


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "invalid", "status_codes": ("TOO_SHORT",)},
        {"status": "above_roof", "status_codes": ("SMALLER_LEVEL",)},
        {"status": "failed"},
        {"samples_s": ()},
    ],
)
@pytest.mark.parametrize("rule", ["toy.slow: time_ms <= 1000", "toy.slow: gflops >= 0.001", "*: percent_of_roof >= 1"])
def test_a_number_that_cannot_be_true_never_passes(fields: dict[str, object], rule: str) -> None:
    (outcome,) = judged(run_of(point(**fields)), rule)
    assert (outcome.result, outcome.found, outcome.interval) == ("failed", None, None)


@pytest.mark.parametrize(
    ("kind", "expected"), [("wrong", "failed"), ("crashed", "failed"), ("hung", "failed"), ("skipped", "inconclusive")]
)
@pytest.mark.parametrize("rule", ["toy.slow: gflops >= 1", "toy: time_ms <= 9", "*[f64, threads=1]: gbs >= 1"])
def test_a_kernel_without_a_number_fails_and_one_that_was_skipped_is_undecided(
    kind: str, expected: str, rule: str
) -> None:
    failure = Failure(kind=kind, point=FAILED_POINT, message="it went\nwrong")
    *_, outcome = judged(run_of(failures=(failure,)), rule)
    assert (outcome.result, outcome.point, outcome.kernel) == (expected, FAILED_POINT, "toy.slow")
    assert "\n" not in outcome.message and "it went wrong" in outcome.message


SIZED, LEVELLED = "toy.slow n=100 f64 ×1", "toy.slow in L2 f64 ×1"


@pytest.mark.parametrize(
    ("points", "failures"),
    [
        ("toy.slow", [SIZED, LEVELLED]),
        ("toy.slow[n=100]", [SIZED, LEVELLED]),  # what n the other had nobody knows
        ("toy.slow[n=7]", [LEVELLED]),
        ("toy.slow[level=L2]", [SIZED, LEVELLED]),
        ("toy.slow[level=L1]", [SIZED]),
        ("toy.slow[f32]", []),
        ("toy.slow[threads=2]", []),
        ("toy.fast", []),
    ],
)
def test_a_condition_leaves_out_only_what_certainly_does_not_fit_it(points: str, failures: list[str]) -> None:
    run = run_of(
        point("other.one"), failures=tuple(Failure(kind="hung", point=p, message="") for p in (SIZED, LEVELLED))
    )
    if not failures:
        with pytest.raises(UsageError):
            judged(run, f"{points}: gflops >= 1")
    else:
        assert [outcome.point for outcome in judged(run, f"{points}: gflops >= 1")] == failures


def test_a_metric_that_a_point_does_not_have_is_no_pass() -> None:
    copy = point(work=Work(flops=0, read_bytes=8, write_bytes=8, allocate_bytes=8))
    (outcome,) = judged(run_of(copy), "toy.slow: gflops >= 1")
    assert (outcome.result, outcome.found) == ("inconclusive", None)
    assert "has no gflops" in outcome.message


MANY = run_of(
    point(), point("toy.fast", 1e-4), point("toy.fast", 1e-4, threads=2), point("toy.fast", 1e-4, dtype="f32", n=200),
    point("toyed.other", level="L1"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("points", "count"),
    [
        ("*", 5),
        ("toy", 4),
        ("toy.*", 4),
        ("toy*", 5),
        ("*.?ast", 3),
        ("toy.slow", 1),
        ("toy.fast[threads=2]", 1),
        ("toy[f64, threads=1]", 2),
        ("*[n=200]", 1),
        ("*[level=L1]", 1),
    ],
)
def test_a_pattern_means_each_point_that_it_fits(points: str, count: int) -> None:
    outcomes = judged(MANY, f"{points}: time_ms <= 1000")
    assert [outcome.result for outcome in outcomes] == ["passed"] * count


@pytest.mark.parametrize(
    ("points", "error", "words"),
    [
        ("toy.slo", UnknownName, "did you mean 'toy.slow'"),
        ("oy", UnknownName, "unknown kernel 'oy'"),
        ("Toy.slow", UnknownName, "unknown kernel 'Toy.slow'"),
        ("toy.slow[f16]", UsageError, r"toy.slow\[f16\] means no point of run"),
        ("toy.slow[threads=7]", UsageError, "it has toy.slow n=100 f64 ×1"),
        ("toy.slow[n=7]", UsageError, "means no point"),
        ("toy.slow[level=L4]", UsageError, "means no point"),
    ],
)
def test_a_rule_that_means_nothing_is_an_error_even_beside_one_that_passes(
    points: str, error: type[UsageError], words: str
) -> None:
    with pytest.raises(error, match=words):
        judged(MANY, "*: time_ms <= 1000", f"{points}: time_ms <= 1000")


def test_of_many_points_a_message_names_six() -> None:
    run = run_of(*(point(n=n) for n in range(1, 10)))
    with pytest.raises(UsageError, match=r"it has toy\.slow n=1 .*n=6 f64 ×1 in L2 and 3 more$"):
        judged(run, "toy.slow[i8]: time_ms <= 1")


def test_a_run_without_any_kernel_is_no_pass() -> None:
    ceiling = Failure(kind="codegen", point="avx2 fma f64 ×1", message="spilled")
    for run in (run_of(), run_of(failures=(ceiling,))):
        with pytest.raises(NothingMeasured, match="holds no measured kernel"):
            judged(run, "*: gflops >= 1")


def test_rules_are_told_in_their_order_and_points_in_that_of_the_run() -> None:
    rules = ("toy.fast: time_ms <= 9", "*: gflops >= 1", "toy.fast: time_ms <= 9")
    found = [(outcome.rule, outcome.kernel) for outcome in judged(MANY, *rules)]
    kernels = [measurement.kernel for measurement in MANY.measurements]
    fast = [(rules[0], "toy.fast")] * 3
    assert found == [*fast, *((rules[1], kernel) for kernel in kernels), *fast]


@pytest.mark.parametrize(
    ("results", "asked", "code"),
    [
        (("passed",), "fail", 0),
        (("passed", "failed", "inconclusive"), "pass", 1),
        (("failed", "inconclusive"), "exit", 1),
        (("passed", "inconclusive"), "pass", 0),
        (("passed", "inconclusive"), "fail", 1),
        (("passed", "inconclusive"), "exit", 3),
        (("passed",), "exit", 0),
    ],
)
def test_failing_outweighs_what_is_undecided_and_that_ends_as_asked(
    results: tuple[str, ...], asked: str, code: int
) -> None:
    outcomes = [Outcome(rule="", kernel="", point="", limit=1, message="", result=result) for result in results]
    assert exit_code(outcomes, asked) == code


def test_only_regressions_need_a_baseline() -> None:
    assert not needs_baseline([parse_rule("a / b >= 3"), parse_rule("a: gflops >= 3")])
    assert needs_baseline([parse_rule("a / b >= 3"), parse_rule("a: regression <= 3")])


SHARES = st.lists(st.floats(1.0, 3.0), min_size=6, max_size=30)
ORDER = {"passed": 0, "inconclusive": 1, "failed": 2}


@quick
@given(SHARES, st.lists(st.floats(0.1, 10.0), min_size=2, max_size=6))
def test_a_harder_limit_never_turns_a_result_for_the_better(shares: list[float], limits: list[float]) -> None:
    measurement = point(samples_s=samples(1e-3, shares))
    floors = [ORDER[result(measurement, f"toy: gflops >= {limit!r}")] for limit in sorted(limits)]
    times = [ORDER[result(measurement, f"toy: time_ms <= {limit!r}")] for limit in sorted(limits, reverse=True)]
    assert floors == sorted(floors)
    assert times == sorted(times)


@quick
@given(SHARES, st.floats(0.3, 3.0))
def test_a_floor_of_speed_and_a_ceiling_of_time_agree(shares: list[float], limit_ms: float) -> None:
    assume(all(abs(share / limit_ms - 1) > 1e-9 for share in shares))  # else rounding may decide
    measurement = point(samples_s=samples(1e-3, shares))
    as_rate = result(measurement, f"toy: gflops >= {FLOPS / (limit_ms * 1e-3) / 1e9!r}")
    assert result(measurement, f"toy: time_ms <= {limit_ms!r}") == as_rate


@quick
@given(st.permutations(range(12)), st.floats(0.5, 2.0))
def test_the_order_of_the_samples_decides_nothing(order: list[int], limit_ms: float) -> None:
    rule = f"toy: time_ms <= {limit_ms!r}"
    shuffled = point(samples_s=samples(1e-3, [1 + place / 20 for place in order]))
    assert result(shuffled, rule) == result(point(samples_s=samples(1e-3, [1 + i / 20 for i in range(12)])), rule)
