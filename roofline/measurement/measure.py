"""Kernels: each checked, then timed in blocks that alternate with its own ceiling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from roofline.errors import MeasurementError
from roofline.kernels.kernel import Kernel
from roofline.measurement.compute import ComputeProbe
from roofline.measurement.levels import core_capacity, with_reading
from roofline.measurement.memory import MemoryProbe
from roofline.measurement.pairing import Pairing
from roofline.measurement.plan import KernelPoint
from roofline.measurement.probe import Stage
from roofline.measurement.state import changes, process_state
from roofline.measurement.subject import Subject, prepare
from roofline.model.ceilings import Ceiling, Ceilings
from roofline.model.isa import Isa, isa_of_register
from roofline.model.judging import notes_on
from roofline.model.levels import level_of, working_set_bytes
from roofline.model.measurement import Measurement
from roofline.model.roof import roof_of
from roofline.model.run import Level
from roofline.model.statistics import median
from roofline.model.work import Work
from roofline.units import memory_size

_N_MULTIPLE = 64


@dataclass(frozen=True)
class Ready:
    """One point that can be timed at once."""

    subject: Subject
    n: int
    work: Work
    own_work: Work
    level: str
    """Memory level that holds the footprint."""
    register: str | None
    assembly_digest: str
    own: Ceiling | None
    """The ceiling that binds code of this register width."""


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
        ready = self.ready(kernel, point, ceilings)
        subject, own = ready.subject, ready.own
        pairing = Pairing(self.stage, self.compute, self.memory, self.isas)
        with subject.limits():
            with self.stage.witness.watch() as note:
                taken = pairing.alternate(subject, own, budget_s, note)
            data = subject.data(self.stage.nodes)  # before other data takes its place
            unseen = subject.confirm(median(taken.samples_s))
        changed = changes(before, process_state(self.stage.team))
        return Measurement(
            kernel=kernel.name,
            variant="parallel" if point.threads > 1 else "serial",
            n=ready.n,
            dtype=point.dtype,
            threads=point.threads,
            digest=kernel.digest,
            work=ready.work,
            own_work=ready.own_work if ready.own_work != ready.work else None,
            improves=kernel.improves,
            tiles=subject.tiles,
            level=ready.level,
            ceiling=own.name if own is not None else "",
            repeats=taken.repeats,
            samples_s=tuple(taken.samples_s),
            roof_samples=tuple(rate for rate, _ in taken.roof),
            roof_clock_samples_hz=tuple(hz for _, hz in taken.roof),
            clock_samples_hz=tuple(taken.clock_hz),
            error=subject.error,
            tolerance=subject.tolerance,
            vector_register=ready.register,
            assembly_digest=ready.assembly_digest,
            stopped=taken.stopped,
            compiled=kernel.compiled,
            evidence=replace(note.evidence(data), unseen=unseen).with_changed(changed),
            caveats=(*notes_on(data), *(() if kernel.is_of_the_suite else ("DECLARED",))),
        )

    def ready(self, kernel: Kernel, point: KernelPoint, ceilings: Ceilings) -> Ready:
        """Return one point made ready to be timed: sized, compiled, checked, its data placed, its own ceiling found.

        Raises what `measure` does.
        """
        n = point.n if point.n is not None else self._size_in_level(kernel, point)
        work = kernel.work_of(n, point.dtype)
        own_work = kernel.own_work_of(n, point.dtype)
        self._check_memory(own_work.footprint_bytes)
        level = point.level or level_of(own_work.footprint_bytes, point.threads, self.levels)
        subject = self.prepared(kernel, n, point, ceilings)
        seen = subject.seen()
        return Ready(
            subject=subject,
            n=n,
            work=work,
            own_work=own_work,
            level=level,
            register=seen.register,
            assembly_digest=seen.digest,
            own=self._own_ceiling(ceilings, point, level, work, seen.register),
        )

    def prepared(self, kernel: Kernel, n: int, point: KernelPoint, ceilings: Ceilings) -> Subject:
        """Return a kernel of this size, compiled, checked and placed; reading its assembly takes longer than that."""
        capacity = with_reading(core_capacity(self.levels, point.threads), ceilings)
        return prepare(kernel, n, point.dtype, self.stage.team, point.threads, capacity)

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
