"""`plot`: the picture of a saved run, or of one family's ladders."""

from __future__ import annotations

import re
from pathlib import Path

import click

from bench.cli.saved import completed
from bench.cli.session import Session
from bench.cli.verb import Verb
from roofline.archive.store import find, load
from roofline.errors import UsageError
from roofline.model.ladder import ladders_of
from roofline.model.run import Run
from roofline.plotting.ladder_text import heading, sentences


@click.command("plot", cls=Verb)
@click.argument("name", metavar="[RUN]", default="last", shell_complete=completed)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A .svg, .png or .pdf, or a name without ending for the first two; by default the run's, with what is chosen "
    "(-f32-1t).",
)
@click.option("--dtype", metavar="T", help="Element type to draw.")
@click.option("--threads", type=click.IntRange(min=1), metavar="N", help="Thread count to draw.")
@click.option("--ladder", "family", metavar="FAMILY", help="Draw how this family's kernels climb to the roof.")
@click.option("--size", type=click.IntRange(min=1), metavar="N", help="Problem size n of the ladder.")
@click.pass_obj
def command(
    session: Session,
    /,
    name: str,
    output: Path | None,
    dtype: str | None,
    threads: int | None,
    family: str | None,
    size: int | None,
) -> None:
    """Draw the roofline of a saved run.

    By default of the last. Prints the names of the files drawn, one a line. With --ladder: the improvements of one
    family, step by step; an empty line and one sentence for each step follow the names.
    """
    from roofline.plotting.figure import ENDINGS, FORMATS, save_figure, save_ladders  # loads Matplotlib

    if output is not None and (not output.name or output.name == "-" or output.is_dir()):
        raise UsageError(f"-o {str(output)!r} is no name of a file; give one, as picture.svg")
    if output is not None and output.suffix and output.suffix[1:] not in ENDINGS:
        possible = ", ".join(f".{ending}" for ending in ENDINGS)
        raise UsageError(f"-o {output} ends in {output.suffix}, expected {possible}, or no ending for .svg and .png")
    if size is not None and family is None:
        raise UsageError("--size chooses the problem size of a ladder; give --ladder FAMILY too")
    path = find(name, session.results)
    stem = output or beside(path, dtype, threads, family, size)
    formats: tuple[str, ...] = FORMATS
    if output is not None and output.suffix:
        stem, formats = output.with_suffix(""), (output.suffix[1:],)
    run: Run = load(path)
    if family is None:
        for file in save_figure(run, stem, dtype=dtype, threads=threads, formats=formats):
            click.echo(file)
        return
    ladders = ladders_of(run, family, dtype=dtype, threads=threads, size=size)
    for file in save_ladders(run, ladders, stem, formats):
        click.echo(file)
    for ladder in ladders:
        click.echo("\n" + "\n".join((heading(ladder), *sentences(ladder))))


def beside(
    path: Path, dtype: str | None, threads: int | None, family: str | None = None, size: int | None = None
) -> Path:
    """Return where the picture of a run file goes: its name, and what was chosen, so that no other picture is lost."""
    chosen = "" if family is None else f"-ladder-{re.sub(r'[^A-Za-z0-9_]+', '_', family)}"
    chosen += ("" if dtype is None else f"-{dtype}") + ("" if threads is None else f"-{threads}t")
    chosen += "" if size is None else f"-n{size}"
    return path.with_name(path.stem + chosen)
