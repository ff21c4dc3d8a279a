"""One rung of a ladder: where a form of a job stands under the ceilings, and what its step gained."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from roofline.model.ceilings import Ceiling, ComputeCeiling
from roofline.model.isa import ISAS, isa_of_register
from roofline.model.measurement import Derived, Measurement
from roofline.model.roof import Roof, roof_of
from roofline.model.run import Run
from roofline.model.statistics import median
from roofline.model.struct import Value
from roofline.model.work import Work

ALIKE = 0.97
"""Of two ceilings nearer than this the one of the roof is named, as in the tables."""


class Rung(Value, frozen=True, kw_only=True):
    """One form of the job, where it stands on the roofline by what it does itself."""

    measurement: Measurement
    flop_per_s: float
    """Flops of the job over the time, as in the tables: what a form computes beside is no achievement."""
    flop_per_byte: float
    """Flops of the job over the bytes that this form itself moves: with intermediates, less than the job's."""
    percent_of_roof: float | None = None
    """Of the roof over the job's compulsory work, as in the tables."""
    percent_of_limit: float | None = None
    """Of the ceiling that binds: paired with it where that is the ceiling of the tables, so that both say the same."""
    before: Measurement | None = None
    """The rung that it is compared with: the one before; for a library the last one on as many threads."""
    step: float | None = None
    """How many times as fast it does the job as the rung before."""
    gain: float = 1.0
    """How many times as fast it does the job as the first rung."""
    first: str = ""
    """The kernel of that rung; empty for itself."""
    crossed: tuple[Ceiling, ...] = ()
    """Ceilings of this rung and of the one before that lie, at this rung's intensity, between their rates."""
    binds: Ceiling | None = None
    """The lowest ceiling above it that limits code of its register width; its roof where it has reached that."""
    roof: Roof = Roof()
    """What the machine can do at most for a form that moves what this one does."""

    @property
    def limit_flop_per_s(self) -> float | None:
        """Rate that the ceiling which binds allows at this intensity."""
        return None if self.binds is None else self.binds.attainable_flop_per_s(self.flop_per_byte)


def rung_of(run: Run, measurement: Measurement, before: Sequence[Rung], first: Sequence[Rung]) -> Rung:
    """Return the rung of a measurement; `before` and `first` hold the rungs that it is compared with, or nothing."""
    work = moved_work(measurement)
    rate, intensity = work.flops / median(measurement.samples_s), work.flop_per_byte
    roof, limits = _limits(run, measurement)
    crossed: dict[str, Ceiling] = {}
    for rung in before:
        for ceiling in (*_limits(run, rung.measurement)[1], *limits):
            if rung.flop_per_s < ceiling.attainable_flop_per_s(intensity) <= rate:
                crossed[ceiling.name] = ceiling
    derived = run.derived(measurement)
    binds = _binds(run, measurement, rate, roof)
    return Rung(
        measurement=measurement,
        flop_per_s=rate,
        flop_per_byte=intensity,
        percent_of_roof=None if derived is None else derived.percent_of_roof,
        percent_of_limit=None if binds is None else _percent_of_limit(measurement, derived, binds, rate, intensity),
        before=before[0].measurement if before else None,
        step=ratio_of_rates(measurement, before[0].measurement) if before else None,
        gain=(ratio_of_rates(measurement, first[0].measurement) if first else None) or 1.0,
        first=first[0].measurement.kernel if first else "",
        crossed=tuple(sorted(crossed.values(), key=lambda ceiling: ceiling.attainable_flop_per_s(intensity))),
        binds=binds,
        roof=roof,
    )


def _percent_of_limit(
    measurement: Measurement, derived: Derived | None, binds: Ceiling, rate: float, intensity: float
) -> float:
    alike = measurement.own_work is None or isinstance(binds, ComputeCeiling)
    if alike and derived is not None and derived.bound == binds.name and derived.percent_of_roof is not None:
        return derived.percent_of_roof
    return 100 * rate / binds.attainable_flop_per_s(intensity)


def own_work(measurement: Measurement) -> Work:
    """Return what this form of the kernel does in one call."""
    return measurement.own_work or measurement.work


def moved_work(measurement: Measurement) -> Work:
    """Return the flops of the job with the bytes that this form itself moves: where it stands under the ceilings."""
    return replace(own_work(measurement), flops=measurement.work.flops)


def is_library(measurement: Measurement) -> bool:
    """Say whether a drawable measurement is of a library call: own code without arithmetic seen is never drawn."""
    return measurement.vector_register is None and measurement.work.flops > 0


def job_rate(measurement: Measurement) -> float:
    """Return the job done per second: its flops (or bytes, without any), whatever this form does beside."""
    return (measurement.work.flops or measurement.work.bytes) / median(measurement.samples_s)


def ratio_of_rates(measurement: Measurement, before: Measurement) -> float | None:
    """Return how many times as fast the first does the job as the second; None where the job is nothing."""
    slower = job_rate(before)
    return job_rate(measurement) / slower if slower else None


def _limits(run: Run, measurement: Measurement) -> tuple[Roof, list[Ceiling]]:
    """Return the roof over what the form moves, and the ceilings of every ISA and level on as many threads."""
    dtype, threads = measurement.dtype, measurement.threads
    work = moved_work(measurement)
    roof = roof_of(run.ceilings, dtype=dtype, threads=threads, level=measurement.level, work=work)
    isas = dict.fromkeys(ceiling.isa for ceiling in run.ceilings.compute)
    compute = [run.ceilings.best_compute(dtype, threads, isa) for isa in isas]
    memory = [
        roof_of(run.ceilings, dtype=dtype, threads=threads, level=level, work=work).memory
        for level in run.ceilings.levels
    ]
    return roof, [ceiling for ceiling in (*compute, *memory) if ceiling is not None]


def _binds(run: Run, measurement: Measurement, rate: float, roof: Roof) -> Ceiling | None:
    """Return the lowest ceiling above the rate that limits code of this register width, or what limits the roof.

    Wider code than a ceiling's is not limited by it, and a library may be of any width: only its roof counts. A memory
    ceiling of a narrower register counts, one of a register as wide as the roof's own is no other limit than the roof.
    """
    work = moved_work(measurement)
    intensity = work.flop_per_byte
    last = roof.bound(work)
    if last is None or is_library(measurement) or rate >= roof.attainable_flop_per_s(intensity):
        return last
    rows = [isa for isa in ISAS if isa.arch == run.machine.arch]
    own = isa_of_register(measurement.vector_register, rows)
    dtype, threads = measurement.dtype, measurement.threads
    limits: list[Ceiling | None] = [
        run.ceilings.best_compute(dtype, threads, isa.name)
        for isa in rows
        if own is None or isa.vector_bits >= own.vector_bits
    ]
    bits = {isa.name: isa.vector_bits for isa in rows}
    if own is not None and roof.memory is not None and own.vector_bits < bits.get(roof.memory.isa, 0):
        level = measurement.level
        limits.append(roof_of(run.ceilings, dtype=dtype, threads=threads, level=level, work=work, isa=own.name).memory)
    above = [c for c in limits if c is not None and c.attainable_flop_per_s(intensity) > rate]
    lowest = min([last, *above], key=lambda ceiling: ceiling.attainable_flop_per_s(intensity))
    alike = lowest.attainable_flop_per_s(intensity) > ALIKE * last.attainable_flop_per_s(intensity)
    return last if alike else lowest
