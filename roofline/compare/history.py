"""What became of every point of a machine from run to run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from zlib import crc32

from roofline.compare.change_points import change_points
from roofline.compare.metric import METRICS, Metric, estimate_of
from roofline.compare.selector import Selector
from roofline.errors import UsageError
from roofline.model.comparable import differences
from roofline.model.drift import FEWEST, drift
from roofline.model.measurement import Measurement
from roofline.model.run import Run
from roofline.model.statistics import median
from roofline.model.struct import Value


class Moment(Value, frozen=True, kw_only=True):
    """A run as the history tells it."""

    run: str
    """Its id."""
    started_utc: str
    label: str | None = None
    revision: str | None = None
    complete: bool = True
    differences: tuple[str, ...] = ()
    """What machine or conditions differ by from the run before."""


class Sighting(Value, frozen=True, kw_only=True):
    """One point in one run."""

    place: int
    """Of the run in the history, from 0."""
    value: float
    """In the metric's unit."""
    interval: tuple[float, float] | None = None
    """95 % interval."""
    degraded: bool = False
    n: int


class Shift(Value, frozen=True, kw_only=True):
    """A change point. A hint where to look, no verdict."""

    place: int
    """Of the first run after it."""
    run: str
    """Id of that run."""
    size: float
    """Median after it over median before it, up to the next change points, less 1."""


class Series(Value, frozen=True, kw_only=True):
    """One point through all runs that have it."""

    kernel: str
    dtype: str
    threads: int
    level: str
    n: int | None
    """None where the point is sized by its level, so that n follows what the level was measured to hold."""
    sightings: tuple[Sighting, ...]
    """In the order of the runs."""
    shifts: tuple[Shift, ...] = ()

    @property
    def name(self) -> str:
        """The point in words, as plans name it."""
        where = f"in {self.level}" if self.n is None else f"n={self.n}"
        return f"{self.kernel} {where} {self.dtype} ×{self.threads}"

    @property
    def values(self) -> tuple[float, ...]:
        """All values, in the order of the runs."""
        return tuple(sighting.value for sighting in self.sightings)

    @property
    def trend(self) -> float | None:
        """Relative change from the first run to the last along the middle slope; None below eight runs."""
        return drift(self.values) if len(self.sightings) >= FEWEST else None


class History(Value, frozen=True, kw_only=True):
    """All points that are asked for, through all runs of a machine."""

    metric: Metric
    moments: tuple[Moment, ...]
    """The runs, oldest first."""
    series: tuple[Series, ...]


Key = tuple[str, str, int, str, int | None]


def history_of(runs: Sequence[Run], metric: str = "percent_of_roof", wanted: Sequence[Selector] = ()) -> History:
    """Return the history of the points that any selector means, all without one; only of numbers that are drawable.

    `runs` are of one machine, in any order; `metric` is a name in METRICS. Raises UsageError, or UnknownName for a
    pattern that fits no kernel, when a selector means nothing in any of them.
    """
    ordered = sorted(runs, key=lambda run: (run.started_utc, run.id))
    measured = METRICS[metric]
    every = [measurement for run in ordered for measurement in run.measurements]
    for selector in wanted:
        if not any(map(selector.fits, every)):
            selector.refuse_nothing(runs_text(len(ordered)), every)
    found: dict[Key, list[Sighting]] = {}
    for place, run in enumerate(ordered):
        planned = frozenset(name for name in _planned(run) if isinstance(name, str))
        for measurement in run.measurements:
            if not measurement.drawable or (wanted and not any(one.fits(measurement) for one in wanted)):
                continue
            estimate = estimate_of(run, measurement, measured)
            if estimate is None:
                continue
            sighting = Sighting(
                place=place,
                value=estimate.found,
                interval=estimate.interval,
                degraded=measurement.status == "degraded",
                n=measurement.n,
            )
            seen = found.setdefault(_key(measurement, planned), [])
            if not seen or seen[-1].place != place:  # measured twice in a run: the first counts
                seen.append(sighting)
    if not found:
        raise UsageError(
            f"no point of {runs_text(len(ordered))} has a drawable number of {metric}; choose another --metric"
        )
    ids = [run.id for run in ordered]
    return History(
        metric=measured,
        moments=_moments(ordered),
        series=tuple(_series(key, sightings, ids) for key, sightings in found.items()),
    )


def runs_text(count: int) -> str:
    """Write how many runs there are, e.g. `1 run`."""
    return f"{count} run{'' if count == 1 else 's'}"


def _planned(run: Run) -> Sequence[object]:
    points = run.plan.get("points")
    return points if isinstance(points, list | tuple) else ()


def _key(measurement: Measurement, planned: frozenset[str]) -> Key:
    name = f"{measurement.kernel} in {measurement.level} {measurement.dtype} ×{measurement.threads}"
    n = None if name in planned else measurement.n
    return measurement.kernel, measurement.dtype, measurement.threads, measurement.level, n


def _series(key: Key, sightings: Sequence[Sighting], ids: Sequence[str]) -> Series:
    kernel, dtype, threads, level, n = key
    values = [sighting.value for sighting in sightings]
    places = change_points(values, seed=crc32(repr(key).encode()))
    shifts = []
    for before, at, after in zip((0, *places), places, (*places[1:], len(values)), strict=False):
        size = median(values[at:after]) / median(values[before:at]) - 1
        place = sightings[at].place
        shifts.append(Shift(place=place, run=ids[place], size=size))
    return Series(
        kernel=kernel, dtype=dtype, threads=threads, level=level, n=n, sightings=tuple(sightings), shifts=tuple(shifts)
    )


def _moments(runs: Sequence[Run]) -> tuple[Moment, ...]:
    apart = [(), *(differences(before, after) for before, after in pairwise(runs))]
    return tuple(
        Moment(
            run=run.id,
            started_utc=run.started_utc,
            label=run.label,
            revision=run.revision,
            complete=run.complete,
            differences=found,
        )
        for run, found in zip(runs, apart, strict=True)
    )
