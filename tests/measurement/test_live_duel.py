"""Two files of kernels through real side processes; nothing is said of how fast they are."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from sample_host import sample_environment, sample_levels

from roofline.archive.trials import load_trial, save_trial
from roofline.host import memory_budget_bytes, read_machine, usable_cpus
from roofline.measurement.duel import Duel, Program
from roofline.measurement.plan import KernelPoint, Plan
from roofline.model.ceilings import Ceilings, ComputeCeiling
from roofline.model.trial import Profile, Side, Trial

TEXT = """
import numpy as np
from roofline import Work, kernel

@kernel(
    family="mine",
    work=lambda n, size: Work(flops=n, read_bytes=n * size, write_bytes=n * size, allocate_bytes=n * size),
    arguments=lambda n, dtype, rng: (np.empty(n, dtype), rng.random(n).astype(dtype) + dtype(0.5)),
    reference=lambda out, x: x + x,
    compiled=False,
    sizes=(1000,),
)
def NAME(out, x):
    \"\"\"out = x + x\"\"\"
    BODY
"""
SIDE = (sys.executable, "-m", "roofline.measurement.side")
SUM = "out[:] = x + x"
LAZY_SUM = "for _ in range(50 if out[-1] != x[-1] + x[-1] else 1): out[:] = x + x"
POINT, WRONG, LAZY = (
    KernelPoint(kernel=f"mine.{name}", dtype="f64", threads=1, n=1000) for name in ("twice", "wrong", "lazy")
)
ROOF = ComputeCeiling(
    isa="scalar", dtype="f64", op="fma", threads=1, flop_per_s=1e10, flop_per_cycle=4.0, clock_hz=2.5e9, chains=8,
    audited=True,
)  # fmt: skip


def program(file: Path, **bodies: str) -> Program:
    """Return a side whose kernels have these bodies."""
    file.write_text("".join(TEXT.replace("NAME", name).replace("BODY", body) for name, body in bodies.items()))
    path = os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
    return Program(command=SIDE, environment={**os.environ, "PYTHONPATH": path}, files=(str(file),))


@pytest.fixture
def duel(tmp_path: Path) -> Duel:
    """The same sum once and four times over, and one that is wrong on one side, and one that finds its work done."""
    machine, cpus = read_machine(), usable_cpus()
    trial = Trial(
        id="20261203-090000-a1b2",
        started_utc="2026-12-03T09:00:00Z",
        machine=machine,
        environment=sample_environment(),
        base=Side(name="old.py"),
        head=Side(name="new.py"),
        profile=Profile(name="tiny", screen_pairs=1, confirm_pairs=1, most_noise=1.0),
        ceilings=Ceilings(compute=(ROOF,)),
        levels=sample_levels(),
    )
    plan = Plan(
        mode="quick", budget_s=1.0, threads=(1,), cpus=cpus[:1], dtypes=("f64",), isas=("scalar",),
        points=(POINT, WRONG, LAZY), memory_budget_bytes=memory_budget_bytes(),
    )  # fmt: skip
    return Duel(
        trial=trial,
        plan=plan,
        base=program(tmp_path / "old.py", twice=SUM, wrong=SUM, lazy=SUM),
        head=program(tmp_path / "new.py", twice="\n    ".join([SUM] * 4), wrong=f"{SUM} + x", lazy=LAZY_SUM),
        control=KernelPoint(kernel="stream.triad", dtype="f64", threads=1, n=512),
        choose=lambda grown: [point.name for point in grown.points],
        keep=lambda grown: None,
        report=lambda step: None,
    )


def test_two_files_are_timed_in_pairs_between_probes_of_their_roof(duel: Duel, tmp_path: Path) -> None:
    trial = duel.fought()
    assert trial.complete
    wrong, lazy = trial.failures
    assert (wrong.point, wrong.side, wrong.kind) == (WRONG.name, "head", "wrong")
    assert (lazy.point, lazy.side, lazy.kind) == (LAZY.name, "head", "wrong")
    assert "HOIST" in lazy.message
    assert [point.control for point in trial.points] == ["", "same", "slower"]
    own, same, _ = trial.points
    assert own.base.digest != own.head.digest
    assert same.base.digest == same.head.digest
    assert same.ceiling == ROOF.name
    for pair in trial.pairs:
        assert len(pair.base.samples_s) == len(pair.head.samples_s) == 5
        assert len(pair.base.roof_samples) == len(pair.base.clock_samples_hz) == 2
        assert pair.base.told_by_a_clock and pair.head.told_by_a_clock
        assert 1e-9 < pair.base.best_s < 1.0
    assert {pair.stage for pair in trial.pairs} == {1, 2}
    assert load_trial(save_trial(trial, tmp_path)) == trial
