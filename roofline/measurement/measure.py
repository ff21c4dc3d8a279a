"""Kernels: each checked, then timed in blocks that alternate with its own ceiling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from dataclasses import replace as replaced
from time import sleep

from msgspec.structs import replace

from roofline.errors import MeasurementError
from roofline.kernels.kernel import Kernel
from roofline.measurement.compute import ComputeProbe
from roofline.measurement.levels import core_capacity, level_of, with_reading, working_set_bytes
from roofline.measurement.memory import MemoryProbe
from roofline.measurement.plan import KernelPoint
from roofline.measurement.probe import Sampler, Stage
from roofline.measurement.sampling import calibrate, is_precise
from roofline.measurement.state import changes, process_state
from roofline.measurement.subject import Subject, prepare
from roofline.measurement.witness import Note
from roofline.model.ceilings import Ceiling, Ceilings, ComputeCeiling
from roofline.model.isa import Isa, isa_of_register
from roofline.model.judging import DOUBLED, notes_on
from roofline.model.measurement import Measurement
from roofline.model.roof import roof_of
from roofline.model.run import Level
from roofline.model.statistics import median
from roofline.model.work import Work
from roofline.units import memory_size

_LEAST_SAMPLES = 6
_MOST_SAMPLES = 60
_FEWEST_SAMPLES = 3
"""Samples that a point gets whatever its budget, unless they take _PATIENCE_S longer."""
_PATIENCE_S = 1.0
_SETTLE_S = 0.5e-3
"""Pause after a parallel kernel, whose idle threads go on spinning for a while on the cores of our team."""
_ROOF_SAMPLES = 2
"""Roof samples per block, of which the better counts: an interrupt in one must not make the kernel look good."""
_N_MULTIPLE = 64
_TRIES = 2
_DOUBLINGS = 3
"""Samples of each length, to see that twice the repeats take twice the time."""


@dataclass(frozen=True)
class _Taken:
    """What alternating a kernel with its roof has given."""

    repeats: int
    samples_s: list[float] = field(default_factory=list)
    clock_hz: list[float] = field(default_factory=list)
    roof: list[tuple[float, float]] = field(default_factory=list)
    """Rate and clock held of each of the roof's blocks."""
    stopped: str = ""


