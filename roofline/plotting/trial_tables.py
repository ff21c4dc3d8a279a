"""A trial as tables: what is slower, what is faster, and what could have been seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from roofline.model.trial import Trial, TrialPoint
from roofline.model.trial_verdict import CONFIRMED, VERDICTS, Verdict, assay_defect, verdicts_of
from roofline.plotting.table import Column, Row, Table
from roofline.plotting.text import printable
from roofline.units import duration

REASONS = {
    "NOISY": "its pairs vary too much here: a quieter machine, or a larger size",
    "BUSY": "the machine changed between the sides too often: measure again when it is idle",
    "FEW": "the trial ended before it had enough pairs",
    "WIDE": "its interval is wider than what counts as no change",
    "ASSAY": "the controls did not hold",
}
"""What the reasons of an inconclusive point tell."""


def trial_tables(trial: Trial) -> tuple[Table, ...]:
    """Return the verdicts with the controls, why some are inconclusive, and what could not be compared."""
    verdicts = verdicts_of(trial)
    both = list(zip(trial.points, verdicts, strict=True))
    title = f"{trial.base.name} -> {trial.head.name}, {trial.profile.name} profile"
    columns = (
        Column("kernel"),
        Column("n", right=True),
        Column("dtype", spare=2),
        Column("×", right=True, spare=3),
        Column("base", right=True),
        Column("head / base", right=True),
        Column("95 % interval", right=True),
        Column("verdict"),
        Column("could see", right=True, spare=1),
        Column("pairs", right=True, spare=4),
        Column("by", spare=5),
        Column("note", wraps=True, room=16),
    )
    rows = [_row(trial, point, verdict) for point, verdict in both if not point.control]
    controls = [_row(trial, point, verdict) for point, verdict in both if point.control]
    return (
        Table(printable(title), columns, (tuple(rows), tuple(controls))),
        _reasons(trial, both),
        _failures(trial),
    )


def trial_summary(trial: Trial) -> str:
    """Write how a trial ended, in one line."""
    verdicts = verdicts_of(trial)
    asked = [v.verdict for point, v in zip(trial.points, verdicts, strict=True) if not point.control]
    counts = [f"{asked.count(verdict)} {verdict}" for verdict in VERDICTS]
    parts = [", ".join(counts)]
    if (defect := assay_defect(trial, verdicts)) is not None:
        parts.append(f"nothing is concluded: {defect}")
    if trial.failures:
        parts.append(f"{len({failure.point for failure in trial.failures})} not compared")
    if trial.elapsed_s is not None:
        parts.append(f"{trial.elapsed_s:.0f} s")
    return printable("; ".join(parts))


def change(ratio: float) -> str:
    """Write a ratio of times as a change: `+4.9 %` is slower."""
    return f"{100 * (ratio - 1):+.1f} %"


def _reasons(trial: Trial, both: Iterable[tuple[TrialPoint, Verdict]]) -> Table:
    """Return each reason once, with the points that it holds for."""
    points: dict[str, list[str]] = {}
    for point, verdict in both:
        if verdict.reason and _said(trial, point, verdict) == "inconclusive":
            points.setdefault(_why(trial, verdict), []).append(_called(point, point.name))
    columns = (Column("why", wraps=True, room=40), Column("points", wraps=True, room=20))
    rows = tuple((printable(why), printable(", ".join(dict.fromkeys(names)))) for why, names in points.items())
    return Table("Inconclusive", columns, (rows,))


def _called(point: TrialPoint, name: str) -> str:
    return f"control: {point.control} code" if point.control else name


def _row(trial: Trial, point: TrialPoint, verdict: Verdict) -> Row:
    pairs = trial.accepted(point.name, 1)
    base_s = sorted(pair.base.best_s for pair in pairs)[len(pairs) // 2] if pairs else None
    interval = verdict.interval
    cells = (
        _called(point, point.kernel),
        str(point.n),
        point.dtype,
        str(point.threads),
        "" if base_s is None else duration(base_s),
        "" if verdict.ratio is None else change(verdict.ratio),
        "" if interval is None else f"{change(interval[0])} to {change(interval[1])}",
        _said(trial, point, verdict),
        "" if verdict.smallest_effect is None else f"{100 * verdict.smallest_effect:.1f} %",
        "+".join(str(count) for count in verdict.pairs if count),
        verdict.basis,
        "; ".join(_notes(point)),
    )
    return tuple(map(printable, cells))


def _said(trial: Trial, point: TrialPoint, verdict: Verdict) -> str:
    if point.control and verdict.pairs[0] == trial.profile.screen_pairs and verdict.reason != "NOISY":
        if point.control == "same":
            return "held" if verdict.verdict not in CONFIRMED else "differs"
        return "noticed" if verdict.screened == "slower" else "missed"
    return f"same within {100 * trial.profile.same_within:.0f} %" if verdict.verdict == "same" else verdict.verdict


def _notes(point: TrialPoint) -> Iterator[str]:
    if not point.control:
        yield from _same(point)
    if point.base.vector_register != point.head.vector_register:
        yield f"{point.base.vector_register or 'no vectors'} -> {point.head.vector_register or 'no vectors'}"
    if point.stretched and not point.control:
        yield "slowed down on purpose: 21 calls for 20"


def _why(trial: Trial, verdict: Verdict) -> str:
    if verdict.reason == "FEW" and any(failure.point == verdict.point for failure in trial.failures):
        return "it failed: see below"
    why = REASONS[verdict.reason]
    return why if verdict.reason != "FEW" or trial.reason is None else f"{why} ({trial.reason})"


def _same(point: TrialPoint) -> Iterator[str]:
    if point.base.assembly_digest and point.base.assembly_digest == point.head.assembly_digest:
        yield "same machine code"
    elif point.base.digest == point.head.digest:
        yield "same source"


def _failures(trial: Trial) -> Table:
    columns = (Column("point"), Column("side"), Column("kind"), Column("why", wraps=True))
    rows = tuple(
        tuple(map(printable, (failure.point, failure.side or "both", failure.kind, failure.message)))
        for failure in trial.failures
    )
    return Table("Not compared", columns, (rows,))
