"""`gate`: pass or fail a saved run by rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import msgspec

from bench.cli.judging import judging_options, style_options
from bench.cli.saved import completed
from bench.cli.session import Session
from bench.cli.verb import Verb
from bench.gating import Judged, judged, rules_of
from bench.settings import settings_for
from roofline.archive.store import find, load
from roofline.plotting.gate_table import counts, gate_table

_TOLD = 20
"""Points that remarks tell of; the table has all."""


@click.command("gate", cls=Verb)
@click.argument("rules", metavar="[RULE]...", nargs=-1)
@click.option("--run", "name", metavar="RUN", default="last", show_default=True, shell_complete=completed)
@judging_options
@style_options
@click.pass_obj
def command(
    session: Session,
    /,
    rules: tuple[str, ...],
    name: str,
    baseline: str | None,
    on_inconclusive: str | None,
    style: str,
) -> int:
    """Pass or fail a saved run by rules.

    A RULE is a floor ('gemm.blocked: percent_of_roof >= 55'), a ratio within the run ('gemm.blocked / gemm.naive >= 3')
    or a limit of regression ('gemm.*: regression <= 5'); without any, those of [tool.bench] in pyproject.toml. The 95 %
    interval decides: where it holds the limit the result is inconclusive. Exits with 1 when anything failed.
    """
    settings = settings_for(Path.cwd())
    asked = rules_of(rules, settings)
    run = load(find(name, session.results))
    found = judged(run, asked, session.results, settings, baseline, on_inconclusive)
    if style == "json":
        click.echo(json.dumps(document_of(found), indent=1, ensure_ascii=False))
    else:
        session.show([gate_table(found.outcomes)], markdown=style == "md")
    remark(session, found)
    return found.exit_code


def document_of(found: Judged) -> dict[str, Any]:
    """Return what `--json` prints."""
    results = [outcome.result for outcome in found.outcomes]
    return {
        "run": found.run.id,
        "baseline": None if found.baseline is None else found.baseline.id,
        "complete": found.run.complete,
        "on_inconclusive": found.on_inconclusive,
        "exit_code": found.exit_code,
        "passed": results.count("passed"),
        "failed": results.count("failed"),
        "inconclusive": results.count("inconclusive"),
        "outcomes": [msgspec.to_builtins(outcome) for outcome in found.outcomes],
    }


def remark(session: Session, found: Judged) -> None:
    """Say on stderr how a gate ended, and of each of the first points that did not pass why."""
    if not found.run.complete:
        session.note(
            f"run {found.run.id} is incomplete ({found.run.reason or 'reason unknown'}): points may be missing"
        )
    told = [outcome for outcome in found.outcomes if outcome.result != "passed"]
    told.sort(key=lambda outcome: outcome.result)  # what failed comes first
    for outcome in told[:_TOLD]:
        session.note(f"{outcome.result}: {outcome.point}: {outcome.message}")
    if len(told) > _TOLD:
        session.note(f"... and {len(told) - _TOLD} more")
    undecided = any(outcome.result == "inconclusive" for outcome in told)
    hint = f" (--on-inconclusive {found.on_inconclusive})" if undecided else ""
    session.note(f"gate of run {found.run.id}: {counts(found.outcomes)}; exit code {found.exit_code}{hint}")
