"""What a machine can do, measured in this process when it is first asked for, and functions held against it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack

from msgspec.structs import replace

from roofline.errors import MeasurementError, RooflineError, UnknownName
from roofline.host import memory_budget_bytes
from roofline.measurement.function import Function
from roofline.measurement.memory import MemoryProbe
from roofline.measurement.message import Request
from roofline.measurement.pairing import Pairing
from roofline.measurement.plan import ComputePoint, MemoryPoint, Plan, Point, SweepPoints
from roofline.measurement.state import changes, process_state
from roofline.measurement.team import Team
from roofline.measurement.worker import Worker
from roofline.model.ceilings import ALLOCATING_PATTERNS, Ceiling, Ceilings
from roofline.model.claim import Claim
from roofline.model.evidence import Evidence
from roofline.model.judging import FAULTS_PER_SAMPLE, notes_on
from roofline.model.levels import level_of
from roofline.model.machine import Machine
from roofline.model.measurement import Measurement
from roofline.model.roof import Roof, pattern_of, roof_of
from roofline.model.run import Level
from roofline.model.verdict import judged, too_low
from roofline.model.work import Work

SWEEP_SIZES = 20
"""As `all --quick` has it."""
CEILING_S = 0.15
"""What sampling one ceiling may take."""
BUDGET_S = 1.0
"""What timing one function may take, unless its samples are long."""
_SAMPLES = 9
"""A slow function gets time for so many calls, the roof's blocks and the calibration among them ..."""
_MOST_S = 20.0
"""... up to this."""
_WIDEST = 2
"""Register widths whose arithmetic is measured: on some cores the widest is not the fastest."""


