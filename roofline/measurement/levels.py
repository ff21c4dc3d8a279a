"""Which memory levels there are: the sweep of bandwidths reconciled with what the operating system reports.

In a virtual machine the share of the last cache that one gets is often far smaller than the cache that the system
reports; a working set sized from the report would measure DRAM and call it L3. So a level's effective capacity
is the size at which the measured bandwidth leaves the level's plateau for the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from msgspec.structs import replace

from roofline.kernels.capacity import Capacity, capacity_of
from roofline.model.machine import Cache
from roofline.model.run import Caveat, Level, SweepPoint
from roofline.model.statistics import median
from roofline.units import memory_size

SMALLEST_BYTES = 4 * 1024
BEYOND_LAST_CACHE = 4
"""DRAM sets are at least so many times the last-level cache (the rule of STREAM)."""
UNKNOWN_CACHE_DRAM_BYTES = 512 * 2**20
"""DRAM set where no cache is reported: 4 x 128 MiB."""

_FILLS = 0.6
"""A working set fills at most this share of its level ..."""
_EXCEEDS = 2.5
"""... and exceeds the level before by at least this factor."""
_FIRST_SHARE = 0.5
"""Share of the first level, which has none before it, that its working set fills."""
_DISTINCT = 1.1
"""Two plateaus whose bandwidths differ by less cannot be told apart."""
_AGREES = 2.0


def sweep_sizes(caches: Sequence[Cache], count: int, most_bytes: int) -> tuple[int, ...]:
    """Return `count` working sets, evenly spaced in their logarithm, from 4 KiB to beyond the last cache."""
    last = caches[-1].size_bytes if caches else UNKNOWN_CACHE_DRAM_BYTES // BEYOND_LAST_CACHE
    largest = max(2 * SMALLEST_BYTES, min(BEYOND_LAST_CACHE * last, most_bytes))
    step = (largest / SMALLEST_BYTES) ** (1 / (count - 1))
    return tuple(int(SMALLEST_BYTES * step**number) // 1024 * 1024 for number in range(count))


def cores_sharing(cache: Cache, threads_per_core: int) -> int:
    """Return how many cores share one instance of this cache."""
    return max(1, cache.shared_by // max(1, threads_per_core))


def find_levels(
    sweep: Sequence[SweepPoint], caches: Sequence[Cache], threads_per_core: int, most_bytes: int
) -> tuple[Level, ...]:
    """Return the cache levels, then DRAM, each with its effective capacity and one core's working set.

    `most_bytes` is what one thread's working set may take at most. A level that cannot be measured carries the
    reason in `skipped`.
    """
    tops = [_plateau(sweep, *bounds) for bounds in _windows(caches)]
    beyond = [p.byte_per_s for p in sweep if not caches or p.size_bytes > 1.5 * caches[-1].size_bytes]
    tops.append(median(beyond) if beyond else None)
    levels: list[Level] = []
    for number, cache in enumerate(caches):
        effective = _effective_bytes(sweep, cache, tops[number], tops[number + 1])
        agrees = None if effective is None else cache.size_bytes / _AGREES <= effective <= cache.size_bytes * _AGREES
        level = Level(
            name=cache.name,
            reported_bytes=cache.size_bytes,
            effective_bytes=effective,
            shared_by=cores_sharing(cache, threads_per_core),
            agrees=agrees,
        )
        levels.append(_sized([*levels, level], most_bytes))
    dram = Level(name="DRAM", reported_bytes=None)
    return (*levels, _sized([*levels, dram], most_bytes))


def small_caches(levels: Sequence[Level]) -> tuple[Caveat, ...]:
    """Return a caveat for each cache of one core's own that seems to hold less than half of what is reported.

    Neighbours can take a share of a shared cache, but hardly of these: the sweep was disturbed, or the report is wrong.
    """
    return tuple(
        Caveat(
            code="LEVELS",
            message=f"{level.name} seems to hold {memory_size(level.effective_bytes)} of the reported "
            f"{memory_size(level.reported_bytes)}, measured twice: its working set and the kernels' tiles follow what "
            "was measured; measure again on a quiet machine",
        )
        for level in levels
        if level.shared_by == 1
        and level.effective_bytes is not None
        and level.reported_bytes is not None
        and _AGREES * level.effective_bytes < level.reported_bytes
    )


def working_set_bytes(levels: Sequence[Level], name: str, threads: int, most_bytes: int) -> int | str:
    """Return one thread's working set in a level when `threads` cores measure together, or why there is none.

    A cache's set lies in the middle (of the logarithms) between what surely leaves the level before and what
    surely fits the thread's share of this one. A DRAM set is four last-level caches for every thread, or, where
    `most_bytes` per thread does not allow that, as much as it does while all threads together still reach four.
    """
    names = [level.name for level in levels]
    if not names:
        return "the levels are not known: the sweep over working sets has failed (see its own failure)"
    if name not in names:
        return f"this machine reports no {name} (known: {', '.join(names)})"
    number = names.index(name)
    before = max((_capacity(level) for level in levels[:number]), default=0)
    if name == "DRAM":
        last = max((level.reported_bytes or 0 for level in levels[:number]), default=0)
        wanted = max(BEYOND_LAST_CACHE * last, BEYOND_LAST_CACHE * before) or UNKNOWN_CACHE_DRAM_BYTES
        if threads * most_bytes < wanted:
            return (
                f"a DRAM set takes {memory_size(wanted)} ({BEYOND_LAST_CACHE} x the last cache), "
                f"the memory limit leaves {memory_size(threads * most_bytes)}"
            )
        return min(wanted, most_bytes)
    level = levels[number]
    sharers = min(threads, level.shared_by)
    share = _capacity(level) / sharers
    if not before:
        return int(_FIRST_SHARE * share)
    low, high = _EXCEEDS * before, _FILLS * share
    if low >= high:
        holds = f"{name} holds" if sharers == 1 else f"{name} has for each of {sharers} cores only"
        return f"{holds} {memory_size(share)}: too little to tell it from the {memory_size(before)} of the level before"
    return int(sqrt(low * high))


def core_capacity(levels: Sequence[Level], threads: int) -> Capacity:
    """Return what one of `threads` cores has of the caches, as measured and as reported, whichever is smaller."""
    caches = [level for level in levels if level.name != "DRAM" and _capacity(level)]
    return capacity_of([_capacity(level) // min(threads, level.shared_by) for level in caches], threads)


def level_of(footprint_bytes: int, threads: int, levels: Sequence[Level]) -> str:
    """Return the nearest level that holds a footprint which `threads` cores work on together; else DRAM.

    Empty when no level is known.
    """
    for level in levels:
        known = [size for size in (level.effective_bytes, level.reported_bytes) if size is not None]
        instances = -(-threads // level.shared_by)
        if level.name != "DRAM" and known and footprint_bytes <= min(known) * instances:
            return level.name
    return "DRAM" if levels else ""


def _capacity(level: Level) -> int:
    """What the level holds: the smaller of what was measured and what is reported."""
    known = [size for size in (level.effective_bytes, level.reported_bytes) if size is not None]
    return min(known, default=0)


def _sized(levels: Sequence[Level], most_bytes: int) -> Level:
    """Return the last of `levels` with one core's working set, or the reason why it has none."""
    level = levels[-1]
    size = working_set_bytes(levels, level.name, 1, most_bytes)
    if isinstance(size, str):
        return replace(level, skipped=size)
    return replace(level, working_set_bytes=size)


