"""Rules applied to a run: each point that a rule means passes, fails, or cannot be decided.

The 95 % interval decides, never the number alone: wholly on the good side of the limit a point passes, wholly on the
other it fails. Where the interval holds the limit, where there are too few samples for one, or where the machine was
disturbed, the result is `inconclusive`. A point that a rule means and that has no sound number has failed: a kernel
that crashes must not open a gate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from roofline.compare.baseline_rule import against
from roofline.compare.metric import METRICS, estimate_of
from roofline.compare.ratio_rule import compared
from roofline.compare.rule import RATIO, REGRESSION, Rule
from roofline.compare.ruling import failed_outcome, refusal, ruling
from roofline.compare.selector import failed_point
from roofline.errors import NotComparable, NothingMeasured, UsageError
from roofline.model.comparable import differences
from roofline.model.outcome import Outcome
from roofline.model.run import Run

ON_INCONCLUSIVE = ("pass", "fail", "exit")
"""What a gate does where nothing failed and something is inconclusive."""
FAILED, INCONCLUSIVE = 1, 3
"""Exit codes of a gate."""


def judge(run: Run, rules: Sequence[Rule], baseline: Run | None = None) -> tuple[Outcome, ...]:
    """Return what became of each point that the rules mean, rule by rule, in the order of the run.

    `baseline` is what `regression` rules compare with. Raises UsageError for a rule that means nothing in the run, or
    a regression rule without a baseline; NotComparable for a baseline of another machine or other conditions;
    NothingMeasured for a run that holds no kernel.
    """
    if not run.measurements and not any(failed_point(failure) for failure in run.failures):
        raise NothingMeasured(
            f"run {run.id} holds no measured kernel: no rule can be applied; measure some: `python -m bench run`"
        )
    if needs_baseline(rules):
        baseline = _checked(run, baseline)
    return tuple(outcome for rule in rules for outcome in _outcomes(run, rule, baseline))


def needs_baseline(rules: Sequence[Rule]) -> bool:
    """Return whether any of the rules compares with a baseline."""
    return any(rule.metric == REGRESSION for rule in rules)


def exit_code(outcomes: Sequence[Outcome], on_inconclusive: str = "pass") -> int:
    """Return how a gate ends: FAILED where anything failed; else, where anything is inconclusive, as asked; else 0.

    `on_inconclusive` is one of ON_INCONCLUSIVE: 0, FAILED or INCONCLUSIVE.
    """
    results = {outcome.result for outcome in outcomes}
    if "failed" in results:
        return FAILED
    undecided = {"pass": 0, "fail": FAILED, "exit": INCONCLUSIVE}[on_inconclusive]
    return undecided if "inconclusive" in results else 0


def _outcomes(run: Run, rule: Rule, baseline: Run | None) -> Iterator[Outcome]:
    if rule.metric == RATIO:
        yield from compared(run, rule)
    elif rule.metric == REGRESSION:
        assert baseline is not None  # `judge` has checked
        yield from against(run, rule, baseline)
    else:
        yield from _floors(run, rule)


def _floors(run: Run, rule: Rule) -> Iterator[Outcome]:
    meant = [measurement for measurement in run.measurements if rule.points.fits(measurement)]
    failures = [failure for failure in run.failures if rule.points.fits_failure(failure)]
    if not meant and not failures:
        rule.points.refuse_nothing(f"run {run.id}", run.measurements)
    metric = METRICS[rule.metric]
    for measurement in meant:
        if not measurement.drawable:
            yield refusal(rule, measurement)
            continue
        estimate = estimate_of(run, measurement, metric)
        lacking = f"the point has no {metric.name}: name other points or another metric"
        yield ruling(
            rule,
            measurement,
            found=None if estimate is None else estimate.found,
            interval=None if estimate is None else estimate.interval,
            doubted=(measurement,),
            reason=lacking if estimate is None else "",
        )
    yield from (failed_outcome(rule, failure) for failure in failures)


def _checked(run: Run, baseline: Run | None) -> Run:
    if baseline is None:
        raise UsageError(
            "a regression rule needs a baseline: name one with --baseline NAME; `python -m bench baseline set NAME` "
            "makes one"
        )
    if baseline.id == run.id:
        raise UsageError(f"the baseline is run {run.id} itself; measure again, or name another run with --run")
    if apart := differences(baseline, run):
        raise NotComparable(
            f"baseline {baseline.id} and run {run.id} were not measured under the same conditions: {'; '.join(apart)}; "
            "set the baseline anew under these conditions"
        )
    return baseline