class Yardstick:
    """Ceilings of one machine for a session; a context manager, whose threads end with it.

    With the `ceilings` and `levels` of an archived run nothing is measured but the roof's blocks beside a function.
    """

    def __init__(
        self,
        machine: Machine,
        cpus: tuple[int, ...],
        ceilings: Ceilings | None = None,
        levels: tuple[Level, ...] = (),
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`cpus` are those to pin to. Raises nothing: what is missing shows when it is asked for."""
        self.machine = machine
        self.cpus = cpus
        self.archived = ceilings is not None
        self.ceilings = ceilings or Ceilings()
        self.levels = levels
        self.spent_s = 0.0
        """What measuring ceilings and levels has taken so far."""
        self._clock = clock
        self._open = ExitStack()
        self._workers: dict[int, Worker] = {}
        self._refusals: dict[str, str] = {}

    def __enter__(self) -> Yardstick:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()
        self._workers.clear()

    def measure(
        self, function: Function, name: str, claim: Claim, dtype: str, level: str | None, budget_s: float = BUDGET_S
    ) -> Measurement:
        """Return what a function reaches, judged under `ceilings`, which may have grown meanwhile.

        `level` says where its data lies, by default the nearest that holds it. Raises UnknownName for a level that
        does not exist, MeasurementError where there is no ceiling to hold it against.
        """
        threads = function.threads
        worker = self._worker(threads)
        function.team = worker.stage.team
        where = self._level(function, claim, level) if claim.bytes else ""
        self._measure_ceilings(worker, claim, dtype, where)
        work, own = self._roof(claim, dtype, threads, where)
        before = process_state(worker.stage.team)
        pairing = Pairing(worker.stage, worker.compute, worker.memory, worker.isas)
        with function.limits():
            once_s = min(function.take(1)[0] for _ in range(2))  # also loads what the interval around it needs
            with worker.stage.witness.watch() as note:
                taken = pairing.alternate(function, own, max(budget_s, min(_SAMPLES * once_s, _MOST_S)), note)
        data = function.data(worker.stage.nodes)
        changed = changes(before, process_state(worker.stage.team))
        measurement = Measurement(
            kernel=name,
            variant="parallel" if threads > 1 else "serial",
            n=0,
            dtype=dtype,
            threads=threads,
            work=work,
            level=where,
            ceiling=own.name,
            repeats=taken.repeats,
            samples_s=tuple(taken.samples_s),
            roof_samples=tuple(rate for rate, _ in taken.roof),
            roof_clock_samples_hz=tuple(hz for _, hz in taken.roof),
            clock_samples_hz=tuple(taken.clock_hz),
            stopped=taken.stopped,
            compiled=False,
            evidence=note.evidence(data).with_changed(changed),
            caveats=notes_on(data),
        )
        if (low := too_low(measurement, self.ceilings)) is not None:
            for _ in worker.raised(low, name):
                self.ceilings = worker.ceilings
        worker.memory = MemoryProbe(worker.stage)  # a session holds no buffers of several last caches
        return judged_call(measurement, self.ceilings, worker.stage.cpus)

    def _worker(self, threads: int) -> Worker:
        """Return who measures on so many threads, knowing all that is known by now."""
        if threads not in self._workers:
            cpus = self.cpus[:threads]
            team = self._open.enter_context(Team(cpus, threads))
            plan = Plan(
                mode="pytest",
                budget_s=0.0,
                threads=(threads,),
                cpus=cpus,
                dtypes=(),
                isas=self.machine.isas,
                points=(),
                memory_budget_bytes=memory_budget_bytes(),
            )
            self._workers[threads] = Worker(Request(plan=plan, machine=self.machine), team, self._clock)
        worker = self._workers[threads]
        worker.ceilings, worker.levels = self.ceilings, self.levels
        return worker

    def _level(self, function: Function, claim: Claim, asked: str | None) -> str:
        if not self.levels:
            self._measure(self._worker(1), SweepPoints(sizes=SWEEP_SIZES))
        names = [level.name for level in self.levels]
        if asked is not None:
            if asked not in names and names:
                raise UnknownName("memory level", asked, names)
            return asked
        held_bytes = function.array_bytes
        # What is passed and returned is all that can be touched; declared bytes count what is updated twice.
        footprint_bytes = claim.bytes if held_bytes is None else min(claim.bytes, held_bytes)
        return level_of(footprint_bytes, function.threads, self.levels)

    def _measure_ceilings(self, worker: Worker, claim: Claim, dtype: str, level: str) -> None:
        threads = worker.stage.team.threads
        fused = self.machine.arch != "x86_64" or "fma" in self.machine.features
        op = "dot" if dtype == "i8" else "fma" if fused else "mul_add"
        points: list[Point] = []
        if claim.flops:
            isas = self.machine.isas[-_WIDEST:]
            points += [ComputePoint(isa=isa, dtype=dtype, op=op, threads=threads) for isa in isas]
        if level:
            plain = dict.fromkeys(pattern_of(work) for work in claim.readings)
            passing = [f"nt_{pattern}" for pattern in plain if level == "DRAM" and pattern in ALLOCATING_PATTERNS]
            for pattern in (*plain, *passing):
                points.append(MemoryPoint(level=level, pattern=pattern, isa=self.machine.isas[-1], threads=threads))
        for point in points:
            if not self.archived and self.ceilings.named(point.name) is None and point.name not in self._refusals:
                self._measure(worker, point)

    def _measure(self, worker: Worker, point: Point) -> None:
        """Measure a point and remember what was found, or why nothing was."""
        started_s = self._clock()
        worker.ceilings, worker.levels = self.ceilings, self.levels
        try:
            for _ in worker.measured(point, CEILING_S, lambda: None):
                pass
        except RooflineError as refused:
            self._refusals[point.name] = str(refused)
        self.ceilings, self.levels = worker.ceilings, worker.levels
        self.spent_s += self._clock() - started_s

    def _roof(self, claim: Claim, dtype: str, threads: int, level: str) -> tuple[Work, Ceiling]:
        """Return the reading of a claim whose roof is the highest, and the ceiling that binds it."""

        def roof(work: Work) -> Roof:
            return roof_of(self.ceilings, dtype=dtype, threads=threads, level=level, work=work)

        work = min(claim.readings, key=lambda work: roof(work).least_s(work))
        found = roof(work)
        own = found.bound(work)
        missing = (claim.flops and found.compute is None) or (claim.bytes and found.memory is None)
        if own is None or missing:
            why = "; ".join(f"{name}: {refusal}" for name, refusal in self._refusals.items())
            kind = f"arithmetic in {dtype}" if claim.flops and found.compute is None else f"{level or 'memory'}"
            source = "the archived run has" if self.archived else "there is"
            raise MeasurementError(
                f"{source} no audited ceiling of {kind} on {threads} threads{f' ({why})' if why else ''}; see "
                "`python -m bench doctor`"
            )
        return work, own


def judged_call(measurement: Measurement, ceilings: Ceilings, cpus: tuple[int, ...]) -> Measurement:
    """Return a measurement of a call with its status: as a kernel's, but that page faults of its own only degrade it.

    A kernel that allocates is refused, for its arrays should be made once. Of a call it is part of what it takes.
    """
    evidence = measurement.evidence or Evidence()
    faults = (evidence.minor_faults or 0) + (evidence.major_faults or 0)
    without = replace(measurement, evidence=replace(evidence, minor_faults=None, major_faults=None))
    found = replace(judged(without, ceilings, cpus), evidence=measurement.evidence)
    if faults > FAULTS_PER_SAMPLE * len(measurement.samples_s) and found.status in ("ok", "degraded"):
        return replace(found, status="degraded", status_codes=(*found.status_codes, "FAULT"))
    return found
