"""The points of a plan: which ceilings and kernels a mode measures, in which launch of a worker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from msgspec.structs import replace

from bench.modes import Mode
from roofline.codegen.dot import dot_form
from roofline.kernels.kernel import Kernel
from roofline.measurement.plan import ComputePoint, KernelPoint, MemoryPoint, Point
from roofline.model.isa import ISAS
from roofline.model.levels import cores_sharing
from roofline.model.machine import Machine

CeilingPoint = ComputePoint | MemoryPoint

LARGE_N, SMALL_N = 4096, 256
_REUSE_GROWTH = 2.0
"""A kernel whose flops per byte grow by more than this from the small n to the large one uses its data ever more often:
its size is given by n, not by the level that its data fills."""


def launched(ceilings: Sequence[CeilingPoint], settings: Mode, isas: Sequence[str], random: Random) -> Iterator[Point]:
    """Yield the points of every launch, each launch in an order of its own.

    A fixed order would let whatever comes in turns (a warm core, a neighbour) always hit the same ceilings. Stores come
    last: they leave one value everywhere, and whatever reads after them would need its data written again.
    """
    for launch in range(1, settings.launches + 1):
        points = [point for point in ceilings if launch == 1 or _is_repeated(point, settings, isas)]
        random.shuffle(points)
        points.sort(key=_blanks_memory)
        for point in points:
            yield replace(point, launch=launch)


def _blanks_memory(point: CeilingPoint) -> bool:
    return isinstance(point, MemoryPoint) and point.pattern.removeprefix("nt_") == "store"


def _is_repeated(point: CeilingPoint, settings: Mode, isas: Sequence[str]) -> bool:
    if isinstance(point, ComputePoint) or "*" in settings.again:
        return True
    return point.pattern in settings.again and point.isa == isas[-1]


def compute_points(
    settings: Mode, machine: Machine, threads: Sequence[int], dtypes: Sequence[str], isas: Sequence[str]
) -> Iterator[ComputePoint]:
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


def memory_points(
    settings: Mode, machine: Machine, threads: Sequence[int], isas: Sequence[str]
) -> Iterator[MemoryPoint]:
    vectors = [isa for isa in isas if isa != "scalar"][-2:]
    for number, level in enumerate([*(cache.name for cache in machine.caches), "DRAM"]):
        narrow = number < settings.scalar_levels or not vectors
        scalar = [isa for isa in isas if isa == "scalar" and narrow]
        for pattern in (*settings.patterns, *(settings.dram_patterns if level == "DRAM" else ())):
            for isa in [*([] if pattern.startswith("nt_") else scalar), *vectors]:
                for count in threads:
                    yield MemoryPoint(level=level, pattern=pattern, isa=isa, threads=count)


def kernel_points(
    settings: Mode,
    machine: Machine,
    threads: Sequence[int],
    dtypes: Sequence[str],
    sizes: tuple[int, ...],
    kernel: Kernel,
) -> Iterator[Point]:
    names = [cache.name for cache in machine.caches]
    shared = {cache.name for cache in machine.caches if cores_sharing(cache, machine.threads_per_core) > 1}
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
    small, large = (kernel.work_of(n, dtype).flop_per_byte for n in (SMALL_N, LARGE_N))
    return large > _REUSE_GROWTH * small
