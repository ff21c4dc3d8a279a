"""Our ceilings beside likwid-bench and a C STREAM loop, our GEMM beside the BLAS: alternating in one run, medians of
the paired ratios.

    python -m bench.peers compute|caches|dram|stream|blas [--rounds N]

Needs `likwid-bench` (Debian package likwid) except for `blas`, and, for `stream`, gcc with OpenMP. Run it alone on a
quiet machine. Likwid reports the mean over about one second. Ours stand beside it twice: the median of our samples,
and the best sample, which is what a ceiling reports.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median

import click

from bench.peers_blas import compare_blas, found_levels
from bench.peers_gemv import compare_gemv
from roofline.errors import RooflineError, UsageError
from roofline.host import memory_budget_bytes, read_machine, usable_cpus
from roofline.measurement.compute import ComputeProbe
from roofline.measurement.memory import MemoryProbe
from roofline.measurement.probe import stage_for
from roofline.measurement.team import Team, pin_library_threads, pool_variables
from roofline.model.ceilings import ComputeCeiling, MemoryCeiling
from roofline.model.isa import isa_named, isas_of
from roofline.model.levels import working_set_bytes

PEAKFLOPS = {
    ("avx512", "f64"): "peakflops_avx512_fma",
    ("avx2", "f64"): "peakflops_avx_fma",
    ("avx512", "f32"): "peakflops_sp_avx512_fma",
    ("avx2", "f32"): "peakflops_sp_avx_fma",
}
STREAMS = {
    "load": ("load_avx", "load_avx512"),
    "copy": ("copy_avx", "copy_avx512", "copy_mem_avx", "copy_mem_avx512"),
    "triad": ("stream_avx_fma", "stream_avx512_fma", "stream_mem_avx_fma", "stream_mem_avx512"),
}
"""Likwid's kernels for each of our patterns. Those with `mem` store past the caches: measured in DRAM only."""

STREAM_TRIAD = r"""
#include <stdio.h>
#include <stdlib.h>
#include <omp.h>
int main(int argc, char **argv) {
    long n = atol(argv[1]);
    double *a = malloc(n * 8), *b = malloc(n * 8), *c = malloc(n * 8), s = 0.4;
    #pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++) { a[i] = 1.0; b[i] = 2.0 + i % 7; c[i] = 0.5; }
    for (int k = 0; k < 40; k++) {
        double t = omp_get_wtime();
        #pragma omp parallel for schedule(static)
        for (long i = 0; i < n; i++) a[i] = b[i] + s * c[i];
        printf("%.9g\n", 24.0 * n / (omp_get_wtime() - t));
    }
    fprintf(stderr, "%g\n", a[n / 2]);
}
"""


def likwid(kernel: str, size_bytes: int, threads: int) -> float:
    """Return what likwid-bench reports for a kernel, in flop/s for peakflops and B/s for the others."""
    command = ["likwid-bench", "-t", kernel, "-W", f"N:{size_bytes * threads // 1000}kB:{threads}", "-s", "1"]
    try:
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise UsageError(f"{' '.join(command)} failed ({error}); install likwid") from error
    field = "MFlops/s" if kernel.startswith("peakflops") else "MByte/s"
    found = re.search(rf"^{field}:\s+([\d.]+)", output, re.M)
    if found is None:
        raise UsageError(f"{' '.join(command)} reported no {field}")
    return float(found[1]) * 1e6


def middle_rate(ceiling: ComputeCeiling | MemoryCeiling) -> float:
    """Return the rate of the median sample of a ceiling."""
    return ceiling.sustained_per_s


def best_rate(ceiling: ComputeCeiling | MemoryCeiling) -> float:
    """Return the rate of the best sample of a ceiling."""
    return ceiling.attainable_flop_per_s(1.0)


def row(name: str, pairs: Sequence[tuple[float, float, float]]) -> None:
    """Print the medians of (ours median, ours best, peer) and of their ratios."""
    ours, best, peer = (median(pair[k] for pair in pairs) / 1e9 for k in range(3))
    by_median, by_best = (median(pair[k] / pair[2] for pair in pairs) for k in range(2))
    click.echo(
        f"{name:34} ours {ours:8.2f} (best {best:8.2f})  peer {peer:8.2f}  ratio {by_median:.3f} (best {by_best:.3f})"
    )


