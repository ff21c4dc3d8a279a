"""`ci`: measure and gate in a CI service."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bench.cli.judging import judging_options
from bench.cli.request import locking_options
from bench.cli.saved import completed
from bench.cli.session import Session
from bench.cli.verb import Verb
from bench.service.provider import PROVIDERS


@click.command("ci", cls=Verb)
@click.argument("rules", metavar="[RULE]...", nargs=-1)
@click.option(
    "--plan",
    metavar="PLAN",
    help="quick, all, thorough, or kernels, as in 'gemm.*,stream.triad' (default: those of the rules, or quick).",
)
@click.option("--run", "source", metavar="RUN", shell_complete=completed, help="Judge this saved run; measure nothing.")
@judging_options
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="DIR", help="Where the artefacts go (default: results/ci)."
)
@click.option(
    "--provider",
    type=click.Choice(["auto", *PROVIDERS]),
    default="auto",
    show_default=True,
    help="The CI service; auto: told from its variables.",
)
@locking_options
@click.option("--json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def command(session: Session, /, **options: Any) -> int:
    """Measure and gate in a CI service, and tell it what came out.

    RULEs are those of `gate`; without any, those of [tool.bench] in pyproject.toml, and without these it is a report.
    Measures the kernels that the rules name; without rules, the quick suite.
    Writes a summary, JUnit, metrics and series into the artefacts' folder, and on GitHub annotations and outputs; also
    when the gate fails. Exits as `gate` does, and with 6 for a kernel that was wrong, crashed or hung.
    """
    from bench.service.job import Job, do  # what it needs takes a moment

    return do(Job(**options), session)
