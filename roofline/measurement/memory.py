"""Memory ceilings: streams over working sets that stay in one level, proved by the assembly."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from roofline.codegen.assembly import assembly_of
from roofline.codegen.audit import audit_stream
from roofline.codegen.loops import accesses_of, arrays_of
from roofline.errors import MeasurementError
from roofline.kernels.kernel import numpy_type
from roofline.measurement.blocks import CHAIN_TURNS, Intervals, stream_block, take
from roofline.measurement.buffers import Arena, array_offsets
from roofline.measurement.probe import Sampler, Stage, collect, fewest_of_the_best, flat_top_caveats
from roofline.measurement.sampling import calibrate
from roofline.model.ceilings import Audit, MemoryCeiling
from roofline.model.isa import DTYPE_BITS, Isa
from roofline.units import memory_size

UNROLLS = (8, 16)
"""Vectors per array and turn that the search tries."""
DTYPE = "f64"
"""Element type of the memory ceilings: bytes are bytes, only the register width matters."""

_FLAT_WITHIN = 0.02
_SEARCH_SET_BYTES = 16 * 1024
_SCALAR = numpy_type(DTYPE)(0.5)


@cache
def stream_code(isa: Isa, pattern: str, unroll: int) -> tuple[Any, Audit]:
    """Return the compiled block and its proof. Raises CodegenError when the audit refuses it."""
    block = stream_block(pattern, isa.lanes(DTYPE), unroll)
    counter = np.zeros(1, np.int64)
    arena = Arena(1)
    third = arena.size_bytes // 3 // 4096 * 4096
    a, b, c = (arena.address + number * third for number in range(3))
    block(counter.ctypes.data, 1, 1, a, b, c, 1, 1, 1, _SCALAR, np.zeros((1, 3), np.int64))
    return block, audit_stream(assembly_of(block), isa, DTYPE, pattern, unroll)


class MemoryProbe:
    """Measures memory ceilings on one arena per thread, each written first by the thread that uses it."""

    def __init__(self, stage: Stage) -> None:
        """`stage` holds the team and the clock."""
        self.stage = stage
        self._unrolls: dict[tuple[str, str], int] = {}
        self._arenas: list[Arena] = []

    def reserve(self, size_bytes: int) -> None:
        """Give every thread a written arena of at least `size_bytes`. Raises MeasurementError when refused."""
        if self._arenas and self._arenas[0].size_bytes >= size_bytes:
            return
        self._arenas = []

        def write(rank: int) -> Arena:
            arena = Arena(size_bytes)
            arena.fill(rank)
            return arena

        try:
            self._arenas = self.stage.team.each(write)
        except (MemoryError, OSError) as refused:
            raise MeasurementError(
                f"no memory for {self.stage.team.threads} buffers of {memory_size(size_bytes)} ({refused}); "
                "raise the memory limit or use fewer threads"
            ) from refused

    def release(self) -> None:
        """Give the arenas back."""
        self._arenas = []

    def measure(
        self, level: str, pattern: str, isa: Isa, threads: int, working_set_bytes: int, budget_s: float
    ) -> MemoryCeiling:
        """Return the ceiling: the best sample of a pattern over per-thread working sets of this size.

        Raises CodegenError when the code does not pass its audit, MeasurementError when there is no memory.
        """
        unroll = self._best_unroll(isa, pattern)
        _, audit = stream_code(isa, pattern, unroll)
        sampler, used_bytes = self.sampler(isa, pattern, unroll, threads, working_set_bytes)
        rates = collect(sampler, self.stage, budget_s, _FLAT_WITHIN)
        return MemoryCeiling(
            level=level,
            pattern=pattern,
            isa=isa.name,
            threads=threads,
            byte_per_s=max(rates.per_s),
            byte_per_cycle=rates.per_cycle(threads),
            clock_hz=rates.clock_hz,
            working_set_bytes=used_bytes,
            unroll=unroll,
            audited=True,
            audit=audit,
            bytes_per_sample=sampler.amount,
            samples_s=rates.intervals.samples_s,
            clock_samples_hz=rates.intervals.clock_hz,
            caveats=flat_top_caveats(rates.per_s, _FLAT_WITHIN),
        )

    def sampler(self, isa: Isa, pattern: str, unroll: int, threads: int, working_set_bytes: int) -> tuple[Sampler, int]:
        """Return calibrated code for this shape, and the bytes of one thread's working set.

        Raises CodegenError when the audit refuses it, MeasurementError when there is no memory.
        """
        block, _ = stream_code(isa, pattern, unroll)
        team, arrays = self.stage.team, arrays_of(pattern)
        group_bytes = unroll * isa.lanes(DTYPE) * DTYPE_BITS[DTYPE] // 8
        groups = max(1, working_set_bytes // arrays // group_bytes)
        array_bytes = groups * group_bytes
        offsets = array_offsets(array_bytes, arrays)
        self.reserve(offsets[-1] + array_bytes)
        arenas = self._arenas

        def sample(repeats: int, samples: int) -> Intervals:
            def call(rank: int, out: np.ndarray) -> None:
                a, b, c = ([arenas[rank].address + offset for offset in offsets] * 3)[:3]
                block(team.barrier_address, threads, samples, a, b, c, groups, repeats, CHAIN_TURNS, _SCALAR, out)

            return take(team, threads, samples, call)

        repeats = calibrate(lambda count: min(sample(count, 3).samples_s), self.stage.sample_s)
        amount = threads * repeats * sum(accesses_of(pattern)) * array_bytes
        return Sampler(lambda samples: sample(repeats, samples), amount, threads), arrays * array_bytes

    def _best_unroll(self, isa: Isa, pattern: str) -> int:
        """Return the unroll that is fastest on a set so small that instructions matter most."""
        key = (isa.name, pattern)
        if key not in self._unrolls:
            rates = {
                unroll: self.sampler(isa, pattern, unroll, 1, _SEARCH_SET_BYTES)[0].best_rate() for unroll in UNROLLS
            }
            self._unrolls[key] = fewest_of_the_best(rates)
        return self._unrolls[key]
