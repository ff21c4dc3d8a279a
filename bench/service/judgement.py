"""A run, and what a gate said of it: all that a CI service is told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from roofline.errors import RooflineError
from roofline.model.grade import grade_of
from roofline.model.outcome import Outcome
from roofline.model.run import Run

UNGATED, ERROR = "ungated", "error"


@dataclass(frozen=True)
class Judgement:
    """What came out, whether measured now or read from the archive."""

    run: Run
    outcomes: tuple[Outcome, ...] = ()
    """Of the gate, one for each rule and point; empty without rules."""
    files: tuple[Path, ...] = ()
    """The run's document and pictures, as far as they exist, and what is written for the service."""
    error: RooflineError | None = None
    """Why there is no verdict: a rule that matches nothing, a baseline that cannot be compared with, no numbers."""
    exit_code: int = 0
    """What the program ends with."""

    @property
    def result(self) -> str:
        """`passed`, `failed` or `inconclusive`; `error` where the gate could not judge, `ungated` without rules."""
        if self.error is not None:
            return ERROR
        found = {outcome.result for outcome in self.outcomes}
        return next((result for result in ("failed", "inconclusive", "passed") if result in found), UNGATED)

    @property
    def grade(self) -> str:
        """The letter of the run's grade."""
        return grade_of(self.run).letter

    @property
    def outputs(self) -> dict[str, str]:
        """What later steps of a job can read: id of the run, grade, result and exit code."""
        return {
            "run-id": self.run.id,
            "grade": self.grade,
            "result": self.result,
            "exit-code": str(self.exit_code),
        }
