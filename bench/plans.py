"""What `all`, `--quick`, `--thorough`, `ceilings` and `run` mean, as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from roofline.codegen.dot import dot_form
from roofline.errors import UsageError
from roofline.kernels.kernel import Kernel
from roofline.kernels.registry import select
from roofline.measurement.levels import cores_sharing
from roofline.measurement.plan import ComputePoint, KernelPoint, MemoryPoint, Plan, Point, SweepPoints
from roofline.model.isa import ISAS
from roofline.model.machine import Machine
from roofline.model.roof import pattern_of
from roofline.model.struct import Value


class Mode(Value, frozen=True, kw_only=True):
    """How much one way to run measures, apart from what the user narrows it to."""

    budget_s: float
    """Wall time for measuring; starting, compiling, saving and drawing come on top."""
    sweep_sizes: int
    """Working sets in the sweep."""
    patterns: tuple[str, ...]
    """Access patterns measured in every level."""
    dram_patterns: tuple[str, ...]
    """Patterns with non-temporal stores, measured in DRAM only."""
    scalar_memory: bool
    """Whether memory ceilings are measured with scalar accesses too."""
    widest_ops: tuple[str, ...]
    """Operations measured at the widest ISA beside the FMA that every ISA gets."""
    kernels: tuple[str, ...]
    """Patterns of kernel names that run when the user names none."""
    glimpses: tuple[str, ...]
    """More of them, each shown once: on the fewest threads, in its first dtype, in DRAM or at its last size."""
    one_core: tuple[str, ...]
    """Those of them that run on the fewest threads only: steps of a ladder whose last one is for all cores."""
    gemv_levels: tuple[str, ...]
    """Levels that the data of a kernel without `levels` lies in, unless it reuses them."""
    gemm_n: int
    """Size of kernels that reuse their data: rows of an odd number of cache lines, which spread over all sets."""


MODES = {
    "quick": Mode(
        budget_s=15.5,
        sweep_sizes=20,
        patterns=("load", "triad"),
        dram_patterns=("nt_triad",),
        scalar_memory=False,
        widest_ops=(),
        kernels=(
            "stream.triad",
            "gemv.naive",
            "gemv.blocked",
            "gemv.parallel",
            "gemm.naive",
            "gemm.register",
            "gemm.parallel",
            "gemm.blas",
        ),
        glimpses=(),
        one_core=(),
        gemv_levels=("DRAM",),
        gemm_n=248,
    ),
    "all": Mode(
        budget_s=46,
        sweep_sizes=40,
        patterns=("load", "triad", "copy", "update", "store"),
        dram_patterns=("nt_copy", "nt_triad", "nt_store"),
        scalar_memory=True,
        widest_ops=("add", "fma_add"),
        kernels=("stream.copy", "stream.triad", "blas", "gemv", "gemm"),
        glimpses=(
            "reduction.sum_[18]",
            "reduction.sum_simd",
            "stencil.naive_2d5",
            "stencil.temporal_2d5",
            "sparse.csr_random",
            "sparse.sell_random",
            "spectral.naive",
            "spectral.stockham",
            "particles.naive",
            "particles.vectorised",
            "finance.*",
            "conv.naive_3x3",
            "conv.im2col_3x3",
            "conv.blocked_3x3",
            "attention.naive",
            "attention.flash",
            "network.blocked_mlp",
            "network.fused_softmax",
            "quantised.gemv_f32",
            "quantised.gemv_w8",
            "quantised.gemv_i8_dot",
        ),
        one_core=("gemm.interchanged", "gemm.blocked"),
        gemv_levels=("L2", "DRAM"),
        gemm_n=360,
    ),
    "thorough": Mode(
        budget_s=300,
        sweep_sizes=60,
        patterns=("load", "triad", "copy", "update", "store"),
        dram_patterns=("nt_copy", "nt_triad", "nt_store"),
        scalar_memory=True,
        widest_ops=("add", "mul", "fma_add"),
        kernels=("*",),
        glimpses=(),
        one_core=(),
        gemv_levels=("L1", "L2", "L3", "DRAM"),
        gemm_n=760,
    ),
}
"""`ceilings` and `run` are `all` without kernels, and with the ceilings that the kernels need."""

_CEILINGS_SHARE = 0.5
"""Share of a mode's budget that `ceilings` takes when it runs alone."""
_FEW = 4
"""Kernels that a message names."""
_LARGE_N, _SMALL_N = 4096, 256
_REUSE_GROWTH = 2.0
"""A kernel whose flops per byte grow by more than this from the small n to the large one uses its data ever more often:
its size is given by n, not by the level that its data fills."""


