"""What is lost when a run is interrupted or killed at random times: many short runs, as a table.

    python -m bench.faults [--rounds 20]

Each round starts `run stream.triad` as a process of its own, waits a random time, and sends SIGINT or SIGTERM to the
launcher, or SIGKILL to the worker or to the launcher. Then it looks at the exit code, at how long it took to stop, at
whether all that the journal held at that moment is still there, and for processes that were left behind. Run it alone:
it holds the machine's lock meanwhile.
"""

from __future__ import annotations

import os
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import click
import psutil

from roofline.archive.journal import read_journal
from roofline.archive.store import load
from roofline.errors import ArchiveError, MeasurementError
from roofline.measurement.lock import lock_folder, machine_lock
from roofline.model.run import Run

RUN = ("run", "stream.triad", "--threads", "1", "--dtype", "f64", "--budget", "2")
STOPS_WITHIN_S = 2.0
ENDS_WITHIN_S = 180.0
LOOK_EVERY_S = 0.01
TITLES = (
    *("fault", "rounds", "exit codes", "wrong code", "over 2 s", "slowest"),
    *("records held", "lost", "torn", "unreadable", "orphans", "resumed"),
)
TOKEN = "ROOFLINE_FAULTS"
"""Variable by which the processes of a round are known."""

Launcher = subprocess.Popen[bytes]


@dataclass
class Tally:
    """What became of the rounds of one kind."""

    rounds: int = 0
    codes: set[int] = field(default_factory=set)
    wrong_code: int = 0
    slow: int = 0
    slowest_s: float = 0.0
    held: int = 0
    """Records that the journals held when it happened."""
    lost: int = 0
    """How many of them were not there afterwards."""
    torn: int = 0
    """Journals whose last line was torn; a line that was being written is nobody's loss."""
    unreadable: int = 0
    orphans: int = 0
    resumed: int = 0

    @property
    def bad(self) -> int:
        """How often something was not as promised."""
        return self.wrong_code + self.slow + self.lost + self.unreadable + self.orphans


def kept_of(run: Run) -> set[str]:
    """Return a name for every record that a run holds: each launch of a ceiling, measurement, sweep and failure."""
    launches = {f"{ceiling.name} {launch.samples_s}" for ceiling in run.ceilings.all for launch in ceiling.launches}
    measurements = {f"{m.kernel} {m.n} {m.dtype} {m.threads} {m.level} {m.samples_s}" for m in run.measurements}
    failures = {f"{failure.kind} {failure.point}" for failure in run.failures}
    return launches | measurements | failures | ({f"sweep {run.sweep}"} if run.levels else set())


def stored(results: Path) -> Iterator[Path]:
    """Yield the file of every run of a results folder, and the journal of each that has none."""
    saved = list(results.glob("*/*.json"))
    yield from saved
    names = {path.stem for path in saved}
    yield from (path for path in results.glob("*/*.part") if path.name.partition(".")[0] not in names)


def snapshot(results: Path, copy: Path) -> None:
    """Copy what is stored at this moment, to be read in peace."""
    for path in stored(results):
        with suppress(FileNotFoundError):  # its run was saved just now; the file comes next time
            (copy / path.name).write_bytes(path.read_bytes())


def held_in(folder: Path, tally: Tally | None = None) -> set[str]:
    """Return the names of all records that the files of a folder hold; count what is torn or unreadable."""
    names: set[str] = set()
    for path in folder.iterdir():
        try:
            run, torn = read_journal(path) if path.suffix == ".part" else (load(path), 0)
        except ArchiveError:
            # A journal whose first line is not whole yet holds nothing.
            if tally is not None and (path.suffix != ".part" or b"\n" in path.read_bytes()):
                tally.unreadable += 1
            continue
        names |= kept_of(run)
        if tally is not None:
            tally.torn += torn > 0
            tally.unreadable += torn > 1
    return names


def started(results: Path, token: str, *words: str) -> Launcher:
    """Start the program with words of its own folder and lock, in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "bench", "-q", "--results", str(results), *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "ROOFLINE_LOCK_FOLDER": str(results.parent), TOKEN: token},
        start_new_session=True,
    )


def of_round(token: str) -> list[psutil.Process]:
    """Return the processes of a round that run: the launcher and all that came of it, wherever it went."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(TOKEN) == token and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def left_after(token: str, within_s: float) -> int:
    """Return how many processes of a round still run after a while, and end them."""
    deadline = time.monotonic() + within_s
    while (left := of_round(token)) and time.monotonic() < deadline:
        time.sleep(LOOK_EVERY_S)
    for process in left:
        with suppress(psutil.Error):
            process.kill()
    return len(left)


def kill_worker(launcher: Launcher, token: str) -> None:
    """Kill the worker; where there is none yet, as soon as there is one."""
    while launcher.poll() is None:
        workers = [process for process in of_round(token) if process.pid != launcher.pid]
        if workers:
            with suppress(psutil.Error):
                workers[0].kill()
            return
        time.sleep(LOOK_EVERY_S)


