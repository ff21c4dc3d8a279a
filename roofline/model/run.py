"""A run: everything that one invocation measured, and the records that it grows from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from roofline.model.ceilings import Ceilings, ComputeCeiling, MemoryCeiling
from roofline.model.machine import Blas, Environment, Machine
from roofline.model.measurement import Derived, Measurement, derive
from roofline.model.struct import Value

SCHEMA = 2
"""Version of the archived document.

1  2026-11  first version
2  2026-12  ceilings hold the samples of each launch of a worker (`launches`); the caveats CORES and WIDTH are MONO
"""


class Caveat(Value, frozen=True, kw_only=True):
    """A condition that the reader of the numbers must know."""

    code: str
    """Stable upper-case name, e.g. `THROTTLE`."""
    message: str
    """What was found, and what to do about it."""


class SweepPoint(Value, frozen=True, kw_only=True):
    """Load bandwidth of one core at one working set."""

    size_bytes: int
    byte_per_s: float


class LatencyPoint(Value, frozen=True, kw_only=True):
    """Latency of one core at one working set: of a load whose address is what the one before has read."""

    size_bytes: int
    latency_s: float
    latency_cycles: float
    """At the clock held beside it."""


class Level(Value, frozen=True, kw_only=True):
    """One memory level, as measured and as reported."""

    name: str
    """`L1`, `L2`, `L3`, `DRAM`."""
    reported_bytes: int | None = None
    """Capacity that the operating system states (memory size for DRAM); None when it does not."""
    effective_bytes: int | None = None
    """Largest working set of one core that was still inside, by bandwidth and latency together; where they contradict
    each other, by the one that tells less. None for DRAM or when unmeasured."""
    shared_by: int = 1
    """Cores that share it, among those used."""
    working_set_bytes: int | None = None
    """Per-thread working set at which one core's ceilings are measured; None when the level is skipped."""
    effective_interval_bytes: tuple[int, int] | None = None
    """The largest set that surely lay inside, and the smallest that did not."""
    byte_per_s: float | None = None
    """Load bandwidth of one core on the level's plateau."""
    latency_s: float | None = None
    """Of one load on the level's plateau."""
    latency_cycles: float | None = None
    """The same at the clock held beside it."""
    bandwidth_bytes: int | None = None
    """Largest working set that still ran at the level's bandwidth: working sets and tiles follow it."""
    bandwidth_interval_bytes: tuple[int, int] | None = None
    """The same set, and the smallest one that did not."""
    latency_bytes: int | None = None
    """Largest working set that still had the level's latency."""
    latency_interval_bytes: tuple[int, int] | None = None
    """The same set, and the smallest one that did not."""
    agrees: bool | None = None
    """Whether the measured and the reported capacity agree within a factor of 2; None when either is unknown."""

    @property
    def sizing_bytes(self) -> int | None:
        """What working sets and tiles are sized by: the smaller of what streams found and what is reported."""
        measured = self.effective_bytes if self.bandwidth_bytes is None else self.bandwidth_bytes
        return min((size for size in (measured, self.reported_bytes) if size is not None), default=None)

    skipped: str | None = None
    """Why the level has no ceiling; None when it has."""


def private_levels(levels: Iterable[Level]) -> tuple[str, ...]:
    """Return the names of the caches that each core has to itself."""
    return tuple(level.name for level in levels if level.shared_by == 1 and level.name != "DRAM")


class Failure(Value, frozen=True, kw_only=True):
    """A point that has no number, and why."""

    kind: str
    """`wrong`, `crashed`, `hung`, `oom`, `raised`, `codegen`, `invalid`, `skipped`."""
    point: str
    """What was being measured, in words: `gemm.naive n=384 f64 ×2`, `avx512 fma f64 ×1`."""
    message: str


class ComputeMeasured(Value, frozen=True, kw_only=True, tag_field="record", tag="compute"):
    """A compute ceiling has been measured."""

    ceiling: ComputeCeiling


class MemoryMeasured(Value, frozen=True, kw_only=True, tag_field="record", tag="memory"):
    """A memory ceiling has been measured."""

    ceiling: MemoryCeiling


