"""The exceptions that this library raises, in one tree.

    RooflineError
    ├── UsageError          the request names something that is not there, or cannot be
    │   └── UnknownName     a kernel, ISA, dtype, level or run that does not exist
    ├── CodegenError        the assembly is not what the ceiling claims to measure
    ├── WrongResult         a kernel's result differs from its reference
    ├── KernelFileError     a user's file of kernels crashes or hangs when it is loaded
    ├── MeasurementError    a measurement could not be made
    │   └── NothingMeasured no point at all came out of a run
    ├── MachineBusy         another run measures on this machine
    ├── ArchiveError        a run file is unreadable, or is not a run
    ├── NotComparable       two runs, or a run and this machine, are not of one kind
    └── ResultsError        the results folder cannot be written

Messages say what was found, what was expected and what to do. The library raises; only
the edge (`bench/`) turns an exception into an exit code.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

LISTED = 24
"""Of more names than these, only the families and the nearest are told."""


class RooflineError(Exception):
    """Base of everything that this library raises on purpose."""


class UsageError(RooflineError):
    """The request names something that is not there, or cannot be done here."""


class UnknownName(UsageError):
    """A name that does not exist; the message says which names do."""

    def __init__(self, what: str, name: str, known: Iterable[str], hint: str = "") -> None:
        """`what` is the kind of thing ("kernel"); `known` are the names that exist; `hint` is a command to type."""
        names = sorted(set(known))
        many = len(names) > LISTED
        near = get_close_matches(name, names, n=3 if many else 1)
        message = f"unknown {what} {name!r}"
        if near:
            message += f"; did you mean {' or '.join(map(repr, near))}?"
        families = list(dict.fromkeys(known_name.partition(".")[0] for known_name in names))
        if many and len(families) <= LISTED:
            message += f" (families: {', '.join(families)})"
        elif many:
            message += f" ({len(names)} are known)"
        else:
            message += f" (known: {', '.join(names) if names else 'none'})"
        super().__init__(message + (f"; {hint}" if hint else ""))


class CodegenError(RooflineError):
    """The assembly is not what the ceiling claims to measure, so there is no number."""


class WrongResult(RooflineError):
    """A kernel's result differs from its reference, so it gets no time."""


class KernelFileError(RooflineError):
    """A user's file of kernels crashes or hangs when it is loaded."""


class MeasurementError(RooflineError):
    """A measurement could not be made."""


class NothingMeasured(MeasurementError):
    """No point at all came out of a run."""


class MachineBusy(RooflineError):
    """Another run measures on this machine."""


class ArchiveError(RooflineError):
    """A run file is unreadable, or is not a run."""


class NotComparable(RooflineError):
    """Two runs, or a run and this machine, are not of one kind."""


class ResultsError(RooflineError):
    """The results folder cannot be written."""
