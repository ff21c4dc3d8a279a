"""What `all`, `ceilings` and `run` have in common: check, plan, measure, keep, show."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from random import SystemRandom

import click
from msgspec.structs import replace

from bench.cli.progress import progress
from bench.cli.request import (
    Request,
    check_files,
    check_variables,
    chosen_dtypes,
    chosen_isas,
    chosen_sizes,
    chosen_threads,
)
from bench.cli.session import Session
from bench.exit_codes import SIGNAL_EXIT, exit_code
from bench.recorded import recorded
from roofline.archive.disk import check_writable
from roofline.archive.document import encode
from roofline.archive.identity import new_id, validated_label
from roofline.archive.journal import Journal
from roofline.archive.revision import revision
from roofline.archive.store import save
from roofline.errors import NothingMeasured, ResultsError, RooflineError
from roofline.host import host_caveats, memory_budget_bytes, read_environment, read_machine, usable_cpus
from roofline.measurement.code_cache import suite_digest
from roofline.measurement.interruption import Interruption, Signals, interruptible
from roofline.measurement.lock import Hold, lock_folder, machine_lock
from roofline.measurement.message import PlanRequest
from roofline.measurement.plan import Plan
from roofline.model.final import rejudged
from roofline.model.run import Record, Run
from roofline.plotting.summary import tables
from roofline.plotting.text import printable


def measure(session: Session, request: Request) -> int:
    """Measure what is requested, save it, show it, and return the exit code.

    Raises UsageError and ResultsError before anything is measured, NothingMeasured when no number came out, and
    Interruption when a signal came before measuring, or after it.
    """
    with interruptible() as signals:
        run, path = measured(session, request, signals)
        return shown(run, path, session, request)


def measured(session: Session, request: Request, signals: Signals) -> tuple[Run, Path | None]:
    """Measure what is requested and save it, and return the run and the file that holds it.

    No file when a signal came before anything was measured. Raises what `measure` does.
    """
    check_variables(os.environ)
    check_writable(session.results)
    label = None if request.label is None else validated_label(request.label)
    machine = read_machine()
    cpus = usable_cpus()
    files = check_files(request.files)
    asked = PlanRequest(
        files=files,
        mode=request.mode,
        machine=machine,
        cpus=cpus,
        threads=chosen_threads(request.threads, cpus),
        dtypes=chosen_dtypes(request.dtypes),
        isas=chosen_isas(request.isas, machine),
        patterns=request.patterns,
        sizes=chosen_sizes(request.sizes),
        budget_s=request.budget_s,
        memory_budget_bytes=memory_budget_bytes(),
        seed=SystemRandom().randrange(2**31),
    )
    plan = planned(asked)
    if request.budget_s is not None and request.budget_s < plan.overhead_s():
        session.note(
            f"a budget of {request.budget_s:g} s is less than what the {len(plan.points)} points of this run take "
            f"beside their samples, about {plan.overhead_s():.0f} s: each gets its fewest, and the run takes longer"
        )
    argv = tuple(map(printable, session.argv))
    command = " ".join(("roofline", *argv))
    with machine_lock(lock_folder(), command, wait_s=request.wait_s, concurrent=request.concurrent) as hold:
        # Now: before, all this would tell of the run that was waited for.
        plan = replace(plan, memory_budget_bytes=memory_budget_bytes())
        environment = read_environment()
        now = datetime.now(UTC)
        header = Run(
            id=new_id(now, SystemRandom()),
            started_utc=f"{now:%Y-%m-%dT%H:%M:%SZ}",
            label=label,
            revision=revision(Path.cwd()),
            suite_digest=suite_digest(),
            argv=argv,
            plan=recorded(plan, request.patterns, chosen_sizes(request.sizes)),
            machine=machine,
            environment=environment,
            caveats=(*host_caveats(machine, environment), *hold.caveats()),
        )
        return kept(plan, header, session, hold, signals, request.json)


def planned(asked: PlanRequest) -> Plan:
    """Return the plan for a request; where it names a user's files, made in a process of its own.

    Raises what `plan_for` and `planned_elsewhere` do.
    """
    # Both read the kernels, which loads Numba: `--help` does not wait for it.
    if asked.files:
        from bench.planning import planned_elsewhere

        return planned_elsewhere(asked, os.environ)
    from bench.plans import plan_for

    arguments = {name: getattr(asked, name) for name in asked.__struct_fields__ if name not in ("files", "mode")}
    return plan_for(asked.mode, **arguments)


def kept(
    plan: Plan, header: Run, session: Session, hold: Hold, signals: Signals, json: bool
) -> tuple[Run, Path | None]:
    """Measure a plan under the machine's lock, and return the run, grown from `header`, and the file that holds it.

    No file when a signal came before anything was measured. Raises NothingMeasured for a run without numbers,
    ResultsError when the disk refuses a record or the file, once everything measured until then has been told, and
    Interruption for a signal after the launch: two are held back until the file is there, the third leaves the journal.
    """
    with signals.held(), Journal(header, session.results) as journal:
        try:
            run = _launched(plan, header, session, journal, json)
            meanwhile = (caveat for caveat in hold.caveats() if caveat not in header.caveats)
            run = replace(run, caveats=(*run.caveats, *meanwhile))
            return run, _saved(run, session, journal.path, json)
        except Interruption as stop:
            left = f"{stop} before the run was saved; what was measured is in {journal.path}; {what_is_missing(header)}"
            raise Interruption(stop.number, left) from stop


def _launched(plan: Plan, header: Run, session: Session, journal: Journal, json: bool) -> Run:
    launch = session.launch or _launcher()
    found = header
    with progress(session) as report:

        def keep(record: Record) -> None:
            nonlocal found
            grown = found.with_record(record)
            try:
                journal.append(record)
            except ResultsError:
                found = grown  # it was measured, whether or not the disk takes it
                raise
            found = grown

        try:
            run: Run = launch(plan, header, keep=keep, progress=report)
        except ResultsError as error:
            tell(replace(rejudged(found), reason="the disk refused"), session, json)
            raise ResultsError(f"{error}; {_left(journal.path)}") from error
    return run


def _saved(run: Run, session: Session, journal: Path, json: bool) -> Path | None:
    """Save a run whose journal is there, and return its file; None when a signal came before it held anything."""
    if run.is_empty:
        journal.unlink(missing_ok=True)
        if run.reason in SIGNAL_EXIT:
            return None
        raise NothingMeasured("nothing was measured and nothing failed; ask for more with --budget or other names")
    try:
        path = save(run, session.results)
    except ResultsError as error:
        tell(run, session, json)
        raise ResultsError(f"{error}; {_left(journal)}") from error
    session.note(f"saved {path}")
    return path


def _left(journal: Path) -> str:
    """Say what is left of a run that the disk did not take."""
    if journal.is_file():
        return f"what the journal {journal} holds is safe: python -m bench resume"
    return "the journal is gone too: what was measured is nowhere but in what was printed"


def shown(run: Run, path: Path | None, session: Session, request: Request) -> int:
    """Draw and show a run that is in its file, and return its exit code. Raises NothingMeasured without numbers."""
    if path is None:
        session.note("interrupted before anything was measured")
        return exit_code(run)
    draw = request.draw and run.reason not in SIGNAL_EXIT
    files = [path, *(drawn(run, path, session) if draw else [])]
    tell(run, session, request.json)
    if not request.json:
        for file in files:
            click.echo(file)
    refuse_empty(run, path, request.names_kernels)
    others = {measurement.dtype for measurement in run.measurements} - {"f64"}
    if not draw:
        session.note("picture: python -m bench plot last")
    elif others and len(others) < len({measurement.dtype for measurement in run.measurements}):
        session.note(f"the picture shows f64; for the rest: python -m bench plot last --dtype {min(others)}")
    if not run.complete:
        reason = run.reason or "reason unknown"
        session.note(f"incomplete: {reason}; what was measured is in {path}; {what_is_missing(run)}")
    return exit_code(run)


def what_is_missing(run: Run) -> str:
    """Say how to measure what an incomplete run lacks; `resume` refuses one of a user's own files."""
    if run.plan.get("files"):
        return "kernels of your own files cannot be resumed: measure them again from the start"
    return "what is missing: python -m bench resume"


