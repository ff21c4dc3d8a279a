"""Where a footprint lies."""

from __future__ import annotations

import pytest

from roofline.model.levels import level_of
from roofline.model.run import Level

KIB, MIB = 2**10, 2**20
LEVELS = (
    Level(name="L1", reported_bytes=32 * KIB, effective_bytes=40 * KIB),
    Level(name="L2", reported_bytes=1 * MIB, effective_bytes=None),
    Level(name="L3", reported_bytes=32 * MIB, effective_bytes=10 * MIB, shared_by=2),
    Level(name="DRAM"),
)


@pytest.mark.parametrize(
    ("footprint", "threads", "level"),
    [
        (0, 1, "L1"),
        (32 * KIB, 1, "L1"),  # the smaller of measured and reported counts
        (32 * KIB + 1, 1, "L2"),
        (64 * KIB, 2, "L1"),  # two private instances
        (1 * MIB, 1, "L2"),
        (1 * MIB + 1, 1, "L3"),
        (10 * MIB, 2, "L3"),  # one instance that both share
        (10 * MIB + 1, 2, "DRAM"),
        (20 * MIB, 3, "L3"),  # the third core brings another instance
        (10**12, 64, "DRAM"),
    ],
)
def test_a_footprint_lies_in_the_nearest_level_that_holds_it(footprint: int, threads: int, level: str) -> None:
    assert level_of(footprint, threads, LEVELS) == level


def test_without_levels_nobody_knows_where_data_lies() -> None:
    assert level_of(8, 1, ()) == ""
    assert level_of(8, 1, (Level(name="L1"), Level(name="DRAM"))) == "DRAM"
