"""A rehearsal: one side of a trial tries every point once, and says what it is; what kills the process has failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from roofline.measurement.message import Began, PointRehearsed, Rehearsed, SideReady
from roofline.measurement.plan import KernelPoint
from roofline.measurement.process import Died, Silent, WorkerProcess
from roofline.model.run import Failure

Start = Callable[[Sequence[KernelPoint]], WorkerProcess]
"""Starts a process of the side that rehearses these points."""


class Rehearsal:
    """The rehearsal of one side, begun when it is made, so that both sides can be at it at the same time."""

    def __init__(self, start: Start, points: Sequence[KernelPoint], patience_s: float) -> None:
        self._start = start
        self._points = tuple(points)
        self._patience_s = patience_s
        self._worker: WorkerProcess | None = start(self._points)

    def result(self) -> tuple[Rehearsed, ...]:
        """Wait for the end and return what was found of each point. Raises Interruption when a signal came."""
        found: list[Rehearsed] = []
        while len(found) < len(self._points):
            if self._worker is None:
                self._worker = self._start(self._points[len(found) :])
            match self._worker.hear(self._patience_s):
                case Began():
                    pass
                case PointRehearsed(rehearsed=rehearsed) if is_of(self._points[len(found)], rehearsed):
                    found.append(rehearsed)
                case Died() | Silent() as end:
                    found.append(refused(self._points[len(found)], end))
                    self.stop()
                case other:
                    found.append(refused(self._points[len(found)], said(other)))
                    self.stop()
        return tuple(found)

    def stop(self) -> None:
        """End the process, if there is one."""
        if self._worker is not None:
            self._worker.stop()
            self._worker = None


def is_of(point: KernelPoint, rehearsed: Rehearsed) -> bool:
    """Return whether what a side says is of this point: a kernel can write to its pipe."""
    same = point.n in (None, rehearsed.n) and point.level in (None, rehearsed.level)
    return rehearsed.kernel == point.kernel and (same or rehearsed.failure is not None)


def said(message: object) -> Died:
    """Return the end of a process that said what it should not: a kernel can write to its pipe."""
    what = "closed its pipe early" if isinstance(message, SideReady) else "said what is not expected"
    return Died(what, repr(message)[:200])


def refused(point: KernelPoint, end: Died | Silent) -> Rehearsed:
    """Return what is known of a point that its process did not survive."""
    return Rehearsed(kernel=point.kernel, failure=failure_of(point.name, end))


def failure_of(point: str, end: Died | Silent) -> Failure:
    """Return what became of a point that its process did not survive."""
    kind = "hung" if isinstance(end, Silent) else "crashed"
    return Failure(kind=kind, point=point, message=f"the process {end.what}: {end.detail}")
