"""Turns what can be said of a point into the end of a test."""

from __future__ import annotations

from typing import NoReturn

import pytest

from roofline.testing.point import DISABLED, Point, check_limit, outcome_of


def enforce(point: Point, percent_of_roof: float) -> None:
    """Return, fail or skip as `Point.assert_at_least` says."""
    __tracebackhide__ = True
    limit = check_limit(percent_of_roof)
    if point.status == DISABLED:
        pytest.skip(f"{point.name}: {'; '.join(point.notes)}")
    outcome = outcome_of(point, limit)
    refused = outcome.result == "failed" and (point.status == "above_roof" or bool(point.unsound))
    if point.unfit and not refused:
        give_up(f"{outcome.message}; this machine is unfit now: {'; '.join(point.unfit)}", point.policy.strict)
    if outcome.result == "failed":
        raise AssertionError(outcome.message)
    if outcome.result == "inconclusive":
        if point.policy.on_inconclusive == "fail":
            raise AssertionError(f"inconclusive: {outcome.message}")
        if point.policy.on_inconclusive == "skip":
            pytest.skip(f"inconclusive: {outcome.message}")


def give_up(reason: str, strict: bool) -> NoReturn:
    """Skip the test with a reason; fail it where skips are not wanted."""
    __tracebackhide__ = True
    if strict:
        pytest.fail(f"{reason} (--roofline-strict)", pytrace=False)
    pytest.skip(reason)
