"""`compare`: what changed between two saved runs."""

from __future__ import annotations

import json
from math import isnan
from pathlib import Path

import click
from msgspec.structs import replace

from bench.cli.saved import completed
from bench.cli.session import Session
from bench.cli.verb import Verb
from roofline.archive.store import find, load
from roofline.compare.comparison import Comparison, compared
from roofline.compare.record import document_of, to_csv
from roofline.plotting.change_tables import comparison_tables, lines
from roofline.plotting.text import markdown


def _number(context: click.Context, option: click.Parameter, value: float) -> float:
    """Return the value; a NaN lies within every range that click knows."""
    if isnan(value):
        raise click.BadParameter("nan is no number of percent.", context, option)
    return value


@click.command("compare", cls=Verb)
@click.argument("before_name", metavar="BEFORE", shell_complete=completed)
@click.argument("after_name", metavar="AFTER", shell_complete=completed)
@click.option(
    "--format",
    "style",
    type=click.Choice(["table", "md", "json", "csv"]),
    default="table",
    show_default=True,
    help="Tables for the terminal, Markdown, one JSON object, or comma-separated values.",
)
@click.option("--json", "style", flag_value="json", help="The same as --format json.")
@click.option("--only-changed", is_flag=True, help="List only the points that became faster or slower.")
@click.option("--across", is_flag=True, help="Compare other machines or conditions, by percent of roof alone.")
@click.option(
    "--within",
    "within_percent",
    type=click.FloatRange(1, 100),
    callback=_number,
    default=5.0,
    show_default=True,
    metavar="PERCENT",
    help="What counts as the same.",
)
@click.option("--kernel", "patterns", multiple=True, metavar="PATTERN", help="Only these kernels or families.")
@click.option("--plot", is_flag=True, help="Draw how the points moved under the roof, beside the file of AFTER.")
@click.pass_obj
def command(
    session: Session,
    /,
    before_name: str,
    after_name: str,
    style: str,
    only_changed: bool,
    across: bool,
    within_percent: float,
    patterns: tuple[str, ...],
    plot: bool,
) -> None:
    """Say what changed between two saved runs.

    For each point that both hold: how much faster it became, with a 95 % interval that counts what launches differ by,
    and a verdict: faster, slower, same, or inconclusive with the change that could have been seen.
    """
    paths = [find(name, session.results) for name in (before_name, after_name)]
    before, after = map(load, paths)
    comparison = compared(before, after, across=across, within=within_percent / 100, patterns=patterns)
    for remark in comparison.remarks if style in ("table", "csv") else ():
        session.note(remark)
    drawn = _drawn(comparison, paths[1]) if plot else []
    _show(session, comparison, style, only_changed)
    for path in drawn:
        click.echo(path, err=style in ("json", "csv"))


def _show(session: Session, comparison: Comparison, style: str, only_changed: bool) -> None:
    shown = replace(comparison, points=comparison.changed) if only_changed else comparison
    if style == "json":
        click.echo(json.dumps({**document_of(shown), "counts": comparison.counts}, indent=1, ensure_ascii=False))
    elif style == "csv":
        click.echo(to_csv(shown), nl=False)
    else:
        session.show(comparison_tables(shown), markdown=style == "md")
        remarks = comparison.remarks if style == "md" else ()
        for line in (*lines(comparison), *remarks):
            click.echo(f"\n{markdown(line)}" if style == "md" else line)


def _drawn(comparison: Comparison, beside: Path) -> list[Path]:
    from roofline.plotting.figure import save_changes  # loads Matplotlib

    return save_changes(comparison, beside.with_name(f"{comparison.before.id}-vs-{comparison.after.id}"))