class LevelsFound(Value, frozen=True, kw_only=True, tag_field="record", tag="levels"):
    """The sweep over working sets is done and the levels are known."""

    levels: tuple[Level, ...]
    sweep: tuple[SweepPoint, ...]
    latencies: tuple[LatencyPoint, ...] = ()


class KernelMeasured(Value, frozen=True, kw_only=True, tag_field="record", tag="measurement"):
    """A kernel has been measured."""

    measurement: Measurement


class PointFailed(Value, frozen=True, kw_only=True, tag_field="record", tag="failure"):
    """A point has no number."""

    failure: Failure


class CaveatFound(Value, frozen=True, kw_only=True, tag_field="record", tag="caveat"):
    """Something that the reader must know came to light."""

    caveat: Caveat


class LibrariesFound(Value, frozen=True, kw_only=True, tag_field="record", tag="libraries"):
    """What only the measuring process knows of its environment."""

    llvm: str
    target_cpu: str
    blas: tuple[Blas, ...]
    threading_layer: str | None = None


Record = ComputeMeasured | MemoryMeasured | LevelsFound | KernelMeasured | PointFailed | CaveatFound | LibrariesFound
"""What a worker reports and the journal keeps, one per line."""


class Run(Value, frozen=True, kw_only=True):
    """One invocation: where it ran, under which conditions, what it measured."""

    schema: int = SCHEMA
    id: str
    """`YYYYMMDD-HHMMSS-xxxx`: UTC and a random suffix; also the name of its file."""
    started_utc: str
    """ISO 8601, seconds, `Z`."""
    label: str | None = None
    resumed_from: str | None = None
    """Id of the incomplete run that this one finished."""
    revision: str | None = None
    """Git revision of the working directory, with `+dirty` when it had changes; None outside a checkout."""
    suite_digest: str | None = None
    """Hash of the suite's own code that measured; None in runs of versions that did not record it."""
    argv: tuple[str, ...] = ()
    plan: dict[str, Any] = {}
    """What was asked for, by name: mode, budget, threads, dtypes, kernels."""
    machine: Machine
    environment: Environment
    caveats: tuple[Caveat, ...] = ()
    ceilings: Ceilings = Ceilings()
    levels: tuple[Level, ...] = ()
    sweep: tuple[SweepPoint, ...] = ()
    latencies: tuple[LatencyPoint, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    failures: tuple[Failure, ...] = ()
    elapsed_s: float | None = None
    complete: bool = False
    reason: str | None = None
    """Why the run is not complete, e.g. `SIGINT`."""

    @property
    def is_empty(self) -> bool:
        """True when nothing was measured and nothing failed."""
        return not (self.ceilings.all or self.levels or self.measurements or self.failures)

    def with_record(self, record: Record) -> Run:
        """Return this run grown by one record."""
        match record:
            case ComputeMeasured(ceiling=compute):
                return replace(self, ceilings=self.ceilings.with_ceiling(compute))
            case MemoryMeasured(ceiling=memory):
                return replace(self, ceilings=self.ceilings.with_ceiling(memory))
            case LevelsFound():
                return replace(self, levels=record.levels, sweep=record.sweep, latencies=record.latencies)
            case KernelMeasured():
                return replace(self, measurements=(*self.measurements, record.measurement))
            case PointFailed(failure=failure) if failure in self.failures:
                return self  # the same ceiling in a later launch
            case PointFailed():
                return replace(self, failures=(*self.failures, record.failure))
            case CaveatFound():
                return replace(self, caveats=(*self.caveats, record.caveat))
            case LibrariesFound():
                environment = replace(
                    self.environment,
                    llvm=record.llvm,
                    target_cpu=record.target_cpu,
                    blas=record.blas,
                    threading_layer=record.threading_layer,
                )
                return replace(self, environment=environment)

    def derived(self, measurement: Measurement) -> Derived | None:
        """Return what follows from one of this run's measurements; None when it has no samples."""
        return derive(measurement, self.ceilings)
