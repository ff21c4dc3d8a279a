"""Trials on disk: `<results>/<machine key>/<id>.ab.json`, kept up to date while pairs are taken."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from roofline.archive.disk import read_bytes, refuse_results, sync_folder, write_synced
from roofline.archive.document import to_tree, typed, written
from roofline.archive.tree import parse, shown
from roofline.errors import ArchiveError
from roofline.model.trial import SCHEMA, Trial
from roofline.model.trial_verdict import Verdict, verdicts_of

SUFFIX = ".ab.json"


class TrialDocument(Trial, frozen=True, kw_only=True):
    """A trial as archived: with what follows from it, for other tools. Readers of this suite judge it anew."""

    verdicts: tuple[Verdict, ...] = ()


def trial_path(trial: Trial, results: Path) -> Path:
    """Return where a trial belongs."""
    return results / trial.machine.key / f"{trial.id}{SUFFIX}"


def encode_trial(trial: Trial) -> bytes:
    """Write a trial as its JSON document, with its `verdicts`. Raises ArchiveError for what could not be read back."""
    source = f"trial {shown(trial.id)}"
    fields = {name: getattr(trial, name) for name in trial.__struct_fields__}
    tree = to_tree(TrialDocument(**fields, verdicts=verdicts_of(trial)), source)
    typed(tree, TrialDocument, source)
    return (written(tree) + "\n").encode("utf-8")


def save_trial(trial: Trial, results: Path) -> Path:
    """Write a trial durably in the place of what was there of it, the old file or the new one whatever happens.

    Raises ResultsError when the folder cannot be written.
    """
    path = trial_path(trial, results)
    data = encode_trial(trial)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            write_synced(temporary, data)
            temporary.replace(path)
        finally:
            with suppress(OSError):  # what went wrong before says more
                temporary.unlink(missing_ok=True)
        sync_folder(path.parent)
    except OSError as error:
        refuse_results(path.parent, error)
    return path


def load_trial(path: Path) -> Trial:
    """Read a trial. Raises ArchiveError for a file that is missing, unreadable or no trial."""
    source = str(path)
    tree = parse(read_bytes(path), source)
    if not isinstance(tree, dict) or "pairs" not in tree:
        raise ArchiveError(
            f"{source}: not a trial: found no `pairs` at the top; `ab` writes files that end in {SUFFIX}"
        )
    if type(tree.get("schema")) is not int or not 1 <= tree["schema"] <= SCHEMA:
        raise ArchiveError(f"{source}: schema: found {shown(tree.get('schema'))}, this version reads {SCHEMA}")
    trial: Trial = typed(tree, Trial, source)
    for defect in _defects(trial):
        raise ArchiveError(f"{source}: {defect}")
    return trial


def _defects(trial: Trial) -> list[str]:
    """Return what keeps pairs from being judged: times and rates that no clock has told."""
    names = {point.name for point in trial.points}
    found = []
    for number, pair in enumerate(trial.pairs):
        for side, timed in (("base", pair.base), ("head", pair.head)):
            numbers = (*timed.samples_s, *timed.roof_samples, *timed.clock_samples_hz)
            if not timed.samples_s or not all(0 < value < float("inf") for value in numbers):
                found.append(f"pairs[{number}].{side}: found a time or rate that is not above 0, expected samples")
        if pair.point not in names:
            found.append(f"pairs[{number}].point: found {shown(pair.point)}, expected one of the trial's points")
        if pair.stage not in (1, 2):
            found.append(f"pairs[{number}].stage: found {pair.stage}, expected 1 or 2")
    return found
