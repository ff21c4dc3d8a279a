"""One side of a trial: a process that makes kernels ready and times each when it is told to.

Started as `python -m roofline.measurement.side FD FD`: reads one SideRequest on standard input, and the key of its
seals, writes sealed messages (see `channel`) to the first descriptor, and from the second reads lines
`PLACE COUNTED MADE`: time the point at that place of the plan with so many calls made in each sample, and divide by
those that count. An empty line, or the end, ends it.
"""

from __future__ import annotations

import faulthandler
import os
import sys
import time
from collections.abc import Callable, Sequence

from roofline.errors import MeasurementError, RooflineError, WrongResult
from roofline.host import numa_nodes_of
from roofline.kernels.registry import kernel_named
from roofline.kernels.user_files import load_user_files
from roofline.measurement.channel import asked_by_launcher
from roofline.measurement.compute import ComputeProbe
from roofline.measurement.measure import KernelProbe
from roofline.measurement.memory import MemoryProbe
from roofline.measurement.message import (
    Began,
    KernelTimed,
    PointRehearsed,
    Rehearsed,
    SideReady,
    SideRequest,
    side_request_from,
)
from roofline.measurement.pairing import Pairing
from roofline.measurement.plan import KernelPoint
from roofline.measurement.probe import Sampler, stage_for
from roofline.measurement.sampling import calibrate, confirmed
from roofline.measurement.strays import die_with_launcher
from roofline.measurement.subject import Subject
from roofline.measurement.team import Team, pin_library_threads
from roofline.measurement.worker import die_first_for_want_of_memory, kind_of
from roofline.model.ceilings import MemoryCeiling
from roofline.model.isa import isa_named, isas_of
from roofline.model.judging import remembers
from roofline.model.run import Failure
from roofline.model.trial import Timed

SAMPLES = 5
"""Of a kernel in one process: the best counts."""
PROBES = 3
"""Samples of a roof before a kernel and after it: the best of each counts."""
_TRIES = 3


class Bench:
    """The kernels of one side, in one process."""

    def __init__(self, request: SideRequest, team: Team) -> None:
        plan, machine = request.plan, request.machine
        available = isas_of(machine.arch, machine.features)
        isas = tuple(isa_named(name, available) for name in plan.isas)
        cpus = plan.cpus if team.pinned else ()
        nodes = numa_nodes_of(cpus) if (machine.numa_nodes or 1) > 1 else ()
        self.stage = stage_for(team, time.perf_counter, cpus, nodes)
        budget_bytes = plan.memory_budget_bytes
        most_bytes = 2**30 if budget_bytes is None else budget_bytes // plan.threads[-1]
        memory = MemoryProbe(self.stage)
        compute = ComputeProbe(self.stage)
        self.probe = KernelProbe(self.stage, compute, memory, isas, request.levels, most_bytes)
        self.pairing = Pairing(self.stage, compute, memory, isas)
        self.request = request

    def rehearsed(self, point: KernelPoint) -> Rehearsed:
        """Compile, check and calibrate one point, and let it go again; what fails is told in the answer."""
        try:
            kernel = kernel_named(point.kernel)
            ready = self.probe.ready(kernel, point, self.request.ceilings)
            subject = ready.subject
            with subject.limits():
                target_s = self.stage.sample_s
                repeats = calibrate(confirmed(lambda count: subject.take(count)[0], target_s), target_s)
                unseen = subject.confirm(min(subject.take(repeats)[0] for _ in range(PROBES)) / repeats)
            if remembers(unseen, point.threads):
                raise WrongResult(
                    f"HOIST: a call of {point.name} takes {unseen:.1f} times as long on data that it has not seen; "
                    "every call must do all of its work"
                )
            if ready.own is not None:
                self.pairing.roof_sampler(ready.own).best(1)
        except RooflineError as error:
            return _failed(point, kind_of(error), str(error))
        except (Exception, SystemExit, KeyboardInterrupt, GeneratorExit) as error:
            # Whatever a kernel raises costs its point, never the trial.
            return _failed(point, "raised", " ".join(f"{type(error).__name__}: {error}".split()))
        return Rehearsed(
            kernel=point.kernel,
            n=ready.n,
            level=ready.level,
            digest=kernel.digest,
            vector_register=ready.register,
            assembly_digest=ready.assembly_digest,
            error=subject.error,
            tolerance=subject.tolerance,
            footprint_bytes=ready.own_work.footprint_bytes,
            ceiling=ready.own.name if ready.own is not None else "",
            repeats=repeats,
        )

    def made_ready(self, points: Sequence[KernelPoint], heartbeat: Callable[[int], None]) -> list[Stand]:
        """Make all points ready, with the roofs that the rehearsals agreed on. Raises what `prepare` does."""
        subjects = []
        for place, point in enumerate(points):
            heartbeat(place)
            assert point.n is not None  # the rehearsals have agreed on it
            subjects.append(self.probe.prepared(kernel_named(point.kernel), point.n, point, self.request.ceilings))
        roofs = [self.request.ceilings.named(rehearsed.ceiling) for rehearsed in self.request.rehearsed]
        # The largest working set first: a later one would move the memory that earlier samplers use.
        needs = {roof.name: roof.working_set_bytes if isinstance(roof, MemoryCeiling) else 0 for roof in roofs if roof}
        samplers: dict[str, Sampler] = {}
        for name in sorted(needs, key=needs.__getitem__, reverse=True):
            heartbeat(next(place for place, roof in enumerate(roofs) if roof is not None and roof.name == name))
            roof = self.request.ceilings.named(name)
            assert roof is not None  # it has just been found
            samplers[name] = self.pairing.roof_sampler(roof)
        return [
            Stand(subject, samplers.get(roof.name) if roof else None)
            for subject, roof in zip(subjects, roofs, strict=True)
        ]


