"""The worker: a process of its own that compiles, measures, and streams what it finds to its launcher.

Started as `python -m roofline.measurement.worker FD`: reads one Request on standard input, and the key of its seals,
and writes sealed messages (see `channel`) to the file descriptor FD. Whatever a kernel does to the process costs at
most the point that is being measured.
"""

from __future__ import annotations

import faulthandler
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from msgspec.structs import replace
from threadpoolctl import threadpool_info

from roofline.codegen.assembly import llvm_version, target_cpu
from roofline.errors import CodegenError, MeasurementError, RooflineError, WrongResult
from roofline.host import numa_nodes_of
from roofline.kernels.registry import kernel_named
from roofline.kernels.user_files import load_user_files
from roofline.measurement.channel import asked_by_launcher
from roofline.measurement.compiling import compile_claimed
from roofline.measurement.compute import ComputeProbe
from roofline.measurement.latency import LatencyProbe
from roofline.measurement.levels import sweep_sizes
from roofline.measurement.measure import KernelProbe
from roofline.measurement.memory import MemoryProbe, Shape
from roofline.measurement.message import Began, Finished, Request, Restart, request_from
from roofline.measurement.plan import WEIGHTS, ComputePoint, KernelPoint, MemoryPoint, Point, SweepPoints
from roofline.measurement.probe import stage_for
from roofline.measurement.state import changes, process_state
from roofline.measurement.strays import die_with_launcher
from roofline.measurement.sweep import better_of, sweep
from roofline.measurement.team import Team, pin_library_threads
from roofline.measurement.twins import threading_layer
from roofline.model.ceilings import AnyCeiling, Ceiling, ComputeCeiling, MemoryCeiling
from roofline.model.consistency import doubts
from roofline.model.isa import Isa, isa_named, isas_of
from roofline.model.levels import contradictions, find_levels, most_set_bytes, small_caches, working_set_bytes
from roofline.model.machine import Blas
from roofline.model.run import (
    Caveat,
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
    SweepPoint,
    private_levels,
)
from roofline.model.verdict import judged, too_low

Send = Callable[[Record | Began | Finished | Restart], None]

UNPINNED = Caveat(
    code="UNPINNED",
    message="the system refused to pin the threads to their cores: they may have moved, or shared one; measure again",
)

_ALIKE = 0.97
"""Of two measurements of a ceiling that differ by less, the one with fewer doubts counts, else the higher one."""
_AGAIN_S = 0.1
"""What measuring a ceiling again may take."""


