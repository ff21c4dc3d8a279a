"""What one core has of the caches, from levels as they were found."""

from __future__ import annotations

import pytest
from ceilings_of import memory
from msgspec.structs import replace

from roofline.kernels.capacity import UNKNOWN, Capacity
from roofline.measurement.levels import core_capacity, with_reading
from roofline.model.ceilings import Ceilings
from roofline.model.run import Level

KIB, MIB = 2**10, 2**20
LEVELS = (
    Level(name="L1", reported_bytes=32 * KIB),
    Level(name="L2", reported_bytes=1 * MIB),
    Level(name="L3", reported_bytes=64 * MIB, shared_by=8),
    Level(name="DRAM"),
)


@pytest.mark.parametrize(("threads", "last_bytes"), [(1, 64 * MIB), (2, 32 * MIB), (8, 8 * MIB), (16, 8 * MIB)])
def test_threads_get_their_share_of_a_shared_cache_and_all_of_their_own(threads: int, last_bytes: int) -> None:
    assert core_capacity(LEVELS, threads) == Capacity(
        first_bytes=32 * KIB, second_bytes=1 * MIB, last_bytes=last_bytes, threads=threads
    )


def test_of_the_measured_and_the_reported_capacity_the_smaller_one_counts() -> None:
    levels = (
        Level(name="L1", reported_bytes=32 * KIB, effective_bytes=40 * KIB),
        Level(name="L2", reported_bytes=1 * MIB, effective_bytes=700 * KIB),
        Level(name="L3", reported_bytes=None, effective_bytes=9 * MIB, shared_by=4),
    )
    assert core_capacity(levels, 2) == Capacity(
        first_bytes=32 * KIB, second_bytes=700 * KIB, last_bytes=9 * MIB // 2, threads=2
    )


def test_a_cache_of_unknown_capacity_is_passed_over() -> None:
    levels = (LEVELS[0], Level(name="L2", reported_bytes=None), LEVELS[2], LEVELS[3])
    assert core_capacity(levels, 8) == Capacity(
        first_bytes=32 * KIB, second_bytes=8 * MIB, last_bytes=8 * MIB, threads=8
    )


def test_memory_is_no_cache_and_without_any_a_usual_core_is_assumed() -> None:
    dram = Level(name="DRAM", reported_bytes=None, effective_bytes=2**34)
    assert core_capacity((dram,), 1) == core_capacity((), 1) == UNKNOWN
    assert core_capacity((), 6) == Capacity(threads=6)


def test_memory_is_read_as_the_highest_load_ceiling_of_as_many_threads_reads_it() -> None:
    fetched = replace(memory(50e9, pattern="load", isa="avx512"), ahead_bytes=2048)
    plain = replace(memory(60e9, pattern="load", isa="avx2"), ahead_bytes=0)
    near = replace(memory(90e9, pattern="load", level="L2"), ahead_bytes=64)
    alone = Capacity(threads=1)
    assert with_reading(alone, Ceilings(memory=(fetched, near))).ahead_bytes == 2048
    assert with_reading(alone, Ceilings(memory=(fetched, plain, near))).ahead_bytes == 0
    assert with_reading(Capacity(threads=2), Ceilings(memory=(plain, near))) == Capacity(threads=2)
    assert with_reading(alone, Ceilings(memory=(replace(plain, pattern="copy"),))) == alone
