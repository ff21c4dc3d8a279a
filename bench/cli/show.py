"""`show`: a saved run."""

from __future__ import annotations

import click

from bench.cli.saved import completed
from bench.cli.session import Session
from bench.cli.verb import Verb
from roofline.archive.document import encode
from roofline.archive.store import find, load
from roofline.plotting.summary import tables


@click.command("show", cls=Verb)
@click.argument("name", metavar="[RUN]", default="last", shell_complete=completed)
@click.option("--json", "as_json", is_flag=True, help="Print the archived document.")
@click.option(
    "--format",
    "style",
    type=click.Choice(["table", "md"]),
    default="table",
    show_default=True,
    help="Tables for the terminal, or Markdown.",
)
@click.pass_obj
def command(session: Session, /, name: str, as_json: bool, style: str) -> None:
    """Show a saved run.

    The roof, the levels, the kernels with their percentages, failures and caveats; by default of the last run.
    """
    run = load(find(name, session.results))
    if as_json:
        click.echo(encode(run), nl=False)
    else:
        session.show(tables(run), markdown=style == "md")