class Worker:
    """Measures the points of one request, in order, remembering the ceilings for the kernels."""

    def __init__(
        self,
        request: Request,
        team: Team,
        clock: Callable[[], float] = time.perf_counter,
        imported: tuple[str, ...] = (),
    ) -> None:
        """`clock` (seconds) watches the budget; `imported` is what loading the user's files has changed."""
        plan, machine = request.plan, request.machine
        available = isas_of(machine.arch, machine.features)
        self.request = request
        self.isas: Sequence[Isa] = tuple(isa_named(name, available) for name in plan.isas)
        self.clock = clock
        self.started_s = clock() - request.spent_s
        cpus = plan.cpus if team.pinned else ()
        several = (machine.numa_nodes or 1) > 1
        self.stage = stage_for(team, clock, cpus, numa_nodes_of(cpus) if several else ())
        self.stage.witness.changed = imported
        self.state = process_state(team)  # with what was imported: another process would be no better
        self.compute = ComputeProbe(self.stage)
        self.memory = MemoryProbe(self.stage)
        self.ceilings = request.ceilings
        self.levels = request.levels
        self.most_bytes = most_set_bytes(plan.memory_budget_bytes, plan.threads[-1])

    def run(self, send: Send) -> bool:
        """Measure every point of the request; return False when a kernel has spoilt the process on the way."""
        points, end = self.request.plan.points, self.request.end
        for index in range(self.request.first, len(points) if end is None else end):
            began = Began(index=index)
            send(began)
            point = points[index]
            try:
                for record in self.measured(point, self.budget_s(index), partial(send, began)):
                    send(record)
            except RooflineError as error:
                send(PointFailed(failure=Failure(kind=kind_of(error), point=point.name, message=str(error))))
            except (Exception, SystemExit, KeyboardInterrupt, GeneratorExit) as error:
                # Whatever a kernel raises costs its point, never the run.
                text = " ".join(f"{type(error).__name__}: {error}".split())
                send(PointFailed(failure=Failure(kind="raised", point=point.name, message=text)))

            if isinstance(point, KernelPoint) and changes(self.state, process_state(self.stage.team)):
                send(Restart())
                return False
        return True

    def budget_s(self, index: int) -> float:
        """Return what sampling the point at `index` may take: its weight's share of what is left of the budget."""
        plan = self.request.plan
        spent_s = self.clock() - self.started_s
        left_s = max(0.0, plan.budget_s - spent_s - plan.overhead_s(index))
        return left_s * WEIGHTS[type(plan.points[index])] / plan.weight(index)

    def measured(self, point: Point, budget_s: float, heartbeat: Callable[[], None]) -> Iterator[Record]:
        """Yield what is measured of one point. Raises RooflineError when it cannot be."""
        match point:
            case SweepPoints():
                machine = self.request.machine
                sizes = sweep_sizes(machine.caches, point.sizes, self.most_bytes)

                latencies = LatencyProbe(self.stage, self.request.plan.seed).sweep(sizes[::2], heartbeat)

                def found(points: Sequence[SweepPoint]) -> tuple[Level, ...]:
                    return find_levels(points, machine.caches, machine.threads_per_core, self.most_bytes, latencies)

                points = sweep(self.memory, self.isas[-1], sizes, heartbeat)
                if small_caches(found(points)):
                    points = better_of(points, sweep(self.memory, self.isas[-1], sizes, heartbeat))
                self.levels = found(points)
                yield LevelsFound(levels=self.levels, sweep=points, latencies=latencies)
                for caveat in (*small_caches(self.levels), *contradictions(self.levels)):
                    yield CaveatFound(caveat=caveat)
            case ComputePoint():
                isa = isa_named(point.isa, self.isas)
                compute = self.believed(
                    lambda: self.compute.measure(
                        isa, point.dtype, point.op, point.threads, budget_s, self.chains(point.name)
                    )
                )
                yield ComputeMeasured(ceiling=compute)
            case MemoryPoint():
                isa = isa_named(point.isa, self.isas)
                size = working_set_bytes(self.levels, point.level, point.threads, self.most_bytes)
                if isinstance(size, str):
                    raise MeasurementError(size)
                memory = self.believed(
                    lambda: self.memory.measure(
                        point.level, point.pattern, isa, point.threads, size, budget_s, self.shape(point.name)
                    )
                )
                yield MemoryMeasured(ceiling=memory)
            case KernelPoint():
                probe = KernelProbe(self.stage, self.compute, self.memory, self.isas, self.levels, self.most_bytes)
                kernel = kernel_named(point.kernel)
                measurement = probe.measure(kernel, point, self.ceilings, budget_s)
                if (low := too_low(measurement, self.ceilings)) is not None:
                    yield from self.raised(low, kernel.name)
                yield KernelMeasured(measurement=judged(measurement, self.ceilings, self.stage.cpus))

    def raised(self, low: Ceiling, kernel: str) -> Iterator[Record]:
        """Measure a ceiling that was too low again, and yield it with a note of who raised it, if it is higher now."""
        isa = isa_named(low.isa, self.isas)
        if isinstance(low, ComputeCeiling):
            compute = self.compute.measure(isa, low.dtype, low.op, low.threads, _AGAIN_S, low.chains)
            if compute.flop_per_s > low.flop_per_s:
                yield ComputeMeasured(ceiling=self.kept(replace(compute, raised_by=kernel)))
        else:
            size = low.working_set_bytes
            shape = (low.unroll, low.segments, low.ahead_bytes)
            memory = self.memory.measure(low.level, low.pattern, isa, low.threads, size, _AGAIN_S, shape)
            if memory.byte_per_s > low.byte_per_s:
                yield MemoryMeasured(ceiling=self.kept(replace(memory, raised_by=kernel)))

    def believed(self, measure: Callable[[], AnyCeiling]) -> AnyCeiling:
        """Return a ceiling, measured once more when it contradicts the others, with caveats if it still does."""
        ceiling: AnyCeiling = measure()
        if self.doubts(ceiling):
            tries: list[AnyCeiling] = [ceiling, measure()]
            best = max(tried.attainable_flop_per_s(1.0) for tried in tries)
            alike = [tried for tried in tries if tried.attainable_flop_per_s(1.0) > _ALIKE * best]
            ceiling = min(alike, key=lambda tried: (len(self.doubts(tried)), -tried.attainable_flop_per_s(1.0)))
        return self.kept(ceiling)

    def kept(self, ceiling: AnyCeiling) -> AnyCeiling:
        """Return a ceiling with what earlier launches measured of it, remembered for the kernels."""
        self.ceilings = self.ceilings.with_launch(ceiling)
        merged = self.ceilings.named(ceiling.name)
        assert type(merged) is type(ceiling)  # it has just been put there
        return merged

    def chains(self, name: str) -> int | None:
        """Return the number of chains that an earlier launch found best for this ceiling; None for the first."""
        earlier = self.ceilings.named(name)
        return earlier.chains if isinstance(earlier, ComputeCeiling) else None

    def shape(self, name: str) -> Shape | None:
        """Return the shape of code that an earlier launch found best for this ceiling; None for the first."""
        earlier = self.ceilings.named(name)
        return (earlier.unroll, earlier.segments, earlier.ahead_bytes) if isinstance(earlier, MemoryCeiling) else None

    def doubts(self, ceiling: Ceiling) -> tuple[str, ...]:
        """Return the codes of what makes a ceiling hard to believe beside those measured before."""
        return doubts(ceiling, self.ceilings, private_levels(self.levels))


