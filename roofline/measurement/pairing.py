"""What is timed in blocks that alternate with its own ceiling: a kernel of the suite, or a user's own function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from roofline.errors import MeasurementError
from roofline.measurement.compute import ComputeProbe
from roofline.measurement.memory import MemoryProbe
from roofline.measurement.probe import Sampler, Stage
from roofline.measurement.sampling import calibrate, confirmed, is_precise
from roofline.measurement.witness import Note
from roofline.model.ceilings import Ceiling, ComputeCeiling
from roofline.model.isa import Isa
from roofline.model.judging import LEAST_DOUBLED

_LEAST_SAMPLES = 6
"""Samples that a point gets whatever its budget, unless they take _PATIENCE_S longer: fewer give no 95 % interval."""
_MOST_SAMPLES = 60
_PATIENCE_S = 1.0
_ROOF_SAMPLES = 2
"""Roof samples per block, of which the better counts: an interrupt in one must not make the kernel look good."""
_TRIES = 2
_DOUBLINGS = 3
"""Samples of each length, to see that twice the repeats take twice the time."""


class Workload(Protocol):
    """What can be timed beside a roof."""

    @property
    def is_compiled(self) -> bool:
        """Whether its repeats are a loop in compiled code, which a compiler may have emptied."""

    def take(self, repeats: int) -> tuple[float, float]:
        """Return (seconds of one clock interval around `repeats` calls, clock held right after in Hz)."""

    def settle(self) -> None:
        """Wait until nothing of it uses the cores of the team, which the roof's next block needs."""


@dataclass(frozen=True)
class Taken:
    """What alternating something with its roof has given."""

    repeats: int
    samples_s: list[float] = field(default_factory=list)
    clock_hz: list[float] = field(default_factory=list)
    roof: list[tuple[float, float]] = field(default_factory=list)
    """Rate and clock held of each of the roof's blocks."""
    stopped: str = ""


@dataclass(frozen=True)
class Pairing:
    """Times something in turns with the ceiling that binds it."""

    stage: Stage
    compute: ComputeProbe
    memory: MemoryProbe
    isas: Sequence[Isa]

    def alternate(self, timed: Workload, own: Ceiling | None, budget_s: float, note: Note) -> Taken:
        """Time roof, kernel, roof, kernel, ..., roof until the median is precise or the budget is spent.

        A sample in which the clock did not move forward is taken again. Raises MeasurementError when it never does.
        """
        deadline = self.stage.clock() + budget_s
        sampler = self.roof_sampler(own) if own is not None else None
        target_s = self.stage.sample_s
        repeats = calibrate(confirmed(lambda count: timed.take(count)[0], target_s), target_s)
        note.doubled = _doubled(timed, repeats)
        taken = Taken(repeats)
        samples_s = taken.samples_s
        if sampler:
            timed.settle()
            taken.roof.append(sampler.best(_ROOF_SAMPLES))
        while True:
            if repeats > 1:
                timed.take(1)  # the roof's block has taken the caches
            with note.sample():
                interval_s, hz = timed.take(repeats)
            if interval_s <= 0:
                note.clock_steps_back += 1
                if note.clock_steps_back > _MOST_SAMPLES:
                    raise MeasurementError(
                        f"the clock did not move forward in {_MOST_SAMPLES} samples; mend its source"
                    )
                continue
            samples_s.append(interval_s / repeats)
            taken.clock_hz.append(hz)
            timed.settle()
            if sampler:
                taken.roof.append(sampler.best(_ROOF_SAMPLES))
            enough = len(samples_s) >= _LEAST_SAMPLES
            if enough and is_precise(samples_s):
                return replace(taken, stopped="precise")
            if len(samples_s) >= _MOST_SAMPLES:
                return replace(taken, stopped="samples")
            late_s = self.stage.clock() - deadline
            if late_s >= 0 and (enough or late_s >= _PATIENCE_S):
                return replace(taken, stopped="budget")

    def roof_sampler(self, own: Ceiling) -> Sampler:
        """Return the code of a ceiling, ready to be timed beside a kernel. Raises CodegenError when refused."""
        isa = next(isa for isa in self.isas if isa.name == own.isa)
        if isinstance(own, ComputeCeiling):
            return self.compute.sampler(isa, own.dtype, own.op, own.chains, own.threads)
        shape = (own.unroll, own.segments, own.ahead_bytes)
        return self.memory.sampler(isa, own.pattern, shape, own.threads, own.working_set_bytes)[0]


def _doubled(timed: Workload, repeats: int) -> float | None:
    """Return the time of twice the repeats over that of the repeats, each the best of several; None for one repeat.

    Tried again where it is too low, for a disturbed block of the shorter ones looks alike. A call that fills a sample
    by itself is not divided by anything: it cannot be a loop that the compiler emptied.
    """
    if repeats < 2 or not timed.is_compiled:
        return None
    ratios = []
    for _ in range(_TRIES):
        single_s = min(timed.take(repeats)[0] for _ in range(_DOUBLINGS))
        double_s = min(timed.take(2 * repeats)[0] for _ in range(_DOUBLINGS))
        if single_s > 0:
            ratios.append(double_s / single_s)
        if ratios and ratios[-1] >= LEAST_DOUBLED:
            break
    return max(ratios, default=None)
