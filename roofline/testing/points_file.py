"""All points of a session in one JSON document, with the raw samples that they follow from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from roofline.archive.disk import write_synced
from roofline.testing.calls import Calls, now_utc
from roofline.testing.point import Point

SCHEMA = 1
"""Version of the document.

1  2026-12  first version
"""


def document(calls: Calls) -> dict[str, Any]:
    """Return the document: SI units, named as everywhere."""
    archived, yardstick = calls.archived, calls.yardstick
    ceilings = archived.ceilings if archived is not None else yardstick.ceilings if yardstick is not None else None
    return {
        "schema": SCHEMA,
        "written_utc": now_utc(),
        "machine": calls.machine.key,
        "run": None if archived is None else archived.id,
        "ceilings_s": None if yardstick is None else yardstick.spent_s,
        "points": [_point(point) for point in calls.points],
        "ceilings": [] if ceilings is None else [msgspec.to_builtins(ceiling) for ceiling in ceilings.all],
    }


def write(calls: Calls, path: Path) -> None:
    """Write the document so that the file is whole or as it was. Raises OSError."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        write_synced(temporary, msgspec.json.format(msgspec.json.encode(document(calls)), indent=1) + b"\n")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _point(point: Point) -> dict[str, Any]:
    return {
        "name": point.name,
        "test": point.test,
        "dtype": point.dtype,
        "threads": point.threads,
        "status": point.status,
        "codes": point.codes,
        "reasons": point.reasons,
        "level": point.level,
        "percent_of_roof": point.percent_of_roof,
        "interval": point.interval,
        "median_s": point.median_s,
        "flop_per_s": point.flop_per_s,
        "byte_per_s": point.byte_per_s,
        "flop_per_byte": point.flop_per_byte,
        "bound": point.bound,
        "roof_per_s": point.roof_per_s,
        "measurement": None if point.measurement is None else msgspec.to_builtins(point.measurement),
    }
