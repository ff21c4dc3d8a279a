"""A trial from what a user asks for: two sides, the points that both have, the roof, and the pairs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import SystemRandom
from signal import Signals
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from bench.planning import planned_elsewhere
from bench.versions import Version
from roofline.archive.identity import new_id
from roofline.errors import MeasurementError, NotComparable, UsageError
from roofline.host import host_caveats, memory_budget_bytes, read_environment, read_machine, usable_cpus
from roofline.measurement.code_cache import code_cache, folders_of_code
from roofline.measurement.duel import Duel, Program
from roofline.measurement.interruption import Interruption
from roofline.measurement.launch import launch
from roofline.measurement.message import PlanRequest
from roofline.measurement.plan import KernelPoint, Plan, Point
from roofline.measurement.progress import Progress
from roofline.measurement.team import pool_variables
from roofline.model.machine import Machine
from roofline.model.run import Run
from roofline.model.trial import Profile, Side, Trial, TrialFailure
from roofline.model.trial_verdict import to_confirm

CONTROL = KernelPoint(kernel="stream.triad", dtype="f64", threads=1, n=8192)
"""What the controls time: 192 KiB, in the second cache of most cores."""
SUITE_KERNELS = (
    "stream.triad",
    "gemv.naive",
    "gemv.blocked",
    "gemm.naive",
    "gemm.blocked",
    "gemm.register",
    "reduction.sum_8",
)
"""Kernels of the suite that are compared when none are named: memory, arithmetic, and both."""
_CEILINGS_BUDGET_S = 3.0
_SIDE = ("-m", "roofline.measurement.side")

Report = Callable[[Progress], None]


@dataclass(frozen=True)
class Asked:
    """What is to be compared."""

    patterns: tuple[str, ...] = ()
    threads: tuple[int, ...] = (1,)
    dtypes: tuple[str, ...] = ("f64",)
    sizes: tuple[int, ...] = ()


def tried(
    versions: tuple[Version, Version],
    asked: Asked,
    profile: Profile,
    *,
    keep: Callable[[Trial], object],
    report: Report,
    limit_s: float,
    argv: tuple[str, ...] = (),
    stretched: frozenset[str] = frozenset(),
    roof: Run | None = None,
) -> Trial:
    """Compare two versions and return the trial; `keep` is given it as it grows.

    `roof` is a run of this machine, moments ago, whose ceilings hold; without it they are measured first.
    Raises NotComparable when nothing is on both sides, UsageError for names that no side knows, Interruption when a
    signal came before the first pair.
    """
    machine, cpus = read_machine(), usable_cpus()
    beside = versions[0].checkout  # what is left there by a killed run, the next one finds
    with TemporaryDirectory(prefix="roofline-ab-code-", dir=beside.folder.parent if beside else None) as scratch:
        environments = [_environment(version, asked, machine, cpus, Path(scratch) / str(number))
                        for number, version in enumerate(versions)]  # fmt: skip
        plans = [_planned(v, asked, machine, cpus, e) for v, e in zip(versions, environments, strict=True)]
        for version, made in zip(versions, plans, strict=True):
            version.refuse_strays(made.sources)
        plan, failures = _common(plans[0], plans[1])
        run = roof or measured_roof(plan, machine, report)
        environment = read_environment()
        now = datetime.now(UTC)
        trial = Trial(
            id=new_id(now, SystemRandom()),
            started_utc=f"{now:%Y-%m-%dT%H:%M:%SZ}",
            argv=argv,
            machine=machine,
            environment=environment,
            caveats=host_caveats(machine, environment),
            base=versions[0].side,
            head=versions[1].side,
            profile=profile,
            seed=plan.seed,
            ceilings=run.ceilings,
            levels=run.levels,
            failures=failures,
        )
        programs = [
            Program(
                command=(sys.executable, *_SIDE), environment=environment_of, files=version.files, folder=version.folder
            )
            for version, environment_of in zip(versions, environments, strict=True)
        ]
        duel = Duel(
            trial=trial,
            plan=replace(plan, points=tuple(p for p in plan.points if isinstance(p, KernelPoint)), files=()),
            base=programs[0],
            head=programs[1],
            control=CONTROL,
            choose=to_confirm,
            keep=keep,
            report=report,
            limit_s=limit_s,
            stretched=stretched,
        )
        return duel.fought()


def _environment(
    version: Version, asked: Asked, machine: Machine, cpus: tuple[int, ...], scratch: Path
) -> Mapping[str, str]:
    """Return the environment of a side's processes, which find its own libraries first, and keep no code of a user."""
    inherited = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
    if path := version.python_path(inherited.get("PYTHONPATH", "")):
        inherited["PYTHONPATH"] = path
    cache = code_cache(machine) if version.suite is None else None
    own = scratch if version.files or cache is None else None
    if own is not None:
        own.mkdir()
    return {**inherited, **pool_variables(max(asked.threads), cpus), **folders_of_code(cache, own)}


