"""What a kernel may do to the process that the next one is measured in."""

from __future__ import annotations

import ctypes
import gc
import locale
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from roofline.host.environment import PREFIXES
from roofline.measurement.team import Team

try:
    import resource
except ImportError:  # not POSIX
    resource = None  # type: ignore[assignment]

_VARIABLES = (*PREFIXES, "LD_", "MALLOC_", "GLIBC_")
_HARMLESS = frozenset({"KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK"})
"""Variables that common libraries set when they are imported."""
_TIMERS = ("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF")
_PR_GET_THP_DISABLE = 42
_SMALLEST_NORMAL = sys.float_info.min
_ONE, _TINY = 1.0, 2.0**-60
_TASKS = Path("/proc/self/task")
_LOOKS = 3
_LOOK_EVERY_S = 1e-3
"""A thread of a pool goes to sleep within this time; one that runs at every look has been left running."""


@dataclass(frozen=True)
class ThreadState:
    """What measuring relies on in one thread."""

    subnormals: bool
    """Whether it computes with subnormal numbers, or flushes them to zero (FTZ, DAZ)."""
    rounding: str
    """`nearest`, `up`, `down` or `toward zero`."""
    traps: int
    """Floating-point exceptions that end the process; 0 for none, or where the system does not tell."""
    blocked: tuple[int, ...]
    """Signals that it does not get."""


@dataclass(frozen=True)
class ProcessState:
    """What measuring relies on, and user code can change."""

    folder: str
    """The working directory."""
    locale: str
    affinity: tuple[tuple[int, ...], ...]
    """CPUs that each thread of the team may run on, by rank."""
    subnormals: tuple[bool, ...]
    """Of the calling thread and of each of the team, as all that a ThreadState has."""
    rounding: tuple[str, ...]
    traps: tuple[int, ...]
    blocked: tuple[tuple[int, ...], ...]
    signals: tuple[str, ...]
    """What Python does with each signal."""
    timers: tuple[str, ...]
    """Interval timers that run: each ends in a signal."""
    scheduler: tuple[tuple[int, int, int], ...]
    """Policy, priority and niceness of the process's threads, each combination once."""
    huge_pages: int
    """1 where transparent huge pages are switched off for the process."""
    collector: bool
    """Whether Python's garbage collector is on."""
    switching: float
    """Seconds after which a thread of Python gives way to another."""
    tracing: tuple[str, ...]
    """What is called at every line or function of Python."""
    numpy_errors: tuple[tuple[str, str], ...]
    """What NumPy does about divisions by zero and their like."""
    variables: tuple[tuple[str, str], ...]
    """Environment variables that compilers, thread pools and allocators read."""
    threads: int
    """Threads of Python."""
    running: int
    """Threads beside the calling one that compute at this moment, whoever has started them."""
    umask: int
    niceness: int
    limits: tuple[tuple[int, int], ...]
    """Soft and hard limits of all resources."""


def process_state(team: Team | None = None) -> ProcessState:
    """Return the state of this process, of the calling thread and of the threads of the team."""
    umask = os.umask(0o022)
    os.umask(umask)
    threads = [_thread_state(), *(team.each(lambda _: _thread_state()) if team else ())]
    return ProcessState(
        folder=_folder(),
        locale=locale.setlocale(locale.LC_ALL),
        affinity=tuple(team.each(lambda _: _affinity())) if team else (),
        subnormals=tuple(thread.subnormals for thread in threads),
        rounding=tuple(thread.rounding for thread in threads),
        traps=tuple(thread.traps for thread in threads),
        blocked=tuple(thread.blocked for thread in threads),
        signals=tuple(str(signal.getsignal(number)) for number in sorted(signal.valid_signals())),
        timers=_timers(),
        scheduler=_scheduler(),
        huge_pages=_control(_PR_GET_THP_DISABLE),
        collector=gc.isenabled(),
        switching=sys.getswitchinterval(),
        tracing=tuple(map(str, (sys.gettrace(), sys.getprofile(), threading.gettrace(), threading.getprofile()))),
        numpy_errors=tuple(sorted((kind, str(what)) for kind, what in np.geterr().items())),
        variables=_variables(),
        threads=sum(not thread.name.startswith("Dummy-") for thread in threading.enumerate()),
        running=_running(),
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


def rounding() -> str:
    """Return how the calling thread rounds, by what its arithmetic gives."""
    if _ONE + _TINY > _ONE:
        return "up"
    if _ONE - _TINY == _ONE:
        return "nearest"
    return "down" if -_ONE - _TINY < -_ONE else "toward zero"


def _thread_state() -> ThreadState:
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, ()) if hasattr(signal, "pthread_sigmask") else ()
    return ThreadState(
        subnormals=has_subnormals(),
        rounding=rounding(),
        traps=_enabled_traps() if _enabled_traps else 0,
        blocked=tuple(sorted(map(int, masked))),
    )


def _folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109  a string, whatever its bytes
    except OSError:
        return ""


def _limits() -> tuple[tuple[int, int], ...]:
    if resource is None:
        return ()
    names = sorted(name for name in dir(resource) if name.startswith("RLIMIT_"))
    return tuple(resource.getrlimit(getattr(resource, name)) for name in names)


def _affinity() -> tuple[int, ...]:
    return tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else ()


def _timers() -> tuple[str, ...]:
    """Return the interval timers that run; their time goes on, so that it is no state."""
    return tuple(name for name in _TIMERS if hasattr(signal, name) and any(signal.getitimer(getattr(signal, name))))


def _variables() -> tuple[tuple[str, str], ...]:
    found = ((name, value) for name, value in os.environ.items() if name.startswith(_VARIABLES))
    return tuple(sorted(pair for pair in found if pair[0] not in _HARMLESS))


def _tasks() -> list[int]:
    """Return the ids of all threads of the process, native ones too; none where the system does not tell."""
    return [int(task.name) for task in _TASKS.iterdir()] if _TASKS.is_dir() else []


def _scheduler() -> tuple[tuple[int, int, int], ...]:
    found = set()
    for task in _tasks():
        with suppress(OSError):  # it has ended meanwhile
            policy, priority = os.sched_getscheduler(task), os.sched_getparam(task).sched_priority
            found.add((policy, priority, os.getpriority(os.PRIO_PROCESS, task)))
    return tuple(sorted(found))


def _running() -> int:
    """Count the other threads that run at each of a few looks."""
    others = set(_tasks()) - {threading.get_native_id()}
    for look in range(_LOOKS):
        if look:
            time.sleep(_LOOK_EVERY_S)
        others = {task for task in others if _runs(task)}
        if not others:
            break
    return len(others)


def _runs(task: int) -> bool:
    try:
        return (_TASKS / str(task) / "stat").read_bytes().rpartition(b")")[2].split()[0] == b"R"
    except (OSError, IndexError):
        return False


def _control(question: int) -> int:
    """Return what Linux answers to prctl; 0 elsewhere."""
    return int(ctypes.CDLL(None).prctl(question, 0, 0, 0, 0)) if sys.platform == "linux" else 0


def _found_traps() -> ctypes._NamedFuncPointer | None:
    try:
        return ctypes.CDLL(None).fegetexcept
    except (AttributeError, OSError, TypeError):
        return None


_enabled_traps = _found_traps()
