"""How many samples a kernel gets beside its roof, and when timing it stops."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, cast

import pytest

from roofline.measurement.pairing import Pairing
from roofline.measurement.probe import Stage
from roofline.measurement.witness import Note


class Timed:
    """A kernel on a clock of its own, each call longer than the one before by `drift`."""

    is_compiled = True

    def __init__(self, call_s: float, drift: float = 0.0) -> None:
        self.now_s, self.call_s, self.drift = 0.0, call_s, drift

    def take(self, repeats: int) -> tuple[float, float]:
        interval_s = repeats * self.call_s
        self.call_s *= 1 + self.drift
        self.now_s += interval_s
        return interval_s, 3e9

    def settle(self) -> None: ...


class Seen:
    """A note that only counts."""

    clock_steps_back = 0
    doubled: float | None = None

    def sample(self) -> Any:
        return nullcontext()


def taken(timed: Timed, budget_s: float) -> Any:
    stage = Stage(team=cast(Any, None), clock=lambda: timed.now_s, sample_s=1.5e-3, witness=cast(Any, None))
    pairing = Pairing(stage, cast(Any, None), cast(Any, None), ())
    return pairing.alternate(timed, None, budget_s, cast(Note, Seen()))


@pytest.mark.parametrize("budget_s", [0.0, 0.02])
def test_a_kernel_gets_the_samples_that_an_interval_needs_whatever_its_budget(budget_s):
    found = taken(Timed(1e-2, drift=0.05), budget_s)
    assert (len(found.samples_s), found.stopped) == (6, "budget")


def test_a_kernel_whose_samples_would_keep_everybody_waiting_gets_fewer():
    found = taken(Timed(0.4, drift=0.05), 0.0)
    assert found.stopped == "budget"
    assert 1 <= len(found.samples_s) < 6


def test_samples_that_agree_end_it_long_before_the_budget_does():
    found = taken(Timed(1e-2), 1000.0)
    assert (len(found.samples_s), found.stopped) == (6, "precise")


def test_samples_that_never_agree_end_all_the_same():
    found = taken(Timed(1e-2, drift=0.5), 1e12)
    assert (len(found.samples_s), found.stopped) == (60, "samples")
