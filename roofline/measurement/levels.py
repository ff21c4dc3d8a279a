"""What is measured because of the levels: the sizes that they are looked for at, and what kernels know of them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from roofline.kernels.capacity import Capacity, capacity_of
from roofline.model.ceilings import Ceilings
from roofline.model.levels import BEYOND_LAST_CACHE, UNKNOWN_CACHE_DRAM_BYTES, holds_bytes
from roofline.model.machine import Cache
from roofline.model.run import Level

SMALLEST_BYTES = 4 * 1024


def sweep_sizes(caches: Sequence[Cache], count: int, most_bytes: int) -> tuple[int, ...]:
    """Return `count` working sets, evenly spaced in their logarithm, from 4 KiB to beyond the last cache."""
    last = caches[-1].size_bytes if caches else UNKNOWN_CACHE_DRAM_BYTES // BEYOND_LAST_CACHE
    largest = max(2 * SMALLEST_BYTES, min(BEYOND_LAST_CACHE * last, most_bytes))
    step = (largest / SMALLEST_BYTES) ** (1 / (count - 1))
    return tuple(int(SMALLEST_BYTES * step**number) // 1024 * 1024 for number in range(count))


def core_capacity(levels: Sequence[Level], threads: int) -> Capacity:
    """Return what one of `threads` cores has of the caches, as measured and as reported, whichever is smaller."""
    caches = [level for level in levels if level.name != "DRAM" and holds_bytes(level)]
    return capacity_of([holds_bytes(level) // min(threads, level.shared_by) for level in caches], threads)


def with_reading(capacity: Capacity, ceilings: Ceilings) -> Capacity:
    """Return the capacity with how this machine reads memory fastest: as the code of its highest DRAM load ceiling."""
    load = ceilings.best_memory("DRAM", capacity.threads, ("load",))
    return capacity if load is None else replace(capacity, ahead_bytes=load.ahead_bytes)
