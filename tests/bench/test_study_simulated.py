"""A small part of the simulated study: the whole one stands on the guide's page `ab`."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bench.study_simulated import SCENARIOS, at_least, at_most, studied
from roofline.model.trial import PROFILES

REFUSED = ("throttling in step", "clock of 15.6 ms", "second turn 10 % slower")
"""Noise under which nothing can be concluded."""


@pytest.mark.parametrize("name", SCENARIOS)
def test_no_kernel_is_called_slower_where_none_is(name: str) -> None:
    counts = studied(SCENARIOS[name], PROFILES["quick"], kernels=6, families=12, seed=3)
    assert counts.alarms == 0
    assert (counts.concluded == 0) == (name in REFUSED)
    assert counts.found >= 0.9 * counts.slowed_concluded


def test_five_percent_are_found_on_a_quiet_machine() -> None:
    counts = studied(SCENARIOS["quiet"], PROFILES["quick"], kernels=5, families=10, seed=4)
    assert (counts.found, counts.slowed_concluded, counts.controls_failed) == (10, 10, 0)


def test_the_study_sees_a_rule_that_raises_false_alarms() -> None:
    careless = replace(PROFILES["quick"], screen_alpha=0.5, confirm_alpha=0.5, margin=0.0)
    assert studied(SCENARIOS["ci"], careless, kernels=1, families=200, seed=5).alarms >= 10


def test_the_bounds_are_those_of_clopper_and_pearson() -> None:
    assert at_most(0, 299) == pytest.approx(0.00997, abs=1e-5)  # 1 - 0.05 ** (1 / 299)
    assert at_least(59, 59) == pytest.approx(0.05 ** (1 / 59))
    assert (at_most(5, 5), at_least(0, 5)) == (1.0, 0.0)