@dataclass(frozen=True)
class KernelProbe:
    """Measures kernels against ceilings that were measured before."""

    stage: Stage
    compute: ComputeProbe
    memory: MemoryProbe
    isas: Sequence[Isa]
    levels: Sequence[Level]
    most_bytes: int
    """What one thread's working set may take at most."""

    def measure(self, kernel: Kernel, point: KernelPoint, ceilings: Ceilings, budget_s: float) -> Measurement:
        """Return the measurement of one point, not yet judged.

        Raises WrongResult when the result differs from the reference, MeasurementError when the point's level
        cannot be measured here.
        """
        before = process_state(self.stage.team)
        n = point.n if point.n is not None else self._size_in_level(kernel, point)
        work = kernel.work_of(n, point.dtype)
        own_work = kernel.own_work_of(n, point.dtype)
        self._check_memory(own_work.footprint_bytes)
        level = point.level or level_of(own_work.footprint_bytes, point.threads, self.levels)
        capacity = with_reading(core_capacity(self.levels, point.threads), ceilings)
        subject = prepare(kernel, n, point.dtype, self.stage.team, point.threads, capacity)
        seen = subject.seen()
        own = self._own_ceiling(ceilings, point, level, work, seen.register)
        with subject.limits(), self.stage.witness.watch() as note:
            taken = self._alternate(subject, own, budget_s, note)
            note.wiped = subject.confirm(median(taken.samples_s))
        data = subject.data(self.stage.nodes)
        return Measurement(
            kernel=kernel.name,
            variant="parallel" if point.threads > 1 else "serial",
            n=n,
            dtype=point.dtype,
            threads=point.threads,
            digest=kernel.digest,
            work=work,
            own_work=own_work if own_work != work else None,
            improves=kernel.improves,
            tiles=subject.tiles,
            level=level,
            ceiling=own.name if own is not None else "",
            repeats=taken.repeats,
            samples_s=tuple(taken.samples_s),
            roof_samples=tuple(rate for rate, _ in taken.roof),
            roof_clock_samples_hz=tuple(hz for _, hz in taken.roof),
            clock_samples_hz=tuple(taken.clock_hz),
            error=subject.error,
            tolerance=subject.tolerance,
            vector_register=seen.register,
            assembly_digest=seen.digest,
            stopped=taken.stopped,
            compiled=kernel.compiled,
            evidence=replace(note.evidence(data), changed=changes(before, process_state(self.stage.team))),
            caveats=notes_on(data),
        )

    def _check_memory(self, footprint_bytes: int) -> None:
        """Raise MeasurementError when a kernel's data, made once and placed once, exceeds the memory budget."""
        left_bytes = self.most_bytes * self.stage.team.threads
        if 2 * footprint_bytes > left_bytes:
            raise MeasurementError(
                f"its data takes {memory_size(2 * footprint_bytes)} (made once, placed once), the memory limit leaves "
                f"{memory_size(left_bytes)}; measure a smaller size"
            )

    def _size_in_level(self, kernel: Kernel, point: KernelPoint) -> int:
        assert point.level is not None  # a point has either n or a level
        size = working_set_bytes(self.levels, point.level, point.threads, self.most_bytes)
        if isinstance(size, str):
            raise MeasurementError(f"{point.level} cannot be measured with {point.threads} threads: {size}")
        threads = 1 if point.level == "DRAM" else point.threads  # a DRAM set exceeds the last cache by itself
        return kernel.n_for(size * threads, point.dtype, _N_MULTIPLE)

    def _own_ceiling(
        self, ceilings: Ceilings, point: KernelPoint, level: str, work: Work, register: str | None
    ) -> Ceiling | None:
        """Return the ceiling that binds code of this register width; of any width when that one has none."""
        isa = isa_of_register(register, self.isas)
        for name in (isa.name if isa is not None else None, None):
            roof = roof_of(ceilings, dtype=point.dtype, threads=point.threads, level=level, work=work, isa=name)
            bound = roof.bound(work)
            if bound is not None:
                return bound
        return None

    def _roof_sampler(self, own: Ceiling) -> Sampler:
        isa = next(isa for isa in self.isas if isa.name == own.isa)
        if isinstance(own, ComputeCeiling):
            return self.compute.sampler(isa, own.dtype, own.op, own.chains, own.threads)
        shape = (own.unroll, own.segments, own.ahead_bytes)
        return self.memory.sampler(isa, own.pattern, shape, own.threads, own.working_set_bytes)[0]

    def _alternate(self, subject: Subject, own: Ceiling | None, budget_s: float, note: Note) -> _Taken:
        """Time roof, kernel, roof, kernel, ..., roof until the median is precise or the budget is spent.

        A sample in which the clock did not move forward is taken again. Raises MeasurementError when it never does.
        """
        deadline = self.stage.clock() + budget_s
        sampler = self._roof_sampler(own) if own is not None else None
        repeats = calibrate(lambda count: subject.take(count)[0], self.stage.sample_s)
        note.doubled = _doubled(subject, repeats)
        taken = _Taken(repeats)
        samples_s = taken.samples_s
        if sampler:
            taken.roof.append(sampler.best(_ROOF_SAMPLES))
        while True:
            if repeats > 1:
                subject.take(1)  # the roof's block has taken the caches
            with note.sample():
                interval_s, hz = subject.take(repeats)
            if interval_s <= 0:
                note.clock_steps_back += 1
                if note.clock_steps_back > _MOST_SAMPLES:
                    raise MeasurementError(
                        f"the clock did not move forward in {_MOST_SAMPLES} samples; mend its source"
                    )
                continue
            samples_s.append(interval_s / repeats)
            taken.clock_hz.append(hz)
            if subject.threads > 1:
                sleep(_SETTLE_S)
            if sampler:
                taken.roof.append(sampler.best(_ROOF_SAMPLES))
            enough = len(samples_s) >= _LEAST_SAMPLES
            if enough and is_precise(samples_s):
                return replaced(taken, stopped="precise")
            if len(samples_s) >= _MOST_SAMPLES:
                return replaced(taken, stopped="samples")
            late_s = self.stage.clock() - deadline
            if late_s >= 0 and (len(samples_s) >= _FEWEST_SAMPLES or late_s >= _PATIENCE_S):
                return replaced(taken, stopped="budget")


def _doubled(subject: Subject, repeats: int) -> float | None:
    """Return the time of twice the repeats over that of the repeats, each the best of several; None for one repeat.

    Tried again where it is too low, for a disturbed block of the shorter ones looks alike. A call that fills a sample
    by itself is not divided by anything: it cannot be a loop that the compiler emptied.
    """
    if repeats < 2 or not subject.kernel.compiled:
        return None
    ratios = []
    for _ in range(_TRIES):
        single_s = min(subject.take(repeats)[0] for _ in range(_DOUBLINGS))
        double_s = min(subject.take(2 * repeats)[0] for _ in range(_DOUBLINGS))
        if single_s > 0:
            ratios.append(double_s / single_s)
        if ratios and ratios[-1] >= DOUBLED[0]:
            break
    return max(ratios, default=None)
