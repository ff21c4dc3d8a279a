"""What a run was asked to measure, as its file records it: enough to plan it again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from bench.modes import MODES
from roofline.errors import ArchiveError
from roofline.measurement.plan import KernelPoint, Plan, Point
from roofline.model.run import Run
from roofline.model.struct import Value

VERBS = ("all", "ceilings", "run")


class RecordedPlan(Value, frozen=True, kw_only=True):
    """The `plan` of a run file."""

    mode: str
    budget_s: float
    threads: tuple[int, ...]
    cpus: tuple[int, ...]
    dtypes: tuple[str, ...]
    isas: tuple[str, ...]
    kernels: tuple[str, ...]
    """Patterns, as typed."""
    files: tuple[str, ...] = ()
    """The user's own files of kernels."""
    sizes: tuple[int, ...] = ()
    memory_budget_bytes: int | None = None
    seed: int = 0
    launches: int = 1
    again: tuple[str, ...] = ()
    """Names of the ceilings that every launch measures, not only the first; older versions did not write them."""
    points: tuple[str, ...] = ()
    """Names of all points, each once."""


def recorded(plan: Plan, patterns: tuple[str, ...], sizes: tuple[int, ...]) -> dict[str, Any]:
    """Return what was asked for, as the archive records it."""
    value = RecordedPlan(
        mode=plan.mode,
        budget_s=plan.budget_s,
        threads=plan.threads,
        cpus=plan.cpus,
        dtypes=plan.dtypes,
        isas=plan.isas,
        kernels=patterns,
        files=plan.files,
        sizes=sizes,
        memory_budget_bytes=plan.memory_budget_bytes,
        seed=plan.seed,
        launches=plan.launches,
        again=names_of(point for point in plan.points if point.launch > 1 and not isinstance(point, KernelPoint)),
        points=names_of(plan.points),
    )
    return {
        name: list(item) if isinstance(item, tuple) else item for name, item in msgspec.structs.asdict(value).items()
    }


def names_of(points: Iterable[Point]) -> tuple[str, ...]:
    """Return the name of every point, once."""
    return tuple(dict.fromkeys(point.name for point in points))


def recorded_plan(run: Run) -> RecordedPlan:
    """Return the plan of a run. Raises ArchiveError for one that does not say how to plan it again."""
    try:
        value = msgspec.convert(run.plan, RecordedPlan, strict=True)
    except msgspec.ValidationError as error:
        raise ArchiveError(f"run {run.id} does not say how it was planned ({error}); measure it again") from None
    if value.mode not in (*MODES, *VERBS) or not value.points or not 0 < value.budget_s < 1e9:
        raise ArchiveError(f"run {run.id} was planned in a way that this version does not know; measure it again")
    return value
