"""`ab`: two versions of kernels, measured against each other in one job."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from bench.cli.progress import progress
from bench.cli.request import (
    check_variables,
    chosen_dtypes,
    chosen_sizes,
    chosen_threads,
    finite,
    locking_options,
)
from bench.cli.session import Session
from bench.cli.verb import Verb
from bench.exit_codes import FAILED, SIGNAL_EXIT
from roofline.archive.disk import check_writable
from roofline.archive.trials import encode_trial, load_trial, save_trial
from roofline.errors import UsageError
from roofline.host import usable_cpus
from roofline.measurement.interruption import interruptible
from roofline.measurement.lock import lock_folder, machine_lock
from roofline.model.trial import PROFILES, Trial
from roofline.model.trial_verdict import verdicts_of
from roofline.plotting.text import printable
from roofline.plotting.trial_tables import trial_summary, trial_tables

SLOWER, INCONCLUSIVE, NOTHING = 1, 3, 5


@click.command("ab", cls=Verb)
@click.argument("words", metavar="BASE [HEAD] [FILE.py]...", nargs=-1)
@click.option("--quick", is_flag=True, help="12 and 24 pairs instead of 18 and 44: for a quiet machine.")
@click.option("--kernel", "patterns", multiple=True, metavar="NAME", help="Only these; may be repeated, with * and ?.")
@click.option("--threads", default="1", show_default=True, metavar="N,...", help="Thread counts; all: one a core.")
@click.option("--dtype", "dtypes", default="f64", show_default=True, metavar="T,...", help="Element types.")
@click.option("--size", "sizes", metavar="N,...", help="Problem sizes; default: each kernel's own.")
@click.option("--worktree", is_flag=True, help="HEAD is the files as they lie here, committed or not.")
@click.option(
    "--limit",
    "limit_s",
    default=900.0,
    show_default=True,
    callback=finite,
    type=click.FloatRange(min=1),
    metavar="S",
    help="Stop after so many seconds: what then lacks pairs is inconclusive.",
)
@click.option("--again", metavar="FILE", help="Measure nothing: judge the pairs of a saved trial again.")
@click.option("--json", "as_json", is_flag=True, help="Print the archived document on stdout, and nothing else.")
@locking_options
@click.pass_obj
def command(session: Session, /, words: tuple[str, ...], again: str | None, as_json: bool, **options: Any) -> int:
    """Measure two versions of kernels against each other.

    BASE and HEAD are Git revisions (HEAD by default the commit that is checked out), and FILE.py files of kernels that
    both have; without files it is this suite's own kernels. Or BASE and HEAD are two files. Every kernel is timed in
    pairs of fresh processes, one of each version, in the order of a coin, between probes of its own roof. What a first
    stage flags is confirmed on fresh pairs: at most one run in a hundred says `slower` where nothing is.

    Exits with 1 when a kernel is slower, with 6 when one fails, with 3 when something is inconclusive, else with 0.
    """
    if again is not None:
        if words:
            raise UsageError("--again judges a saved trial and measures nothing: name no revision with it")
        trial = load_trial(Path(again))
        return _shown(trial, None, session, as_json)
    if not words:
        raise UsageError("ab needs a revision or a file to compare with, as in `ab main` or `ab OLD.py NEW.py`")
    trial, path = _measured(session, words, **options)
    return _shown(trial, path, session, as_json)


def _measured(session: Session, words: tuple[str, ...], **options: Any) -> tuple[Trial, Path]:
    from bench.trial import Asked, tried  # only who measures needs them
    from bench.versions import versions_of

    check_variables(os.environ)
    check_writable(session.results)
    asked = Asked(
        patterns=options["patterns"],
        threads=chosen_threads(options["threads"], usable_cpus()),
        dtypes=chosen_dtypes(options["dtypes"]),
        sizes=chosen_sizes(options["sizes"]),
    )
    base, head, files = _named(words)
    profile = PROFILES["quick" if options["quick"] else "full"]
    argv = tuple(map(printable, session.argv))
    lock = machine_lock(lock_folder(), "roofline ab", wait_s=options["wait_s"], concurrent=options["concurrent"])
    with (
        interruptible() as signals,
        versions_of(base, head, files, options["worktree"]) as versions,
        lock as hold,
        signals.held(),
        progress(session) as report,
    ):
        trial = (session.tried or tried)(
            versions,
            asked,
            profile,
            keep=lambda grown: save_trial(grown, session.results),
            report=report,
            limit_s=options["limit_s"],
            argv=argv,
        )
        trial = replace(trial, caveats=(*trial.caveats, *hold.caveats()))
        return trial, save_trial(trial, session.results)


def _named(words: tuple[str, ...]) -> tuple[str, str | None, tuple[str, ...]]:
    """Return base, head and files: two files, or up to two revisions before the files."""
    base, *rest = words
    if base.endswith(".py"):
        return base, rest[0] if rest else None, tuple(rest[1:])
    head = rest.pop(0) if rest and not rest[0].endswith(".py") else None
    if strange := [word for word in rest if not word.endswith(".py")]:
        raise UsageError(f"{strange[0]!r} is no Python file; expected BASE [HEAD] [FILE.py]...")
    return base, head, tuple(rest)


def _shown(trial: Trial, path: Path | None, session: Session, as_json: bool) -> int:
    if as_json:
        click.echo(encode_trial(trial), nl=False)
    else:
        session.show(trial_tables(trial))
        if path is not None:
            click.echo(path)
    for caveat in trial.caveats:
        session.note(f"{caveat.code}: {caveat.message}")
    session.note(trial_summary(trial))
    if not trial.complete:
        session.note(f"incomplete: {trial.reason or 'reason unknown'}; what was measured counts")
    return exit_code(trial)


def exit_code(trial: Trial) -> int:
    """Return what `ab` exits with after a trial: a signal first, then slower, failed, nothing, or undecided."""
    if trial.reason in SIGNAL_EXIT:
        return SIGNAL_EXIT[trial.reason]
    asked = [
        verdict.verdict for point, verdict in zip(trial.points, verdicts_of(trial), strict=True) if not point.control
    ]
    if "slower" in asked:
        return SLOWER
    if any(failure.kind != "skipped" for failure in trial.failures):
        return FAILED
    if not asked:
        return NOTHING
    return INCONCLUSIVE if "inconclusive" in asked else 0
