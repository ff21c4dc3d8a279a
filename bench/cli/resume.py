"""`resume`: measure what an interrupted run still lacks."""

from __future__ import annotations

import dataclasses
import os
from datetime import UTC, datetime
from pathlib import Path
from random import SystemRandom
from typing import Any

import click
from msgspec.structs import replace

from bench.cli.measuring import kept, shown
from bench.cli.request import Request, check_variables, locking_options
from bench.cli.saved import completed
from bench.cli.session import Session
from bench.cli.verb import Verb
from bench.recorded import RecordedPlan, names_of, recorded_plan
from roofline.archive.disk import check_writable
from roofline.archive.identity import new_id
from roofline.archive.journal import SUFFIX, is_being_written
from roofline.archive.store import find, load, runs
from roofline.errors import NotComparable, UsageError
from roofline.host import host_caveats, read_environment, read_machine
from roofline.measurement.code_cache import suite_digest
from roofline.measurement.interruption import Signals, interruptible
from roofline.measurement.lock import Hold, lock_folder, machine_lock
from roofline.measurement.plan import KernelPoint, Plan, Point, SweepPoints
from roofline.model.comparable import differences
from roofline.model.run import Run

DRAWN = ("all", "quick", "thorough")


@click.command("resume", cls=Verb)
@click.argument("name", metavar="[RUN]", required=False, shell_complete=completed)
@click.option("--retry-failed", is_flag=True, help="Also try again what failed; what was skipped stays skipped.")
@locking_options
@click.option("--json", is_flag=True, help="Print the archived document on stdout, and nothing else.")
@click.pass_obj
def command(session: Session, /, name: str | None, retry_failed: bool, json: bool, **options: Any) -> int:
    """Measure what an interrupted run still lacks.

    RUN is one that is incomplete, or the journal of one that was never saved; by default the newest of this machine.
    The finished run is saved under an id of its own. Refused, with the reason, on another machine, under other
    conditions, with another version of the code, and for a run of your own files of kernels (exit code 4).
    """
    check_variables(os.environ)
    check_writable(session.results)
    request = Request(mode="resume", json=json, **options)
    lock = machine_lock(lock_folder(), "roofline resume", wait_s=request.wait_s, concurrent=request.concurrent)
    with interruptible() as signals, lock as hold:  # first: the journal of a run that goes on is not to be resumed
        path = find(name, session.results) if name is not None else _newest(session.results)
        if is_being_written(path):
            raise UsageError(f"{path} is being written: its run goes on in another process; wait for it, or stop it")
        return _resumed(path, load(path), retry_failed, request, session, hold, signals)


def _resumed(
    path: Path, run: Run, retry_failed: bool, request: Request, session: Session, hold: Hold, signals: Signals
) -> int:
    from bench.plans import plan_for  # loads Numba

    if run.complete and not (retry_failed and _retryable(run)):
        raise UsageError(f"run {run.id} is complete: there is nothing to resume")
    asked = recorded_plan(run)
    if asked.files:
        raise NotComparable(
            f"run {run.id} measured kernels of {', '.join(asked.files)}: measure them again from the start"
        )
    _refuse_other_conditions(run, asked)
    _refuse_other_suite(run)
    plan = plan_for(
        asked.mode,
        machine=run.machine,
        cpus=asked.cpus,
        threads=asked.threads,
        dtypes=asked.dtypes,
        isas=asked.isas,
        patterns=asked.kernels,
        sizes=asked.sizes,
        budget_s=asked.budget_s,
        memory_budget_bytes=asked.memory_budget_bytes,
        seed=asked.seed,
    )
    if names_of(plan.points) != asked.points:
        raise NotComparable(f"run {run.id} was planned by another version of this suite: its points are others now")
    _refuse_other_code(run)
    failed = () if not retry_failed else tuple(_retryable(run))
    start = replace(run, failures=tuple(failure for failure in run.failures if failure.point not in failed))
    left = tuple(point for point in plan.points if not is_done(point, start))
    if not left:
        session.note("every point has ended: only saving was left")
    rest = replace(plan, points=left, budget_s=plan.budget_s * _share(left, plan))
    session.note(f"resuming {run.id}: {len(left)} of {len(plan.points)} points are left")
    now = datetime.now(UTC)
    environment = read_environment()
    known = {caveat.code for caveat in run.caveats}
    header = replace(
        start,
        id=new_id(now, SystemRandom()),
        resumed_from=run.id,
        complete=False,
        reason=None,
        environment=replace(
            environment,
            llvm=run.environment.llvm,
            target_cpu=run.environment.target_cpu,
            blas=run.environment.blas,
            threading_layer=run.environment.threading_layer,
        ),
        # What was true of the part that was measured before stays true of the whole.
        caveats=(
            *run.caveats,
            *(caveat for caveat in host_caveats(run.machine, environment) if caveat.code not in known),
            *hold.caveats(),
        ),
    )
    finished, file = kept(rest, header, session, hold, signals, request.json)
    if path.name.endswith(SUFFIX):
        path.unlink(missing_ok=True)  # all that it held is in the finished run
    return shown(finished, file, session, dataclasses.replace(request, draw=asked.mode in DRAWN and "all" in run.argv))


