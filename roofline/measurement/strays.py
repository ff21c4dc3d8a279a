"""What workers leave behind, and how it is ended: by the launcher that adopts it, or by a guardian that outlives it."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil

from roofline.measurement import guardian
from roofline.measurement.guardian import MARK

LAUNCHER = "ROOFLINE_LAUNCHER"
"""Variable that tells a worker who has started it."""
expected: set[int] = set()
"""Children of this process that are no strays: those from before it adopted any, and live workers."""
_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_CHILD_SUBREAPER = 37
_PR_SET_PDEATHSIG = 1
_ROUNDS = 20
"""Of killing strays that leave others behind."""


def die_with_launcher() -> None:
    """Ask Linux to kill this process when its launcher dies, so that none is left behind; end now if it has."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.environ.get(LAUNCHER, str(os.getppid())) != str(os.getppid()):
            os._exit(1)  # it died while this process was starting


class Guard:
    """The launcher's end of a guardian."""

    def __init__(self) -> None:
        """Start it; it sleeps until this process ends."""
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", guardian.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def tell(self, line: str) -> None:
        """Say one line; a guardian that somebody has killed hears nothing, and the run goes on without it."""
        assert self._process.stdin is not None
        with suppress(OSError):
            os.write(self._process.stdin.fileno(), f"{line}\n".encode())

    def end(self) -> None:
        """End it: all is done, and there is nothing left to guard."""
        self._process.kill()
        self._process.communicate()


_guards: list[Guard] = []


def tell_guard(line: str) -> None:
    """Tell the guardian of this run, if there is one, that a worker begins or has ended: see `guardian`."""
    if _guards:
        _guards[-1].tell(line)


@contextmanager
def adopting() -> Iterator[None]:
    """Let no process of a worker outlive this run.

    On Linux, processes that lose their parent become this one's children, so that they can be ended; everywhere a
    guardian ends what is left when this process is killed.
    """
    guard = Guard()
    _guards.append(guard)
    try:
        with _as_reaper():
            yield
    finally:
        _guards.remove(guard)
        guard.end()


@contextmanager
def _as_reaper() -> Iterator[None]:
    if sys.platform != "linux":
        yield
        return
    control = ctypes.CDLL(None).prctl
    earlier = {child.pid for child in psutil.Process().children()}
    expected.update(earlier)
    control(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        control(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
        expected.difference_update(earlier)


def kill_strays(mark: str) -> None:
    """Kill what a worker has started and left behind, however it tried to leave.

    That is every descendant that carries the worker's mark, and every child that this process has got by adoption.
    What one of them leaves behind in its turn is adopted then, so until nothing is found.
    """
    for _ in range(_ROUNDS):
        strays = list(_strays(mark))
        for stray in strays:
            with suppress(psutil.Error):
                stray.kill()
                stray.wait(timeout=1)
        if not strays:
            return


def _strays(mark: str) -> Iterator[psutil.Process]:
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if child.status() == psutil.STATUS_ZOMBIE and child.ppid() != os.getpid():
                continue
            adopted = _adopts() and child.ppid() == os.getpid() and child.pid not in expected
            if adopted or child.environ().get(MARK) == mark:
                yield child


def _adopts() -> bool:
    """Return whether this process adopts orphans now, on Linux."""
    if sys.platform != "linux":
        return False
    answer = ctypes.c_int()
    ctypes.CDLL(None).prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(answer), 0, 0, 0)
    return bool(answer.value)
