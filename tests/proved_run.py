"""A real run cut down to what can be taken apart a hundred times in a few seconds: nothing in it is invented.

The newest run under results/, with few ceilings and kernels, and with what this version writes beside those that an
older one measured: which ceilings every launch measures, and hashes of machine code.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from msgspec.structs import replace

from roofline.archive.store import load
from roofline.model.ceilings import Ceilings
from roofline.model.final import rejudged
from roofline.model.run import Run

RESULTS = Path(__file__).parents[1] / "results"
KERNELS = ("gemm.naive", "gemm.blas", "gemv.naive", "stream.triad")


def newest_result() -> Path:
    """Return the file of the newest run that is kept with the sources."""
    return sorted(RESULTS.glob("*/*.json"))[-1]


@cache
def proved_run() -> Run:
    """Return the part of one thread in f64, in the first two caches."""
    run = load(newest_result())
    ceilings = Ceilings(
        compute=tuple(c for c in run.ceilings.compute if (c.threads, c.dtype, c.op) == (1, "f64", "fma")),
        memory=tuple(c for c in run.ceilings.memory if c.threads == 1 and c.level in ("L1", "L2")),
    )
    measurements = tuple(
        replace(m, assembly_digest=f"{index:016x}" if m.compiled else "")
        for index, m in enumerate(run.measurements)
        if (m.threads, m.dtype) == (1, "f64") and m.kernel in KERNELS and ceilings.named(m.ceiling) is not None
    )
    names = {ceiling.name for ceiling in ceilings.all}
    names |= {f"{m.kernel} {where} {m.dtype} ×1" for m in measurements for where in (f"n={m.n}", f"in {m.level}")}
    planned = run.plan["launches"]
    again = [ceiling.name for ceiling in ceilings.all if len(ceiling.launches) >= planned]
    # What raised them is not among these kernels.
    bare = Ceilings(
        compute=tuple(replace(c, launches=c.launches[:planned], raised_by="").rederived() for c in ceilings.compute),
        memory=tuple(
            replace(c, launches=c.launches[: planned if c.name in again else 1], raised_by="").rederived()
            for c in ceilings.memory
        ),
    )
    points = [point for point in run.plan["points"] if point in names or point.startswith("working sets")]
    plan = {**run.plan, "points": points, "again": again}
    return rejudged(replace(run, ceilings=bare, measurements=measurements, plan=plan))
