"""One point before one rule: the interval decides, and the message says what was found, expected and to be done."""

from __future__ import annotations

from collections.abc import Sequence

from roofline.compare.match import point_name
from roofline.compare.metric import METRICS, Interval
from roofline.compare.rule import Rule
from roofline.compare.selector import failed_point
from roofline.model.measurement import Measurement
from roofline.model.outcome import Outcome
from roofline.model.run import Failure
from roofline.model.statistics import median

DISTURBED = ("NOISY", "BUSY", "STEAL", "OVERSUB")
"""A point with any of these was not measured alone: nothing is decided by it."""
OF_ROOF = ("ROOF_UNSTEADY",)
"""These make a percentage doubtful, and leave rates and times as they are."""
SKIPPED = "skipped"
"""Kind of a failure that is no fault of the kernel: the machine could not measure the point."""


def ruling(
    rule: Rule,
    measurement: Measurement,
    *,
    found: float | None,
    interval: Interval | None,
    doubted: Sequence[Measurement],
    point: str = "",
    reason: str = "",
) -> Outcome:
    """Return the outcome of a point with a number; `interval` is in the unit of the rule, as `found` is.

    `doubted` are all measurements that the number follows from: what disturbed any of them makes it inconclusive, and
    so does `reason` where it is given.
    """
    reason = reason or _doubt(rule, doubted) or _lack(interval, doubted)
    result = "inconclusive"
    if not reason and interval is not None:
        result = _side(rule, interval)
    what = f"found {_text(rule, found, interval)}, expected {limit_text(rule)}"
    if reason or result == "inconclusive":
        what += f"; {reason or 'the interval holds the limit: measure longer (--budget, --thorough) to decide'}"
    elif result == "failed":
        what += "; all of the interval is beyond the limit: mend the kernel, or change the rule"
    return Outcome(
        rule=rule.text,
        kernel=measurement.kernel,
        point=point or point_name(measurement),
        result=result,
        found=found,
        limit=rule.limit,
        unit=rule.unit,
        interval=interval,
        median_s=median(measurement.samples_s),
        message=what,
    )


def refusal(rule: Rule, measurement: Measurement, point: str = "") -> Outcome:
    """Return the failed outcome of a measurement whose number cannot be true, or that has none."""
    codes = " ".join(measurement.status_codes)
    why = f"{measurement.status}{f' ({codes})' if codes else ''}"
    return Outcome(
        rule=rule.text,
        kernel=measurement.kernel,
        point=point or point_name(measurement),
        result="failed",
        limit=rule.limit,
        unit=rule.unit,
        message=_line(f"found {why}, expected {limit_text(rule)}; see `python -m bench guide guards`"),
    )


def failed_outcome(rule: Rule, failure: Failure) -> Outcome:
    """Return the outcome of a point that has no number: failed, or inconclusive where the machine could not try."""
    point = failed_point(failure)
    return Outcome(
        rule=rule.text,
        kernel=point.kernel if point is not None else "",
        point=failure.point,
        result="inconclusive" if failure.kind == SKIPPED else "failed",
        limit=rule.limit,
        unit=rule.unit,
        message=_line(f"found no number: {failure.kind}: {failure.message}; expected {limit_text(rule)}"),
    )


def undecided(rule: Rule, measurement: Measurement, reason: str) -> Outcome:
    """Return the inconclusive outcome of a point that has nothing to be held against."""
    return Outcome(
        rule=rule.text,
        kernel=measurement.kernel,
        point=point_name(measurement),
        result="inconclusive",
        limit=rule.limit,
        unit=rule.unit,
        message=_line(reason),
    )


def limit_text(rule: Rule) -> str:
    """Write what the rule asks for, e.g. `>= 55 %`."""
    return f"{'>=' if rule.at_least else '<='} {rule.limit:g}{f' {rule.unit}' if rule.unit else ''}"


def found_text(found: float | None, interval: Interval | None, unit: str) -> str:
    """Write a number with its interval, e.g. `61.2 % [60.4, 62.0]`; `nothing` without one."""
    if found is None:
        return "nothing"
    ends = "" if interval is None else f" [{_digits(interval[0])}, {_digits(interval[1])}]"
    return f"{_digits(found)}{f' {unit}' if unit else ''}{ends}"


def _digits(value: float) -> str:
    """Write four digits, and no exponent for what is large."""
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"


def _text(rule: Rule, found: float | None, interval: Interval | None) -> str:
    return found_text(found, interval, rule.unit)


def _side(rule: Rule, interval: Interval) -> str:
    low, high = interval
    good, bad = (low >= rule.limit, high < rule.limit) if rule.at_least else (high <= rule.limit, low > rule.limit)
    return "passed" if good else "failed" if bad else "inconclusive"


def _doubt(rule: Rule, measurements: Sequence[Measurement]) -> str:
    metric = METRICS.get(rule.metric)
    doubts = (*DISTURBED, *OF_ROOF) if metric is not None and metric.of_roof else DISTURBED
    codes = dict.fromkeys(code for m in measurements if m.status == "degraded" for code in m.status_codes)
    if named := [code for code in codes if code in doubts]:
        return f"degraded ({' '.join(named)}): measure again on a quiet machine"
    return ""


def _lack(interval: Interval | None, measurements: Sequence[Measurement]) -> str:
    if interval is not None:
        return ""
    fewest = min(len(measurement.samples_s) for measurement in measurements)
    return f"{fewest} samples have no 95 % interval: measure longer (--budget, --thorough)"


def _line(text: str) -> str:
    return " ".join(text.split())