ACTIONS: dict[str, Callable[[Launcher, str], None]] = {
    "SIGINT": lambda launcher, _: launcher.send_signal(signal.SIGINT),
    "SIGTERM": lambda launcher, _: launcher.send_signal(signal.SIGTERM),
    "worker kill -9": kill_worker,
    "launcher kill -9": lambda launcher, _: launcher.kill(),
}
EXPECTED = {
    "SIGINT": {130, 0, -signal.SIGINT},
    "SIGTERM": {143, 0, -signal.SIGTERM},
    "worker kill -9": {0, 6},
    "launcher kill -9": {-signal.SIGKILL, 0},
}
"""Exit codes: 0 where the run had ended already, or only compiled; the signal itself before the program listens."""


def one_round(kind: str, wait_s: float, tally: Tally, resume: bool) -> None:
    """Run one round of a kind and count what became of it; with `resume`, go on with what is left and finish it."""
    with tempfile.TemporaryDirectory() as scratch:
        results, before, after = (Path(scratch) / name for name in ("results", "before", "after"))
        before.mkdir()
        after.mkdir()
        token = secrets.token_hex(8)
        launcher = started(results, token, *RUN)
        time.sleep(wait_s)
        snapshot(results, before)
        sent_s = time.monotonic()
        ACTIONS[kind](launcher, token)
        code = launcher.wait(timeout=ENDS_WITHIN_S)
        took_s = time.monotonic() - sent_s
        tally.orphans += left_after(token, STOPS_WITHIN_S)
        tally.rounds += 1
        tally.codes.add(code)
        tally.wrong_code += code not in EXPECTED[kind]
        if kind != "worker kill -9":  # that run goes on
            tally.slowest_s = max(tally.slowest_s, took_s)
            tally.slow += took_s > STOPS_WITHIN_S
        held = held_in(before)
        snapshot(results, after)
        tally.held += len(held)
        lost = held - held_in(after, tally)
        tally.lost += len(lost)
        for name in sorted(lost):
            click.echo(f"lost after {kind} at {wait_s:.2f} s: {name}", err=True)
        if resume and held and not list(results.glob("*/*.json")):
            tally.resumed += 1
            tally.wrong_code += started(results, token, "resume").wait(timeout=ENDS_WITHIN_S) not in (0, 6)
            ends = [run for run in map(load, results.glob("*/*.json")) if run.complete]
            tally.lost += len(held - set().union(*map(kept_of, ends)))


def undisturbed_s() -> float:
    """Return how long a run takes that nothing happens to; it also compiles. Raises MeasurementError when it fails."""
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(2):  # the first one compiles
            began_s = time.monotonic()
            if code := started(Path(scratch) / "results", "undisturbed", *RUN).wait(timeout=ENDS_WITHIN_S):
                raise MeasurementError(f"an undisturbed run ended with {code}; see `python -m bench {' '.join(RUN)}`")
    return time.monotonic() - began_s


@click.command()
@click.option("--rounds", default=20, show_default=True, type=click.IntRange(min=1), help="Of each kind.")
@click.option("--resumes", default=3, show_default=True, help="Runs of killed launchers that are then resumed.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(list(ACTIONS)), help="Only these; default: all.")
@click.option("--seed", default=1, show_default=True, help="Of the random times.")
def main(rounds: int, resumes: int, kinds: tuple[str, ...], seed: int) -> None:
    """Print the table, and exit with 1 when anything was not as promised."""
    # A shell starts what it puts in the background with SIGINT ignored, and so would everything that is started here.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rng = random.Random(seed)
    bad = 0
    with machine_lock(lock_folder(), "bench.faults"):
        whole_s = undisturbed_s()
        click.echo(f"an undisturbed run takes {whole_s:.1f} s; each fault comes at a random time of it\n")
        click.echo(f"| {' | '.join(TITLES)} |\n|{'---|' * len(TITLES)}")
        for kind in kinds or ACTIONS:
            tally = Tally()
            for _ in range(rounds):
                resume = kind.startswith("launcher") and tally.resumed < resumes
                one_round(kind, rng.uniform(0.0, whole_s), tally, resume)
            slowest = "-" if kind.startswith("worker") else f"{tally.slowest_s:.2f} s"
            codes = ", ".join(map(str, sorted(tally.codes)))
            cells = (kind, tally.rounds, codes, tally.wrong_code, tally.slow, slowest, tally.held, tally.lost)
            more = (tally.torn, tally.unreadable, tally.orphans, tally.resumed)
            click.echo(f"| {' | '.join(map(str, (*cells, *more)))} |")
            bad += tally.bad
    sys.exit(int(bad > 0))


if __name__ == "__main__":
    main()
