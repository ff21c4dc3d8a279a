"""Regressions: how much slower a point became since the baseline, in percent of the baseline's time."""

from __future__ import annotations

from collections.abc import Iterator

from roofline.compare.change import SAME_CODE, change_of
from roofline.compare.match import matched
from roofline.compare.rule import Rule
from roofline.compare.ruling import failed_outcome, refusal, ruling, undecided
from roofline.compare.selector import failed_point
from roofline.model.measurement import Measurement
from roofline.model.outcome import Outcome
from roofline.model.run import Run


def against(run: Run, rule: Rule, baseline: Run) -> Iterator[Outcome]:
    """Yield the outcome of each point that the rule means in the run or in the baseline.

    A point that only one of them has is inconclusive: nothing says what became of it.
    """
    points = matched(baseline, run)
    before = {id(after): earlier for earlier, after in points.pairs}
    meant = [measurement for measurement in run.measurements if rule.points.fits(measurement)]
    failures = [failure for failure in run.failures if rule.points.fits_failure(failure)]
    failed = {(p.kernel, p.dtype, p.threads) for p in map(failed_point, failures) if p is not None}
    gone = [
        measurement
        for measurement in points.only_before
        if rule.points.fits(measurement)
        and measurement.drawable
        and (measurement.kernel, measurement.dtype, measurement.threads) not in failed
    ]
    if not meant and not failures and not gone:
        rule.points.refuse_nothing(f"run {run.id}", run.measurements)
    for measurement in meant:
        if not measurement.drawable:
            yield refusal(rule, measurement)
        elif id(measurement) not in before:
            yield undecided(rule, measurement, f"baseline {baseline.id} has no such point: set the baseline anew")
        else:
            yield _regression(rule, before[id(measurement)], measurement, baseline, run)
    for measurement in gone:
        yield undecided(rule, measurement, f"baseline {baseline.id} has this point, run {run.id} has not: measure it")
    yield from (failed_outcome(rule, failure) for failure in failures)


def _regression(rule: Rule, before: Measurement, after: Measurement, baseline: Run, run: Run) -> Outcome:
    if before.work != after.work:
        return undecided(
            rule, after, f"its declared work is another than in baseline {baseline.id}: set the baseline anew"
        )
    change = change_of(before, after, baseline, run)
    found = None if change.speedup is None else _slower_percent(change.speedup)
    interval = None
    if change.interval is not None:
        interval = _slower_percent(change.interval[1]), _slower_percent(change.interval[0])
    beyond = interval is not None and interval[0] > rule.limit
    # Of the same machine code only a difference is doubtful: that there is none passes.
    reason = change.reason if change.reason != SAME_CODE or beyond else ""
    return ruling(rule, after, found=found, interval=interval, doubted=(before, after), reason=reason)


def _slower_percent(speedup: float) -> float:
    return 100 * (1 / speedup - 1)
