"""Pairs of processes that time the same points in turns."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest
from sides import REPEATS, SHORT, Sides, found

from roofline.errors import NotComparable
from roofline.measurement.plan import KernelPoint
from roofline.model.trial import STRETCH, Profile

A, B = (f"{kernel} n=100 f64 ×1" for kernel in "ab")
SAME, SLOWER = (f"control: {kind} code (control n=100 f64 ×1)" for kind in ("same", "slower"))

BUSY = [
    "say",
    {
        "record": "timed",
        "timed": {"samples_s": [1.0], "roof_samples": [1e9, 2e9], "clock_samples_hz": [3e9, 3e9]},
    },
]
"""The roof was twice as high after the kernel as before."""


@pytest.fixture
def sides(tmp_path: Path) -> Sides:
    """Two kernels on both sides."""
    return Sides(tmp_path, "a", "b")


def test_every_point_and_both_controls_are_timed_in_as_many_pairs_as_planned(sides: Sides) -> None:
    sides.times["a"]["head"] = 1.25
    trial = sides.duel().fought()
    assert [point.name for point in trial.points] == [A, B, SAME, SLOWER]
    assert [point.control for point in trial.points] == ["", "", "same", "slower"]
    for point in trial.points:
        pairs = trial.accepted(point.name, 1)
        assert [pair.launch for pair in pairs] == [1, 2]
        expected = {A: 1.25, SLOWER: STRETCH[0] / STRETCH[1]}.get(point.name, 1.0)
        assert [pair.head.best_s / pair.base.best_s for pair in pairs] == [pytest.approx(expected)] * 2
    assert (trial.complete, trial.reason, trial.failures) == (True, None, ())
    assert trial.elapsed_s is not None
    assert sides.kept[-1].pairs == trial.pairs
    assert sides.left() == []


def test_both_sides_count_and_make_the_same_calls_and_only_a_slowed_head_more(sides: Sides) -> None:
    sides.kernels["a"]["head"] = {"repeats": 77}
    sides.kernels["b"]["base"] = {"repeats": 41}
    sides.duel(stretched=frozenset({"b"})).fought()
    assert set(sides.timed("base", "a")) == set(sides.timed("head", "a")) == {(77, 77)}
    assert set(sides.timed("base", "b")) == {(60, 60)}  # a multiple of 20 that is not below 41
    assert set(sides.timed("head", "b")) == {(60, 63)}
    assert set(sides.timed("base", "control")) == {(REPEATS, REPEATS), (40, 40)}
    assert set(sides.timed("head", "control")) == {(REPEATS, REPEATS), (40, 42)}


def test_a_coin_decides_which_side_is_first_anew_for_every_pair(sides: Sides) -> None:
    profile = Profile(name="long", screen_pairs=6, confirm_pairs=1, most_noise=1.0)
    trial = sides.duel(profile).fought()
    asked = [entry[0] for entry in sides.log if entry[1] == "time"]
    assert asked[::2] == ["base" if pair.base_first else "head" for pair in trial.pairs]
    assert all({one, other} == {"base", "head"} for one, other in zip(asked[::2], asked[1::2], strict=True))
    for launch in range(1, 7):
        assert len({p.point for p in trial.pairs if p.launch == launch}) == 4
    coins = [pair.base_first for pair in trial.pairs]
    assert 6 <= sum(coins) <= 18
    assert len({tuple(coins[k : k + 4]) for k in range(0, 24, 4)}) > 2
    orders = {tuple(p.point for p in trial.pairs if p.launch == launch) for launch in range(1, 7)}
    assert len(orders) > 2
    again = sides.duel(profile).fought()
    assert [(p.point, p.base_first) for p in again.pairs] == [(p.point, p.base_first) for p in trial.pairs]


def test_what_was_chosen_is_timed_again_with_coins_of_its_own(sides: Sides) -> None:
    seen = []
    trial = sides.duel(choose=lambda grown: seen.append(len(grown.pairs)) or (B, SAME, SLOWER)).fought()
    assert seen == [4 * SHORT.screen_pairs]
    assert {(pair.point, pair.launch) for pair in trial.pairs if pair.stage == 2} == {
        (name, launch) for name in (B, SAME, SLOWER) for launch in (1, 2, 3)
    }
    assert trial.complete


def test_a_flagged_control_is_timed_again_though_no_kernel_is(sides: Sides) -> None:
    trial = sides.duel(choose=lambda grown: (SAME, SLOWER)).fought()
    assert len(trial.accepted(SAME, 2)) == len(trial.accepted(SLOWER, 2)) == SHORT.confirm_pairs


def test_each_side_is_given_its_own_files(sides: Sides) -> None:
    sides.duel().fought()
    assert {(entry[0], *entry[3]) for entry in sides.log if entry[1] != "time"} == {
        ("base", "base.py"), ("head", "head.py"),
    }  # fmt: skip


def test_pairs_that_do_not_count_are_taken_again_but_not_for_ever(sides: Sides) -> None:
    sides.acts["head time a"] = BUSY
    trial = sides.duel().fought()
    launches = {name: [pair.launch for pair in trial.pairs if pair.point == name] for name in (A, B)}
    most = (1 + SHORT.rejected_per_accepted) * SHORT.screen_pairs
    assert launches[A] == [launch for launch in range(1, most + 1) for _ in range(3)]
    assert launches[B] == list(range(1, SHORT.screen_pairs + 1))
    assert trial.accepted(A, 1) == ()
    assert trial.complete


def test_a_moments_disturbance_costs_no_new_processes(sides: Sides) -> None:
    sides.acts["head time once a"] = BUSY
    trial = sides.duel().fought()
    assert [(pair.launch, pair.accepted) for pair in trial.pairs if pair.point == A] == [
        (1, False), (1, True), (2, True),
    ]  # fmt: skip
    assert {pair.launch for pair in trial.pairs} == {1, 2}


def test_the_time_limit_ends_a_trial_with_what_was_measured(sides: Sides) -> None:
    trial = sides.duel(limit_s=9.0, clock=lambda: 10.0 * len(sides.kept)).fought()
    assert (trial.complete, trial.reason, len(trial.pairs)) == (False, "time limit", 4)
    assert trial.elapsed_s == 10.0


def test_progress_rises_and_says_which_stage_it_is(sides: Sides) -> None:
    ticks = count()
    sides.duel(choose=lambda grown: (A,), clock=lambda: float(next(ticks))).fought()
    shares = [step.done for step in sides.told]
    assert shares[: SHORT.screen_pairs] == sorted(shares[: SHORT.screen_pairs])
    assert all(0 <= share < 1 for share in shares)
    assert [step.point.partition(":")[0] for step in sides.told] == ["screening"] * 2 + [
        "confirming what was flagged"
    ] * 3
    assert sides.told[1].remaining_s < float("inf")


@pytest.mark.parametrize(("budget_bytes", "groups"), [(None, 1), (16_000, 1), (12_000, 2), (4_000, 4), (1, 4)])
def test_data_that_does_not_fit_the_memory_is_made_in_groups(
    budget_bytes: int | None, groups: int, sides: Sides
) -> None:
    trial = sides.duel(memory_budget_bytes=budget_bytes).fought()
    prepared = [entry[2] for entry in sides.log if entry[:2] == ["head", "prepare"]]
    assert len(prepared) == groups * SHORT.screen_pairs
    assert [kernel for group in prepared[:groups] for kernel in group] == ["a", "b", "control", "control"]
    assert all(len(trial.accepted(name, 1)) == SHORT.screen_pairs for name in (A, B, SAME, SLOWER))


def test_sides_that_share_a_code_cache_rehearse_one_after_the_other(sides: Sides) -> None:
    shared = sides.duel(base=sides.program("base", environment={}), head=sides.program("head", environment={}))
    sides.acts["base rehearse a"] = ["sleep first", 0.2]
    sides.program("base")  # writes the script again
    assert shared.fought().complete
    assert [entry[0] for entry in sides.log if entry[1] == "rehearse"] == ["base", "head"]


def test_a_size_that_differs_is_not_compared(sides: Sides) -> None:
    sides.points = (KernelPoint(kernel="a", dtype="f64", threads=1, level="L2"), sides.points[1])
    sides.kernels["a"]["head"] = {"n": 99}
    trial = sides.duel().fought()
    assert [(failure.side, failure.kind) for failure in trial.failures] == [("", "skipped")]
    assert trial.failures[0].point == "a in L2 f64 ×1"
    assert "its size is 100 on the one side and 99 on the other" in trial.failures[0].message
    assert [point.name for point in trial.points] == [B, SAME, SLOWER]


def test_a_control_that_is_not_the_same_code_is_said_to_be_of_no_use(sides: Sides) -> None:
    sides.kernels["control"]["head"] = {"digest": "other"}
    with pytest.raises(NotComparable, match=r"the control, control n=100 f64 ×1, is not the same code on both sides"):
        sides.duel().fought()
    assert sides.left() == []


def test_a_control_that_cannot_be_timed_is_said_to_be_so(sides: Sides) -> None:
    sides.acts["head rehearse control"] = ["die", "SIGSEGV"]
    with pytest.raises(NotComparable, match="cannot be timed on both sides: head: the process died of SIGSEGV"):
        sides.duel().fought()


def test_a_trial_needs_something_to_compare(tmp_path: Path) -> None:
    sides = Sides(tmp_path, "a")
    sides.acts["base rehearse a"] = ["exit", 3]
    with pytest.raises(NotComparable, match=r"no kernel can be timed .*: the process exited with 3: the last line of"):
        sides.duel().fought()


def test_sizes_registers_and_errors_of_both_sides_are_in_the_record(sides: Sides) -> None:
    sides.kernels["a"] = found("a", base={"vector_register": "xmm"}, head={"vector_register": "zmm", "error": 1e-9})
    point = sides.duel().fought().points[0]
    assert (point.base.vector_register, point.head.vector_register) == ("xmm", "zmm")
    assert (point.base.error, point.head.error) == (None, 1e-9)
    assert (point.n, point.level, point.repeats) == (100, "L2", REPEATS)
