"""`history`: how the kernels of a machine fared from run to run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import msgspec

from bench.cli.judging import style_options
from bench.cli.saved import completed_machine
from bench.cli.session import Session
from bench.cli.verb import Verb
from roofline.archive.store import load, runs
from roofline.compare.history import History, history_of
from roofline.compare.metric import METRICS
from roofline.compare.rule import parse_points
from roofline.errors import ArchiveError, UnknownName, UsageError
from roofline.host import read_machine
from roofline.model.run import Run
from roofline.plotting.history_table import history_tables

ENDINGS = (".svg", ".png", ".pdf")


@click.command("history", cls=Verb)
@click.argument("patterns", metavar="[PATTERN]...", nargs=-1)
@click.option(
    "--machine", metavar="KEY", shell_complete=completed_machine, help="Default: this machine, or the only one."
)
@click.option("--metric", type=click.Choice(list(METRICS)), default="percent_of_roof", show_default=True)
@click.option("--plot", is_flag=True, help="Also draw it, one panel for each kernel, and print the names of the files.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Where to draw it: a .svg, .png or .pdf."
)
@style_options
@click.pass_obj
def command(
    session: Session,
    /,
    patterns: tuple[str, ...],
    machine: str | None,
    metric: str,
    plot: bool,
    output: Path | None,
    style: str,
) -> None:
    """Show how the kernels of a machine fared from run to run.

    A PATTERN is a kernel or a family, with * and ?, and a filter in brackets: 'gemm.*[f64, threads=1]'. Change points
    are hints where to look, no verdicts: `compare` and `gate` give these.
    """
    if output is not None and output.suffix not in ENDINGS:
        raise UsageError(f"-o {str(output)!r} has no ending that can be drawn, expected .svg, .png or .pdf")
    wanted = [parse_points(pattern) for pattern in patterns]
    key = _machine(session, machine)
    history = history_of(_runs(session, key), metric, wanted)
    if style == "json":
        click.echo(json.dumps(document_of(history, key), indent=1, ensure_ascii=False))
    else:
        session.show(history_tables(history), markdown=style == "md")
    if plot or output is not None:
        for file in _drawn(history, key, output or session.results / key / f"history-{metric}"):
            click.echo(file, err=style == "json")


def document_of(history: History, machine: str) -> dict[str, Any]:
    """Return what `--json` prints."""
    return {
        "machine": machine,
        "metric": history.metric.name,
        "unit": history.metric.unit,
        "runs": [msgspec.to_builtins(moment) for moment in history.moments],
        "series": [
            {"point": series.name, "trend": series.trend, **msgspec.to_builtins(series)} for series in history.series
        ],
    }


def _machine(session: Session, asked: str | None) -> str:
    """Return the key of the machine to tell of. Raises UsageError where it is not clear which, or nothing is there."""
    keys = sorted({entry.path.parent.name for entry in runs(session.results) if entry.path.suffix == ".json"})
    if not keys:
        raise UsageError(
            f"there are no saved runs in {session.results}; measure some with `python -m bench all`, or name the "
            "folder with --results DIR"
        )
    if asked is not None:
        if asked not in keys:
            raise UnknownName("machine", asked[:80], keys, "its key is the name of a folder in the results")
        return asked
    here = read_machine().key
    if here in keys:
        return here
    if len(keys) > 1:
        raise UsageError(
            f"{session.results} has runs of {len(keys)} machines, none of this one: choose with --machine KEY: "
            f"{', '.join(keys[:8])}"
        )
    return keys[0]


def _runs(session: Session, key: str) -> list[Run]:
    found: list[Run] = []
    for entry in runs(session.results):
        if entry.path.suffix != ".json" or entry.path.parent.name != key:
            continue
        try:
            if entry.error is not None:
                raise ArchiveError(entry.error)
            found.append(load(entry.path))
        except ArchiveError as error:
            session.note(f"left out: {error}")
    if not found:
        raise UsageError(f"no run of {key} in {session.results} can be read; `python -m bench list runs` says why")
    return found


def _drawn(history: History, key: str, target: Path) -> list[Path]:
    from roofline.plotting.figure import save_history  # loads Matplotlib

    formats = (target.suffix[1:],) if target.suffix in ENDINGS else ("svg", "png")
    stem = target.with_suffix("") if target.suffix in ENDINGS else target
    return save_history(history, key, stem, formats)
