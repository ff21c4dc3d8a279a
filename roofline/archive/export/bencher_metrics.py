"""Bencher Metric Format: `bencher run --adapter json --file FILE`."""

from __future__ import annotations

from roofline.archive.export.point import Point, points
from roofline.archive.export.serialised import json_bytes
from roofline.model.run import Run

Metric = dict[str, float]


def bencher_metrics(run: Run) -> bytes:
    """Return the metrics of each point: `latency` in ns as Bencher has it, `gflops`, `bandwidth-gbs`,
    `percent-of-roof`.

    Bounds are the 95 % interval of the median. The format has room for nothing else.
    """
    return json_bytes({point.name: _measures(point) for point in points(run)})


def _measures(point: Point) -> dict[str, Metric]:
    derived, work = point.derived, point.measurement.work
    fast_s, slow_s = derived.interval_s or (None, None)
    found = {"latency": _bounded(derived.median_s * 1e9, _scaled(fast_s, 1e9), _scaled(slow_s, 1e9))}
    for measure, amount, rate in (
        ("gflops", work.flops, derived.flop_per_s),
        ("bandwidth-gbs", work.bytes, derived.byte_per_s),
    ):
        if amount:
            found[measure] = _bounded(rate / 1e9, _rate(amount, slow_s), _rate(amount, fast_s))
    if derived.percent_of_roof is not None:
        found["percent-of-roof"] = {"value": derived.percent_of_roof}
    return found


def _bounded(value: float, lower: float | None, upper: float | None) -> Metric:
    bounds = {"lower_value": lower, "upper_value": upper}
    return {"value": value, **{name: bound for name, bound in bounds.items() if bound is not None}}


def _scaled(time_s: float | None, factor: float) -> float | None:
    return None if time_s is None else time_s * factor


def _rate(amount: int, time_s: float | None) -> float | None:
    return None if time_s is None else amount / time_s / 1e9
