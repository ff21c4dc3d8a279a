"""What the program exits with: after an error, and after a run that is saved."""

from __future__ import annotations

from roofline.errors import (
    ArchiveError,
    CodegenError,
    KernelFileError,
    MachineBusy,
    MeasurementError,
    NotComparable,
    ResultsError,
    RooflineError,
    UsageError,
    WrongResult,
)
from roofline.measurement.interruption import CAUGHT
from roofline.model.run import Run

EXIT_CODES = {
    UsageError: 2,
    ArchiveError: 4,
    NotComparable: 4,
    MeasurementError: 5,
    CodegenError: 6,
    WrongResult: 6,
    KernelFileError: 6,
    ResultsError: 73,
    MachineBusy: 75,
    RooflineError: 70,
}
"""Exit code of each error of the library, and of what derives from it."""
FAILED = 6
FATAL_KINDS = frozenset({"wrong", "crashed", "hung", "oom", "raised", "codegen", "invalid"})
"""Kinds of failure that the exit code tells of; a `skipped` point is no failure of anything."""
SIGNAL_EXIT = {number.name: 128 + number for number in CAUGHT}


def exit_code_of(error: RooflineError) -> int:
    """Return what the program exits with after this error."""
    return next(EXIT_CODES[kind] for kind in type(error).__mro__ if kind in EXIT_CODES)


def exit_code(run: Run) -> int:
    """Return what the program exits with after this run: a signal first, then what failed, else 0."""
    if run.reason in SIGNAL_EXIT:
        return SIGNAL_EXIT[run.reason]
    return FAILED if any(failure.kind in FATAL_KINDS for failure in run.failures) else 0
