"""`doctor`: what would make numbers measured here untrustworthy, and the next step for each."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from random import SystemRandom

import click

from bench.cli.progress import progress
from bench.cli.session import Session
from bench.cli.verb import Verb
from roofline.archive.identity import new_id
from roofline.errors import MeasurementError
from roofline.host import memory_budget_bytes, read_environment, read_machine, usable_cpus
from roofline.host.diagnosis import FAIL, WARN, Facts, Finding, diagnose, read_facts
from roofline.measurement.code_cache import code_cache
from roofline.measurement.lock import lock_folder, machine_lock
from roofline.measurement.plan import ComputePoint, MemoryPoint, Plan, SweepPoints
from roofline.model.machine import Environment, Machine
from roofline.model.run import Run
from roofline.plotting.table import Column, Table
from roofline.plotting.text import printable

BUDGET_S = 3.0
SWEEP_SIZES = 8
NOT_FIT = 1


@click.command("doctor", cls=Verb)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--strict", is_flag=True, help="Exit with 1 when anything warns or fails.")
@click.option("--measure/--no-measure", default=True, show_default=True, help="Time the clock and the noise, some 6 s.")
@click.pass_obj
def command(session: Session, /, as_json: bool, strict: bool, measure: bool) -> int:
    """Say what would make numbers measured here untrustworthy.

    One line each for clock, load, limits, noise and software: ok, warn or fail, what was found, and the next step.
    Changes nothing on the system. Exits with 0 unless --strict asks for more.
    """
    machine, environment = read_machine(), read_environment()
    measured = _measured(machine, environment, session) if measure else None
    findings = diagnose(machine, environment, _facts(machine), measured)
    if as_json:
        document = {
            "machine": machine.key,
            "fit": not any(finding.state in (WARN, FAIL) for finding in findings),
            "findings": [dataclasses.asdict(finding) for finding in findings],
        }
        click.echo(json.dumps(document, indent=1, ensure_ascii=False))
    else:
        session.show([findings_table(findings)])
    return NOT_FIT if strict and any(finding.state in (WARN, FAIL) for finding in findings) else 0


def findings_table(findings: Sequence[Finding]) -> Table:
    """Return the findings, one a row."""
    columns = (Column("check"), Column("state"), Column("found", wraps=True), Column("next step", wraps=True))
    rows = tuple(
        (finding.check, finding.state, printable(finding.found), printable(finding.next_step or "-"))
        for finding in findings
    )
    return Table("Doctor", columns, (rows,))


def _facts(machine: Machine) -> Facts:
    try:
        cache = code_cache(machine)
    except OSError as refused:
        return read_facts(str(refused.filename or "the cache folder"), refused.strerror or str(refused))
    return read_facts(str(cache.folder.parent), None)


def _measured(machine: Machine, environment: Environment, session: Session) -> Run | None:
    """Return a short run of one compute and one DRAM ceiling; None, with a remark, where that cannot be measured."""
    cpus = usable_cpus()
    fused = machine.arch != "x86_64" or "fma" in machine.features
    widest = machine.isas[-1]
    plan = Plan(
        mode="doctor",
        budget_s=BUDGET_S,
        threads=tuple(sorted({1, len(cpus) or 1})),
        cpus=cpus,
        dtypes=("f64",),
        isas=(widest,),
        points=(
            SweepPoints(sizes=SWEEP_SIZES),
            ComputePoint(isa=widest, dtype="f64", op="fma" if fused else "mul_add", threads=1),
            MemoryPoint(level="DRAM", pattern="load", isa=widest, threads=1),
        ),
        memory_budget_bytes=memory_budget_bytes(),
    )
    now = datetime.now(UTC)
    start = Run(
        id=new_id(now, SystemRandom()),
        started_utc=f"{now:%Y-%m-%dT%H:%M:%SZ}",
        machine=machine,
        environment=environment,
    )
    if session.launch is None:
        from roofline.measurement.launch import launch
    else:
        launch = session.launch
    try:
        with machine_lock(lock_folder(), "roofline doctor"), progress(session) as report:
            run: Run = launch(plan, start, keep=lambda record: None, progress=report)
    except MeasurementError as error:
        session.note(f"nothing was measured: {error}")
        return None
    if run.reason is not None:
        raise KeyboardInterrupt
    for failure in run.failures:
        session.note(f"{failure.point}: {failure.message}")
    return run
