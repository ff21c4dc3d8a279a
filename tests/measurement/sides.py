"""Duels between fake sides, and what they were asked for."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fakes import still_running
from sample_host import sample_environment, sample_machine

from roofline.measurement.duel import Duel, Program
from roofline.measurement.plan import KernelPoint, Plan
from roofline.measurement.progress import Progress
from roofline.model.trial import Profile, Side, Trial

CONTROL = KernelPoint(kernel="control", dtype="f64", threads=1, n=100)
SHORT = Profile(name="short", screen_pairs=2, confirm_pairs=3, most_noise=0.05)
REPEATS = 30


class Sides:
    """The script that both sides of one duel play, and the duel."""

    def __init__(self, folder: Path, *kernels: str) -> None:
        """Both sides know these kernels, at a second a call."""
        self.folder = folder
        self.points = tuple(KernelPoint(kernel=kernel, dtype="f64", threads=1, n=100) for kernel in kernels)
        self.kernels: dict[str, dict[str, Any]] = {kernel: found(kernel) for kernel in (*kernels, "control")}
        self.times = {kernel: {"base": 1.0, "head": 1.0} for kernel in (*kernels, "control")}
        self.acts: dict[str, Sequence[Any]] = {}
        self.kept: list[Trial] = []
        self.told: list[Progress] = []
        (folder / "log").touch()

    def program(self, side: str, **fields: Any) -> Program:
        """Return how a side is started, after its script is written."""
        script = self.folder / "script.json"
        files = {"log": str(self.folder / "log"), "pids": str(self.folder / "pids")}
        script.write_text(json.dumps({"kernels": self.kernels, "times": self.times, "acts": self.acts, **files}))
        command = (sys.executable, "-S", "-E", str(Path(__file__).with_name("fake_side.py")), str(script), side)
        environment = {**os.environ, "NUMBA_CACHE_DIR": side}
        return Program(**{"command": command, "environment": environment, "files": (f"{side}.py",), **fields})

    def duel(self, profile: Profile = SHORT, memory_budget_bytes: int | None = None, **fields: Any) -> Duel:
        """Return a duel of these sides; its second stage is for what `choose` names, by default nothing."""
        trial = Trial(
            id="20261203-090000-a1b2",
            started_utc="2026-12-03T09:00:00Z",
            machine=sample_machine(),
            environment=sample_environment(),
            base=Side(name="base"),
            head=Side(name="head"),
            profile=profile,
            seed=3,
        )
        plan = Plan(
            mode="quick", budget_s=1.0, threads=(1,), cpus=(), dtypes=("f64",), isas=("scalar",), points=self.points,
            memory_budget_bytes=memory_budget_bytes,
        )  # fmt: skip
        settings: dict[str, Any] = {
            "choose": lambda grown: (),
            "keep": self.kept.append,
            "report": self.told.append,
            "base": self.program("base"),
            "head": self.program("head"),
        }
        return Duel(trial=trial, plan=plan, control=CONTROL, **{**settings, **fields})

    @property
    def log(self) -> list[list[Any]]:
        """What all processes were asked for, in order."""
        return [json.loads(line) for line in (self.folder / "log").read_text().splitlines()]

    def timed(self, side: str, kernel: str) -> list[tuple[int, int]]:
        """Return counted and made calls of each time a side was to time a kernel."""
        return [(entry[3], entry[4]) for entry in self.log if entry[:3] == [side, "time", kernel]]

    def left(self) -> list[int]:
        """Return the ids of processes that still run after a while."""
        return still_running([int(line) for line in (self.folder / "pids").read_text().splitlines()])


def found(kernel: str, **fields: Any) -> dict[str, Any]:
    """Return what a rehearsal finds of a kernel."""
    known = {"n": 100, "level": "L2", "digest": kernel, "footprint_bytes": 1000, "ceiling": "", "repeats": REPEATS}
    return {**known, **fields}
