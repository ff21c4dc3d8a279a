"""`plot`: the picture of a saved run."""

from __future__ import annotations

from pathlib import Path

import click

from bench.cli.session import Session
from bench.cli.verb import Verb
from roofline.archive.store import find, load
from roofline.errors import UsageError


@click.command("plot", cls=Verb)
@click.argument("name", metavar="RUN")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A .svg or .png, or a name without ending for both; by default the run's, with what is chosen (-f32-1t).",
)
@click.option("--dtype", metavar="T", help="Element type to draw.")
@click.option("--threads", type=click.IntRange(min=1), metavar="N", help="Thread count to draw.")
@click.pass_obj
def command(session: Session, /, name: str, output: Path | None, dtype: str | None, threads: int | None) -> None:
    """Draw the roofline of a saved run.

    Prints the names of the files drawn, one a line.
    """
    from roofline.plotting.figure import FORMATS, save_figure  # loads Matplotlib

    if output is not None and output.suffix and output.suffix[1:] not in FORMATS:
        possible = " or ".join(f".{ending}" for ending in FORMATS)
        raise UsageError(f"-o {output} ends in {output.suffix}, expected {possible}, or no ending for both")
    path = find(name, session.results)
    stem = output or beside(path, dtype, threads)
    formats: tuple[str, ...] = FORMATS
    if output is not None and output.suffix:
        stem, formats = output.with_suffix(""), (output.suffix[1:],)
    for file in save_figure(load(path), stem, dtype=dtype, threads=threads, formats=formats):
        click.echo(file)


def beside(path: Path, dtype: str | None, threads: int | None) -> Path:
    """Return where the picture of a run file goes: its name, and what was chosen, so that no other picture is lost."""
    chosen = ("" if dtype is None else f"-{dtype}") + ("" if threads is None else f"-{threads}t")
    return path.with_name(path.stem + chosen)