def kind_of(error: RooflineError) -> str:
    """Return the kind of failure that an error is in the archive."""
    kinds = {WrongResult: "wrong", CodegenError: "codegen", MeasurementError: "skipped"}
    return next((kind for error_type, kind in kinds.items() if isinstance(error, error_type)), "raised")


def loaded(files: Sequence[str]) -> tuple[str, ...]:
    """Load a user's files of kernels and return the names of what that has changed in the process."""
    if not files:
        return ()
    before = process_state()
    load_user_files(files)
    return changes(before, process_state())


def libraries(threads: int = 1) -> LibrariesFound:
    """Return what only this process knows: LLVM's version, the BLAS that NumPy has loaded, and Numba's threads."""
    found = tuple(
        Blas(
            name=info["internal_api"],
            version=info.get("version"),
            architecture=info.get("architecture"),
            threads=info.get("num_threads"),
        )
        for info in sorted(threadpool_info(), key=lambda info: str(info.get("version")), reverse=True)
        if info["user_api"] == "blas"
    )
    return LibrariesFound(
        llvm=llvm_version(),
        target_cpu=target_cpu(),
        blas=found,
        threading_layer=threading_layer() if threads > 1 else None,
    )


def die_first_for_want_of_memory() -> None:
    """Ask Linux to kill this process before any other when memory runs out: the launcher keeps what was measured."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("900")


def main() -> None:
    """Serve one request."""
    faulthandler.enable()
    die_with_launcher()
    die_first_for_want_of_memory()
    request, send = asked_by_launcher(request_from)
    plan = request.plan
    imported = loaded(plan.files)
    cpus = plan.cpus[: plan.threads[-1]]
    if cpus and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, set(cpus))
        pin_library_threads(cpus)
    with Team(cpus, plan.threads[-1]) as team:
        worker = Worker(request, team, imported=imported)
        if request.compile_only is not None:
            compile_claimed(request, team, worker.isas, send)
            send(Finished())
        else:
            send(libraries(plan.threads[-1]))
            if cpus and not team.pinned:
                send(CaveatFound(caveat=UNPINNED))
            if worker.run(send):
                send(Finished())


if __name__ == "__main__":
    main()
