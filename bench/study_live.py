"""Whether `ab` keeps its promises on this machine: trials of the same code, and of code slowed down on purpose.

    python -m bench.study_live [--same 30] [--slowed 20] [--out FOLDER]

Every trial is `ab --quick` of the suite's own kernels against themselves, in fresh processes. In the slowed ones, one
kernel makes 21 calls for each 20 that count. In half of all, another process streams memory meanwhile. The second table
tells how much a kernel's time varies from process to process under that load, and how much its share of its roof does.
Run it alone: it holds the machine's lock.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from bench.trial import Asked, measured_roof, roof_plan, tried
from bench.versions import Version
from roofline.archive.trials import save_trial
from roofline.host import read_machine
from roofline.measurement.interruption import interruptible
from roofline.measurement.lock import lock_folder, machine_lock
from roofline.model.run import Run
from roofline.model.statistics import median, relative_spread
from roofline.model.trial import PROFILES, Pair, Side, Trial
from roofline.model.trial_verdict import VERDICTS, assay_defect, verdicts_of

KERNELS = {
    "stream.triad": "memory",
    "gemv.blocked": "memory",
    "gemv.naive": "latency of additions",
    "gemm.naive": "latency of additions",
    "gemm.register": "arithmetic",
    "gemm.blocked": "arithmetic and caches",
}
"""What is compared, and what it is mostly limited by."""
PROCESSES = 20
"""Of a kernel, for the table of spreads."""
STREAMER = """
import numpy as np
a, b = np.ones(25_000_000), np.ones(25_000_000)
while True:
    np.copyto(a, b)
"""
"""200 MB to and fro, until it is ended."""


@contextmanager
def load(wanted: bool) -> Iterator[None]:
    """Let another process stream memory meanwhile, if wanted."""
    if not wanted:
        yield
        return
    process = subprocess.Popen([sys.executable, "-c", STREAMER])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def one(stretched: str | None, loaded: bool, roof: Run) -> Trial:
    """Return a trial of the suite's kernels against themselves."""
    side = Version(side=Side(name="installed"), files=())
    asked = Asked(patterns=tuple(KERNELS))
    with load(loaded):
        return tried(
            (side, side),
            asked,
            PROFILES["quick"],
            keep=lambda trial: None,
            report=lambda progress: None,
            limit_s=900,
            stretched=frozenset([stretched] if stretched else []),
            roof=roof,
        )


def told(trial: Trial) -> dict[str, list[str]]:
    """Return the verdicts of a trial by kernel; `slowed` apart from the others."""
    found: dict[str, list[str]] = {"slowed": [], "others": []}
    for point, verdict in zip(trial.points, verdicts_of(trial), strict=True):
        if not point.control:
            found["slowed" if point.stretched else "others"].append(verdict.verdict)
    return found


def spreads(pairs: Sequence[Pair]) -> tuple[float, float, float, float]:
    """Return how a kernel varies between processes: (middle half and range) / median of times, and of roof shares."""
    sides = [timed for pair in pairs for timed in (pair.base, pair.head)][:PROCESSES]
    times = [timed.best_s for timed in sides]
    shares = [1 / (timed.best_s * timed.roof_per_s) for timed in sides if timed.roof_per_s]
    return (*_spread(times), *_spread(shares))


def _spread(values: Sequence[float]) -> tuple[float, float]:
    return relative_spread(values), (max(values) - min(values)) / median(values)


def cell(verdicts: Sequence[str]) -> str:
    """Write how often each verdict was given."""
    if not verdicts:
        return "-"
    return ", ".join(f"{verdicts.count(v)} {v}" for v in VERDICTS)


@click.command()
@click.option("--same", default=30, show_default=True, help="Trials of the same code.")
@click.option("--slowed", default=20, show_default=True, help="Trials with one kernel 5 % slower.")
@click.option("--out", type=click.Path(path_type=Path), help="Keep the trials in this results folder.")
def main(same: int, slowed: int, out: Path | None) -> None:
    """Print the tables as Markdown; progress goes to stderr."""
    kinds: dict[tuple[str, bool], list[Trial]] = {}
    names = list(KERNELS)
    with interruptible(), machine_lock(lock_folder(), "bench.study_live"):
        roof = measured_roof(roof_plan(Asked(patterns=tuple(KERNELS))), read_machine(), lambda progress: None)
        for number in range(same + slowed):
            loaded = number % 2 == 1
            stretched = names[(number - same) // 2 % len(names)] if number >= same else None
            trial = one(stretched, loaded, roof)
            if out is not None:
                save_trial(trial, out)
            kinds.setdefault(("5 % slower" if stretched else "same code", loaded), []).append(trial)
            defect = assay_defect(trial, verdicts_of(trial))
            said = told(trial)
            what = f"{stretched or 'same code'}, {'loaded' if loaded else 'no load'}, {trial.elapsed_s or 0:.0f} s"
            both = f"{cell(said['slowed'])} / {cell(said['others'])}; {defect or 'controls held'}"
            click.echo(f"{number + 1} of {same + slowed}: {what}: {both}", err=True)
    click.echo(
        "| trials | load | how many | kernels without a change | the slowed kernel | controls failed | seconds |"
    )
    click.echo("|---|---|---|---|---|---|---|")
    for (kind, loaded), trials in kinds.items():
        others = [verdict for trial in trials for verdict in told(trial)["others"]]
        slow = [verdict for trial in trials for verdict in told(trial)["slowed"]]
        failed = sum(assay_defect(trial, verdicts_of(trial)) is not None for trial in trials)
        seconds = median([trial.elapsed_s or 0.0 for trial in trials])
        under = "memory streamed" if loaded else "none"
        cells = (kind, under, str(len(trials)), cell(others), cell(slow), str(failed), f"{seconds:.0f}")
        click.echo(f"| {' | '.join(cells)} |")
    click.echo("\n| kernel | limited by | load | time: middle half, range | share of its roof: middle half, range |")
    click.echo("|---|---|---|---|---|")
    for loaded in (False, True):
        trials = kinds.get(("same code", loaded), [])
        for name, limited in KERNELS.items():
            points = [point.name for trial in trials[:1] for point in trial.points if point.kernel == name]
            for point in [name for name in points if not name.startswith("control")]:
                pairs = [pair for trial in trials for pair in trial.pairs if (pair.point, pair.stage) == (point, 1)]
                numbers = [f"{100 * value:.1f} %" for value in spreads(pairs)]
                under = "memory streamed" if loaded else "none"
                line = (point, limited, under, ", ".join(numbers[:2]), ", ".join(numbers[2:]))
                click.echo(f"| {' | '.join(line)} |")


if __name__ == "__main__":
    main()
