"""Our matrix-vector products beside the DRAM load roof: every shape of its code, alternating in one process.

Both read the same bytes: here some memory is 10 % faster than other memory, and which one gets is chance.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from statistics import median

import click

from bench.peers_blas import found_levels
from roofline.errors import CodegenError
from roofline.host import memory_budget_bytes, read_machine
from roofline.kernels.registry import kernel_named
from roofline.measurement.levels import core_capacity, with_reading
from roofline.measurement.memory import FAR_SHAPES, MemoryProbe
from roofline.measurement.probe import Sampler, stage_for
from roofline.measurement.subject import prepare
from roofline.measurement.team import Team
from roofline.model.ceilings import Ceilings
from roofline.model.isa import isas_of
from roofline.model.levels import working_set_bytes

SAMPLES = 3
"""Of each in a round, after one that does not count: the last cache still holds a part of what went before."""
MATRIX, LINE_BYTES = 2, 64
LOOK_S = 0.5
"""What measuring the load ceiling takes, whose code says how this machine reads memory fastest."""


def compare_gemv(team: Team, threads: Sequence[int], rounds: int) -> None:
    """gemv.blocked on one core and gemv.parallel on several, against the fastest code of the roof; medians of both."""
    stage = stage_for(team, time.perf_counter)
    machine = read_machine()
    levels = found_levels(stage, team.threads)
    most_bytes = (memory_budget_bytes() or 2**30) // team.threads
    vectors = [isa for isa in isas_of(machine.arch, machine.features) if isa.name != "scalar"][-2:]
    click.echo("| dtype | threads | n | GEMV GB/s | fetched ahead | DRAM load roof GB/s | its code | ratio |")
    click.echo("|---|---|---|---|---|---|---|---|")
    for count in threads:
        size = working_set_bytes(levels, "DRAM", count, most_bytes)
        if isinstance(size, str):
            click.echo(f"{count} threads: {size}", err=True)
            continue
        probe = MemoryProbe(stage)
        measured = tuple(probe.measure("DRAM", "load", isa, count, size, LOOK_S) for isa in vectors)
        capacity = with_reading(core_capacity(levels, count), Ceilings(memory=measured))
        kernel = kernel_named("gemv.blocked" if count == 1 else "gemv.parallel")
        for dtype in ("f64", "f32"):
            n = kernel.n_for(size, dtype, 64)
            subject = prepare(kernel, n, dtype, team, count, capacity)
            matrix = next(array for array in subject.inputs if array.ndim == MATRIX)
            part_bytes = matrix.nbytes // count // LINE_BYTES * LINE_BYTES
            parts = [matrix.ctypes.data + rank * part_bytes for rank in range(count)]
            roofs: dict[str, Sampler] = {}
            for isa in vectors:
                for shape in FAR_SHAPES:
                    with suppress(CodegenError):  # its audit refuses some shapes
                        sampler, _ = probe.sampler(isa, "load", shape, count, part_bytes, parts)
                        roofs[f"{isa.name} {shape}"] = sampler
            times: list[float] = []
            rates: dict[str, list[float]] = {name: [] for name in roofs}
            for _ in range(rounds):
                times += [subject.take(1)[0] for _ in range(1 + SAMPLES)][1:]
                for name, roof in roofs.items():
                    rates[name] += [roof.best_rate(1) for _ in range(1 + SAMPLES)][1:]
            best = max(roofs, key=lambda name: median(rates[name]))
            ours, highest = kernel.work_of(n, dtype).bytes / median(times), median(rates[best])
            click.echo(
                f"| {dtype} | {count} | {n} | {ours / 1e9:.1f} | {capacity.ahead_bytes} B "
                f"| {highest / 1e9:.1f} | {best} | {ours / highest:.3f} |"
            )
