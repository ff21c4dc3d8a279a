"""What a user declares of one call."""

from __future__ import annotations

from typing import Any

import pytest

from roofline.errors import UsageError
from roofline.model.claim import claim_of
from roofline.model.roof import pattern_of


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"flops": 0},
        {"flops": 0, "bytes": 0},
        {"flops": -1},
        {"flops": float("nan")},
        {"flops": float("inf")},
        {"flops": "100"},
        {"flops": True},
        {"flops": 2**63},
        {"flops": [100]},
        {"flops": 10, "bytes": -8},
        {"bytes": 8, "read_bytes": 8},
        {"bytes": 8, "write_bytes": 0},
        {"read_bytes": 8, "write_bytes": float("nan")},
    ],
    ids=str,
)
def test_what_no_call_can_do_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        claim_of(**given)


def test_flops_alone_are_held_against_arithmetic_alone() -> None:
    (work,) = claim_of(flops=2e9).readings
    assert (work.flops, work.bytes) == (2 * 10**9, 0)


def test_bytes_of_an_unknown_mix_may_be_any_pattern_and_stay_so_many() -> None:
    readings = claim_of(flops=7, bytes=2400).readings
    assert {pattern_of(work) for work in readings} == {"load", "update", "triad"}
    assert {work.bytes for work in readings} == {2400}
    assert {work.flops for work in readings} == {7}


def test_what_is_written_may_have_been_read_before_or_not() -> None:
    readings = claim_of(read_bytes=1600, write_bytes=800).readings
    assert [pattern_of(work) for work in readings] == ["update", "triad"]
    assert {work.bytes for work in readings} == {2400}


def test_what_is_only_read_has_one_reading() -> None:
    (work,) = claim_of(read_bytes=1600).readings
    assert pattern_of(work) == "load"


def test_a_numpy_number_is_a_number() -> None:
    numpy = pytest.importorskip("numpy")
    assert claim_of(flops=numpy.int64(5), bytes=numpy.float64(8)).bytes == 8
