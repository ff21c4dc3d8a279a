"""A job of a CI service: measure or read a run, judge it, write what the service reads, and say what to exit with."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import click
import msgspec

from bench.cli.gate import remark
from bench.cli.measuring import drawn, measured, refuse_empty
from bench.cli.session import Session
from bench.cli.text import one_line
from bench.exit_codes import FAILED, FATAL_KINDS, exit_code, exit_code_of
from bench.gating import judged, rules_of
from bench.service.annotation import annotations_of, no_verdict
from bench.service.artefacts import write_artefacts, write_summary_file
from bench.service.github import SUMMARY_BYTES, no_commands, write_outputs, write_summary
from bench.service.judgement import Judgement
from bench.service.provider import GITHUB, provider_of
from bench.service.refusal import Refusal
from bench.service.scope import request_for
from bench.settings import Settings, settings_for
from roofline.archive.store import ARTEFACTS, find, load
from roofline.compare.rule import Rule
from roofline.errors import RooflineError, UsageError
from roofline.measurement.interruption import Signals, interruptible
from roofline.model.run import Run
from roofline.plotting.gate_table import gate_table
from roofline.plotting.summary import tables
from roofline.plotting.summary_markdown import summary_markdown


@dataclass(frozen=True)
class Job:
    """The options of `ci`, as typed."""

    rules: tuple[str, ...] = ()
    """Rules of the gate; none for those of the settings, and for a report where these have none either."""
    plan: str | None = None
    """As `scope.request_for` takes it; None for what the rules name."""
    source: str | None = None
    """The saved run to judge; None to measure one."""
    baseline: str | None = None
    on_inconclusive: str | None = None
    output: Path | None = None
    """Where the artefacts go; None for `ci` in the results folder."""
    provider: str = "auto"
    wait_s: float = 0.0
    concurrent: bool = False
    json: bool = False


def do(job: Job, session: Session, variables: Mapping[str, str] = os.environ) -> int:
    """Do the job and return the exit code: of a signal, 5 without numbers, 6 for a failed kernel, or the gate's.

    `variables` tell which service it is. An error that comes before there is a run to judge, or keeps what the service
    reads from being written, is said, told as far as it goes, and decides the exit code.
    """
    service = provider_of(variables) if job.provider == "auto" else job.provider
    guard = no_commands(_say) if service == GITHUB else nullcontext()
    with interruptible() as signals, guard:
        ended = _ended(job, session, signals, service, variables)
    if isinstance(ended, Refusal):
        if service == GITHUB:
            _say(no_verdict(ended.message).command())
        return ended.exit_code
    if service == GITHUB:
        for annotation in annotations_of(ended, FATAL_KINDS):
            _say(annotation.command())
    if job.json:
        click.echo(json.dumps(_document(ended, service), indent=1, ensure_ascii=False))
    else:
        for file in ended.files:
            click.echo(file)
    return ended.exit_code


def _ended(
    job: Job, session: Session, signals: Signals, service: str, variables: Mapping[str, str]
) -> Judgement | Refusal:
    """Return what became of a job, once the service has been told of it."""
    try:
        ended = _judged(job, session, signals)
        if isinstance(ended, Judgement):
            if service != GITHUB and not job.json:  # there a line may be taken for a command, and the summary has all
                session.show([*tables(ended.run), gate_table(ended.outcomes)])
            return _written(job, ended, service, session, variables)
        session.note(ended.message)
    except RooflineError as error:
        if session.verbose:
            traceback.print_exc()
        _say(f"error: {one_line(str(error))}")
        ended = Refusal(str(error), exit_code_of(error))
    ended.tell(_folder(job, session), service, variables)
    return ended


def _judged(job: Job, session: Session, signals: Signals) -> Judgement | Refusal:
    """Measure or read a run and judge it; a refusal where a signal came before anything was measured.

    Raises what measuring, reading and the rules raise before there is a run.
    """
    if job.source is not None and job.plan is not None:
        raise UsageError("--plan says what to measure, and --run judges a saved run; give one of them")
    settings = settings_for(Path.cwd())
    rules = rules_of(job.rules, settings) if job.rules or settings.gate else ()
    if job.source is not None:
        path = find(job.source, session.results)
        judgement = _judgement(job, rules, settings, load(path), path, session)
        pictures = (path.with_suffix(suffix) for suffix in (".svg", ".png"))
        return replace(judgement, files=(path, *(picture for picture in pictures if picture.is_file())))
    request = replace(request_for(job.plan, rules), wait_s=job.wait_s, concurrent=job.concurrent)
    run, measured_path = measured(session, request, signals)
    if measured_path is None:
        return Refusal("interrupted before anything was measured", exit_code(run))
    judgement = _judgement(job, rules, settings, run, measured_path, session, request.names_kernels)
    return replace(judgement, files=(measured_path, *drawn(run, measured_path, session)))


def _judgement(
    job: Job,
    rules: tuple[Rule, ...],
    settings: Settings,
    run: Run,
    path: Path,
    session: Session,
    names_kernels: bool = False,
) -> Judgement:
    """Return what a gate says of a run; what keeps it from judging is part of that, for the artefacts to tell."""
    judgement, code, error = Judgement(run), 0, None
    try:
        refuse_empty(run, path, names_kernels)
        if rules:
            found = judged(run, rules, session.results, settings, job.baseline, job.on_inconclusive)
            remark(session, found)
            judgement, code = replace(judgement, outcomes=found.outcomes), found.exit_code
    except RooflineError as refused:
        error, code = refused, exit_code_of(refused)
        _say(f"error: {one_line(str(refused))}")
    # Who judges a saved run is not interrupted by the signal that once ended it.
    of_run = exit_code(run if job.source is None else msgspec.structs.replace(run, reason=None))
    if of_run and (of_run != FAILED or run.ceilings.all or run.measurements):
        code = of_run  # a kernel that failed is the graver thing, and may be why a rule means nothing
    return replace(judgement, error=error, exit_code=code)


def _written(job: Job, judgement: Judgement, service: str, session: Session, variables: Mapping[str, str]) -> Judgement:
    """Write the artefacts, and on GitHub the summary and the outputs of the step; return the judgement with all files.

    Raises ResultsError when any of them cannot be written.
    """
    folder = _folder(job, session)
    judgement = replace(judgement, files=(*judgement.files, *write_artefacts(judgement, folder)))
    error = "" if judgement.error is None else str(judgement.error)

    def summary(limit_bytes: int) -> str:
        return summary_markdown(
            judgement.run,
            judgement.outcomes,
            files=list(map(str, judgement.files)),
            error=error,
            limit_bytes=limit_bytes - 1,
        )

    if service == GITHUB:
        write_outputs(judgement.outputs, variables)
        if write_summary(summary, variables):
            return judgement
    return replace(judgement, files=(*judgement.files, write_summary_file(summary(SUMMARY_BYTES), folder)))


def _folder(job: Job, session: Session) -> Path:
    return job.output or session.results / ARTEFACTS


def _document(judgement: Judgement, service: str) -> dict[str, object]:
    return {
        "run": judgement.run.id,
        "grade": judgement.grade,
        "result": judgement.result,
        "exit_code": judgement.exit_code,
        "error": None if judgement.error is None else str(judgement.error),
        "provider": service,
        "outcomes": [msgspec.to_builtins(outcome) for outcome in judgement.outcomes],
        "files": [str(file) for file in judgement.files],
    }


def _say(line: str) -> None:
    """Write a line on stderr at once, whether or not remarks are wanted."""
    click.echo(line, err=True)
    sys.stderr.flush()
