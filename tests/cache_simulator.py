"""A small cache: what a core would see of bandwidth and latency over working sets, on machines that are not here."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from roofline.model.machine import Cache
from roofline.model.run import LatencyPoint, SweepPoint

LINE_BYTES = 64
CLOCK_HZ = 3e9
ACCESSES = 3000
"""Loads that are followed at each size, after as many to fill the caches."""


@dataclass(frozen=True)
class Simulated:
    """A hierarchy. Sizes are small, so that Python can walk through them; only their ratios matter."""

    sizes_bytes: tuple[int, ...] = (2**10, 2**14, 2**18)
    latencies_s: tuple[float, ...] = (1e-9, 4e-9, 14e-9, 100e-9)
    """Of each cache, then of memory."""
    bandwidths: tuple[float, ...] = (200e9, 100e9, 50e9, 10e9)
    victim: bool = False
    """Whether the last cache holds only what the one before has thrown out, and the others the same for theirs."""
    reported_bytes: tuple[int, ...] | None = None
    """What the system says, where that is not true."""

    @property
    def reported(self) -> tuple[Cache, ...]:
        """The caches as the system reports them."""
        sizes = self.reported_bytes or self.sizes_bytes
        return tuple(Cache(name=f"L{number}", size_bytes=size) for number, size in enumerate(sizes, 1))

    def hits(self, size_bytes: int, rng: Random) -> list[float]:
        """Return the share of loads of a random walk over a set that each level serves, memory last.

        Caches throw out the least recently used line. Inclusive ones keep what they have given to the level before;
        a victim gives it up, so that it adds to what the caches before it hold.
        """
        lines = max(1, size_bytes // LINE_BYTES)
        held: list[OrderedDict[int, None]] = [OrderedDict() for _ in self.sizes_bytes]
        room = [size // LINE_BYTES for size in self.sizes_bytes]
        counted = [0] * (len(room) + 1)
        for access in range(2 * ACCESSES + lines):
            line = rng.randrange(lines) if access >= lines else access  # the first pass fills
            level = next((number for number, cache in enumerate(held) if line in cache), len(room))
            if access >= ACCESSES + lines:
                counted[level] += 1
            if self.victim:
                if level < len(room):
                    del held[level][line]
                moving: int | None = line
                for cache, most in zip(held, room, strict=True):
                    if moving is None:
                        break
                    cache[moving] = None
                    moving = cache.popitem(last=False)[0] if len(cache) > most else None
            else:
                for cache, most in zip(held, room, strict=True):
                    cache[line] = None
                    cache.move_to_end(line)
                    if len(cache) > most:
                        cache.popitem(last=False)
        return [count / ACCESSES for count in counted]

    def sweep(
        self, sizes: Sequence[int], noise: float = 0.0, seed: int = 1
    ) -> tuple[tuple[SweepPoint, ...], tuple[LatencyPoint, ...]]:
        """Return what is measured at these sizes: bandwidth at all, latency at every second one."""
        rng = Random(seed)
        bandwidths, latencies = [], []
        for number, size_bytes in enumerate(sizes):
            hits = self.hits(size_bytes, rng)
            byte_per_s = 1 / sum(share / rate for share, rate in zip(hits, self.bandwidths, strict=True))
            latency_s = sum(share * wait_s for share, wait_s in zip(hits, self.latencies_s, strict=True))
            slower = 1 + abs(rng.gauss(0, noise))
            bandwidths.append(SweepPoint(size_bytes=size_bytes, byte_per_s=byte_per_s / slower))
            if number % 2 == 0:
                seen_s = latency_s * (1 + abs(rng.gauss(0, noise)))
                latencies.append(
                    LatencyPoint(size_bytes=size_bytes, latency_s=seen_s, latency_cycles=seen_s * CLOCK_HZ)
                )
        return tuple(bandwidths), tuple(latencies)
