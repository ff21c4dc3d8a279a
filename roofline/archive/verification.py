"""Derives every published number of a run or trial file again from its raw samples, and says what does not hold.

Reads the document itself, not only what the suite's own readers take from it: the derived numbers in a file are for
other tools, and here they are compared with the samples that they should follow from.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from roofline.archive.disk import read_bytes
from roofline.archive.document import from_tree
from roofline.archive.run_checks import RunChecks
from roofline.archive.store import load
from roofline.archive.tree import Defect, parse
from roofline.archive.trial_checks import TrialChecks
from roofline.archive.trials import is_trial, trial_from
from roofline.model.struct import Value


class Verification(Value, frozen=True, kw_only=True):
    """What came of it."""

    source: str
    """The file."""
    numbers: int
    """Published numbers that were derived again."""
    defects: tuple[Defect, ...] = ()
    """What does not hold; empty when everything does."""
    doubts: tuple[str, ...] = ()
    """What holds, and is no sound result: the run is incomplete, points are invalid or above their roof."""


def verify(path: Path, now: datetime | None = None) -> Verification:
    """Read one run file, journal or trial file, and check it; `now` is by default the clock's.

    Raises ArchiveError for what cannot be read at all.
    """
    source, now = str(path), now or datetime.now(UTC)
    checks: RunChecks | TrialChecks
    if path.name.endswith(".part"):
        checks = RunChecks(load(path), {}, now)
    else:
        tree = parse(read_bytes(path), source)
        checks = (
            TrialChecks(trial_from(tree, source), tree, now)
            if is_trial(tree)
            else RunChecks(from_tree(tree, source), tree, now)
        )
    defects = tuple(checks.defects())
    return Verification(source=source, numbers=checks.compared.numbers, defects=defects, doubts=tuple(checks.doubts()))
