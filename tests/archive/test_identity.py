"""What a run may be called."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from random import Random

import pytest

from roofline.archive.identity import MAX_LABEL, RUN_ID, new_id, validated_label
from roofline.errors import UsageError

NOON = datetime(2026, 11, 4, 12, 0, 7, tzinfo=UTC)


def test_an_id_tells_the_time_in_utc() -> None:
    assert new_id(NOON, Random(1)).startswith("20261104-120007-")
    assert new_id(NOON.astimezone(timezone(timedelta(hours=14))), Random(1)).startswith("20261104-120007-")


def test_every_id_is_a_file_name() -> None:
    ids = {new_id(NOON, Random(seed)) for seed in range(50)}
    assert len(ids) > 40
    assert all(RUN_ID.fullmatch(run_id) for run_id in ids)


def test_the_suffix_keeps_its_leading_zeros() -> None:
    class Zero(Random):
        def getrandbits(self, k: int) -> int:
            return 0

    assert new_id(NOON, Zero()).endswith("-0000")


def test_ids_sort_by_time() -> None:
    later = [new_id(NOON + timedelta(seconds=17 * step), Random(step)) for step in range(100)]
    assert later == sorted(later)


@pytest.mark.parametrize("label", ["base", "after tiling", "ü × 2", "v1.2/rc", "$x_1$", "lasting", "x" * MAX_LABEL])
def test_a_printable_name_is_a_label(label: str) -> None:
    assert validated_label(f" {label} ") == label


@pytest.mark.parametrize(
    ("label", "reason"),
    [
        ("", "it is empty"),
        (" \t", "it is empty"),
        ("x" * (MAX_LABEL + 1), "it has 101 characters, expected at most 100"),
        ("a\nb", "control"),
        ("\x1b[31mred", "control"),
        ("a\x00b", "control"),
        ("a\u202eb", "invisible"),
        ("a\u200bb", "invisible"),
        ("\ud800", "control"),
        ("last", "means something else"),
        ("last~2", "means something else"),
        ("20261104-120007-a1b2", "means something else"),
    ],
)
def test_what_cannot_name_a_run_is_no_label(label: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason) as refused:
        validated_label(label)
    assert str(refused.value).isprintable()
