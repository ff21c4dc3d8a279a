"""Our matrix products beside the BLAS: for every size, dtype and thread count, alternating in one process."""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import median

import click

from roofline.host import memory_budget_bytes, read_machine
from roofline.kernels.library import blas_threads
from roofline.kernels.registry import kernel_named
from roofline.measurement.compute import ComputeProbe
from roofline.measurement.levels import core_capacity, sweep_sizes
from roofline.measurement.memory import MemoryProbe
from roofline.measurement.probe import Stage, stage_for
from roofline.measurement.sampling import calibrate
from roofline.measurement.subject import Subject, prepare
from roofline.measurement.sweep import sweep
from roofline.measurement.team import Team
from roofline.measurement.worker import libraries
from roofline.model.isa import isas_of
from roofline.model.levels import find_levels
from roofline.model.run import Level

SIZES = (128, 256, 384, 512, 768, 1024, 1536, 2048)
SAMPLE_S = 0.02
LOOKS = 4
"""Measurements of the FMA ceiling, of which the best is the ceiling: a neighbour on the same core halves one."""
SPIN_S = 0.12
"""OpenBLAS's idle threads spin for 2^28 ticks of the clock; nothing is timed beside them."""


def found_levels(stage: Stage, threads: int) -> tuple[Level, ...]:
    """Return the memory levels of this machine, measured as a run measures them."""
    machine = read_machine()
    most = (memory_budget_bytes() or 2**30) // threads
    points = sweep(
        MemoryProbe(stage),
        isas_of(machine.arch, machine.features)[-1],
        sweep_sizes(machine.caches, 40, most),
        lambda: None,
    )
    return find_levels(points, machine.caches, 1, most)


def compare_blas(team: Team, threads: Sequence[int], rounds: int) -> None:
    """gemm.register on one core, gemm.parallel on several, against NumPy's BLAS on as many threads."""
    names = ", ".join(f"{blas.name} {blas.version} {blas.architecture}" for blas in libraries().blas)
    click.echo(f"BLAS: {names}; ratio: median over {rounds} rounds of the BLAS's time over ours in the same round")
    stage = stage_for(team, time.perf_counter)
    levels = found_levels(stage, team.threads)
    machine = read_machine()
    isa = isas_of(machine.arch, machine.features)[-1]
    click.echo("| dtype | threads | n | ours GFLOP/s | BLAS GFLOP/s | ratio | least, most | ours of FMA ceiling |")
    click.echo("|---|---|---|---|---|---|---|---|")
    for dtype in ("f64", "f32"):
        for count in threads:
            kernel = kernel_named("gemm.register" if count == 1 else "gemm.parallel")
            ceiling = max(ComputeProbe(stage).measure(isa, dtype, "fma", count, 0.1).flop_per_s for _ in range(LOOKS))
            for n in SIZES:
                capacity = core_capacity(levels, count)
                ours = prepare(kernel, n, dtype, team, count, capacity)
                peer = prepare(kernel_named("gemm.blas"), n, dtype, team, count)
                with blas_threads(count):
                    pairs = _alternated(ours, peer, rounds)
                time.sleep(SPIN_S)
                ratios = sorted(theirs / mine for mine, theirs in pairs)
                rate, peer_rate = (kernel.work_of(n, dtype).flops / median(pair[k] for pair in pairs) for k in (0, 1))
                click.echo(
                    f"| {dtype} | {count} | {n} | {rate / 1e9:.1f} | {peer_rate / 1e9:.1f} | {median(ratios):.3f} "
                    f"| {ratios[0]:.2f}, {ratios[-1]:.2f} | {100 * rate / ceiling:.0f} % |"
                )


def _alternated(ours: Subject, peer: Subject, rounds: int) -> list[tuple[float, float]]:
    """Return (our seconds per call, the peer's) of each round; who goes first changes from round to round."""

    def repeats_of(subject: Subject) -> int:
        return calibrate(lambda count: subject.take(count)[0], SAMPLE_S)

    repeats = [repeats_of(ours), repeats_of(peer)]
    pairs = []
    for number in range(rounds):
        times = [0.0, 0.0]
        for which in (0, 1) if number % 2 else (1, 0):
            subject = (ours, peer)[which]
            time.sleep(SPIN_S)
            subject.take(1)
            times[which] = subject.take(repeats[which])[0] / repeats[which]
        pairs.append((times[0], times[1]))
    return pairs
