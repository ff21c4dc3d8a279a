"""The tables of a comparison: the two runs, and for each dtype and thread count what became of the points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from roofline.compare.change import Change
from roofline.compare.comparison import ComparedPoint, Comparison
from roofline.compare.match import point_name
from roofline.model.grade import grade_of
from roofline.model.ladder import family_of
from roofline.model.measurement import Measurement
from roofline.plotting.ceiling_label import threads_text
from roofline.plotting.kernel_tables import NAME_LENGTH, factor_text, intensity_text, percent_text
from roofline.plotting.table import Column, Row, Table
from roofline.plotting.text import elided, intensity_unit, printable, rate_unit
from roofline.units import duration, giga

COLUMNS = (
    Column("kernel"),
    Column("n", right=True),
    Column("level", spare=6),
    Column("time", right=True, spare=1),
    Column("GFLOP/s", right=True, spare=3),
    Column("flop/B", right=True, spare=7),
    Column("roof", right=True, spare=2),
    Column("speed-up", right=True),
    Column("95 % interval", right=True, spare=4),
    Column("by", spare=8),
    Column("verdict"),
    Column("code", spare=5),
)
OF_ROOF = {"faster": "nearer to its roof", "slower": "farther from its roof"}
"""What verdicts mean where percent of roof alone is compared, of different machines perhaps."""


def comparison_tables(comparison: Comparison, only_changed: bool = False) -> tuple[Table, ...]:
    """Return the table of the runs and those of the points, with `only_changed` of the faster and slower ones."""
    points = comparison.changed if only_changed else comparison.points
    grouped: dict[tuple[str, int], dict[str, list[Row]]] = {}
    for point in points:
        families = grouped.setdefault((point.before.dtype, point.before.threads), {})
        families.setdefault(family_of(point.before.kernel), []).append(_row(point, comparison.across))
    return (
        runs_table(comparison),
        *(
            Table(
                f"Changes: {printable(dtype)}, {threads_text(threads)}",
                _columns(dtype, comparison.across),
                tuple(tuple(rows) for rows in families.values()),
            )
            for (dtype, threads), families in grouped.items()
        ),
    )


def runs_table(comparison: Comparison) -> Table:
    """Return which runs are compared."""
    columns = ("", "run", "label", "started", "revision", "grade")
    rows = tuple(
        (
            side,
            run.id,
            printable(elided(run.label or "-", NAME_LENGTH)),
            run.started_utc,
            printable(elided(run.revision or "-", NAME_LENGTH)),
            grade_of(run).letter,
        )
        for side, run in (("before", comparison.before), ("after", comparison.after))
    )
    spare = {"started": 1, "revision": 2}
    return Table("Runs", tuple(Column(title, spare=spare.get(title, 0)) for title in columns), (rows,))


def verdict_text(change: Change, across: bool = False) -> str:
    """Write the verdict, e.g. `same within 5 %`, `inconclusive (could have seen 12 %)`."""
    if change.verdict == "same":
        return f"same within {100 * change.within:.3g} %"
    if change.verdict != "inconclusive":
        return OF_ROOF[change.verdict] if across else change.verdict
    if change.reason:
        return printable(f"inconclusive ({elided(change.reason, NAME_LENGTH)})")
    least = change.smallest_effect or 0.0
    seen = f"{100 * least:.2g} %" if least < 1 else f"a factor of {factor(1 + least)}"
    return f"inconclusive (could have seen {seen})"


def code_text(change: Change) -> str:
    """Write what is known of the code: `same code` is said of the machine code, the others of the source."""
    return "same code" if change.same_code else change.source or "-"


def lines(comparison: Comparison) -> list[str]:
    """Return what stands below the tables: how many points have each verdict, and which are in one run only."""
    counts = ", ".join(f"{count} {verdict}" for verdict, count in comparison.counts.items())
    found = [counts]
    for side, measurements in (("BEFORE", comparison.only_before), ("AFTER", comparison.only_after)):
        if measurements:
            found.append(printable(f"only in {side}: {', '.join(map(_named, measurements))}"))
    return found


def _named(measurement: Measurement) -> str:
    return point_name(measurement) + (f" in {measurement.level}" if measurement.level else "")


def _columns(dtype: str, across: bool) -> tuple[Column, ...]:
    titles = {"GFLOP/s": rate_unit([dtype]), "flop/B": intensity_unit([dtype])}
    titles |= {"speed-up": "roof ratio"} if across else {}
    return tuple(replace(column, title=titles.get(column.title, column.title)) for column in COLUMNS)


def _row(point: ComparedPoint, across: bool) -> Row:
    change, sides = point.change, (point.before_derived, point.after_derived)
    low, high = change.interval or (None, None)
    return (
        elided(printable(point.before.kernel), NAME_LENGTH),
        str(point.before.n),
        _both([printable(side.level) or "-" for side in (point.before, point.after)]),
        _pair([duration(side.median_s) if side else "-" for side in sides]),
        _pair([giga(side.flop_per_s) if side and side.flop_per_s else "-" for side in sides]),
        _both([intensity_text(side.flop_per_byte) if side else "-" for side in sides]),
        _pair([percent_text(side.percent_of_roof) if side else "-" for side in sides]),
        factor_text(change.speedup),
        "-" if low is None or high is None else f"{factor(low)} to {factor(high)}",
        "roof" if change.basis != "time" else "time",
        verdict_text(change, across),
        code_text(change),
    )


def factor(value: float) -> str:
    """Write a ratio with as many digits as an interval around 1 needs, e.g. `1.013`, `7.62`."""
    return f"{value:.3f}" if 0.1 <= value < 2 else f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def _pair(texts: Sequence[str]) -> str:
    return " → ".join(texts) if set(texts) != {"-"} else "-"


def _both(texts: Sequence[str]) -> str:
    """Write what is mostly the same on both sides once."""
    return texts[0] if texts[0] == texts[1] else _pair(texts)
