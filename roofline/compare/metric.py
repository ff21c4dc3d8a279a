"""What a point is judged and followed by: one number of a measurement, with its 95 % interval."""

from __future__ import annotations

from roofline.model.measurement import Derived, Measurement, block_ratios
from roofline.model.run import Run
from roofline.model.statistics import interval_of_median, median
from roofline.model.struct import Value

Interval = tuple[float, float]


class Metric(Value, frozen=True, kw_only=True):
    """One of the numbers that follow from a measurement."""

    name: str
    unit: str
    more_is_better: bool = True
    of_roof: bool = False
    """Held against a roof: what makes the roof doubtful makes it doubtful too."""


METRICS = {
    metric.name: metric
    for metric in (
        Metric(name="percent_of_roof", unit="%", of_roof=True),
        Metric(name="percent_of_ceiling", unit="%", of_roof=True),
        Metric(name="gflops", unit="GFLOP/s"),
        Metric(name="gbs", unit="GB/s"),
        Metric(name="time_ms", unit="ms", more_is_better=False),
    )
}
"""Every metric by its name."""


class Estimate(Value, frozen=True, kw_only=True):
    """A number of a measurement."""

    found: float
    """In the metric's unit."""
    interval: Interval | None
    """95 % interval, distribution-free; None below six samples."""


def estimate_of(run: Run, measurement: Measurement, metric: Metric) -> Estimate | None:
    """Return what a measurement of the run has of a metric; None where it has nothing of it.

    Percentages are those of `derive`: where kernel and ceiling were timed in alternation, their interval is that of
    the median of the ratios within blocks. Rates and times follow from the samples alone.
    """
    derived = run.derived(measurement)
    if derived is None:
        return None
    if metric.of_roof:
        return _percentage(measurement, derived, metric)
    if metric.name == "time_ms":
        interval = derived.interval_s
        scaled = None if interval is None else (1e3 * interval[0], 1e3 * interval[1])
        return Estimate(found=1e3 * derived.median_s, interval=scaled)
    amount = measurement.work.flops if metric.name == "gflops" else measurement.work.bytes
    return _rate(amount / 1e9, derived) if amount else None


def _percentage(measurement: Measurement, derived: Derived, metric: Metric) -> Estimate | None:
    found = derived.percent_of_roof if metric.name == "percent_of_roof" else derived.percent_of_ceiling
    if found is None:
        return None
    ratios = block_ratios(measurement, 1.0) if derived.percent_of_ceiling is not None else []
    if not ratios:
        return _rate(found * derived.median_s, derived)
    interval, middle = interval_of_median(ratios), median(ratios)
    scaled = None if interval is None else (found * interval[0] / middle, found * interval[1] / middle)
    return Estimate(found=found, interval=scaled)


def _rate(amount: float, derived: Derived) -> Estimate:
    interval = derived.interval_s
    return Estimate(
        found=amount / derived.median_s,
        interval=None if interval is None else (amount / interval[1], amount / interval[0]),
    )
