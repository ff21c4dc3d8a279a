"""The table of a gate: one row for each point that a rule means, rule by rule."""

from __future__ import annotations

from collections.abc import Sequence

from roofline.compare.ruling import found_text
from roofline.model.outcome import RESULTS, Outcome
from roofline.plotting.table import Column, Row, Table
from roofline.plotting.text import elided, printable

COLUMNS = (
    Column("rule", spare=1),
    Column("point"),
    Column("found"),
    Column("limit", right=True, spare=2),
    Column("result"),
)
RULE_LENGTH, POINT_LENGTH = 60, 64
"""Longer than rules and points mostly are: what is cut is cut in its middle."""


def gate_table(outcomes: Sequence[Outcome]) -> Table:
    """Return the outcomes as a table, grouped by rule."""
    groups: dict[str, list[Row]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.rule, []).append(_row(outcome))
    return Table("Gate", COLUMNS, tuple(map(tuple, groups.values())))


def counts(outcomes: Sequence[Outcome]) -> str:
    """Write how many passed, failed and are inconclusive, e.g. `4 passed, 1 failed, 2 inconclusive`."""
    found = [outcome.result for outcome in outcomes]
    return ", ".join(f"{found.count(result)} {result}" for result in RESULTS)


def _row(outcome: Outcome) -> Row:
    return (
        elided(printable(outcome.rule), RULE_LENGTH),
        elided(printable(outcome.point), POINT_LENGTH),
        "-" if outcome.found is None else found_text(outcome.found, outcome.interval, outcome.unit),
        f"{outcome.limit:g} {outcome.unit}".strip(),
        outcome.result,
    )
