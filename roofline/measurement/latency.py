"""The latency of memory: one core follows a random chain through all cache lines of a working set.

No prefetcher guesses a random order, and no load can begin before the one before it has come. (McVoy and Staelin,
"lmbench: portable tools for performance analysis", 1996.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from roofline.codegen.assembly import assembly_of
from roofline.codegen.chase import CHASE_LOADS, audit_chase
from roofline.codegen.intrinsics import ARCH
from roofline.errors import MeasurementError
from roofline.measurement.blocks import CHAIN_TURNS, chase_block, intervals_of
from roofline.measurement.buffers import Arena
from roofline.measurement.probe import Stage
from roofline.model.ceilings import Audit
from roofline.model.run import LatencyPoint
from roofline.units import memory_size

LINE_BYTES = 64
BLOCK_BYTES = 2**20
"""256 pages: a second-level TLB holds them all. Smaller blocks would let prefetchers guess."""
_SAMPLES = 3
_SAMPLE_S = 1e-3
_WARM_LINES = 200_000
"""Lines that are walked before the first sample: all of a set that a cache can hold, some of one that none can."""
_FIRST_TURNS = 256


@cache
def chase_code() -> Audit:
    """Compile the chain and return its proof. Raises CodegenError when the audit refuses it."""
    here = np.zeros(1, np.int64)
    here[0] = here.ctypes.data  # a chain of one link
    chase_block(int(here[0]), 1, 1, np.zeros(3, np.int64))
    return audit_chase(assembly_of(chase_block), ARCH)


def linked(arena: Arena, size_bytes: int, rng: np.random.Generator) -> int:
    """Write a random chain through all lines of the first `size_bytes`, which returns to its start; return where.

    All lines of one block come before those of the next, in random order both: a chain that jumped over the whole set
    would measure page tables, which in a guest cost more than the caches that are looked for.
    """
    words = arena.bytes[: size_bytes // LINE_BYTES * LINE_BYTES].view(np.int64)
    step = LINE_BYTES // words.itemsize
    lines = words.size // step
    per_block = min(lines, BLOCK_BYTES // LINE_BYTES)
    blocks = lines // per_block
    within = rng.permuted(np.tile(np.arange(per_block), (blocks, 1)), axis=1)
    order = (rng.permutation(blocks)[:, None] * per_block + within).ravel()
    order = np.concatenate([order, np.arange(order.size, lines)])
    words[order * step] = arena.address + np.roll(order, -1) * LINE_BYTES
    return int(arena.address + order[0] * LINE_BYTES)


class LatencyProbe:
    """Measures the latency of one core's loads over working sets."""

    def __init__(self, stage: Stage, seed: int = 0) -> None:
        """`stage` holds the team and the clock; `seed` is of the chains."""
        self.stage = stage
        self.seed = seed

    def sweep(self, sizes: Sequence[int], heartbeat: Callable[[], None]) -> tuple[LatencyPoint, ...]:
        """Return the lowest latency at each size, in order; `heartbeat` is called after each.

        Raises CodegenError when the audit refuses the code, MeasurementError when there is no memory.
        """
        chase_code()
        rng = np.random.default_rng(self.seed)
        try:
            arena = Arena(max(sizes))
        except (MemoryError, OSError) as refused:
            raise MeasurementError(f"no memory for a chain through {memory_size(max(sizes))} ({refused})") from refused
        points = []
        for size_bytes in sizes:
            (point,) = self.stage.team.each(lambda _, size=size_bytes: self._at(arena, size, rng), 1)  # type: ignore[misc]
            points.append(point)
            heartbeat()
        return tuple(points)

    def _at(self, arena: Arena, size_bytes: int, rng: np.random.Generator) -> LatencyPoint:
        place = linked(arena, size_bytes, rng)
        out = np.zeros((1, 3), np.int64)
        lines = size_bytes // LINE_BYTES
        place = chase_block(place, max(1, min(lines, _WARM_LINES) // CHASE_LOADS), 1, out[0])
        turns = _FIRST_TURNS
        found: list[tuple[float, float]] = []
        while len(found) < _SAMPLES:
            place = chase_block(place, turns, CHAIN_TURNS, out[0])
            interval = intervals_of([out], CHAIN_TURNS)
            sample_s, clock_hz = interval.samples_s[0], interval.clock_hz[0]
            if sample_s >= _SAMPLE_S:
                found.append((sample_s / (turns * CHASE_LOADS), clock_hz))
            else:
                turns = int(turns * min(16.0, 1.2 * _SAMPLE_S / max(sample_s, 1e-7))) + 1
        latency_s, clock_hz = min(found)
        return LatencyPoint(size_bytes=size_bytes, latency_s=latency_s, latency_cycles=latency_s * clock_hz)
