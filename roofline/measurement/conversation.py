"""What a worker may say, and when: a record of the point that it is at, of a kind that this point gives, and once."""

from __future__ import annotations

from roofline.measurement.message import Began, Finished, Restart
from roofline.measurement.plan import ComputePoint, KernelPoint, MemoryPoint, Plan, Point, SweepPoints
from roofline.measurement.process import Died, Silent
from roofline.model.ceilings import Ceiling, Ceilings
from roofline.model.run import (
    CaveatFound,
    ComputeMeasured,
    KernelMeasured,
    LevelsFound,
    LibrariesFound,
    MemoryMeasured,
    PointFailed,
)


class Conversation:
    """What one worker has said so far about the points that it was asked for."""

    def __init__(self, plan: Plan, first: int, end: int) -> None:
        """It was asked for the points from index `first` on, up to the one before `end`."""
        self._plan = plan
        self._first = first
        self._end = end
        self.at: int | None = None
        """Index of the point that it has begun with last; None before the first."""
        self._answered = False
        self._raised = False
        self._introduced = False

    def objection(self, message: object, ceilings: Ceilings) -> str:
        """Return why a message cannot be true now; empty when it can be, and then it counts as said.

        `ceilings` are those of the run so far.
        """
        due = self._first if self.at is None else self.at + 1
        point = None if self.at is None else self._plan.points[self.at]
        match message:
            case Died() | Silent():
                return ""
            case Began(index=index) if index == self.at:
                return ""
            case Began(index=index) if index == due < self._end and (point is None or self._answered):
                self.at, self._answered, self._raised = index, False, False
                return ""
            case Began(index=index):
                return f"it named point {index}, expected {due} once the one before has its result"
            case Finished() if point is not None and self._answered and due == self._end:
                return ""
            case Restart() if point is not None and self._answered:
                return ""
            case LibrariesFound() if point is None and not self._introduced:
                self._introduced = True
                return ""
            case CaveatFound() if point is None or isinstance(point, SweepPoints):
                return ""
            case _ if point is not None and not self._answered and self._is_raise(point, message, ceilings):
                self._raised = True
                return ""
            case _ if point is not None and not self._answered and is_result(point, message):
                self._answered = True
                return ""
        where = f"at {point.name}" if point is not None else "before it began"
        again = " once more" if point is not None and self._answered else ""
        return f"it said {_named(message)}{again} {where}"

    def _is_raise(self, point: Point, message: object, ceilings: Ceilings) -> bool:
        """Return whether a kernel has proved a ceiling too low, which is known, and higher now."""
        match point, message:
            case KernelPoint(), ComputeMeasured(ceiling=ceiling) | MemoryMeasured(ceiling=ceiling):
                known = ceilings.named(ceiling.name)
                return (
                    not self._raised
                    and ceiling.raised_by == point.kernel
                    and ceiling.threads == point.threads
                    and known is not None
                    and _rate_per_s(ceiling) >= _rate_per_s(known)
                )
        return False


def is_result(point: Point, message: object) -> bool:
    """Return whether a message is the result of a point, or its failure."""
    match point, message:
        case _, PointFailed(failure=failure):
            return failure.point == point.name
        case SweepPoints(), LevelsFound():
            return True
        case ComputePoint(), ComputeMeasured(ceiling=compute):
            return compute.name == point.name
        case MemoryPoint(), MemoryMeasured(ceiling=memory):
            return memory.name == point.name
        case KernelPoint(), KernelMeasured(measurement=measurement):
            same = (measurement.kernel, measurement.dtype, measurement.threads)
            return (
                same == (point.kernel, point.dtype, point.threads)
                and point.n in (None, measurement.n)
                and point.level in (None, measurement.level)
            )
    return False


def _rate_per_s(ceiling: Ceiling) -> float:
    return ceiling.attainable_flop_per_s(1.0)


def _named(message: object) -> str:
    """Name a message by what it tells of."""
    match message:
        case ComputeMeasured(ceiling=ceiling) | MemoryMeasured(ceiling=ceiling):
            return f"a ceiling, {ceiling.name},"
        case KernelMeasured(measurement=measurement):
            return f"a number of {measurement.kernel} n={measurement.n} {measurement.dtype} ×{measurement.threads}"
        case PointFailed(failure=failure):
            return f"why {failure.point} has no number"
    return f"{type(message).__name__!r}"
