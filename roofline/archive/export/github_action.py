"""github-action-benchmark: two files, since one file has one direction of what is better."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from roofline.archive.export.point import Point, numbered, points, run_facts
from roofline.archive.export.serialised import json_bytes
from roofline.model.run import Run

BIGGER, SMALLER = "customBiggerIsBetter.json", "customSmallerIsBetter.json"
"""Named as the action's input `tool` is."""

_COMMENT = str.maketrans({"`": "'", "|": "¦", "@": "＠", "<": "‹", ">": "›"})
"""The action writes names between backticks into a table of a comment; none of these may end them."""


def github_action(run: Run) -> dict[str, bytes]:
    """Return both files. Units are fixed (ns, GFLOP/s, GB/s, %), since the action compares numbers, not units."""
    facts = run_facts(run)
    about = "\n".join(f"{name}: {facts[name]}" for name in ("run", "cpu_model", "revision", "grade") if name in facts)
    found = points(run)
    return {
        BIGGER: _file([entry for point in found for entry in _bigger(point, about)]),
        SMALLER: _file([entry for point in found for entry in _smaller(point, about)]),
    }


def _file(entries: list[dict[str, Any]]) -> bytes:
    own = numbered(str(entry["name"]).translate(_COMMENT) for entry in entries)
    return json_bytes([{**entry, "name": name} for entry, name in zip(entries, own, strict=True)])


def _bigger(point: Point, about: str) -> Iterator[dict[str, Any]]:
    derived, work = point.derived, point.measurement.work
    for unit, amount in ((point.rate_unit, work.flops), ("GB/s", work.bytes)):
        if amount:
            interval = None if derived.interval_s is None else tuple(amount / s / 1e9 for s in derived.interval_s)
            yield _entry(point, unit, amount / derived.median_s / 1e9, interval, about)
    if derived.percent_of_roof is not None:
        yield _entry(point, "% of roof", derived.percent_of_roof, None, about, "%")


def _smaller(point: Point, about: str) -> Iterator[dict[str, Any]]:
    derived = point.derived
    interval = None if derived.interval_s is None else tuple(s * 1e9 for s in derived.interval_s)
    yield _entry(point, "time", derived.median_s * 1e9, interval, about, "ns")


def _entry(
    point: Point, what: str, value: float, interval: tuple[float, ...] | None, about: str, unit: str | None = None
) -> dict[str, Any]:
    """Return one entry; its range is half of the 95 % interval, which the action shows and does not use."""
    told = "\n".join(f"{name}: {fact}" for name, fact in point.facts.items())
    entry = {"name": f"{point.name} {what}", "unit": unit or what, "value": value, "extra": f"{told}\n{about}"}
    if interval is not None:
        entry["range"] = f"± {abs(interval[1] - interval[0]) / 2:.6g}"
    return entry
