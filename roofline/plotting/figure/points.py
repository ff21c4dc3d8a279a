"""Which measurements become numbered markers, and which are only named, with the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from roofline.model.ladder import family_of
from roofline.model.measurement import Derived, Measurement
from roofline.model.run import Run
from roofline.plotting.kernel_tables import status_text


@dataclass(frozen=True)
class Point:
    """One marker: its number is the same in every panel for one kernel in one level."""

    number: int
    measurement: Measurement
    derived: Derived

    @property
    def family(self) -> str:
        """The family of its kernel."""
        return family_of(self.measurement.kernel)


def points_of(run: Run, dtype: str, panels: Sequence[int]) -> dict[int, list[Point]]:
    """Return, for each thread count of `panels`, its markers, numbered in the order of measurement."""
    found: dict[tuple[str, str, int], dict[int, tuple[Measurement, Derived] | None]] = {}
    for threads in panels:
        seen: Counter[tuple[str, str]] = Counter()
        for measurement in _of(run, dtype, threads):
            place = (measurement.kernel, measurement.level)
            seen[place] += 1
            derived = run.derived(measurement)
            shown = measurement.drawable and measurement.work.flops and derived is not None
            found.setdefault((*place, seen[place]), {})[threads] = (measurement, derived) if shown and derived else None
    drawn: dict[int, list[Point]] = {threads: [] for threads in panels}
    number = 0
    for of_threads in found.values():
        shown_in = {threads: pair for threads, pair in of_threads.items() if pair is not None}
        number += bool(shown_in)
        for threads, (measurement, derived) in shown_in.items():
            drawn[threads].append(Point(number=number, measurement=measurement, derived=derived))
    return drawn


def not_drawn(run: Run, dtype: str, threads: int) -> list[str]:
    """Return the names of the measurements that have no marker, with the reason, e.g. `stream.copy (no flops)`."""
    reasons: dict[str, None] = {}
    for measurement in _of(run, dtype, threads):
        if not measurement.work.flops:
            reasons[f"{measurement.kernel} (no flops)"] = None
        elif not measurement.samples_s:
            reasons[f"{measurement.kernel} {measurement.level} (no samples)"] = None
        elif not measurement.drawable:
            reasons[f"{measurement.kernel} {measurement.level} ({status_text(measurement)})"] = None
    return list(reasons)


def _of(run: Run, dtype: str, threads: int) -> list[Measurement]:
    return [m for m in run.measurements if m.dtype == dtype and m.threads == threads]