def plan_for(
    mode: str,
    *,
    machine: Machine,
    cpus: tuple[int, ...],
    threads: Sequence[int],
    dtypes: Sequence[str],
    isas: Sequence[str],
    patterns: Sequence[str],
    sizes: Sequence[int] = (),
    budget_s: float | None,
    memory_budget_bytes: int | None,
) -> Plan:
    """Return what to measure, in order: levels, ceilings, kernels.

    `mode` is a key of MODES or a verb. `patterns` name kernels; none of them means ceilings only, `*` the mode's own
    choice. `sizes` are the n to measure kernels at, by default each kernel's own.
    Raises UnknownName for a pattern that names no kernel, UsageError when none of those named can be measured so.
    """
    settings = MODES.get(mode, MODES["all"])
    named = tuple(patterns) not in ((), ("*",))
    names = tuple(patterns) if named else settings.kernels if patterns else ()
    kernels = select(names) if names else ()
    glimpses = select(settings.glimpses) if names and not named and settings.glimpses else ()
    if named:
        settings = _narrowed(settings, kernels)
    points: list[Point] = [SweepPoints(sizes=settings.sweep_sizes)]
    wanted = [
        dtype
        for dtype in dtypes
        if not kernels or dtype != "i8" or any("i8" in k.dtypes for k in (*kernels, *glimpses))
    ]
    points += _compute_points(settings, machine, threads, wanted, isas)
    points += _memory_points(settings, machine, threads, isas)
    for kernel in kernels:
        counts = threads[:1] if not named and kernel.name in settings.one_core else threads
        points += _kernel_points(settings, machine, counts, dtypes, tuple(sizes), kernel)
    for kernel in glimpses:
        own = [dtype for dtype in dtypes if dtype in kernel.dtypes]
        once = replace(settings, gemv_levels=("DRAM",))
        points += _kernel_points(once, machine, threads[:1], own[:1], tuple(sizes) or kernel.sizes[-1:], kernel)
    if named and not any(isinstance(point, KernelPoint) for point in points):
        raise UsageError(_why_none(kernels, threads, dtypes))
    own_budget_s = settings.budget_s * (1 if kernels else _CEILINGS_SHARE)
    return Plan(
        mode=mode,
        budget_s=own_budget_s if budget_s is None else budget_s,
        threads=tuple(threads),
        cpus=cpus,
        dtypes=tuple(dtypes),
        isas=tuple(isas),
        points=tuple(points),
        memory_budget_bytes=memory_budget_bytes,
    )


def _why_none(kernels: Sequence[Kernel], threads: Sequence[int], dtypes: Sequence[str]) -> str:
    """Return why none of these kernels can be measured with these dtypes and thread counts."""
    asked = f"{', '.join(dtypes)} on {' and '.join(map(str, threads))} thread{'s' if list(threads) != [1] else ''}"
    there = [f"{kernel.name} runs in {', '.join(kernel.dtypes)}{_where(kernel)}" for kernel in kernels[:_FEW]]
    more = f", and {len(kernels) - _FEW} more" if len(kernels) > _FEW else ""
    return f"no kernel that was named runs in {asked}: {'; '.join(there)}{more}; see `list kernels`"


