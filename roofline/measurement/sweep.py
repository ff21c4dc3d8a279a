"""The sweep: load bandwidth of one core over working sets from 4 KiB to beyond the last cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from roofline.measurement.memory import SWEEP_SHAPE, MemoryProbe
from roofline.model.isa import Isa
from roofline.model.run import SweepPoint

_SAMPLES = 8


def sweep(probe: MemoryProbe, isa: Isa, sizes: Sequence[int], heartbeat: Callable[[], None]) -> tuple[SweepPoint, ...]:
    """Return the best load bandwidth at each size, in order; `heartbeat` is called after each."""
    points = []
    probe.reserve(max(sizes))
    for size_bytes in sizes:
        sampler, used_bytes = probe.sampler(isa, "load", SWEEP_SHAPE, 1, size_bytes)
        points.append(SweepPoint(size_bytes=used_bytes, byte_per_s=sampler.best_rate(_SAMPLES)))
        heartbeat()
    return tuple(points)


def better_of(one: Sequence[SweepPoint], other: Sequence[SweepPoint]) -> tuple[SweepPoint, ...]:
    """Return the faster point at each size of two sweeps over the same sizes: whatever disturbs a point slows it."""
    return tuple(max(pair, key=lambda point: point.byte_per_s) for pair in zip(one, other, strict=True))