def refuse_empty(run: Run, path: Path, names_kernels: bool) -> None:
    """Raise NothingMeasured for a run without numbers, or, where kernels were named, without any of theirs."""
    if run.failures and not (run.ceilings.all or run.measurements):
        first = run.failures[0]
        raise NothingMeasured(
            f"nothing was measured: {len(run.failures)} points have no number, the first is {first.point}: "
            f"{first.message}; all are in {path}"
        )
    if names_kernels and run.failures and run.complete and not run.measurements and not exit_code(run):
        raise NothingMeasured(f"none of the kernels asked for could be measured: {run.failures[-1].message}")


def tell(run: Run, session: Session, json: bool) -> None:
    """Print a run: its tables, or its document with the caveats as remarks."""
    if json:
        click.echo(encode(run), nl=False)
        for caveat in run.caveats:
            session.note(f"{caveat.code}: {caveat.message}")
    else:
        session.show(tables(run))


def _launcher() -> Callable[..., Run]:
    from roofline.measurement.launch import launch  # only who measures needs it

    return launch


def drawn(run: Run, path: Path, session: Session) -> list[Path]:
    """Draw a run and return its pictures; it is saved already, so one that cannot be drawn is only remarked on.

    Whom a signal tells to stop draws nothing: a picture takes longer than who sent it waits.
    """
    if run.reason in SIGNAL_EXIT:
        return []
    from roofline.plotting.figure import save_figure  # loads Matplotlib

    try:
        return save_figure(run, path.with_suffix(""))
    except RooflineError as error:
        session.note(f"no picture: {error}")
        return []