def roof_plan(asked: Asked) -> Plan:
    """Return the plan of the ceilings that comparing the suite's own kernels needs."""
    machine, cpus = read_machine(), usable_cpus()
    installed = Version(side=Side(name="installed"), files=())
    return _planned(installed, asked, machine, cpus, os.environ)


def _planned(
    version: Version, asked: Asked, machine: Machine, cpus: tuple[int, ...], environment: Mapping[str, str]
) -> Plan:
    """Return the plan of one side, made by its own code in a process of its own."""
    request = PlanRequest(
        files=version.files,
        mode="quick",
        machine=machine,
        cpus=cpus,
        threads=asked.threads,
        dtypes=asked.dtypes,
        isas=machine.isas,
        patterns=asked.patterns or (() if version.files else SUITE_KERNELS),
        sizes=asked.sizes,
        budget_s=_CEILINGS_BUDGET_S,
        memory_budget_bytes=memory_budget_bytes(),
        seed=SystemRandom().randrange(2**31),
    )
    try:
        return planned_elsewhere(request, environment, folder=version.folder)
    except UsageError as error:  # what one side lacks the other may have
        raise UsageError(f"{version.side.name}: {error}") from error


def _common(base: Plan, head: Plan) -> tuple[Plan, tuple[TrialFailure, ...]]:
    """Return the base's plan with the kernels that both have, and what only one has. Raises NotComparable for none."""
    points = [[point for point in plan.points if isinstance(point, KernelPoint)] for plan in (base, head)]
    known = [{point.name for point in own} for own in points]
    both = known[0] & known[1]
    failures = tuple(
        TrialFailure(point=point.name, side=side, kind="skipped", message=f"only {other} has it")
        for own, side, other in zip(points, ("head", "base"), ("the base", "the head"), strict=True)
        for point in own
        if point.name not in both
    )
    if not both:
        names = ", ".join(sorted({point.kernel for own in points for point in own})[:6])
        raise NotComparable(f"no kernel is on both sides: found {names}, each on one side only; rename, or name others")
    kept: tuple[Point, ...] = tuple(p for p in base.points if not isinstance(p, KernelPoint) or p.name in both)
    return replace(base, points=kept), failures


def measured_roof(plan: Plan, machine: Machine, report: Report) -> Run:
    """Measure the ceilings that a plan names, with the installed suite. Raises Interruption, and MeasurementError."""
    points = tuple(point for point in plan.points if not isinstance(point, KernelPoint))
    header = Run(id="00000000-000000-0000", started_utc="", machine=machine, environment=read_environment())
    run = launch(replace(plan, points=points, files=()), header, keep=lambda record: None, progress=report)
    if not run.complete:
        raise Interruption(Signals[str(run.reason)])
    if not run.ceilings.all:
        reasons = "; ".join(failure.message for failure in run.failures[:2])
        raise MeasurementError(f"no ceiling could be measured: {reasons}; see `python -m bench ceilings`")
    return run
