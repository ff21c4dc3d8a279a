"""Runs whose points have just the samples that a test gives them, of kernels that exist nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace
from small_run import small_run

from roofline.model.measurement import Measurement
from roofline.model.run import Run
from roofline.model.work import Work

FLOPS, BYTES = 2_000_000, 400_000
"""Of one call: a call of 1 ms is 2 GFLOP/s and 0.4 GB/s."""
STEADY = (1.00, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07)
"""Eight samples, as shares of the best: the 95 % interval of their median is from 1.00 to 1.07."""
_RUN = small_run()
_TEMPLATE = next(m for m in _RUN.measurements if m.kernel == "gemm.naive")


def samples(call_s: float, shares: Sequence[float] = STEADY) -> tuple[float, ...]:
    """Return samples of a call that takes so long at best."""
    return tuple(call_s * share for share in shares)


def point(kernel: str = "toy.slow", call_s: float = 1e-3, **fields: Any) -> Measurement:
    """Return a measurement that was not timed beside a roof, unless fields say so."""
    settled = {
        "n": 100,
        "work": Work(flops=FLOPS, read_bytes=BYTES - 80_000, write_bytes=80_000, allocate_bytes=80_000),
        "samples_s": samples(call_s),
        "roof_samples": (),
        "roof_clock_samples_hz": (),
        "clock_samples_hz": (),
        "improves": None,
        **fields,
    }
    return replace(_TEMPLATE, kernel=kernel, **settled)


def run_of(*measurements: Measurement, minute: int = 0, **fields: Any) -> Run:
    """Return a run that holds these points, started at this minute."""
    settled = {
        "id": f"20261104-10{minute:02}00-a1b2",
        "started_utc": f"2026-11-04T10:{minute:02}:00Z",
        "failures": (),
        **fields,
    }
    return replace(_RUN, measurements=measurements, **settled)
