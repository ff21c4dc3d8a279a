"""Ratios within a run: how many times as fast one kernel is as another at the same n, dtype, threads and level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from roofline.compare.change import ratio_of
from roofline.compare.match import point_name
from roofline.compare.rule import Rule
from roofline.compare.ruling import failed_outcome, refusal, ruling
from roofline.errors import UsageError
from roofline.model.measurement import Measurement
from roofline.model.outcome import Outcome
from roofline.model.run import Run


def compared(run: Run, rule: Rule) -> Iterator[Outcome]:
    """Yield the outcome of each pair that the rule means, and of each of its points that failed.

    The interval of the ratio is that of `change.ratio_of` by the samples alone: both kernels were timed in one run.
    Raises UsageError where nothing pairs, or where it is not clear what pairs with what.
    """
    assert rule.other is not None  # a ratio has two sides
    left = [measurement for measurement in run.measurements if rule.points.fits(measurement)]
    right = [measurement for measurement in run.measurements if rule.other.fits(measurement)]
    failures = [f for f in run.failures if rule.points.fits_failure(f) or rule.other.fits_failure(f)]
    for side, points in ((left, rule.points), (right, rule.other)):
        if not side and not any(points.fits_failure(failure) for failure in failures):
            points.refuse_nothing(f"run {run.id}", run.measurements)
    pairs = _pairs(rule, left, right)
    if not pairs and not failures:
        raise UsageError(
            f"rule {rule.text!r} pairs nothing in run {run.id}: {rule.points} has {_places(left)}, {rule.other} has "
            f"{_places(right)}; measure both at the same n, dtype, threads and level"
        )
    for one, other in pairs:
        point = f"{point_name(one)} / {other.kernel}"
        refused = [measurement for measurement in (one, other) if not measurement.drawable]
        if refused:
            yield refusal(rule, refused[0], point)
            continue
        ratio = ratio_of(_rates(other), _rates(one), 0.0)
        yield ruling(rule, one, found=ratio.speedup, interval=ratio.inside, doubted=(one, other), point=point)
    yield from (failed_outcome(rule, failure) for failure in failures)


def _pairs(
    rule: Rule, left: Sequence[Measurement], right: Sequence[Measurement]
) -> list[tuple[Measurement, Measurement]]:
    assert rule.other is not None
    pairs = []
    taken: dict[int, str] = {}
    for one in left:
        partners = [other for other in right if other.kernel != one.kernel and _place(other) == _place(one)]
        if len(partners) > 1:
            raise _ambiguous(rule, point_name(one), [other.kernel for other in partners])
        for other in partners:
            before = taken.setdefault(id(other), one.kernel)
            if rule.points.is_pattern and rule.other.is_pattern:
                if before != one.kernel:
                    raise _ambiguous(rule, point_name(other), [before, one.kernel])
                if taken.get(id(one)) == other.kernel:
                    raise _ambiguous(rule, point_name(other), [f"{one.kernel} both ways round"])
            pairs.append((one, other))
    return pairs


def _ambiguous(rule: Rule, point: str, kernels: Sequence[str]) -> UsageError:
    return UsageError(f"rule {rule.text!r} pairs {point} with {' and with '.join(kernels)}; name one of them")


def _place(measurement: Measurement) -> tuple[int, str, int, str]:
    return measurement.n, measurement.dtype, measurement.threads, measurement.level


def _places(measurements: Sequence[Measurement]) -> str:
    named = dict.fromkeys(f"n={m.n} {m.dtype} ×{m.threads} in {m.level or '?'}" for m in measurements)
    return ", ".join(list(named)[:6]) or "no number"


def _rates(measurement: Measurement) -> list[float]:
    return [1 / sample_s for sample_s in measurement.samples_s]
