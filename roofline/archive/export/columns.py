"""The columns of a table of points, for spreadsheets and data frames: one row a point, SI, units in the names."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any

from roofline.archive.export.point import Point, points, run_facts
from roofline.model.run import Run

COLUMNS: dict[str, type] = {
    "point": str,
    "kernel": str,
    "variant": str,
    "n": int,
    "dtype": str,
    "threads": int,
    "level": str,
    "status": str,
    "median_s": float,
    "interval_low_s": float,
    "interval_high_s": float,
    "spread": float,
    "samples": int,
    "repeats": int,
    "flops": int,
    "read_bytes": int,
    "write_bytes": int,
    "allocate_bytes": int,
    "flop_per_s": float,
    "byte_per_s": float,
    "flop_per_byte": float,
    "percent_of_roof": float,
    "percent_as_timed": float,
    "percent_of_ceiling": float,
    "roof_flop_per_s": float,
    "bound": str,
    "clock_hz": float,
    "digest": str,
    "run": str,
    "label": str,
    "started_utc": str,
    "revision": str,
    "machine": str,
    "cpu_model": str,
    "grade": str,
}
"""Every column with its type, in order. An empty cell is unknown."""


def rows(run: Run) -> Iterator[dict[str, Any]]:
    """Yield a row for each point that may be drawn: a value or None for every column, texts printable."""
    facts = run_facts(run)
    for point in points(run):
        found = {**facts, **point.facts, **_beside(point)}
        yield {name: found.get(name) for name in COLUMNS}


def _beside(point: Point) -> dict[str, Any]:
    measurement, derived = point.measurement, point.derived
    low_s, high_s = derived.interval_s or (None, None)
    return {
        "point": point.name,
        "median_s": derived.median_s,
        "interval_low_s": low_s,
        "interval_high_s": high_s,
        "samples": len(measurement.samples_s),
        "repeats": measurement.repeats,
        "allocate_bytes": measurement.work.allocate_bytes,
        "percent_as_timed": derived.percent_as_timed,
        "roof_flop_per_s": derived.roof_flop_per_s,
        "clock_hz": median(measurement.clock_samples_hz) if measurement.clock_samples_hz else None,
    }
