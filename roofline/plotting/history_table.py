"""The tables of a history: one row for each point, and what changed where the runs were measured."""

from __future__ import annotations

from collections.abc import Sequence

from roofline.compare.history import History, Series, runs_text
from roofline.model.ladder import family_of
from roofline.plotting.table import Column, Row, Table
from roofline.plotting.text import elided, printable

BARS = "▁▂▃▄▅▆▇█"
SPARKLINE = 24
"""Runs that a sparkline shows, the last ones."""
NAME_LENGTH = 56


def history_tables(history: History) -> tuple[Table, ...]:
    """Return the points by family, with what each was first, last and best, and the changes of conditions."""
    unit = history.metric.unit
    columns = (
        Column("point"),
        Column("runs", right=True, spare=3),
        Column(f"first {unit}", right=True, spare=4),
        Column(f"last {unit}", right=True),
        Column(f"best {unit}", right=True, spare=2),
        Column("trend", right=True, spare=1),
        Column("last runs", spare=5),
        Column("change points", wraps=True),
    )
    groups: dict[str, list[Row]] = {}
    for series in history.series:
        groups.setdefault(family_of(series.kernel), []).append(_row(history, series))
    title = f"History: {history.metric.name}, {runs_text(len(history.moments))}"
    points = Table(title, columns, tuple(map(tuple, groups.values())))
    changed = tuple(
        (moment.run, moment.started_utc, printable(text)) for moment in history.moments for text in moment.differences
    )
    conditions = (Column("from run"), Column("started utc", spare=1), Column("differs from the run before", wraps=True))
    return points, Table("Conditions", conditions, (changed,) if changed else ())


def sparkline(values: Sequence[float]) -> str:
    """Draw the last values as bars between their least and their largest; a flat line where all are one."""
    shown = values[-SPARKLINE:]
    low, high = min(shown), max(shown)
    if high <= low:
        return BARS[3] * len(shown)
    return "".join(BARS[min(len(BARS) - 1, int((value - low) / (high - low) * len(BARS)))] for value in shown)


def shift_text(size: float) -> str:
    """Write by how much a point changed, e.g. `+12 %`."""
    return f"{100 * size:+.1f} %" if abs(size) < 0.0995 else f"{100 * size:+.0f} %"


def shifts_text(sizes: Sequence[float]) -> str:
    """Write by how much several points changed at once, e.g. `+12 to +15 %`."""
    least, most = shift_text(min(sizes)), shift_text(max(sizes))
    return least if least == most else f"{least.removesuffix(' %')} to {most}"


def _row(history: History, series: Series) -> Row:
    values = series.values
    best = max(values) if history.metric.more_is_better else min(values)
    shifts = ", ".join(f"{shift_text(shift.size)} from {shift.run}" for shift in series.shifts)
    return (
        elided(printable(series.name), NAME_LENGTH),
        str(len(values)),
        *(f"{value:.3g}" if value < 999.5 else f"{value:.0f}" for value in (values[0], values[-1], best)),
        "-" if series.trend is None else f"{100 * series.trend:+.1f} %",
        sparkline(values),
        shifts or "-",
    )
