"""A run and its gate as one Markdown page of limited size: what a CI service shows beside a change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from roofline.compare.ruling import found_text
from roofline.model.grade import grade_of
from roofline.model.outcome import Outcome
from roofline.model.run import Run
from roofline.plotting.gate_table import counts
from roofline.plotting.kernel_tables import kernel_tables
from roofline.plotting.summary import caveats_table, failures_table, machine_table
from roofline.plotting.table import Column, Row, Table, to_markdown
from roofline.plotting.text import elided, markdown, printable

CELL_LENGTH = 400
"""Longer than any cell of the suite's own: only what a hostile file says is ever cut."""
WORST_FIRST = {"failed": 0, "inconclusive": 1, "passed": 2}
REMARK_BYTES = 64
"""What the remark on missing rows takes at most."""
NO_ROOM = "_The tables found no room here: they are in the files._\n"


def summary_markdown(
    run: Run, outcomes: Sequence[Outcome] = (), *, files: Sequence[str] = (), error: str = "", limit_bytes: int
) -> str:
    """Return the page: verdict, grade, machine, gate, kernels, failures, caveats and where the files are.

    It has at most `limit_bytes` bytes of UTF-8. Where that is too little, whole rows are left out, first of the
    longest tables, and a remark under the table says how many; then all tables; then everything. `error` is why the
    gate could not judge.
    """
    head = _head(run, outcomes, error)
    tail = _tail(files)
    tables = [
        machine_table(run),
        verdict_table(outcomes),
        *kernel_tables(run),
        failures_table(run),
        caveats_table(run),
    ]
    room = limit_bytes - _size(head) - _size(tail) - 1
    pages = (
        "\n".join([head, *texts, tail])
        for texts in (fitted([table for table in tables if table.rows], room), [NO_ROOM], [])
    )
    return next((page for page in pages if _size(page) <= limit_bytes), "")


def refusal_markdown(error: str) -> str:
    """Return the page of a job that has no run: why there is no verdict."""
    return f"{_title(_no_verdict(error))}\n"


def verdict_table(outcomes: Sequence[Outcome]) -> Table:
    """Return what each rule found at each point, and why it did not pass; the worst first."""
    columns = tuple(map(Column, ("result", "rule", "point", "found", "limit", "why")))
    ordered = sorted(outcomes, key=lambda outcome: WORST_FIRST.get(outcome.result, 0))
    rows = [
        (
            outcome.result,
            outcome.rule,
            outcome.point,
            "-" if outcome.found is None else found_text(outcome.found, outcome.interval, outcome.unit),
            f"{outcome.limit:g} {outcome.unit}".strip(),
            "" if outcome.result == "passed" else outcome.message,
        )
        for outcome in ordered
    ]
    return Table("Gate", columns, (tuple(tuple(map(printable, row)) for row in rows),))


def verdict_line(outcomes: Sequence[Outcome]) -> str:
    """Write how the gate ended, e.g. `gate failed (11 passed, 1 failed, 0 inconclusive)`."""
    if not outcomes:
        return "a report, no gate"
    worst = min((outcome.result for outcome in outcomes), key=lambda result: WORST_FIRST.get(result, 0))
    return f"gate {worst} ({counts(outcomes)})"


def fitted(tables: Sequence[Table], room_bytes: int) -> list[str]:
    """Return the tables as Markdown within a number of bytes, as evenly as it goes: the short ones get whole.

    Rows are left out from the end, with a remark that says how many.
    """
    whole = {place: to_markdown(_cut(table)) for place, table in enumerate(tables)}
    texts: dict[int, str] = {}
    for place in sorted(whole, key=lambda place: _size(whole[place])):
        share = room_bytes // (len(whole) - len(texts))
        fits = _size(whole[place]) + 1 <= share
        texts[place] = whole[place] if fits else _shortened(whole[place], len(tables[place].rows), share)
        room_bytes -= _size(texts[place]) + 1
    return [text for _, text in sorted(texts.items())]


def _shortened(text: str, rows: int, room_bytes: int) -> str:
    """Return a table's Markdown with as many whole rows as there is room for."""
    lines = text.splitlines(keepends=True)
    kept = len(lines) - rows
    used = sum(map(_size, lines[:kept])) + REMARK_BYTES
    while kept < len(lines) and used + _size(lines[kept]) <= room_bytes:
        used += _size(lines[kept])
        kept += 1
    return "".join([*lines[:kept], f"\n_{len(lines) - kept} of {rows} rows found no room here._\n"])


def _head(run: Run, outcomes: Sequence[Outcome], error: str) -> str:
    grade = grade_of(run)
    verdict = _no_verdict(error) if error else verdict_line(outcomes)
    reasons = [f"- {_literal(reason)}" for reason in grade.reasons] or ["- nothing was found against it"]
    return "\n".join(
        [
            _title(verdict),
            "",
            f"**Grade {grade.letter}**: {markdown(grade.meaning)}.",
            "",
            *reasons,
            "",
        ]
    )


def _title(verdict: str) -> str:
    return f"## Roofline: {_literal(verdict)}"


def _no_verdict(error: str) -> str:
    return f"no verdict: {error}"


def _tail(files: Sequence[str]) -> str:
    if not files:
        return ""
    return "\n".join(["### Files", "", *(f"- {_literal(file)}" for file in files), ""])


def _literal(text: str) -> str:
    return markdown(elided(printable(text), CELL_LENGTH))


def _cut(table: Table) -> Table:
    def row(cells: Row) -> Row:
        return tuple(elided(cell, CELL_LENGTH) for cell in cells)

    return replace(
        table, title=elided(table.title, CELL_LENGTH), groups=tuple(tuple(map(row, group)) for group in table.groups)
    )


def _size(text: str) -> int:
    return len(text.encode())
