"""Two runs of one kernel, under noise that is known."""

from __future__ import annotations

from math import exp
from random import Random

from sample_host import sample_environment, sample_levels, sample_machine

from roofline.model.ceilings import Ceilings, ComputeCeiling
from roofline.model.launch import Launch
from roofline.model.measurement import Measurement
from roofline.model.run import Run
from roofline.model.work import Work

CEILING = "avx2 fma f64 ×1"
PEAK, CLOCK_HZ = 60e9, 4e9
FLOPS = 2_000_000
SHARE = 0.5
"""Of the peak, that the kernel reaches."""
LAUNCHES, OF_CEILING = 3, 15


def two_runs(
    seed: int,
    *,
    time: float = 1.0,
    samples: int = 12,
    paired: bool = True,
    clock: float = 1.0,
    kernel_spread: float = 0.0,
    launch_spread: float = 0.005,
) -> tuple[Run, Run]:
    """Return runs before and after: the second takes `time` times as long, on a clock of `clock` times the first.

    `launch_spread` is the standard deviation between launches of the ceiling, `kernel_spread` that of the kernel.
    """
    rng = Random(seed)
    before = one_kernel_run(rng, "20261104-101500-a1b2", 1.0, samples, paired, 1.0, kernel_spread, launch_spread)
    after = one_kernel_run(rng, "20261104-111500-c3d4", time, samples, paired, clock, kernel_spread, launch_spread)
    return before, after


def one_kernel_run(
    rng: Random,
    run_id: str,
    time: float = 1.0,
    samples: int = 12,
    paired: bool = True,
    clock: float = 1.0,
    kernel_spread: float = 0.0,
    launch_spread: float = 0.005,
) -> Run:
    """Return a run of one kernel and its ceiling."""

    def slower(count: int) -> list[float]:
        return [1 + 0.005 * rng.expovariate(1.0) for _ in range(count)]

    launches = []
    for _ in range(LAUNCHES):
        rate = PEAK * clock * exp(rng.gauss(0, launch_spread))
        times = tuple(FLOPS / rate * noise for noise in slower(OF_CEILING))
        launches.append(Launch(amount=FLOPS, samples_s=times, clock_samples_hz=(CLOCK_HZ * clock,) * OF_CEILING))
    ceiling = ComputeCeiling(
        isa="avx2",
        dtype="f64",
        op="fma",
        threads=1,
        flop_per_s=PEAK,
        flop_per_cycle=1.0,
        clock_hz=CLOCK_HZ,
        chains=12,
        audited=True,
        launches=tuple(launches),
    ).rederived()
    beside = PEAK * clock * exp(rng.gauss(0, launch_spread))
    call_s = FLOPS / (SHARE * PEAK * clock) * time * exp(rng.gauss(0, kernel_spread))
    measurement = Measurement(
        kernel="gemm.naive",
        n=100,
        dtype="f64",
        threads=1,
        digest="a1b2",
        work=Work(flops=FLOPS, read_bytes=160_000, write_bytes=80_000, allocate_bytes=80_000),
        level="L2",
        ceiling=CEILING,
        repeats=10,
        samples_s=tuple(call_s * noise for noise in slower(samples)),
        roof_samples=tuple(beside / noise for noise in slower(samples + 1)) if paired else (),
        roof_clock_samples_hz=(CLOCK_HZ * clock,) * (samples + 1) if paired else (),
        clock_samples_hz=(CLOCK_HZ * clock,) * samples,
        vector_register="ymm",
    )
    return Run(
        id=run_id,
        started_utc=f"2026-11-04T{run_id[9:11]}:15:00Z",
        machine=sample_machine(),
        environment=sample_environment(),
        ceilings=Ceilings(compute=(ceiling,)),
        levels=sample_levels(),
        measurements=(measurement,),
        complete=True,
    )
