"""A run small enough to be taken apart and mutated a few hundred times in a second."""

from __future__ import annotations

from msgspec.structs import replace
from sample_run import sample_run

from roofline.model.ceilings import Ceilings
from roofline.model.run import Run

KERNELS = ("stream.copy", "stream.triad", "gemm.naive")


def small_run() -> Run:
    """Return the one-thread f64 part of the sample run in L1 and L2: copy, triad and naive GEMM."""
    run = sample_run()
    ceilings = Ceilings(
        compute=tuple(c for c in run.ceilings.compute if c.threads == 1 and c.dtype == "f64"),
        memory=tuple(c for c in run.ceilings.memory if c.threads == 1 and c.level in ("L1", "L2")),
    )
    measurements = tuple(
        m
        for m in run.measurements
        if m.threads == 1 and m.dtype == "f64" and m.level in ("L1", "L2") and m.kernel in KERNELS
    )
    return replace(run, ceilings=ceilings, measurements=measurements, sweep=run.sweep[:4])


def run_at(minute: int, label: str | None = None) -> Run:
    """Return the small run as if started at this minute."""
    started_utc = f"2026-11-04T10:{minute:02}:00Z"
    return replace(small_run(), id=f"20261104-10{minute:02}00-a1b2", started_utc=started_utc, label=label)
