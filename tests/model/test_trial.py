"""Pairs: which of them count, and what they say."""

from __future__ import annotations

from itertools import product
from math import exp, log

import pytest
from msgspec.structs import replace
from trial_of import BASE_S, ROOF_PER_S, pair_of, refused_pair, timed_of, trial_of

from roofline.model.trial import CLOCK_APART, PROBE_APART, PROFILES, Timed


def test_the_best_sample_counts() -> None:
    assert timed_of(2e-3).best_s == 2e-3
    pair = pair_of("a", 1, 1, log(1.05))
    assert pair.log_time == pytest.approx(log(1.05))


def test_the_roof_of_a_sample_is_the_middle_of_its_probes() -> None:
    assert Timed(samples_s=(1.0,), roof_samples=(4e9, 9e9)).roof_per_s == pytest.approx(6e9)
    assert Timed(samples_s=(1.0,)).roof_per_s is None
    assert Timed(samples_s=(1.0,), roof_samples=(4e9,)).roof_per_s is None


def test_a_slower_machine_beside_slower_code_is_no_slower_share_of_the_roof() -> None:
    head = timed_of(BASE_S * 1.25, ROOF_PER_S / 1.25)
    pair = pair_of("a", 1, 1, 0.0, head=head)
    assert pair.log_time == pytest.approx(log(1.25))
    assert pair.log_roof == pytest.approx(0.0)
    assert pair_of("a", 1, 1, 0.0, head=timed_of(BASE_S, None)).log_roof is None


@pytest.mark.parametrize("kernel", [0.0, 1.0, -1.0], ids=["as fast", "slower", "faster"])
@pytest.mark.parametrize(
    ("base", "head", "counts"),
    [
        ({}, {}, True),
        ({"after": exp(PROBE_APART - 1e-6)}, {}, True),
        ({"after": exp(PROBE_APART + 1e-6)}, {}, False),
        ({"after": exp(-PROBE_APART - 1e-6)}, {}, False),
        ({}, {"after": exp(PROBE_APART + 1e-6)}, False),
        ({"clock": exp(CLOCK_APART - 1e-6)}, {}, True),
        ({"clock": exp(CLOCK_APART + 1e-6)}, {}, False),
        ({}, {"clock": exp(-CLOCK_APART - 1e-6)}, False),
        ({}, {"roof_per_s": ROOF_PER_S * exp(PROBE_APART - 1e-6)}, True),
        ({}, {"roof_per_s": ROOF_PER_S * exp(PROBE_APART + 1e-6)}, False),
        ({"roof_per_s": ROOF_PER_S * exp(PROBE_APART + 1e-6)}, {}, False),
        ({"roof_per_s": None}, {"roof_per_s": None}, True),
        ({"roof_per_s": None}, {}, True),
    ],
)
def test_probes_alone_decide_whether_a_pair_counts(
    base: dict[str, float], head: dict[str, float], counts: bool, kernel: float
) -> None:
    sides = {"base": timed_of(BASE_S, **base), "head": timed_of(BASE_S * exp(kernel), **head)}
    pair = pair_of("a", 1, 1, 0.0, **sides)
    assert pair.accepted is counts
    assert replace(pair, base=pair.head, head=pair.base).accepted is counts  # and not which side is which


def test_a_probe_that_stood_still_counts_for_nothing() -> None:
    assert not timed_of(BASE_S, 0.0).steady


def test_no_more_pairs_count_than_were_planned_and_the_first_ones_do() -> None:
    planned = PROFILES["quick"].screen_pairs
    trial = trial_of({"a": [[0.01 * k for k in range(planned + 5)]]}, profile="quick")
    assert [pair.launch for pair in trial.accepted("a", 1)] == list(range(1, planned + 1))
    refused = refused_pair("a", 1, 0)
    assert replace(trial, pairs=(refused, *trial.pairs)).accepted("a", 1) == trial.accepted("a", 1)
    assert trial.accepted("a", 2) == trial.accepted("b", 1) == ()


def test_points_and_stages_are_kept_apart() -> None:
    trial = trial_of({"a": [[0.1] * 18, [0.2] * 44], "b": [[0.3] * 18]})
    found = {(name, stage): {round(p.log_time, 6) for p in trial.accepted(name, stage)} for name, stage in
             product("ab", (1, 2))}  # fmt: skip
    assert found == {("a", 1): {0.1}, ("a", 2): {0.2}, ("b", 1): {0.3}, ("b", 2): set()}


def test_profiles_take_the_pairs_that_the_rule_was_computed_for() -> None:
    counts = {name: (profile.screen_pairs, profile.confirm_pairs) for name, profile in PROFILES.items()}
    assert counts == {"full": (18, 44), "quick": (12, 24)}
