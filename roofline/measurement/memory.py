"""Memory ceilings: streams over working sets that stay in one level, proved by the assembly."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from roofline.codegen.assembly import assembly_of
from roofline.codegen.audit import audit_stream
from roofline.codegen.loops import accesses_of, arrays_of
from roofline.errors import CodegenError, MeasurementError
from roofline.kernels.kernel import numpy_type
from roofline.measurement.blocks import CHAIN_TURNS, Intervals, stream_block, take
from roofline.measurement.buffers import Arena, array_offsets
from roofline.measurement.data_evidence import data_evidence
from roofline.measurement.probe import Sampler, Stage, collect, least_of_the_best
from roofline.measurement.sampling import calibrate
from roofline.model.ceilings import Audit, MemoryCeiling
from roofline.model.evidence import DataEvidence
from roofline.model.isa import DTYPE_BITS, Isa
from roofline.units import memory_size

Shape = tuple[int, int, int]
"""Vectors per array and turn, segments walked at once, bytes that lines are fetched ahead."""
NEAR_SHAPES: tuple[Shape, ...] = ((8, 1, 0), (16, 2, 0))
"""What the search tries in the caches of one core."""
ONE_BY_ONE: Shape = (1, 1, 0)
"""What it also tries for two loads and a store: a core that does all three at once wants them evenly."""
FAR_SHAPES: tuple[Shape, ...] = ((8, 1, 0), (16, 4, 0), (16, 4, 2048), (16, 8, 2048))
"""The same for what lies beyond: several streams keep more of memory busy than one, and fetches more than loads."""
SWEEP_SHAPE: Shape = (8, 1, 0)
FAR_BYTES = 1.5 * 2**20
"""Working sets from here on are taken to lie beyond the caches of one core."""
DTYPE = "f64"
"""Element type of the memory ceilings: bytes are bytes, only the register width matters."""

_SEARCH_SAMPLES = 3
_FETCHES_GAIN = 1.03
"""What fetches must gain before a ceiling uses them: kernels read memory as it does, and on a core that needs none
they lose a few per cent beside multiply-adds."""
_SCALAR = numpy_type(DTYPE)(0.5)


def shapes_for(isa: Isa, pattern: str, far: bool) -> tuple[Shape, ...]:
    """Return the shapes that the search tries, near or `far`.

    Lines that are only written need no fetch, and neither do single elements: they take longer than memory.
    """
    loads, _ = accesses_of(pattern)
    fetches = loads > 0 and isa.name != "scalar"
    near = (*NEAR_SHAPES, ONE_BY_ONE) if accesses_of(pattern) == (2, 1) else NEAR_SHAPES
    return tuple(shape for shape in (FAR_SHAPES if far else near) if fetches or not shape[2])


@cache
def stream_code(isa: Isa, pattern: str, shape: Shape) -> tuple[Any, Audit]:
    """Return the compiled block and its proof. Raises CodegenError when the audit refuses it."""
    unroll, segments, ahead_bytes = shape
    block = stream_block(pattern, isa.lanes(DTYPE), unroll, segments, ahead_bytes)
    counter = np.zeros(1, np.int64)
    arena = Arena(1)
    third = arena.size_bytes // 3 // 4096 * 4096
    a, b, c = (arena.address + number * third for number in range(3))
    block(counter.ctypes.data, 1, 1, a, b, c, 1, 1, 1, _SCALAR, np.zeros((1, 3), np.int64))
    return block, audit_stream(assembly_of(block), isa, DTYPE, pattern, unroll)


class MemoryProbe:
    """Searches and measures memory ceilings on one arena per thread, each written first by the thread that uses it."""

    def __init__(self, stage: Stage) -> None:
        """`stage` holds the team and the clock."""
        self.stage = stage
        self._arenas: list[Arena] = []
        self._blank_bytes = 0
        self._data: DataEvidence | None = None

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
        self._data = data_evidence(
            [arena.bytes[:size_bytes].view(np.float64) for arena in self._arenas], [], thread_nodes=self.stage.nodes
        )

    def measure(
        self,
        level: str,
        pattern: str,
        isa: Isa,
        threads: int,
        working_set_bytes: int,
        budget_s: float,
        shape: Shape | None = None,
    ) -> MemoryCeiling:
        """Return the ceiling of one launch: the best sample of a pattern over per-thread working sets of this size.

        With code of this `shape`, by default the fastest. Raises CodegenError when the code does not pass its audit,
        MeasurementError when there is no memory.
        """
        shape = self._best_shape(isa, pattern, threads, working_set_bytes) if shape is None else shape
        _, audit = stream_code(isa, pattern, shape)
        sampler, used_bytes = self.sampler(isa, pattern, shape, threads, working_set_bytes)
        launch = collect(sampler, self.stage, budget_s, MemoryCeiling.flat_within, self._data)
        return MemoryCeiling(
            level=level,
            pattern=pattern,
            isa=isa.name,
            threads=threads,
            byte_per_s=0.0,
            byte_per_cycle=0.0,
            clock_hz=0.0,
            working_set_bytes=used_bytes,
            unroll=shape[0],
            segments=shape[1],
            ahead_bytes=shape[2],
            audited=True,
            audit=audit,
            launches=(launch,),
        ).rederived()

    def sampler(
        self,
        isa: Isa,
        pattern: str,
        shape: Shape,
        threads: int,
        working_set_bytes: int,
        addresses: Sequence[int] = (),
    ) -> tuple[Sampler, int]:
        """Return calibrated code for this shape, and the bytes of one thread's working set.

        `addresses` are where the threads' working sets begin, by default in the probe's own memory.
        Raises CodegenError when the audit refuses it, MeasurementError when there is no memory.
        """
        block, _ = stream_code(isa, pattern, shape)
        team, arrays = self.stage.team, arrays_of(pattern)
        group_bytes = shape[0] * isa.lanes(DTYPE) * DTYPE_BITS[DTYPE] // 8
        groups = max(1, working_set_bytes // arrays // group_bytes)
        array_bytes = groups * group_bytes
        offsets = array_offsets(array_bytes, arrays)
        if addresses:
            starts = addresses
        else:
            self.reserve(offsets[-1] + array_bytes)
            self._renew(pattern, offsets[-1] + array_bytes)
            starts = [arena.address for arena in self._arenas]

        def sample(repeats: int, samples: int) -> Intervals:
            def call(rank: int, out: np.ndarray) -> None:
                a, b, c = ([starts[rank] + offset for offset in offsets] * 3)[:3]
                block(team.barrier_address, threads, samples, a, b, c, groups, repeats, CHAIN_TURNS, _SCALAR, out)

            return take(team, threads, samples, call)

        repeats = calibrate(lambda count: min(sample(count, 3).samples_s), self.stage.sample_s)
        amount = threads * repeats * sum(accesses_of(pattern)) * array_bytes
        return Sampler(lambda samples: sample(repeats, samples), amount, threads), arrays * array_bytes

    def _best_shape(self, isa: Isa, pattern: str, threads: int, working_set_bytes: int) -> Shape:
        """Return the shape that is fastest on this working set; CodegenError when no shape passes its audit."""
        rates: dict[Shape, float] = {}
        refusals: list[CodegenError] = []
        for shape in shapes_for(isa, pattern, working_set_bytes >= FAR_BYTES):
            try:
                sampler, _ = self.sampler(isa, pattern, shape, threads, working_set_bytes)
                rates[shape] = sampler.best_rate(_SEARCH_SAMPLES) / (_FETCHES_GAIN if shape[2] else 1)
            except CodegenError as refusal:
                refusals.append(refusal)
        if not rates:
            raise refusals[0]
        return least_of_the_best(rates)

    def _renew(self, pattern: str, size_bytes: int) -> None:
        """Write random data again where a store pattern has left one value everywhere, before it is read."""
        if pattern.removeprefix("nt_") == "store":
            self._blank_bytes = max(self._blank_bytes, size_bytes)
        elif self._blank_bytes:
            blank_bytes, self._blank_bytes = self._blank_bytes, 0
            self.stage.team.each(lambda rank: self._arenas[rank].fill(rank, blank_bytes))