def _windows(caches: Sequence[Cache]) -> list[tuple[float, float]]:
    """Return the sizes between which each reported cache should show its plateau."""
    before = 0
    windows = []
    for cache in caches:
        windows.append((1.5 * before, _FILLS * cache.size_bytes))
        before = cache.size_bytes
    return windows


def _plateau(sweep: Sequence[SweepPoint], low: float, high: float) -> float | None:
    """Return the bandwidth of the plateau within a window: its highest point; None when no size lies in it."""
    return max((point.byte_per_s for point in sweep if low <= point.size_bytes <= high), default=None)


def _effective_bytes(sweep: Sequence[SweepPoint], cache: Cache, top: float | None, after: float | None) -> int | None:
    """Return the largest set that still runs nearer to this plateau than to the next (in the logarithm).

    None when either plateau is unknown or both are alike. One point below that is followed by one above is noise.
    """
    if top is None or after is None or top < _DISTINCT * after:
        return None
    middle = sqrt(top * after)
    reached = [point.byte_per_s >= middle for point in sweep]
    effective = None
    for number, point in enumerate(sweep):
        fell = not reached[number] and not any(reached[number + 1 : number + 2])
        if fell and point.size_bytes > cache.size_bytes / 16:
            break
        if reached[number]:
            effective = point.size_bytes
    return effective
