"""What launcher and worker tell each other: one JSON document a line."""

from __future__ import annotations

from typing import Any

import msgspec

from roofline.measurement.plan import Plan
from roofline.model.ceilings import Ceilings
from roofline.model.machine import Machine
from roofline.model.run import (
    CaveatFound,
    ComputeMeasured,
    Failure,
    KernelMeasured,
    Level,
    LevelsFound,
    LibrariesFound,
    MemoryMeasured,
    PointFailed,
    Record,
)
from roofline.model.struct import Value
from roofline.model.trial import Timed


class Request(Value, frozen=True, kw_only=True):
    """What a worker is to do: the plan from one point on, with what is known already."""

    plan: Plan
    machine: Machine
    first: int = 0
    """Index of the first point that is still to be measured."""
    end: int | None = None
    """Index behind the last one; None for all that are left."""
    spent_s: float = 0.0
    """What earlier workers of this run have used of the budget."""
    ceilings: Ceilings = Ceilings()
    levels: tuple[Level, ...] = ()
    compile_only: tuple[str, ...] | None = None
    """Given: compile the code of these names into the cache (`Point.code`) and measure nothing."""
    files: tuple[str, ...] = ()
    """A user's files of kernels, to load first."""
    claims_folder: str = ""
    """Folder through which workers that compile share out the work."""


class PlanRequest(Value, frozen=True, kw_only=True):
    """What a planner is to plan: the arguments of `bench.plans.plan_for`, and a user's files of kernels."""

    files: tuple[str, ...]
    mode: str
    machine: Machine
    cpus: tuple[int, ...]
    threads: tuple[int, ...]
    dtypes: tuple[str, ...]
    isas: tuple[str, ...]
    patterns: tuple[str, ...]
    """Empty: all kernels of the files."""
    sizes: tuple[int, ...] = ()
    budget_s: float | None = None
    memory_budget_bytes: int | None = None
    seed: int = 0


class SideRequest(Value, frozen=True, kw_only=True):
    """What one side of a trial is to make ready: kernels, and the roofs that they are timed between."""

    plan: Plan
    """Its points are kernels, each with its n or its level."""
    machine: Machine
    ceilings: Ceilings
    levels: tuple[Level, ...] = ()
    rehearsed: tuple[Rehearsed, ...] = ()
    """What a rehearsal found of each point; empty for the rehearsal itself, which keeps nothing ready."""


class Rehearsed(Value, frozen=True, kw_only=True):
    """What a rehearsal has found of one point."""

    kernel: str
    n: int = 0
    level: str = ""
    digest: str = ""
    vector_register: str | None = None
    assembly_digest: str = ""
    error: float | None = None
    tolerance: float | None = None
    footprint_bytes: int = 0
    ceiling: str = ""
    """Name of the roof that binds."""
    repeats: int = 0
    """Calls in one sample."""
    failure: Failure | None = None
    """Why it cannot be timed."""


class SideReady(Value, frozen=True, kw_only=True, tag_field="record", tag="ready"):
    """A side has made all its points ready."""


class PointRehearsed(Value, frozen=True, kw_only=True, tag_field="record", tag="rehearsed"):
    """A side has rehearsed one point."""

    rehearsed: Rehearsed


class KernelTimed(Value, frozen=True, kw_only=True, tag_field="record", tag="timed"):
    """A side has timed one point between two probes."""

    timed: Timed
    asked: str | None = None
    """The line that told it to; None from a version of this suite that does not say."""


class Planned(Value, frozen=True, kw_only=True, tag_field="record", tag="planned"):
    """The planner's answer."""

    plan: Plan


class Refused(Value, frozen=True, kw_only=True, tag_field="record", tag="refused"):
    """Why the planner has none."""

    message: str


class Restart(Value, frozen=True, kw_only=True, tag_field="record", tag="restart"):
    """A kernel has changed the worker's process: another worker shall go on behind the point."""


class Began(Value, frozen=True, kw_only=True, tag_field="record", tag="began"):
    """The worker has begun with a point, or is still at it."""

    index: int


class Finished(Value, frozen=True, kw_only=True, tag_field="record", tag="finished"):
    """The worker has done all that it was asked for."""


Message = (
    ComputeMeasured
    | MemoryMeasured
    | LevelsFound
    | KernelMeasured
    | PointFailed
    | CaveatFound
    | LibrariesFound
    | Began
    | Finished
    | Restart
    | Planned
    | Refused
    | SideReady
    | PointRehearsed
    | KernelTimed
)

_MESSAGES = msgspec.json.Decoder(Message)
_REQUESTS = msgspec.json.Decoder(Request)
_PLAN_REQUESTS = msgspec.json.Decoder(PlanRequest)
_SIDE_REQUESTS = msgspec.json.Decoder(SideRequest)


def to_line(
    message: Record
    | Began
    | Finished
    | Restart
    | Planned
    | Refused
    | SideReady
    | PointRehearsed
    | KernelTimed
    | Request
    | PlanRequest
    | SideRequest,
) -> bytes:
    """Return a message as one line of JSON."""
    return msgspec.json.encode(message) + b"\n"


def message_from(line: bytes) -> Any:
    """Return the Message on a line. Raises msgspec.DecodeError for anything else."""
    return _MESSAGES.decode(line)


def request_from(line: bytes) -> Request:
    """Return the request on a line. Raises msgspec.DecodeError for anything else."""
    return _REQUESTS.decode(line)


def plan_request_from(line: bytes) -> PlanRequest:
    """Return the request to plan on a line. Raises msgspec.DecodeError for anything else."""
    return _PLAN_REQUESTS.decode(line)


def side_request_from(line: bytes) -> SideRequest:
    """Return the request to a side of a trial on a line. Raises msgspec.DecodeError for anything else."""
    return _SIDE_REQUESTS.decode(line)
