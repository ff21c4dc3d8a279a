"""The table at the end of a session: every point with its proof in one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from roofline.plotting.text import printable
from roofline.testing.calls import Calls
from roofline.testing.point import Point
from roofline.units import duration, giga

_TITLES = ("call", "time", "GFLOP/s", "GB/s", "flop/B", "roof", "95 %", "bound", "status")
_LEFT = (0, 7, 8)
"""Columns of text."""


def lines(calls: Calls) -> Iterator[str]:
    """Yield the lines of the summary."""
    names = _names(calls.points)
    rows = [_TITLES, *map(_row, calls.points, names)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_TITLES))]
    for row in rows:
        cells = [
            cell.ljust(width) if column in _LEFT else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
    if calls.archived is not None:
        yield f"ceilings of the saved run {printable(calls.archived.id)}"
    elif calls.yardstick is not None:
        yield f"ceilings measured in {calls.yardstick.spent_s:.1f} s"
    doubted = dict.fromkeys(
        f"{name}: {printable(why)}" for point, name in zip(calls.points, names, strict=True) for why in point.reasons
    )
    yield from doubted


def _names(points: Sequence[Point]) -> list[str]:
    """Return what each point is called: with its test, where calls in several tests have one name."""
    tests: dict[str, set[str]] = {}
    for point in points:
        tests.setdefault(point.name, set()).add(point.test)
    return [
        printable(f"{point.name} in {point.test.rpartition('::')[2]}" if len(tests[point.name]) > 1 else point.name)
        for point in points
    ]


def _row(point: Point, name: str) -> tuple[str, ...]:
    percent, interval = point.percent_of_roof, point.interval
    status = " ".join((point.status, *point.codes))
    return (
        name,
        "-" if point.median_s is None else duration(point.median_s),
        giga(point.flop_per_s) if point.flop_per_s else "-",
        giga(point.byte_per_s) if point.byte_per_s else "-",
        f"{point.flop_per_byte:.3g}" if point.flop_per_byte else "-",
        "-" if percent is None else f"{percent:.1f} %",
        "-" if interval is None else f"{interval[0]:.1f} to {interval[1]:.1f}",
        printable(point.bound or "-"),
        printable(status),
    )
