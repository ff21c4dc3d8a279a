"""Trials on disk: `<results>/<machine key>/<id>.ab.json`, kept up to date while pairs are taken."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from roofline.archive.disk import read_bytes, refuse_results, sync_folder, write_synced
from roofline.archive.document import sealed, to_tree, typed
from roofline.archive.tree import parse, shown
from roofline.archive.trial_plausibility import trial_defects
from roofline.errors import ArchiveError
from roofline.model.trial import SCHEMA, Trial
from roofline.model.trial_verdict import Verdict, verdicts_of

SUFFIX = ".ab.json"


class TrialDocument(Trial, frozen=True, kw_only=True):
    """A trial as archived: with what follows from it, for other tools. Readers of this suite judge it anew."""

    verdicts: tuple[Verdict, ...] = ()
    content_digest: str = ""
    """Of all the rest, as it was when the trial was saved; empty in files of versions that wrote none."""


def trial_path(trial: Trial, results: Path) -> Path:
    """Return where a trial belongs."""
    return results / trial.machine.key / f"{trial.id}{SUFFIX}"


def encode_trial(trial: Trial) -> bytes:
    """Write a trial as its JSON document, with its `verdicts`. Raises ArchiveError for what could not be read back."""
    source = f"trial {shown(trial.id)}"
    for defect in trial_defects(trial):
        raise ArchiveError(f"{source}: {defect}")
    fields = {name: getattr(trial, name) for name in trial.__struct_fields__}
    tree = to_tree(TrialDocument(**fields, verdicts=verdicts_of(trial)), source)
    typed(tree, TrialDocument, source)
    return sealed(tree)


def save_trial(trial: Trial, results: Path, move: Callable[[Path, Path], object] = os.replace) -> Path:
    """Write a trial durably in the place of what was there of it, the old file or the new one whatever happens.

    `move` is how a file takes another's place. Raises ArchiveError for a trial that could not be read back, and
    ResultsError when the folder cannot be written.
    """
    path = trial_path(trial, results)
    data = encode_trial(trial)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            write_synced(temporary, data)
            move(temporary, path)
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
    return trial_from(parse(read_bytes(path, "trial"), source), source)


def is_trial(tree: Any) -> bool:
    """Return whether a parsed document has what makes it a trial's: pairs."""
    return isinstance(tree, dict) and "pairs" in tree


def trial_from(tree: Any, source: str) -> Trial:
    """Turn a parsed document into a trial. Raises ArchiveError for what is none."""
    if not is_trial(tree):
        raise ArchiveError(
            f"{source}: not a trial: found no `pairs` at the top; `ab` writes files that end in {SUFFIX}"
        )
    schema = tree.get("schema")
    if type(schema) is not int or not 1 <= schema <= SCHEMA:
        newer = type(schema) is int and schema > SCHEMA
        remedy = "it was written by a newer version: upgrade roofline-suite" if newer else "it is not a trial"
        raise ArchiveError(f"{source}: schema: found {shown(schema)}, this version reads {SCHEMA}; {remedy}")
    trial: Trial = typed(tree, Trial, source)
    for defect in trial_defects(trial):
        raise ArchiveError(f"{source}: {defect}")
    return trial