def compare_compute(team: Team, threads: Sequence[int], rounds: int) -> None:
    """FMA throughput against likwid's peakflops kernels on 16 kB a thread."""
    isas = isas_of(read_machine().arch, read_machine().features)
    probe = ComputeProbe(stage_for(team, time.perf_counter))
    for (isa_name, dtype), kernel in PEAKFLOPS.items():
        if isa_name not in [isa.name for isa in isas]:
            click.echo(f"{isa_name} {dtype}: not on this host")
            continue
        for count in threads:
            pairs = []
            for _ in range(rounds):
                ceiling = probe.measure(isa_named(isa_name, isas), dtype, "fma", count, 0.5)
                pairs.append((middle_rate(ceiling), best_rate(ceiling), likwid(kernel, 16_000, count)))
            row(f"{kernel} ×{count}, GFLOP/s", pairs)


def compare_memory(team: Team, threads: Sequence[int], rounds: int, only: Sequence[str] = ()) -> None:
    """Best of each pattern in each level against the best of likwid's kernels on the same working set."""
    machine = read_machine()
    isas = isas_of(machine.arch, machine.features)
    probe = MemoryProbe(stage_for(team, time.perf_counter))
    most = (memory_budget_bytes() or 2**30) // team.threads
    levels = found_levels(probe.stage, team.threads)
    vectors = isas[-2:]
    for level in (level for level in levels if not only or level.name in only):
        for count in threads:
            size = working_set_bytes(levels, level.name, count, most)
            if isinstance(size, str):
                click.echo(f"{level.name} ×{count}: {size}")
                continue
            for pattern, kernels in STREAMS.items():
                ours = [pattern, *([f"nt_{pattern}"] if level.name == "DRAM" and pattern != "load" else [])]
                theirs = [kernel for kernel in kernels if level.name == "DRAM" or "mem" not in kernel]
                pairs = []
                for _ in range(rounds):
                    ceilings = [
                        probe.measure(level.name, name, isa, count, size, 0.3) for name in ours for isa in vectors
                    ]
                    peer = max(likwid(kernel, size, count) for kernel in theirs)
                    pairs.append((max(map(middle_rate, ceilings)), max(map(best_rate, ceilings)), peer))
                row(f"{level.name} {pattern} ×{count} {size // 1024} KiB, GB/s", pairs)


def compare_stream(team: Team, threads: Sequence[int], rounds: int) -> None:
    """DRAM triad on all cores against the C loop, compiled with gcc -O3 -march=native -fopenmp."""
    machine = read_machine()
    isas = isas_of(machine.arch, machine.features)
    probe = MemoryProbe(stage_for(team, time.perf_counter))
    last = machine.caches[-1].size_bytes if machine.caches else 2**27
    size = 4 * last
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "triad"
        source = program.with_suffix(".c")
        source.write_text(STREAM_TRIAD)
        subprocess.run(["gcc", "-O3", "-march=native", "-fopenmp", str(source), "-o", str(program)], check=True)
        for count in threads:
            pairs = []
            for _ in range(rounds):
                ceilings = [
                    probe.measure("DRAM", name, isa, count, size, 0.5)
                    for name in ("triad", "nt_triad")
                    for isa in isas[-2:]
                ]
                lines = subprocess.run(
                    [str(program), str(count * size // 24)],
                    capture_output=True,
                    text=True,
                    check=True,
                    env={"OMP_NUM_THREADS": str(count), "OMP_PROC_BIND": "true"},
                ).stdout.split()
                rates = [float(line) for line in lines[1:]]
                pairs.append((max(map(middle_rate, ceilings)), max(map(best_rate, ceilings)), median(rates)))
                pairs[-1] = (pairs[-1][0], pairs[-1][1] * median(rates) / max(rates), pairs[-1][2])
            row(f"C STREAM triad ×{count}, GB/s", pairs)
            click.echo("   (the ratio of the bests is best against best)")


COMPARISONS: dict[str, Callable[[Team, Sequence[int], int], None]] = {
    "compute": compare_compute,
    "dram": partial(compare_memory, only=("DRAM",)),
    "caches": partial(compare_memory, only=("L1", "L2", "L3")),
    "stream": compare_stream,
    "blas": compare_blas,
    "gemv": compare_gemv,
}


@click.command(help=__doc__)
@click.argument("what", type=click.Choice(list(COMPARISONS)))
@click.option("--rounds", default=5, show_default=True, help="Alternations.")
def main(what: str, rounds: int) -> None:
    """Compare with peers."""
    cpus = usable_cpus()
    os.environ.update(pool_variables(len(cpus), cpus))  # Numba loads its thread pool at first use
    pin_library_threads(cpus)
    try:
        with Team(cpus, len(cpus)) as team:
            COMPARISONS[what](team, sorted({1, len(cpus)}), rounds)
    except RooflineError as error:
        sys.exit(f"peers: {error}")


if __name__ == "__main__":
    main()
