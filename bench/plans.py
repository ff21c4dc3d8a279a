"""Plans: what a request means on this machine, point by point."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from msgspec.structs import replace

from bench.modes import MODES, Mode
from bench.points import LARGE_N, CeilingPoint, compute_points, kernel_points, launched, memory_points
from roofline.errors import UsageError
from roofline.kernels.kernel import Kernel
from roofline.kernels.registry import select
from roofline.measurement.plan import WEIGHTS, KernelPoint, Plan, Point, SweepPoints
from roofline.model.machine import Machine
from roofline.model.roof import pattern_of
from roofline.units import memory_size

_CEILINGS_SHARE = 0.5
"""Share of a mode's budget that `ceilings` takes when it runs alone."""
_KERNEL_SHARE_S = 0.2
"""Sampling that each kernel gets where kernels are named, ten samples of most: a mode's budget is for the mode's own
choice, and many names take longer."""
_FEW = 4
"""Kernels that a message names."""


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
    seed: int = 0,
) -> Plan:
    """Return what to measure, in order: levels, ceilings, kernels.

    `mode` is a key of MODES or a verb. `patterns` name kernels; none of them means ceilings only, `*` the mode's own
    choice. `sizes` are the n to measure kernels at, by default each kernel's own. `budget_s` of None is the mode's own,
    or more where many kernels are named.
    Raises UnknownName for a pattern that names no kernel, UsageError when none of those named can be measured so.
    """
    settings = MODES.get(mode, MODES["all"])
    named = tuple(patterns) not in ((), ("*",))
    names = tuple(patterns) if named else settings.kernels if patterns else ()
    kernels = select(names) if names else ()
    glimpses = select(settings.glimpses) if names and not named and settings.glimpses else ()
    if named:
        settings = _narrowed(settings, kernels)
    if mode == "ceilings":
        settings = replace(settings, again=("*",))
    points: list[Point] = [SweepPoints(sizes=settings.sweep_sizes)]
    wanted = [
        dtype
        for dtype in dtypes
        if not kernels or dtype != "i8" or any("i8" in k.dtypes for k in (*kernels, *glimpses))
    ]
    ceilings: list[CeilingPoint] = [
        *compute_points(settings, machine, threads, wanted, isas),
        *memory_points(settings, machine, threads, isas),
    ]
    points += launched(ceilings, settings, isas, Random(seed))
    for kernel in kernels:
        counts = threads[:1] if not named and kernel.name in settings.one_core else threads
        points += kernel_points(settings, machine, counts, dtypes, tuple(sizes), kernel)
    for kernel in glimpses:
        own = [dtype for dtype in dtypes if dtype in kernel.dtypes]
        once = replace(settings, gemv_levels=("DRAM",))
        points += kernel_points(once, machine, threads[:1], own[:1], tuple(sizes) or kernel.sizes[-1:], kernel)
    if named and not any(isinstance(point, KernelPoint) for point in points):
        raise UsageError(_why_none(kernels, threads, dtypes))
    if named and memory_budget_bytes is not None:
        _refuse_too_large([point for point in points if isinstance(point, KernelPoint)], memory_budget_bytes)
    last = max(point.launch for point in points)
    points = [replace(point, launch=last) if isinstance(point, KernelPoint) else point for point in points]
    own_budget_s = settings.budget_s * (1 if kernels else _CEILINGS_SHARE)
    plan = Plan(
        mode=mode,
        budget_s=own_budget_s if budget_s is None else budget_s,
        threads=tuple(threads),
        cpus=cpus,
        dtypes=tuple(dtypes),
        isas=tuple(isas),
        points=tuple(points),
        memory_budget_bytes=memory_budget_bytes,
        seed=seed,
    )
    if named and budget_s is None:
        least_s = plan.overhead_s() + _KERNEL_SHARE_S * plan.weight() / WEIGHTS[KernelPoint]
        return replace(plan, budget_s=max(own_budget_s, least_s))
    return plan


def _why_none(kernels: Sequence[Kernel], threads: Sequence[int], dtypes: Sequence[str]) -> str:
    """Return why none of these kernels can be measured with these dtypes and thread counts."""
    asked = f"{', '.join(dtypes)} on {' and '.join(map(str, threads))} thread{'s' if list(threads) != [1] else ''}"
    there = [f"{kernel.name} runs in {', '.join(kernel.dtypes)}{_where(kernel)}" for kernel in kernels[:_FEW]]
    more = f", and {len(kernels) - _FEW} more" if len(kernels) > _FEW else ""
    return f"no kernel that was named runs in {asked}: {'; '.join(there)}{more}; see `list kernels`"


def _refuse_too_large(points: Sequence[KernelPoint], budget_bytes: int) -> None:
    """Raise UsageError when the data of every point, made once and placed once, exceeds the memory to use."""
    least: tuple[int, KernelPoint] | None = None
    for point in points:
        if point.n is None:
            return
        (kernel,) = select([point.kernel])
        needed = 2 * kernel.own_work_of(point.n, point.dtype).footprint_bytes
        if needed <= budget_bytes:
            return
        least = (needed, point) if least is None or needed < least[0] else least
    if least is not None:
        needed, point = least
        raise UsageError(
            f"nothing of this fits the memory: {point.kernel} at n = {point.n} in {point.dtype} takes "
            f"{memory_size(needed)} (made once, placed once), and {memory_size(budget_bytes)} may be used; "
            "choose a smaller --size"
        )


def _where(kernel: Kernel) -> str:
    if kernel.serial and kernel.parallel:
        return ""
    return " on one thread" if kernel.serial else " on two or more threads"


def _narrowed(settings: Mode, kernels: Sequence[Kernel]) -> Mode:
    """Return the mode with only the ceilings that these kernels can be held against."""
    used = {pattern_of(kernel.work_of(LARGE_N, kernel.dtypes[0])) for kernel in kernels}
    return replace(
        settings,
        patterns=tuple(pattern for pattern in MODES["all"].patterns if pattern in used),
        dram_patterns=tuple(p for p in MODES["all"].dram_patterns if p.removeprefix("nt_") in used),
        widest_ops=(),
    )
