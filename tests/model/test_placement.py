"""Where a time from elsewhere lies under a roof."""

from __future__ import annotations

import pytest
from small_run import small_run

from roofline.errors import UnknownName, UsageError
from roofline.model.placement import placed

CEILINGS = small_run().ceilings
PEAK = CEILINGS.best_compute("f64", 1)
L2 = CEILINGS.best_memory("L2", 1)


def test_work_with_many_flops_is_held_against_the_compute_ceiling() -> None:
    assert PEAK is not None
    found = placed(CEILINGS, median_s=1.0, flops=10**10, moved_bytes=8)
    assert found.bound == PEAK.name
    assert found.percent_of_roof == pytest.approx(100 * 1e10 / PEAK.flop_per_s)
    assert found.roof_flop_per_s == pytest.approx(PEAK.flop_per_s)
    assert (found.flop_per_s, found.byte_per_s, found.flop_per_byte) == (1e10, 8, 1.25e9)


def test_work_with_many_bytes_is_held_against_the_best_pattern_of_the_furthest_level() -> None:
    assert L2 is not None
    found = placed(CEILINGS, median_s=1e-3, flops=10**6, moved_bytes=10**7)
    assert (found.level, found.bound) == ("L2", L2.name)
    assert found.percent_of_roof == pytest.approx(100 * 1e10 / L2.byte_per_s)
    assert found.roof_flop_per_s == pytest.approx(0.1 * L2.byte_per_s)


def test_a_level_that_is_named_counts() -> None:
    found = placed(CEILINGS, median_s=1e-3, flops=0, moved_bytes=10**7, level="L1")
    assert found.level == "L1" and found.bound.startswith("L1 ")
    assert (found.flop_per_s, found.roof_flop_per_s, found.flop_per_byte) == (None, None, None)


def test_work_without_bytes_needs_no_level() -> None:
    found = placed(CEILINGS, median_s=1.0, flops=10**10, moved_bytes=0)
    assert (found.level, found.byte_per_s, found.flop_per_byte) == ("", None, None)


def test_what_cannot_be_is_said_to_lie_above_the_roof() -> None:
    assert placed(CEILINGS, median_s=1e-3, flops=10**12, moved_bytes=0).is_above_roof
    assert not placed(CEILINGS, median_s=1.0, flops=10**10, moved_bytes=0).is_above_roof


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        ({"flops": 0, "moved_bytes": 0}, "no work is declared"),
        ({"flops": 1, "moved_bytes": 0, "dtype": "f16"}, r"no compute ceiling for f16 ×1 \(it has: f64 ×1\)"),
        ({"flops": 0, "moved_bytes": 1, "threads": 7}, r"no memory ceiling for L2 ×7 \(it has: L1 ×1, L2 ×1\)"),
    ],
)
def test_without_a_ceiling_there_is_no_place(asked: dict[str, object], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        placed(CEILINGS, median_s=1.0, **asked)  # type: ignore[arg-type]


def test_an_unknown_level_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(UnknownName, match="known: L1, L2"):
        placed(CEILINGS, median_s=1.0, flops=1, moved_bytes=1, level="L9")
