"""Plans, scripts for the fake worker, and what is left of its processes."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import psutil
from sample_host import sample_environment, sample_machine

from roofline.measurement.plan import ComputePoint, Plan
from roofline.model.ceilings import ComputeCeiling
from roofline.model.run import ComputeMeasured, Run

Act = Sequence[Any]
BUDGET_S = 0.4
"""So little that patience is what a test says, and not ten times a point's share."""
GONE_WITHIN_S = 20.0
"""A process that was killed is gone at once; a loaded machine may take a while to notice."""


def plan_of(points: int) -> Plan:
    """Return a plan of so many different points."""
    return Plan(
        mode="run",
        budget_s=BUDGET_S,
        threads=(1,),
        cpus=(),
        dtypes=("f64",),
        isas=("scalar",),
        points=tuple(ComputePoint(isa="scalar", dtype="f64", op=f"op{k}", threads=1) for k in range(points)),
    )


def empty_run() -> Run:
    """Return a run before anything is measured."""
    return Run(
        id="20261104-101112-a1b2",
        started_utc="2026-11-04T10:11:12Z",
        machine=sample_machine(),
        environment=sample_environment(),
    )


def measured(number: int) -> ComputeMeasured:
    """Return the record of the point with this index."""
    ceiling = ComputeCeiling(
        isa="scalar",
        dtype="f64",
        op=f"op{number}",
        threads=1,
        flop_per_s=1e9 + number,
        flop_per_cycle=4.0,
        clock_hz=2e9,
        chains=8,
        audited=True,
    )
    return ComputeMeasured(ceiling=ceiling)


def say(number: int) -> Act:
    """Return the act of saying the record of a point."""
    return ["say", msgspec.to_builtins(measured(number))]


class FakeWorkers:
    """The script that every worker of one launch plays."""

    def __init__(self, folder: Path, points: int) -> None:
        """At each of `points` points they say its record, until told otherwise."""
        self.folder = folder
        self.plan = plan_of(points)
        self.acts: dict[int | str, list[Act]] = {number: [say(number)] for number in range(points)}
        self.startup: list[Act] = []

    @property
    def files(self) -> dict[str, str]:
        """What the workers write into, by what it holds."""
        return {"pids": str(self.folder / "pids"), "places": str(self.folder / "places")}

    @property
    def command(self) -> tuple[str, ...]:
        """The command that starts one, after its script is written."""
        script = self.folder / "script.json"
        text = {"startup": self.startup, "points": self.acts, **self.files}
        script.write_text(json.dumps(text))
        return (sys.executable, "-S", "-E", str(Path(__file__).with_name("fake_worker.py")), str(script))

    def pids(self) -> list[int]:
        """Return the ids of all processes that there have been."""
        file = self.folder / "pids"
        return [int(line) for line in file.read_text().splitlines()] if file.exists() else []

    def left(self) -> list[int]:
        """Return the ids of processes that still run after a while."""
        return still_running(self.pids())


def still_running(pids: Sequence[int]) -> list[int]:
    """Return those of the processes that have not ended after a while."""
    deadline = time.monotonic() + GONE_WITHIN_S
    while (running := [pid for pid in pids if runs(pid)]) and time.monotonic() < deadline:
        time.sleep(0.02)
    return running


def runs(pid: int) -> bool:
    """Whether a process runs: one that is dead but not yet collected does not."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
