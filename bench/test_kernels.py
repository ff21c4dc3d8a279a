"""The kernel registry under pytest-benchmark: `pytest bench/`; with `--benchmark-disable`, plain correctness tests.

Each kernel runs on one thread, on data of its own, after its result was checked. `extra_info` holds flop/s, flop/B,
bytes and, when this machine has an archived run, the percent of its roof. Unlike `python -m bench run`, it is not
timed beside that roof: noise and clock are those of another hour.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roofline.archive.store import load, runs
from roofline.host.machine import read_machine
from roofline.kernels.check import check
from roofline.kernels.compile import compiled
from roofline.kernels.kernel import Kernel
from roofline.kernels.library import blas_threads
from roofline.kernels.registry import all_kernels
from roofline.model.roof import roof_of
from roofline.model.run import Run
from roofline.model.work import Work

FOOTPRINT_BYTES = 3 * 2**19
"""Data per kernel: GEMM at n = 256 in f64, small enough for the triple loop and large beside the cost of a call."""

RESULTS = Path(__file__).parents[1] / "results"


@pytest.fixture(scope="session")
def newest_run() -> Run | None:
    """The newest complete run of this machine in results/, or None."""
    key = read_machine().key
    entries = [entry for entry in runs(RESULTS) if entry.machine == key and entry.complete]
    return load(entries[-1].path) if entries else None


POINTS = [(kernel, dtype) for kernel in all_kernels().values() for dtype in kernel.dtypes]


@pytest.mark.parametrize(("kernel", "dtype"), POINTS, ids=[f"{kernel.name}-{dtype}" for kernel, dtype in POINTS])
def test_kernel(kernel: Kernel, dtype: str, benchmark: Any, newest_run: Run | None) -> None:
    n = kernel.n_for(FOOTPRINT_BYTES, dtype)
    work = kernel.work_of(n, dtype)
    call = compiled(kernel, parallel=False)
    arguments = kernel.make_arguments(n, dtype, np.random.default_rng(0))
    benchmark.group = f"{kernel.family} {dtype}"
    with blas_threads(1):
        error, tolerance = check(kernel, call, arguments, n, dtype)
        benchmark(call, *arguments)
    benchmark.extra_info.update(
        n=n, dtype=dtype, digest=kernel.digest, error=error, tolerance=tolerance, flops=work.flops, bytes=work.bytes
    )
    if benchmark.stats is None:  # --benchmark-disable
        return
    median_s = benchmark.stats.stats.median
    benchmark.extra_info.update(
        flop_per_s=work.flops / median_s,
        byte_per_s=work.bytes / median_s,
        flop_per_byte=work.flop_per_byte,
        percent_of_roof=None if newest_run is None else percent_of_roof(newest_run, work, dtype, median_s),
    )


def percent_of_roof(run: Run, work: Work, dtype: str, median_s: float) -> float | None:
    """Return the least time that the run's one-thread roof allows over `median_s`; None when it has no such roof."""
    fitting = (level.name for level in run.levels if (level.effective_bytes or 0) >= work.footprint_bytes)
    roof = roof_of(run.ceilings, dtype=dtype, threads=1, level=next(fitting, "DRAM"), work=work)
    return 100 * roof.least_s(work) / median_s if roof.bound(work) is not None else None
