"""Which memory levels there are: the sweep of bandwidths reconciled with what the operating system reports.

In a virtual machine the share of the last cache that one gets is often far smaller than the cache that the system
reports; a working set sized from the report would measure DRAM and call it L3. So a level's effective capacity
is the size at which the measured bandwidth leaves the level's plateau for the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from msgspec.structs import replace

from roofline.model.knee import FILLS, CurvePoint, Knee, knees
from roofline.model.machine import Cache
from roofline.model.run import Caveat, LatencyPoint, Level, SweepPoint
from roofline.units import memory_size

BEYOND_LAST_CACHE = 4
"""DRAM sets are at least so many times the last-level cache (the rule of STREAM)."""
UNKNOWN_CACHE_DRAM_BYTES = 512 * 2**20
"""DRAM set where no cache is reported: 4 x 128 MiB."""

DEFAULT_SET_BYTES = 2**30
"""What one thread's working set may take where the memory budget is unknown."""

_EXCEEDS = 2.5
"""A working set exceeds the level before by at least this factor, and fills at most FILLS of its own."""
_FIRST_SHARE = 0.5
"""Share of the first level, which has none before it, that its working set fills."""
_AGREES = 2.0


def cores_sharing(cache: Cache, threads_per_core: int) -> int:
    """Return how many cores share one instance of this cache."""
    return max(1, cache.shared_by // max(1, threads_per_core))


def most_set_bytes(memory_budget_bytes: int | None, threads: int) -> int:
    """Return what one thread's working set may take when up to `threads` of them share the memory budget."""
    return DEFAULT_SET_BYTES if memory_budget_bytes is None else memory_budget_bytes // threads


def find_levels(
    sweep: Sequence[SweepPoint],
    caches: Sequence[Cache],
    threads_per_core: int,
    most_bytes: int,
    latencies: Sequence[LatencyPoint] = (),
) -> tuple[Level, ...]:
    """Return the cache levels, then DRAM, each with its effective capacity and one core's working set.

    The capacity is where bandwidth and latency leave the level's plateaus. `most_bytes` is what one thread's working
    set may take at most. A level that cannot be measured carries the reason in `skipped`.
    """
    by_bandwidth = knees([CurvePoint(p.size_bytes, p.byte_per_s) for p in sweep], caches)
    by_latency = knees([CurvePoint(p.size_bytes, 1 / p.latency_s) for p in latencies], caches)
    levels: list[Level] = []
    for cache, bandwidth, latency in zip([*caches, None], by_bandwidth, by_latency, strict=True):
        interval = reconciled(bandwidth, latency)
        # A plateau that cannot be told from the next has that one's latency, not this level's.
        known_latency = latency if cache is None or (latency and latency.size_bytes) else None
        level = Level(
            name=cache.name if cache else "DRAM",
            reported_bytes=cache.size_bytes if cache else None,
            shared_by=cores_sharing(cache, threads_per_core) if cache else 1,
            byte_per_s=bandwidth.per_s if bandwidth else None,
            latency_s=1 / known_latency.per_s if known_latency else None,
            latency_cycles=_cycles(known_latency, latencies),
            effective_bytes=interval[0] if interval else None,
            effective_interval_bytes=interval if interval and interval[1] > interval[0] else None,
            bandwidth_bytes=bandwidth.size_bytes if bandwidth else None,
            bandwidth_interval_bytes=bandwidth.interval_bytes if bandwidth else None,
            latency_bytes=latency.size_bytes if latency else None,
            latency_interval_bytes=latency.interval_bytes if latency else None,
            agrees=_agrees(interval, cache),
        )
        levels.append(_sized([*levels, level], most_bytes))
    return tuple(levels)


def reconciled(bandwidth: Knee | None, latency: Knee | None) -> tuple[int, int] | None:
    """Return between which sizes a capacity lies, by what both knees say; None when neither says anything.

    Where their intervals meet, what both allow; where they contradict each other, what the smaller one says.
    """
    known = [_interval(knee) for knee in (bandwidth, latency) if knee is not None and knee.size_bytes is not None]
    if not known:
        return None
    low, high = max(interval[0] for interval in known), min(interval[1] for interval in known)
    return (low, high) if low <= high else min(known)


def _interval(knee: Knee) -> tuple[int, int]:
    assert knee.size_bytes is not None  # the caller has looked
    return knee.interval_bytes or (knee.size_bytes, knee.size_bytes)


def _cycles(knee: Knee | None, latencies: Sequence[LatencyPoint]) -> float | None:
    """Return the cycles of the measured latency that is nearest to a plateau's."""
    if knee is None:
        return None
    return min(latencies, key=lambda point: abs(point.latency_s * knee.per_s - 1)).latency_cycles


def _agrees(interval: tuple[int, int] | None, cache: Cache | None) -> bool | None:
    """Return whether a capacity that lies between these sizes can be the reported one, within a factor of 2."""
    if interval is None or cache is None:
        return None
    return interval[0] <= cache.size_bytes * _AGREES and cache.size_bytes / _AGREES <= interval[1]


def contradictions(levels: Sequence[Level]) -> tuple[Caveat, ...]:
    """Return a caveat for each cache of which bandwidth and latency tell capacities that do not fit together."""
    found = []
    for level in levels:
        one, other = level.bandwidth_interval_bytes, level.latency_interval_bytes
        if one is None or other is None:
            continue
        if one[0] > _AGREES * other[1] or other[0] > _AGREES * one[1]:
            reported = "nothing" if level.reported_bytes is None else memory_size(level.reported_bytes)
            message = (
                f"{level.name} holds {memory_size(one[0])} to {memory_size(one[1])} by its bandwidth, "
                f"{memory_size(other[0])} to {memory_size(other[1])} by its latency, and {reported} is reported: its "
                "working set follows the bandwidth; measure again on a quiet machine"
            )
            found.append(Caveat(code="LLC", message=message))
    return tuple(found)


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
        and level.agrees is False
        and level.effective_bytes < level.reported_bytes
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
    before = max((holds_bytes(level) for level in levels[:number]), default=0)
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
    share = holds_bytes(level) / sharers
    if not before:
        return int(_FIRST_SHARE * share)
    low, high = _EXCEEDS * before, FILLS * share
    if low >= high:
        holds = f"{name} holds" if sharers == 1 else f"{name} has for each of {sharers} cores only"
        return f"{holds} {memory_size(share)}: too little to tell it from the {memory_size(before)} of the level before"
    return int(sqrt(low * high))


def level_of(footprint_bytes: int, threads: int, levels: Sequence[Level]) -> str:
    """Return the nearest level that holds a footprint which `threads` cores work on together; else DRAM.

    Empty when no level is known.
    """
    for level in levels:
        instances = -(-threads // level.shared_by)
        if level.name != "DRAM" and level.sizing_bytes and footprint_bytes <= level.sizing_bytes * instances:
            return level.name
    return "DRAM" if levels else ""


def holds_bytes(level: Level) -> int:
    """Return what the level holds, 0 where nothing is known: the smaller of what was measured and what is reported."""
    return level.sizing_bytes or 0


def _sized(levels: Sequence[Level], most_bytes: int) -> Level:
    """Return the last of `levels` with one core's working set, or the reason why it has none."""
    level = levels[-1]
    size = working_set_bytes(levels, level.name, 1, most_bytes)
    if isinstance(size, str):
        return replace(level, skipped=size)
    return replace(level, working_set_bytes=size)