def _where(kernel: Kernel) -> str:
    if kernel.serial and kernel.parallel:
        return ""
    return " on one thread" if kernel.serial else " on two or more threads"


def _narrowed(settings: Mode, kernels: Sequence[Kernel]) -> Mode:
    """Return the mode with only the ceilings that these kernels can be held against."""
    used = {pattern_of(kernel.work_of(_LARGE_N, kernel.dtypes[0])) for kernel in kernels}
    return replace(
        settings,
        patterns=tuple(pattern for pattern in MODES["all"].patterns if pattern in used),
        dram_patterns=tuple(p for p in MODES["all"].dram_patterns if p.removeprefix("nt_") in used),
        widest_ops=(),
    )


def _compute_points(
    settings: Mode, machine: Machine, threads: Sequence[int], dtypes: Sequence[str], isas: Sequence[str]
) -> Iterator[Point]:
    roof_op = "fma" if machine.arch != "x86_64" or "fma" in machine.features else "mul_add"
    for isa in isas:
        ops = (roof_op, *(settings.widest_ops if isa == isas[-1] and roof_op == "fma" else ()))
        for op in ops:
            for dtype in [dtype for dtype in dtypes if dtype != "i8"]:
                for count in threads:
                    yield ComputePoint(isa=isa, dtype=dtype, op=op, threads=count)
    for isa in isas if "i8" in dtypes else ():
        lanes = next(row for row in ISAS if (row.name, row.arch) == (isa, machine.arch)).lanes("i8")
        if dot_form(machine.arch, machine.features, lanes) is not None:
            for count in threads:
                yield ComputePoint(isa=isa, dtype="i8", op="dot", threads=count)


def _memory_points(settings: Mode, machine: Machine, threads: Sequence[int], isas: Sequence[str]) -> Iterator[Point]:
    vectors = [isa for isa in isas if isa != "scalar"][-2:]
    scalar = [isa for isa in isas if isa == "scalar" and (settings.scalar_memory or not vectors)]
    for level in [*(cache.name for cache in machine.caches), "DRAM"]:
        for pattern in (*settings.patterns, *(settings.dram_patterns if level == "DRAM" else ())):
            for isa in [*([] if pattern.startswith("nt_") else scalar), *vectors]:
                for count in threads:
                    yield MemoryPoint(level=level, pattern=pattern, isa=isa, threads=count)


def _kernel_points(
    settings: Mode,
    machine: Machine,
    threads: Sequence[int],
    dtypes: Sequence[str],
    sizes: tuple[int, ...],
    kernel: Kernel,
) -> Iterator[Point]:
    names = [cache.name for cache in machine.caches]
    threads_per_core = max(1, (machine.hardware_threads or 1) // (machine.cores or 1))
    shared = {cache.name for cache in machine.caches if cores_sharing(cache, threads_per_core) > 1}
    counts = [count for count in threads if (count > 1 and kernel.parallel) or (count == 1 and kernel.serial)]
    for dtype in [dtype for dtype in dtypes if dtype in kernel.dtypes]:
        for count in counts:
            fixed = sizes or kernel.sizes
            if not fixed and _reuses_data(kernel, dtype):
                fixed = (settings.gemm_n,)
            if fixed:
                for n in fixed:
                    yield KernelPoint(kernel=kernel.name, dtype=dtype, threads=count, n=n)
                continue
            for level in [*names, "DRAM"] if kernel.levels else settings.gemv_levels:
                # In a cache of one core's own, sharing a loop between threads takes longer than the loop.
                if level == "DRAM" or (level in names and (count == 1 or level in shared)):
                    yield KernelPoint(kernel=kernel.name, dtype=dtype, threads=count, level=level)


def _reuses_data(kernel: Kernel, dtype: str) -> bool:
    small, large = (kernel.work_of(n, dtype).flop_per_byte for n in (_SMALL_N, _LARGE_N))
    return large > _REUSE_GROWTH * small
