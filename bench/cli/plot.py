"""`plot`: the picture of a saved run."""

from __future__ import annotations

from pathlib import Path

import click

from bench.cli.session import Session
from bench.cli.verb import Verb
from roofline.archive.store import find, load


@click.command("plot", cls=Verb)
@click.argument("name", metavar="RUN")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A .svg or .png, or a name without either for both; by default beside the run.",
)
@click.option("--dtype", metavar="T", help="Element type to draw.")
@click.option("--threads", type=click.IntRange(min=1), metavar="N", help="Thread count to draw.")
@click.pass_obj
def command(session: Session, /, name: str, output: Path | None, dtype: str | None, threads: int | None) -> None:
    """Draw the roofline of a saved run.

    Prints the names of the files drawn, one a line.
    """
    from roofline.plotting.figure import FORMATS, save_figure  # loads Matplotlib

    path = find(name, session.results)
    stem = output or path.with_suffix("")
    formats: tuple[str, ...] = FORMATS
    if stem.suffix[1:] in FORMATS:
        stem, formats = stem.with_suffix(""), (stem.suffix[1:],)
    for file in save_figure(load(path), stem, dtype=dtype, threads=threads, formats=formats):
        click.echo(file)
