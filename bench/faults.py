"""What is lost when a run is interrupted or killed at random times: many short runs, as a table.

    python -m bench.faults [--rounds 20]

Each round starts `run stream.triad` as a process of its own, waits a random time, and sends SIGINT or SIGTERM to the
launcher, or SIGKILL to the worker or to the launcher. Then it looks at the exit code, at how long it took to stop, at
what the journal and the file hold, and for processes that were left behind.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import click
import psutil

from roofline.archive.store import load
from roofline.errors import ArchiveError

RUN = ("-q", "run", "stream.triad", "--threads", "1", "--dtype", "f64", "--budget", "3")
STOPS_WITHIN_S = 2.0
ENDS_WITHIN_S = 90.0
LAST_AFTER_S = 9.0
"""Random moments lie between the start and this: some while it plans, most while it measures."""


@dataclass
class Tally:
    """What became of the rounds of one kind."""

    rounds: int = 0
    wrong_code: int = 0
    slow: int = 0
    lost: int = 0
    orphans: int = 0
    unreadable: int = 0
    slowest_s: float = 0.0
    codes: set[int] = field(default_factory=set)


def one(kind: str, results: Path, wait_s: float, tally: Tally) -> None:
    """Run one round."""
    environment = {**os.environ, "ROOFLINE_LOCK_FOLDER": str(results)}
    command = [sys.executable, "-m", "bench", "--results", str(results), *RUN]
    launcher = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    deadline = time.monotonic() + wait_s
    if kind.startswith("worker"):  # there must be one to kill
        deadline = time.monotonic() + ENDS_WITHIN_S
        while time.monotonic() < deadline and not measuring(launcher.pid):
            time.sleep(0.02)
        time.sleep(wait_s / 4)
    else:
        time.sleep(wait_s)
    known = {child.pid for child in descendants(launcher.pid)}
    before = records(results)
    sent_s = time.monotonic()
    ACTIONS[kind](launcher)
    code = launcher.wait(timeout=ENDS_WITHIN_S)
    took_s = time.monotonic() - sent_s
    tally.rounds += 1
    tally.codes.add(code)
    if code not in EXPECTED[kind]:
        tally.wrong_code += 1
    if kind.startswith("SIG"):
        tally.slowest_s = max(tally.slowest_s, took_s)
        tally.slow += took_s > STOPS_WITHIN_S
    time.sleep(0.3)
    tally.orphans += sum(alive(pid) for pid in known)
    after = records(results)
    if after is None:
        tally.unreadable += 1
    elif before is not None and not after >= before:
        tally.lost += 1


def descendants(pid: int) -> list[psutil.Process]:
    found: list[psutil.Process] = []
    with suppress(psutil.Error):
        found = psutil.Process(pid).children(recursive=True)
    return found


def measuring(pid: int) -> list[psutil.Process]:
    """Return the workers of a launcher."""
    found = []
    for child in descendants(pid):
        with suppress(psutil.Error):
            if "roofline.measurement.worker" in child.cmdline():
                found.append(child)
    return found


def alive(pid: int) -> bool:
    with suppress(psutil.Error):
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    return False


def records(results: Path) -> set[str] | None:
    """Return the names of all that is kept, in files and journals; None when any cannot be read."""
    kept: set[str] = set()
    for path in [*results.glob("*/*.json"), *results.glob("*/*.part")]:
        try:
            run = load(path)
        except (ArchiveError, FileNotFoundError):
            if path.exists() and path.stat().st_size:
                return None
            continue
        kept |= {f"{run.id} {ceiling.name} {len(ceiling.launches)}" for ceiling in run.ceilings.all}
        kept |= {f"{run.id} {m.kernel} {m.n}" for m in run.measurements}
    return kept


def kill_worker(launcher: subprocess.Popen[bytes]) -> None:
    for worker in measuring(launcher.pid)[:1]:
        with suppress(psutil.Error):
            worker.kill()


ACTIONS: dict[str, Callable[[subprocess.Popen[bytes]], None]] = {
    "SIGINT": lambda launcher: launcher.send_signal(signal.SIGINT),
    "SIGTERM": lambda launcher: launcher.send_signal(signal.SIGTERM),
    "worker kill -9": kill_worker,
    "launcher kill -9": lambda launcher: launcher.kill(),
}
EXPECTED = {
    "SIGINT": {130, 0, -signal.SIGINT},
    "SIGTERM": {143, 0, -signal.SIGTERM},
    "worker kill -9": {0, 6},
    "launcher kill -9": {-signal.SIGKILL, 0},
}
"""Exit codes: 0 where the run had ended already; the signal itself before the program has begun to listen."""


@click.command()
@click.option("--rounds", default=20, show_default=True, type=click.IntRange(min=1))
@click.option("--seed", default=1, show_default=True)
def main(rounds: int, seed: int) -> None:
    """Print the table, and exit with 1 when anything was lost."""
    rng = random.Random(seed)
    click.echo(
        "| what | rounds | exit codes | wrong code | slower than 2 s | slowest | records lost | orphans | unreadable |"
    )
    click.echo("|---|---|---|---|---|---|---|---|---|")
    bad = 0
    for kind in ACTIONS:
        tally = Tally()
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as scratch:
                one(kind, Path(scratch), rng.uniform(0.05, LAST_AFTER_S), tally)
        slowest = f"{tally.slowest_s:.2f} s" if kind.startswith("SIG") else "-"
        codes = ", ".join(map(str, sorted(tally.codes)))
        cells = (kind, tally.rounds, codes, tally.wrong_code, tally.slow, slowest)
        click.echo(f"| {' | '.join(map(str, (*cells, tally.lost, tally.orphans, tally.unreadable)))} |")
        bad += tally.wrong_code + tally.slow + tally.lost + tally.orphans + tally.unreadable
    sys.exit(int(bad > 0))


if __name__ == "__main__":
    main()
