"""Compiling ahead as the launcher sees it: workers side by side fill the code cache before anything is timed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

from roofline.measurement.code_cache import CodeCache
from roofline.measurement.message import Began, Request
from roofline.measurement.plan import KernelPoint, Plan, Point, points_by_source
from roofline.measurement.process import Silent, WorkerProcess
from roofline.measurement.progress import Progress
from roofline.model.machine import Machine

_MOST_COMPILERS = 4
"""Workers that compile side by side: each takes the memory of a process, and the largest kernel sets the time."""


def compiled_ahead(
    plan: Plan,
    machine: Machine,
    cache: CodeCache,
    start: Callable[[Request], WorkerProcess],
    progress: Callable[[Progress], None],
    patience_s: float,
    clock: Callable[[], float],
) -> Mapping[str, Silent]:
    """Compile what the cache lacks, one worker per CPU, and return the kernels that hung over it, by their code.

    Raises Interruption when a signal came.
    """
    missing = tuple(dict.fromkeys(p.code for p in plan.points if p.code not in cache.ready or not _is_lasting(p, plan)))
    hung: dict[str, Silent] = {}
    if not missing:
        return hung
    started_s = clock()
    groups = points_by_source(plan, missing)
    with cache.claims() as claims:
        request = Request(plan=plan, machine=machine, compile_only=missing, claims_folder=str(claims.folder))
        at: dict[int, int] = {}

        def heard(worker: int, message: object) -> None:
            if isinstance(message, Began):
                at[worker] = message.index
            report()

        def report() -> None:
            done = sum(len(group) for number, group in enumerate(groups) if claims.is_finished(number))
            left_s = (clock() - started_s) * (len(missing) - done) / done if done else math.inf
            point = f"compiling: {done} of {len(missing)} kernels and ceilings done"
            progress(Progress(point=point, done=0.0, remaining_s=plan.budget_s + left_s))

        report()
        workers = [start(request) for _ in range(min(len(groups), len(plan.cpus) or 1, _MOST_COMPILERS))]
        try:
            for number, worker in enumerate(workers):
                end = worker.last_word(patience_s, partial(heard, number))
                if isinstance(end, Silent) and 0 <= at.get(number, -1) < len(plan.points):
                    point = plan.points[at[number]]
                    if isinstance(point, KernelPoint):
                        hung[point.code] = Silent(f"{end.what} when its code was compiled and tried", end.detail)
        finally:
            for worker in workers:
                worker.stop()
        # What a worker died over, or with, is not there; measuring meets the cause at its point.
        done = [group for number, group in enumerate(groups) if claims.is_finished(number)]
    cache.add_ready([point.code for group in done for point in group if _is_lasting(point, plan)])
    return hung


def _is_lasting(point: Point, plan: Plan) -> bool:
    """Return whether a point's code outlives the run: beside a user's files, kernels may be theirs."""
    return not (plan.files and isinstance(point, KernelPoint))
