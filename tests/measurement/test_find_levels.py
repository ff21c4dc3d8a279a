"""Levels from sweeps of machines that are simulated, and the working sets that follow."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from roofline.measurement.levels import sweep_sizes
from roofline.measurement.sweep import better_of
from roofline.model.levels import (
    BEYOND_LAST_CACHE,
    UNKNOWN_CACHE_DRAM_BYTES,
    cores_sharing,
    find_levels,
    small_caches,
    working_set_bytes,
)
from roofline.model.machine import Cache
from roofline.model.run import Level, SweepPoint

KIB, MIB, GIB = 2**10, 2**20, 2**30
MOST = 4 * GIB
RATES = (200e9, 70e9, 25e9, 10e9)
"""Bandwidths of L1, L2, L3 and DRAM."""
CACHES = (
    Cache(name="L1", size_bytes=32 * KIB),
    Cache(name="L2", size_bytes=1 * MIB),
    Cache(name="L3", size_bytes=32 * MIB, shared_by=2),
)


def sweep_of(
    capacities: Sequence[int], rates: Sequence[float], sizes: Sequence[int], noise: float = 0.0
) -> list[SweepPoint]:
    """Return the sweep of a machine whose caches hold these capacities.

    A set that does not fit a cache is read from the next but for what stays: nothing of a set half as large again
    (reading round and round evicts what comes next), ever more of a smaller one.
    """
    rng = np.random.default_rng(11)
    points = []
    for size in sizes:
        per_byte_s, rest = 0.0, 1.0
        for capacity, rate in zip(capacities, rates, strict=False):
            hits = min(1.0, max(0.0, 3 - 2 * size / capacity))
            per_byte_s += rest * hits / rate
            rest *= 1 - hits
        per_byte_s += rest / rates[len(capacities)]
        points.append(SweepPoint(size_bytes=size, byte_per_s=rng.uniform(1 - noise, 1 + noise) / per_byte_s))
    return points


def found(
    capacities: Sequence[int],
    rates: Sequence[float] = RATES,
    caches: Sequence[Cache] = CACHES,
    most: int = MOST,
    noise: float = 0.0,
    count: int = 40,
) -> dict[str, Level]:
    """Return the levels that are found on a machine of these capacities which reports these caches."""
    sweep = sweep_of(capacities, rates, sweep_sizes(caches, count, most), noise)
    return {level.name: level for level in find_levels(sweep, caches, 1, most)}


def size_of(level: Level) -> int:
    """Return a size that must be known."""
    assert level.working_set_bytes is not None
    return level.working_set_bytes


def test_the_sweep_goes_from_4_kib_to_four_last_caches_in_even_steps() -> None:
    sizes = sweep_sizes(CACHES, 40, MOST)
    assert len(sizes) == 40
    assert sizes[0] == 4 * KIB
    assert sizes[-1] == pytest.approx(BEYOND_LAST_CACHE * 32 * MIB, rel=0.01)
    assert all(after > before and after % KIB == 0 for before, after in pairwise(sizes))
    ratios = [after / before for before, after in pairwise(sizes[10:])]  # below, whole KiB are coarse
    assert max(ratios) / min(ratios) < 1.1


def test_the_sweep_stays_within_the_memory_limit() -> None:
    assert max(sweep_sizes(CACHES, 24, 8 * MIB)) <= 8 * MIB
    assert max(sweep_sizes((), 24, MOST)) <= UNKNOWN_CACHE_DRAM_BYTES
    assert min(sweep_sizes(CACHES, 24, 1)) > 0


@pytest.mark.twin("LLC")
def test_three_caches_that_are_as_reported_agree() -> None:
    levels = found([cache.size_bytes for cache in CACHES])
    assert list(levels) == ["L1", "L2", "L3", "DRAM"]
    for cache in CACHES:
        level = levels[cache.name]
        assert level.agrees is True
        assert level.skipped is None
        assert level.effective_bytes is not None
        assert 0.6 * cache.size_bytes <= level.effective_bytes <= 2 * cache.size_bytes
    assert size_of(levels["L1"]) == 16 * KIB
    assert 2 * 32 * KIB < size_of(levels["L2"]) < 0.6 * MIB
    assert 2 * MIB < size_of(levels["L3"]) < 0.6 * 32 * MIB
    assert size_of(levels["DRAM"]) >= BEYOND_LAST_CACHE * 32 * MIB
    assert levels["DRAM"].effective_bytes is None


@pytest.mark.canary("LLC")
@pytest.mark.parametrize("share", [3, 5])
def test_a_guests_small_share_of_l3_is_seen_and_its_set_fits_it(share: int) -> None:
    capacity = 32 * MIB // share
    levels = found([32 * KIB, 1 * MIB, capacity])
    l3 = levels["L3"]
    assert l3.agrees is False
    assert l3.effective_bytes is not None
    assert l3.effective_bytes <= 2 * capacity
    assert size_of(l3) <= capacity
    assert size_of(levels["DRAM"]) >= BEYOND_LAST_CACHE * 32 * MIB


def test_an_l3_that_cannot_be_told_from_dram_has_no_effective_capacity() -> None:
    levels = found([32 * KIB, 1 * MIB, 32 * MIB], rates=(200e9, 70e9, 10.2e9, 10e9))
    assert levels["L3"].effective_bytes is None
    assert levels["L3"].agrees is None
    assert levels["L2"].agrees is True


def test_a_machine_that_reports_no_caches_has_dram_alone() -> None:
    levels = found([], rates=RATES[3:], caches=())
    assert list(levels) == ["DRAM"]
    assert size_of(levels["DRAM"]) == UNKNOWN_CACHE_DRAM_BYTES
    assert levels["DRAM"].skipped is None


def test_a_lone_point_below_its_plateau_is_noise() -> None:
    capacities = [cache.size_bytes for cache in CACHES]
    sweep = sweep_of(capacities, RATES, sweep_sizes(CACHES, 40, MOST))
    clean = find_levels(sweep, CACHES, 1, MOST)
    inside = next(k for k, point in enumerate(sweep) if point.size_bytes > 200 * KIB)
    sweep[inside] = SweepPoint(size_bytes=sweep[inside].size_bytes, byte_per_s=8e9)
    assert find_levels(sweep, CACHES, 1, MOST) == clean


def test_slow_smallest_sets_do_not_hide_the_first_level() -> None:
    capacities = [cache.size_bytes for cache in CACHES]
    sweep = sweep_of(capacities, RATES, sweep_sizes(CACHES, 40, MOST))
    clean = find_levels(sweep, CACHES, 1, MOST)
    # So short a pass is mostly the loop around it.
    tiny = [SweepPoint(size_bytes=1024, byte_per_s=30e9), SweepPoint(size_bytes=2048, byte_per_s=60e9)]
    assert find_levels([*tiny, *sweep], CACHES, 1, MOST) == clean


def test_a_few_percent_of_noise_change_no_verdict() -> None:
    levels = found([cache.size_bytes for cache in CACHES], noise=0.08)
    assert [level.agrees for level in levels.values()] == [True, True, True, None]
    assert all(level.skipped is None for level in levels.values())


def test_the_coarse_sweep_of_the_quick_mode_finds_the_same_levels() -> None:
    levels = found([cache.size_bytes for cache in CACHES], count=24)
    assert [level.agrees for level in levels.values()] == [True, True, True, None]


def test_too_little_memory_for_dram_is_a_reason_to_skip_it() -> None:
    levels = found([cache.size_bytes for cache in CACHES], most=100 * MIB)
    assert levels["DRAM"].working_set_bytes is None
    assert levels["DRAM"].skipped == ("a DRAM set takes 128 MiB (4 x the last cache), the memory limit leaves 100 MiB")
    assert levels["L3"].skipped is None


def test_two_threads_reach_together_what_the_limit_denies_one() -> None:
    levels = tuple(found([cache.size_bytes for cache in CACHES], most=100 * MIB).values())
    assert working_set_bytes(levels, "DRAM", 2, 100 * MIB) == 100 * MIB
    assert isinstance(working_set_bytes(levels, "DRAM", 1, 100 * MIB), str)


def test_threads_share_a_shared_level_and_not_a_private_one() -> None:
    levels = (
        Level(name="L1", reported_bytes=32 * KIB),
        Level(name="L2", reported_bytes=1 * MIB),
        Level(name="L3", reported_bytes=64 * MIB, shared_by=8),
        Level(name="DRAM"),
    )
    for private in ("L1", "L2"):
        assert working_set_bytes(levels, private, 1, MOST) == working_set_bytes(levels, private, 8, MOST)
    alone, two, eight, sixteen = (working_set_bytes(levels, "L3", threads, MOST) for threads in (1, 2, 8, 16))
    assert isinstance(alone, int) and isinstance(two, int) and isinstance(eight, int)
    assert 2 * MIB < eight < two < alone < 0.6 * 64 * MIB
    assert two < 0.6 * 32 * MIB
    assert eight < 0.6 * 8 * MIB
    assert sixteen == eight
    assert working_set_bytes(levels, "DRAM", 8, MOST) == BEYOND_LAST_CACHE * 64 * MIB


def test_a_share_that_is_hardly_more_than_the_level_before_is_refused_in_words() -> None:
    levels = (Level(name="L2", reported_bytes=1 * MIB), Level(name="L3", reported_bytes=16 * MIB, shared_by=8))
    reason = working_set_bytes(levels, "L3", 8, MOST)
    assert reason == ("L3 has for each of 8 cores only 2 MiB: too little to tell it from the 1 MiB of the level before")
    assert isinstance(working_set_bytes(levels, "L3", 2, MOST), int)


def test_a_level_that_is_not_there_is_refused_with_those_that_are() -> None:
    levels = (Level(name="L1", reported_bytes=32 * KIB), Level(name="DRAM"))
    assert working_set_bytes(levels, "L4", 1, MOST) == "this machine reports no L4 (known: L1, DRAM)"


def test_the_measured_capacity_counts_where_it_is_smaller_than_the_reported() -> None:
    small = (Level(name="L1", reported_bytes=32 * KIB, effective_bytes=20 * KIB),)
    large = (Level(name="L1", reported_bytes=32 * KIB, effective_bytes=60 * KIB),)
    assert working_set_bytes(small, "L1", 1, MOST) == 10 * KIB
    assert working_set_bytes(large, "L1", 1, MOST) == 16 * KIB


def test_hardware_threads_of_one_core_share_as_one() -> None:
    assert cores_sharing(Cache(name="L1", size_bytes=1, shared_by=2), threads_per_core=2) == 1
    assert cores_sharing(Cache(name="L3", size_bytes=1, shared_by=16), threads_per_core=2) == 8
    assert cores_sharing(Cache(name="L1", size_bytes=1, shared_by=1), threads_per_core=2) == 1


@settings(derandomize=True, max_examples=150, deadline=None)
@given(
    l1_kib=st.sampled_from([32, 48, 64, 128]),
    l2_times=st.sampled_from([8, 16, 32, 64]),
    l3_times=st.sampled_from([8, 16, 32, 64]),
    drops=st.tuples(*[st.floats(1.5, 4.0)] * 3),
    l3_share=st.floats(0.4, 1.0),
    noise=st.floats(0.0, 0.04),
)
def test_on_any_machine_the_sets_fit_their_level_and_leave_the_one_before(
    l1_kib: int, l2_times: int, l3_times: int, drops: tuple[float, ...], l3_share: float, noise: float
) -> None:
    l1 = l1_kib * KIB
    l2, l3 = l1 * l2_times, l1 * l2_times * l3_times
    caches = [Cache(name=name, size_bytes=size) for name, size in (("L1", l1), ("L2", l2), ("L3", l3))]
    rates = [200e9]
    for drop in drops:
        rates.append(rates[-1] / drop)
    capacities = [l1, l2, int(l3 * l3_share)]
    levels = found(capacities, rates, caches, 64 * GIB, noise)
    before = 0
    for capacity, level in zip(capacities, levels.values(), strict=False):
        if level.skipped is None:
            assert before * 1.5 < size_of(level) < capacity
        before = capacity
    assert size_of(levels["DRAM"]) >= BEYOND_LAST_CACHE * l3
    assert levels["L1"].skipped is None


@pytest.mark.parametrize(
    ("capacities", "codes"), [((32 * KIB, MIB, 4 * MIB), []), ((32 * KIB, 100 * KIB, 4 * MIB), ["LEVELS"])]
)
def test_a_cache_of_ones_own_that_seems_far_too_small_is_told_of_and_a_shared_one_is_not(
    capacities: tuple[int, ...], codes: list[str]
) -> None:
    caveats = small_caches(tuple(found(capacities).values()))
    assert [caveat.code for caveat in caveats] == codes
    assert all("L2" in caveat.message for caveat in caveats)


def test_of_two_sweeps_the_faster_points_count() -> None:
    quiet = sweep_of((32 * KIB, MIB, 8 * MIB), RATES, sweep_sizes(CACHES, 40, MOST))
    disturbed = [replace(p, byte_per_s=p.byte_per_s / (3 if 9 < k < 20 else 1)) for k, p in enumerate(quiet)]
    also_disturbed = [replace(p, byte_per_s=p.byte_per_s / (3 if k > 25 else 1)) for k, p in enumerate(quiet)]
    assert better_of(disturbed, also_disturbed) == tuple(quiet)
