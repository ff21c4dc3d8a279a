"""A job of a CI service: measure or read a run, judge it, write what the service reads, and say what to exit with."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import click
import msgspec

from bench.cli.gate import remark
from bench.cli.measuring import drawn, measured, refuse_empty
from bench.cli.request import Request
from bench.cli.session import Session
from bench.cli.text import one_line
from bench.exit_codes import FAILED, FATAL_KINDS, exit_code, exit_code_of
from bench.gating import judged, rules_of
from bench.service.annotation import annotations_of
from bench.service.artefacts import write_artefacts, write_summary_file
from bench.service.github import SUMMARY_BYTES, no_commands, write_outputs, write_summary
from bench.service.judgement import Judgement
from bench.service.provider import GITHUB, provider_of
from bench.settings import settings_for
from roofline.archive.store import ARTEFACTS, find, load
from roofline.compare.rule import Rule
from roofline.errors import RooflineError, UsageError
from roofline.measurement.interruption import interruptible
from roofline.model.run import Run
from roofline.plotting.gate_table import gate_table
from roofline.plotting.summary import tables
from roofline.plotting.summary_markdown import summary_markdown

MODES = ("quick", "all", "thorough")
"""Plans that have a name; any other is a list of kernels."""


@dataclass(frozen=True)
class Job:
    """The options of `ci`, as typed."""

    rules: tuple[str, ...] = ()
    """Rules of the gate; none for those of the settings, and for a report where these have none either."""
    plan: str | None = None
    """One of MODES, or patterns of kernels with commas between them; None for `quick`."""
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

    def request(self) -> Request:
        """Return what is to be measured. Raises UsageError for a list of kernels that names nothing."""
        plan = "quick" if self.plan is None else self.plan.strip()
        if plan in MODES:
            return Request(mode=plan, draw=True, wait_s=self.wait_s, concurrent=self.concurrent)
        patterns = tuple(word.strip() for word in plan.split(","))
        if not all(patterns):
            raise UsageError(
                f"--plan {self.plan!r} names nothing between its commas; expected {', '.join(MODES)} or kernels, as "
                "in gemm.*,stream.triad"
            )
        return Request(mode="run", patterns=patterns, draw=True, wait_s=self.wait_s, concurrent=self.concurrent)


def do(job: Job, session: Session, variables: Mapping[str, str] = os.environ) -> int:
    """Do the job and return the exit code: of a signal, 5 without numbers, 6 for a failed kernel, or the gate's.

    `variables` tell which service it is. Raises what measuring, reading and the rules raise before there is a run,
    and ResultsError when what the service reads cannot be written.
    """
    service = provider_of(variables) if job.provider == "auto" else job.provider
    if job.source is not None and job.plan is not None:
        raise UsageError("--plan says what to measure, and --run judges a saved run; give one of them")
    settings = settings_for(Path.cwd())
    rules = rules_of(job.rules, settings) if job.rules or settings.gate else ()
    guard = no_commands(_say) if service == GITHUB else nullcontext()
    with interruptible() as signals, guard:
        if job.source is None:
            request = job.request()
            run, path = measured(session, request, signals)
            if path is None:
                session.note("interrupted before anything was measured")
                return exit_code(run)
            judgement = _judgement(job, rules, run, path, session)
            judgement = replace(judgement, files=(path, *drawn(run, path, session)))
        else:
            path = find(job.source, session.results)
            judgement = _judgement(job, rules, load(path), path, session)
            pictures = (path.with_suffix(suffix) for suffix in (".svg", ".png"))
            judgement = replace(judgement, files=(path, *(picture for picture in pictures if picture.is_file())))
        if service != GITHUB and not job.json:  # there a line may be taken for a command, and the summary has all
            session.show([*tables(judgement.run), gate_table(judgement.outcomes)])
        files = _written(job, judgement, service, session, variables)
    if service == GITHUB:
        for annotation in annotations_of(judgement, FATAL_KINDS):
            _say(annotation.command())
    if job.json:
        click.echo(json.dumps(_document(judgement, files, service), indent=1, ensure_ascii=False))
    else:
        for file in (*judgement.files, *files):
            click.echo(file)
    return judgement.exit_code


def _judgement(job: Job, rules: tuple[Rule, ...], run: Run, path: Path, session: Session) -> Judgement:
    """Return what a gate says of a run; what keeps it from judging is part of that, for the artefacts to tell."""
    judgement, code, error = Judgement(run), 0, None
    try:
        refuse_empty(run, path, names_kernels=job.source is None and job.request().names_kernels)
        if rules:
            found = judged(run, rules, session.results, settings_for(Path.cwd()), job.baseline, job.on_inconclusive)
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


def _written(
    job: Job, judgement: Judgement, service: str, session: Session, variables: Mapping[str, str]
) -> list[Path]:
    """Write the artefacts, and on GitHub the summary and the outputs of the step; return the files."""
    folder = job.output or session.results / ARTEFACTS
    files = write_artefacts(judgement, folder)
    named = [str(file) for file in (*judgement.files, *files)]
    error = "" if judgement.error is None else str(judgement.error)

    def summary(limit_bytes: int) -> str:
        return summary_markdown(
            judgement.run, judgement.outcomes, files=named, error=error, limit_bytes=limit_bytes - 1
        )

    if service == GITHUB:
        write_outputs(judgement, variables)
        if write_summary(summary, variables):
            return files
    return [*files, write_summary_file(summary(SUMMARY_BYTES), folder)]


def _document(judgement: Judgement, files: list[Path], service: str) -> dict[str, object]:
    return {
        "run": judgement.run.id,
        "grade": judgement.grade,
        "result": judgement.result,
        "exit_code": judgement.exit_code,
        "error": None if judgement.error is None else str(judgement.error),
        "provider": service,
        "outcomes": [msgspec.to_builtins(outcome) for outcome in judgement.outcomes],
        "files": [str(file) for file in (*judgement.files, *files)],
    }


def _say(line: str) -> None:
    """Write a line on stderr at once, whether or not remarks are wanted."""
    click.echo(line, err=True)
    sys.stderr.flush()