class Stand:
    """One kernel beside its roof, ready to be timed as often as asked."""

    def __init__(self, subject: Subject, roof: Sampler | None) -> None:
        self.subject = subject
        self.roof = roof

    def timed(self, counted: int, made: int) -> Timed:
        """Return samples of `made` calls each, divided by the `counted` ones, between two probes of the roof."""
        probes = [self.roof.best(PROBES)] if self.roof else []
        with self.subject.limits():
            samples_s = [self._sample_s(made) / counted for _ in range(SAMPLES)]
        if self.roof:
            probes.append(self.roof.best(PROBES))
        return Timed(
            samples_s=tuple(samples_s),
            roof_samples=tuple(rate for rate, _ in probes),
            clock_samples_hz=tuple(hz for _, hz in probes),
        )

    def _sample_s(self, made: int) -> float:
        for _ in range(_TRIES):
            if made > 1:
                self.subject.take(1)  # the roof's block has taken the caches
            interval_s, _ = self.subject.take(made)
            if interval_s > 0:
                return interval_s
        raise MeasurementError(f"the clock did not move forward in {_TRIES} samples; mend its source")


def _failed(point: KernelPoint, kind: str, message: str) -> Rehearsed:
    return Rehearsed(kernel=point.kernel, failure=Failure(kind=kind, point=point.name, message=message))


def main() -> None:
    """Serve one request."""
    faulthandler.enable()
    die_with_launcher()
    die_first_for_want_of_memory()
    request, send = asked_by_launcher(side_request_from)
    told_end = int(sys.argv[1])
    os.set_inheritable(told_end, False)
    with os.fdopen(told_end, "r") as told:
        plan = request.plan
        load_user_files(plan.files)
        points = [point for point in plan.points if isinstance(point, KernelPoint)]
        threads = plan.threads[-1]
        if plan.cpus and hasattr(os, "sched_setaffinity"):
            # Making ready may use every CPU of the plan, as the other side does it at the same time.
            os.sched_setaffinity(0, set(plan.cpus))
            if threads > 1:
                pin_library_threads(plan.cpus[:threads])
        with Team(plan.cpus[:threads], threads) as team:
            bench = Bench(request, team)
            if not request.rehearsed:
                for place, point in enumerate(points):
                    send(Began(index=place))
                    send(PointRehearsed(rehearsed=bench.rehearsed(point)))
                return
            stands = bench.made_ready(points, lambda place: send(Began(index=place)))
            send(SideReady())
            for line in told:
                if not line.strip():
                    break
                place, counted, made = map(int, line.split())
                send(KernelTimed(timed=stands[place].timed(counted, made), asked=line.strip()))


if __name__ == "__main__":
    main()
