"""What a kernel may do to the process that the next one is measured in."""

from __future__ import annotations

import gc
import locale
import os
import signal
import sys
from dataclasses import dataclass, fields

from roofline.measurement.team import Team

try:
    import resource
except ImportError:  # not POSIX
    resource = None  # type: ignore[assignment]

_LIMITED = ("RLIMIT_NOFILE", "RLIMIT_AS", "RLIMIT_STACK", "RLIMIT_CPU")
_WATCHED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGSEGV", "SIGFPE")
_SMALLEST_NORMAL = sys.float_info.min


@dataclass(frozen=True)
class ProcessState:
    """What measuring relies on, and user code can change."""

    folder: str
    """The working directory."""
    locale: str
    affinity: tuple[tuple[int, ...], ...]
    """CPUs that each thread of the team may run on, by rank."""
    subnormals: tuple[bool, ...]
    """Whether each thread of the team computes with subnormal numbers, or flushes them to zero (FTZ, DAZ)."""
    signals: tuple[str, ...]
    collector: bool
    """Whether Python's garbage collector is on."""
    umask: int
    niceness: int
    limits: tuple[tuple[int, int], ...]
    """Soft and hard limits of open files, memory, stack and CPU time."""


def process_state(team: Team) -> ProcessState:
    """Return the state of this process and of the threads of the team."""
    umask = os.umask(0o022)
    os.umask(umask)
    return ProcessState(
        folder=_folder(),
        locale=locale.setlocale(locale.LC_ALL),
        affinity=tuple(team.each(lambda _: _affinity())),
        subnormals=tuple(team.each(lambda _: has_subnormals())),
        signals=tuple(str(signal.getsignal(getattr(signal, name))) for name in _WATCHED if hasattr(signal, name)),
        collector=gc.isenabled(),
        umask=umask,
        niceness=os.nice(0),
        limits=_limits(),
    )


def changes(before: ProcessState, after: ProcessState) -> tuple[str, ...]:
    """Return the names of what differs."""
    return tuple(field.name for field in fields(before) if getattr(before, field.name) != getattr(after, field.name))


def has_subnormals() -> bool:
    """Return whether the calling thread computes with subnormal numbers."""
    return _SMALLEST_NORMAL / 2 > 0


def _folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109  a string, whatever its bytes
    except OSError:
        return ""


def _limits() -> tuple[tuple[int, int], ...]:
    if resource is None:
        return ()
    return tuple(resource.getrlimit(getattr(resource, name)) for name in _LIMITED if hasattr(resource, name))


def _affinity() -> tuple[int, ...]:
    return tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else ()
