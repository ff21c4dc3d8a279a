"""A comparison as plain data: a document for programs, and rows for spreadsheets."""

from __future__ import annotations

import csv
from io import StringIO
from typing import Any

import msgspec

from roofline.compare.comparison import ComparedPoint, Comparison
from roofline.model.grade import grade_of
from roofline.model.measurement import Derived, Measurement
from roofline.model.run import Run

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What makes a spreadsheet compute a cell."""
POINT_COLUMNS = ("kernel", "n", "dtype", "threads", "level", "variant")
SIDE_COLUMNS = ("median_s", "flop_per_s", "flop_per_byte", "percent_of_roof", "samples", "status", "digest")
CHANGE_COLUMNS = (
    "speedup",
    "interval_low",
    "interval_high",
    "verdict",
    "smallest_effect",
    "basis",
    "reason",
    "source",
    "same_code",
)


def document_of(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison for a program: SI units, shares instead of percent but where a name says percent."""
    return {
        "before": _run(comparison.before),
        "after": _run(comparison.after),
        "across": comparison.across,
        "counts": comparison.counts,
        "points": [_point(point) for point in comparison.points],
        "only_before": [_place(measurement) for measurement in comparison.only_before],
        "only_after": [_place(measurement) for measurement in comparison.only_after],
        "remarks": list(comparison.remarks),
    }


def to_csv(comparison: Comparison) -> str:
    """Return the points as comma-separated values under a line of titles; those of one run only stand at the end.

    Texts that a spreadsheet would compute begin with an apostrophe.
    """
    text = StringIO()
    sides = [f"{side}_{column}" for side in ("before", "after") for column in SIDE_COLUMNS]
    writer = csv.DictWriter(text, [*POINT_COLUMNS, *sides, *CHANGE_COLUMNS], lineterminator="\n")
    writer.writeheader()
    for point in comparison.points:
        writer.writerow({name: _cell(value) for name, value in _row(point).items()})
    for side, measurements in (("before", comparison.only_before), ("after", comparison.only_after)):
        for measurement in measurements:
            row = {**_place(measurement), "verdict": f"only {side}"}
            writer.writerow({name: _cell(value) for name, value in row.items()})
    return text.getvalue()


def _run(run: Run) -> dict[str, Any]:
    return {
        "id": run.id,
        "label": run.label,
        "started_utc": run.started_utc,
        "revision": run.revision,
        "machine": run.machine.key,
        "complete": run.complete,
        "reason": run.reason,
        "grade": grade_of(run).letter,
    }


def _place(measurement: Measurement) -> dict[str, Any]:
    return {name: getattr(measurement, name) for name in POINT_COLUMNS}


def _side(measurement: Measurement, derived: Derived | None) -> dict[str, Any]:
    return {
        "median_s": derived and derived.median_s,
        "flop_per_s": derived and derived.flop_per_s,
        "flop_per_byte": derived and derived.flop_per_byte,
        "percent_of_roof": derived and derived.percent_of_roof,
        "samples": len(measurement.samples_s),
        "status": " ".join((measurement.status, *measurement.status_codes)),
        "digest": measurement.digest,
        "assembly_digest": measurement.assembly_digest,
        "ceiling": measurement.ceiling,
    }


def _point(point: ComparedPoint) -> dict[str, Any]:
    return {
        **_place(point.before),
        "before": _side(point.before, point.before_derived),
        "after": _side(point.after, point.after_derived),
        **msgspec.to_builtins(point.change),
    }


def _row(point: ComparedPoint) -> dict[str, Any]:
    change = point.change
    sides = (("before", point.before, point.before_derived), ("after", point.after, point.after_derived))
    row = _place(point.before)
    for name, measurement, derived in sides:
        facts = _side(measurement, derived)
        row |= {f"{name}_{column}": facts[column] for column in SIDE_COLUMNS}
    low, high = change.interval or (None, None)
    ends = {"interval_low": low, "interval_high": high}
    return row | ends | {name: getattr(change, name) for name in CHANGE_COLUMNS if name not in ends}


def _cell(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula, on one line."""
    if not isinstance(value, str):
        return value
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in value)
    return f"'{shown}" if value.lstrip().startswith(_FORMULA) or value.startswith(_FORMULA) else shown
