"""The levels that are found on caches whose truth is known."""

from __future__ import annotations

from functools import cache

import pytest
from cache_simulator import Simulated
from msgspec.structs import replace

from roofline.model.knee import Knee
from roofline.model.levels import contradictions, find_levels, reconciled
from roofline.model.run import Level

MIB = 2**20
SIZES = tuple(int(2**8 * 2 ** (0.5 * step)) // 64 * 64 for step in range(27))
"""From a quarter of the first cache to eight times the last."""
INCLUSIVE = Simulated()
VICTIM = Simulated(victim=True)
LYING = Simulated(reported_bytes=(2**10, 2**14, 3 * 2**18))
"""A guest that is told of three times the last cache that it gets."""
LARGER = Simulated(reported_bytes=(2**10, 2**14, 2**16))
"""A cache four times as large as is reported."""


@cache
def levels_of(machine: Simulated, noise: float = 0.0) -> tuple[Level, ...]:
    bandwidths, latencies = machine.sweep(SIZES, noise)
    return find_levels(bandwidths, machine.reported, 1, 64 * MIB, latencies)


def holds(level: Level, size_bytes: int, share: float = 1.5) -> bool:
    """Return whether a capacity is found within a step of the sweep."""
    return level.effective_bytes is not None and size_bytes / share <= level.effective_bytes <= size_bytes * share


@pytest.mark.twin("LLC")
@pytest.mark.parametrize("machine", [INCLUSIVE, VICTIM], ids=["inclusive", "victim"])
@pytest.mark.parametrize("noise", [0.0, 0.03])
def test_every_capacity_is_found_and_agrees(machine: Simulated, noise: float) -> None:
    levels = levels_of(machine, noise)
    assert [level.name for level in levels] == ["L1", "L2", "L3", "DRAM"]
    for level, size_bytes in zip(levels, machine.sizes_bytes, strict=False):
        assert holds(level, size_bytes, 2.1), (level.name, level.effective_bytes)
        assert level.agrees is True
    assert contradictions(levels) == ()


@pytest.mark.parametrize("machine", [INCLUSIVE, VICTIM, LYING], ids=["inclusive", "victim", "lying"])
def test_latency_and_bandwidth_of_every_level_are_those_of_its_plateau(machine: Simulated) -> None:
    for level, latency_s, byte_per_s in zip(levels_of(machine), machine.latencies_s, machine.bandwidths, strict=True):
        assert level.latency_s == pytest.approx(latency_s, rel=0.5), level.name
        assert level.byte_per_s == pytest.approx(byte_per_s, rel=0.5), level.name
        assert level.latency_cycles == pytest.approx((level.latency_s or 0) * 3e9)


def test_a_cache_whose_latency_cannot_be_told_from_memory_has_none() -> None:
    bandwidths, latencies = INCLUSIVE.sweep(SIZES, 0.0)
    beyond = max(point.latency_s for point in latencies)
    second = INCLUSIVE.sizes_bytes[1]
    blurred = [replace(p, latency_s=beyond) if p.size_bytes > 1.2 * second else p for p in latencies]
    levels = find_levels(bandwidths, INCLUSIVE.reported, 1, 64 * MIB, blurred)
    assert (levels[2].latency_s, levels[2].latency_cycles) == (None, None)
    assert levels[3].latency_s == pytest.approx(beyond, rel=0.2)


@pytest.mark.canary("LLC")
def test_a_last_cache_that_is_a_third_of_what_is_reported_is_found_and_does_not_agree() -> None:
    last = levels_of(LYING)[2]
    assert holds(last, 2**18, 2.1)
    assert last.reported_bytes == 3 * 2**18
    assert last.agrees is False or last.effective_bytes <= 2**18


def test_a_last_cache_that_is_larger_than_reported_is_sized_by_the_report() -> None:
    last = levels_of(LARGER)[2]
    assert last.sizing_bytes == 2**16


def test_intervals_hold_the_truth() -> None:
    for level, size_bytes in zip(levels_of(INCLUSIVE), INCLUSIVE.sizes_bytes, strict=False):
        for interval in (level.bandwidth_interval_bytes, level.latency_interval_bytes):
            assert interval is not None
            low, high = interval
            assert low / 1.5 <= size_bytes <= high * 1.5, level.name


def knee(low: int, high: int) -> Knee:
    return Knee(per_s=1.0, size_bytes=low, interval_bytes=(low, high))


@pytest.mark.parametrize(
    ("bandwidth", "latency", "interval"),
    [
        (knee(10, 14), knee(12, 20), (12, 14)),
        (knee(10, 14), knee(14, 20), (14, 14)),
        (knee(26, 34), knee(7, 12), (7, 12)),
        (knee(10, 14), None, (10, 14)),
        (None, knee(7, 12), (7, 12)),
        (None, None, None),
        (Knee(per_s=1.0, size_bytes=None, interval_bytes=None), None, None),
    ],
)
def test_two_intervals_become_one(
    bandwidth: Knee | None, latency: Knee | None, interval: tuple[int, int] | None
) -> None:
    assert reconciled(bandwidth, latency) == interval


@pytest.mark.canary("LLC")
def test_knees_that_contradict_each_other_are_told_of() -> None:
    level = Level(
        name="L3",
        reported_bytes=36 * MIB,
        bandwidth_interval_bytes=(26 * MIB, 34 * MIB),
        latency_interval_bytes=(7 * MIB, 12 * MIB),
    )
    (caveat,) = contradictions([level])
    assert caveat.code == "LLC"
    assert "26 MiB to 34 MiB by its bandwidth, 7 MiB to 12 MiB by its latency, and 36 MiB is reported" in caveat.message
    near = Level(name="L3", bandwidth_interval_bytes=(10 * MIB, 14 * MIB), latency_interval_bytes=(7 * MIB, 12 * MIB))
    assert contradictions([near, Level(name="DRAM")]) == ()
