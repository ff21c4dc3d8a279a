"""`export`: a saved run in another tool's format."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from bench.cli.saved import completed
from bench.cli.session import Session
from bench.cli.verb import Verb
from roofline.archive.store import find, load
from roofline.errors import UsageError

DIRECTIONS = ("bigger", "smaller")


def formats(context: click.Context, _: click.Parameter, begun: str) -> list[str]:
    """Return the formats that begin so, for the shell."""
    from roofline.archive.export import FORMATS  # only when a name is asked for

    return [name for name in FORMATS if name.startswith(begun)]


@click.command("export", cls=Verb)
@click.argument("name", metavar="[RUN]", default="last", shell_complete=completed)
@click.option("--to", "to", required=True, metavar="FORMAT", shell_complete=formats, help="See `guide exports`.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where to write; by default stdout. For asv its results folder, for github-action a folder or a beginning.",
)
@click.option("--direction", type=click.Choice(DIRECTIONS), help="On stdout, which file of github-action to print.")
@click.pass_obj
def command(session: Session, /, name: str, to: str, output: Path | None, direction: str | None) -> None:
    """Write a saved run in another tool's format.

    Formats: pytest-benchmark, pyperf, bmf, github-action, google-benchmark, asv, junit, openmetrics, csv, parquet.
    RUN is the last by default. With -o the names of the files are printed, one a line.
    """
    from roofline.archive.export import exported
    from roofline.archive.export.delivery import deliver

    if direction is not None and to != "github-action":
        raise UsageError(f"--direction chooses between the files of github-action; {to} has no such choice")
    run = load(find(name, session.results))
    files = exported(run, to)
    left_out = sum(not measurement.drawable for measurement in run.measurements)
    if left_out and to != "junit":
        session.note(f"note: {left_out} of {len(run.measurements)} measurements may not be drawn and are left out")
    if direction is not None:
        files = {"": next(content for key, content in files.items() if direction in key.lower())}
    if output is not None and str(output) != "-":
        for path in deliver(files, to, output):
            click.echo(path)
    elif list(files) != [""]:
        choice = " or --direction bigger|smaller" if to == "github-action" else ""
        raise UsageError(f"{to} has {len(files)} files, which cannot all go to stdout; give -o FOLDER{choice}")
    elif to == "parquet" and sys.stdout.isatty():
        raise UsageError("parquet is no text for a terminal; give -o FILE, or a pipe")
    else:
        click.echo(files[""], nl=False)