def is_done(point: Point, run: Run) -> bool:
    """Return whether a run has a number, or a failure, for a point of its plan."""
    if any(failure.point == point.name for failure in run.failures):
        return True
    if isinstance(point, SweepPoints):
        return bool(run.levels)
    if isinstance(point, KernelPoint):
        return any(
            (m.kernel, m.dtype, m.threads) == (point.kernel, point.dtype, point.threads)
            and (m.n == point.n if point.n is not None else m.level == point.level)
            for m in run.measurements
        )
    ceiling = run.ceilings.named(point.name)
    return ceiling is not None and (len(ceiling.launches) >= point.launch or bool(ceiling.raised_by))


def _retryable(run: Run) -> list[str]:
    return [failure.point for failure in run.failures if failure.kind != "skipped"]


def _share(left: tuple[Point, ...], plan: Plan) -> float:
    whole = plan.weight()
    return replace(plan, points=left).weight() / whole if whole else 1.0


def _newest(results: Path) -> Path:
    machine = read_machine().key
    there = [entry for entry in runs(results) if entry.error is None and entry.machine == machine]
    resumed = {load(entry.path).resumed_from for entry in there if entry.path.suffix == ".json"}
    saved = {entry.id for entry in there if entry.complete}
    left = [entry for entry in there if not entry.complete and entry.id not in resumed | saved]
    left = [entry for entry in left if not is_being_written(entry.path)]
    if not left:
        raise UsageError(f"no run of this machine in {results} is incomplete: there is nothing to resume")
    return left[-1].path


def _refuse_other_conditions(run: Run, asked: RecordedPlan) -> None:
    """Raise NotComparable where this is not the machine, or not under the conditions, that the run began on."""
    now = replace(run, machine=read_machine(), environment=read_environment())
    if found := differences(run, now):
        raise NotComparable(
            f"HOSTSWAP: run {run.id} began elsewhere or otherwise: {'; '.join(found[:4])}"
            f"{' and more' if len(found) > 4 else ''}; measure it again from the start"
        )
    if asked.cpus != now.environment.cpus_used:
        raise NotComparable(
            f"HOSTSWAP: run {run.id} used the CPUs {asked.cpus}, now there are {now.environment.cpus_used}; measure "
            "it again from the start"
        )


def _refuse_other_suite(run: Run) -> None:
    """Raise NotComparable where another version of this suite began the run: its numbers are other numbers."""
    now = suite_digest()
    if run.suite_digest != now:
        raise NotComparable(
            f"run {run.id} was begun by another version of this suite ({run.suite_digest or 'unknown'}, this is "
            f"{now}): what it measured would not be comparable with the rest; measure it again from the start"
        )


def _refuse_other_code(run: Run) -> None:
    """Raise NotComparable where the code of a kernel that was measured is another now."""
    from roofline.kernels.registry import all_kernels

    known = all_kernels()
    for measurement in run.measurements:
        kernel = known.get(measurement.kernel)
        if kernel is None or kernel.digest != measurement.digest:
            raise NotComparable(
                f"run {run.id} measured other code of {measurement.kernel} than there is now; measure it again from "
                "the start"
            )
