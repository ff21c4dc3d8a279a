"""How well the ceilings of this machine repeat: several whole runs, one after the other, as a table.

    python -m bench.repeatability [--runs N]

Each run is a process of its own (`python -m bench ceilings`); its file stays in the results folder. Run it alone on a
quiet machine.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import click

from roofline.archive.store import load
from roofline.errors import MeasurementError
from roofline.model.ceilings import Ceiling, ComputeCeiling, MemoryCeiling
from roofline.model.grade import grade_of
from roofline.model.run import Run

CLASSES: tuple[tuple[str, Callable[[Ceiling], bool]], ...] = (
    ("compute", lambda ceiling: isinstance(ceiling, ComputeCeiling)),
    *(
        (level, lambda ceiling, level=level: isinstance(ceiling, MemoryCeiling) and ceiling.level == level)
        for level in ("L1", "L2", "L3", "DRAM")
    ),
)


def measured(results: Path, runs: int) -> list[Run]:
    """Measure the ceilings so often and return the runs. Raises MeasurementError when one fails."""
    for number in range(runs):
        command = [sys.executable, "-m", "bench", "-q", "--results", str(results), "ceilings"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise MeasurementError(f"run {number + 1} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
        click.echo(f"run {number + 1} of {runs} done", err=True)
    return [load(path) for path in sorted(results.glob("*/*.json"))]


def per_second(ceiling: Ceiling) -> float:
    """Return flop or byte per second."""
    return ceiling.attainable_flop_per_s(1.0)


def per_cycle(ceiling: Ceiling) -> float:
    """Return flop or byte per cycle of the clock held, per core."""
    return ceiling.flop_per_cycle if isinstance(ceiling, ComputeCeiling) else ceiling.byte_per_cycle


def spreads(runs: Sequence[Run], rate: Callable[[Ceiling], float]) -> dict[str, float]:
    """Return (highest - lowest) / median over the runs of every ceiling that all of them have, by its name."""
    names = set.intersection(*({ceiling.name for ceiling in run.ceilings.all} for run in runs))
    found = {}
    for name in sorted(names):
        rates = [rate(ceiling) for run in runs if (ceiling := run.ceilings.named(name))]
        found[name] = (max(rates) - min(rates)) / median(rates)
    return found


@click.command()
@click.option("--runs", default=10, show_default=True, type=click.IntRange(min=2))
@click.option("--results", type=click.Path(path_type=Path), help="Keep the runs here, and use those that are there.")
def main(runs: int, results: Path | None) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = results or Path(scratch)
        there = len(list(folder.glob("*/*.json")))
        done = measured(folder, max(0, runs - there))
    apart, apart_per_cycle = spreads(done, per_second), spreads(done, per_cycle)
    ceilings = {ceiling.name: ceiling for ceiling in done[0].ceilings.all}
    click.echo(f"{len(done)} runs, grades: {' '.join(sorted(grade_of(run).letter for run in done))}\n")
    click.echo("| ceilings | threads | how many | median of (max-min)/median | worst | which | per cycle | worst |")
    click.echo("|---|---|---|---|---|---|---|---|")
    for (kind, belongs), threads in ((pair, count) for pair in CLASSES for count in done[0].ceilings.threads):
        mine = {name: s for name, s in apart.items() if belongs(ceilings[name]) and ceilings[name].threads == threads}
        if mine:
            worst = max(mine, key=lambda name: mine[name])
            click.echo(
                f"| {kind} | {threads} | {len(mine)} | {100 * median(mine.values()):.2f} % | "
                f"{100 * mine[worst]:.2f} % | {worst} | {100 * median(apart_per_cycle[name] for name in mine):.2f} % | "
                f"{100 * max(apart_per_cycle[name] for name in mine):.2f} % |"
            )
    over = Counter(name.split(" ")[0] for name, spread in apart.items() if spread > 0.03)
    click.echo(f"\nover 3 %: {', '.join(f'{count} of {what}' for what, count in over.items()) or 'none'}")


if __name__ == "__main__":
    main()
