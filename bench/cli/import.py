"""`import`: a benchmark file of another tool as a table, and one of its benchmarks under a roof of ours."""
# ruff: noqa: N999  a verb is a module of its name, and this one is only ever imported by `import_module`

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from msgspec.structs import asdict

from bench.cli.saved import completed
from bench.cli.session import Session
from bench.cli.verb import Verb
from roofline.archive.disk import read_bytes
from roofline.archive.foreign import FORMATS, named, read_foreign
from roofline.archive.store import find, load
from roofline.errors import UsageError
from roofline.model.placement import Placement, placed

MARKED = "unpaired, not checked, not counted: time and roof are of two programs, and the work is as declared"
MOST_WORK = 2**62
ABOVE = "above the roof, which cannot be: the declared work, the level or the threads are not what was timed"


def amount(_: click.Context, option: click.Parameter, value: float | None) -> int | None:
    """Return declared work as a whole number. Raises UsageError for what no work can be."""
    if value is not None and not 0 <= value <= MOST_WORK:  # nan is not either
        raise UsageError(f"{option.opts[0]} is {value:g}, expected a number between 0 and {MOST_WORK:g}, of one call")
    return None if value is None else round(value)


@click.command("import", cls=Verb)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--from", "of", metavar="FORMAT", help=f"One of {', '.join(FORMATS)}; by default what the content is.")
@click.option("--name", metavar="NAME", help="Only the benchmark of this name.")
@click.option("--roof", metavar="RUN", shell_complete=completed, help="Put that benchmark under the roof of this run.")
@click.option("--flops", type=float, callback=amount, metavar="F", help="Operations of one call, as 2e9.")
@click.option("--bytes", "moved_bytes", type=float, callback=amount, metavar="B", help="Bytes of one call, as 3e6.")
@click.option("--level", metavar="LEVEL", help="Memory level that holds the data (default: the furthest).")
@click.option("--dtype", metavar="T", help="Element type (default: f64).")
@click.option("--threads", type=click.IntRange(min=1), metavar="N", help="Threads that worked (default: 1).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def command(
    session: Session,
    /,
    file: Path,
    of: str | None,
    name: str | None,
    roof: str | None,
    flops: int | None,
    moved_bytes: int | None,
    level: str | None,
    dtype: str | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Show a benchmark file of pytest-benchmark, pyperf or Google Benchmark.

    With --roof, --name and the work of one call, where that benchmark lies under the roof of a saved run.
    """
    from roofline.plotting.foreign_tables import benchmark_table, placement_table

    if roof is None and {flops, moved_bytes, level, dtype, threads} != {None}:
        raise UsageError("work, level, element type and threads tell where a benchmark lies; give --roof RUN too")
    if roof is not None and (name is None or (flops is None and moved_bytes is None)):
        raise UsageError("--roof needs one benchmark and its work; give --name NAME, and --flops F, --bytes B or both")
    foreign = read_foreign(read_bytes(file, "benchmark file"), str(file), of)
    benchmarks = foreign.benchmarks if name is None else (named(foreign, name),)
    placement = None
    if roof is not None:
        placement = placed(
            load(find(roof, session.results)).ceilings,
            median_s=benchmarks[0].median_s,
            flops=flops or 0,
            moved_bytes=moved_bytes or 0,
            level=level,
            dtype=dtype or "f64",
            threads=threads or 1,
        )
    if as_json:
        found: dict[str, Any] = {"format": foreign.format, "benchmarks": list(map(asdict, benchmarks))}
        found |= {"left_out": list(foreign.left_out)}
        if placement is not None:
            found["placement"] = {**asdict(placement), "above_roof": placement.is_above_roof, "remark": MARKED}
        click.echo(json.dumps(found, indent=1))
    else:
        session.show([benchmark_table(f"{foreign.format}: {file.name}", benchmarks)])
        if placement is not None:
            session.show([placement_table(f"{benchmarks[0].name} under the roof of {roof}", placement)])
            click.echo(remark(placement))
    for left_out in foreign.left_out:
        session.note(f"note: left out: {left_out}")


def remark(placement: Placement) -> str:
    """Return what has to be known of a placement."""
    return f"{MARKED}; {ABOVE}" if placement.is_above_roof else MARKED
