"""The two-stage rule: what is flagged, what is confirmed, and what nothing is said of."""

from __future__ import annotations

from math import exp, log
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from trial_of import FIVE_PERCENT, SAME, SLOWER, mirrored, pair_of, refused_pair, spread, timed_of, trial_of

from roofline.model.signed_rank import p_greater
from roofline.model.trial import PROFILES, Trial
from roofline.model.trial_verdict import (
    Differences,
    Verdict,
    assay_defect,
    basis_of,
    confirm_alpha,
    decided,
    differences_of,
    flagged,
    noise_of,
    screened,
    smallest_effect,
    to_confirm,
    verdicts_of,
)

FULL, QUICK = PROFILES["full"], PROFILES["quick"]
quick = settings(max_examples=60, derandomize=True, deadline=None)


def verdict_on(name: str, trial: Trial) -> Verdict:
    (found,) = (verdict for verdict in verdicts_of(trial) if verdict.point == name)
    return found


def both(sd: float, centre: float) -> list[tuple[float, ...]]:
    """Return the differences of both stages of a full trial."""
    return [spread(18, sd, centre), spread(44, sd, centre)]


@pytest.mark.parametrize("profile", ["full", "quick"])
def test_a_change_that_both_stages_see_is_confirmed(profile: str) -> None:
    counts = (PROFILES[profile].screen_pairs, PROFILES[profile].confirm_pairs)
    points = {
        "slow": [spread(count, 0.02, FIVE_PERCENT) for count in counts],
        "fast": [spread(count, 0.02, -FIVE_PERCENT) for count in counts],
        "same": [spread(counts[0], 0.02)],
    }
    trial = trial_of(points, profile=profile)
    assert to_confirm(trial) == ("slow", "fast", SAME, SLOWER)
    found = {verdict.point: verdict for verdict in verdicts_of(trial)}
    assert {name: verdict.verdict for name, verdict in found.items()} == {
        "slow": "slower", "fast": "faster", "same": "same", SAME: "same", SLOWER: "slower",
    }  # fmt: skip
    slow = found["slow"]
    assert (slow.screened, slow.pairs, slow.reason) == ("slower", counts, "")
    assert slow.ratio == pytest.approx(1.05, abs=1e-3)
    assert slow.interval is not None and 1.03 < slow.interval[0] < 1.05 < slow.interval[1] < 1.07


def test_what_the_first_stage_does_not_flag_is_never_confirmed() -> None:
    trial = trial_of({"a": [spread(18, 0.02), spread(44, 0.02, 0.2)], "b": both(0.02, FIVE_PERCENT)})
    assert flagged(differences_of(trial, trial.points[0], 2).by_time, 0.01, FULL.margin) == "slower"
    assert verdict_on("a", trial).verdict == "same"
    assert "a" not in to_confirm(trial)


def test_what_both_stages_flag_in_opposite_directions_is_not_confirmed() -> None:
    trial = trial_of({"a": [spread(18, 0.02, FIVE_PERCENT), spread(44, 0.02, -0.2)]})
    assert verdict_on("a", trial).verdict == "inconclusive"


def test_only_fresh_pairs_decide() -> None:
    trial = trial_of({"a": [spread(18, 0.01, 0.2), spread(44, 0.01)]})
    assert verdict_on("a", trial).verdict == "same"
    assert verdict_on("a", trial).ratio == pytest.approx(1, abs=1e-3)


def test_a_change_below_the_margin_is_never_confirmed() -> None:
    trial = trial_of({"a": both(0.0005, log(1.009)), "b": both(0.0005, log(1.02))})
    assert (verdict_on("a", trial).screened, verdict_on("a", trial).verdict) == ("slower", "same")
    assert verdict_on("b", trial).verdict == "slower"


def test_mirrored_labels_mirror_the_verdicts() -> None:
    points = {"a": both(0.02, FIVE_PERCENT), "b": both(0.03, -0.08), "c": [spread(18, 0.02)], "d": [spread(18, 0.07)]}
    trial = trial_of(points)
    opposite = {"slower": "faster", "faster": "slower"}
    for one, other in zip(verdicts_of(trial), verdicts_of(mirrored(trial)), strict=True):
        if one.point == SLOWER:
            assert other == one
            continue
        assert other.verdict == opposite.get(one.verdict, one.verdict)
        assert other.screened == opposite.get(one.screened, one.screened)
        assert (other.reason, other.basis, other.pairs) == (one.reason, one.basis, one.pairs)
        assert other.noise == pytest.approx(one.noise)
        assert one.ratio is not None and other.ratio == pytest.approx(1 / one.ratio)


@quick
@given(
    st.lists(st.tuples(st.floats(-0.2, 0.2), st.floats(-0.2, 0.2)), min_size=1, max_size=20),
    st.lists(st.booleans(), min_size=20, max_size=20),
)
def test_the_choice_of_basis_does_not_see_which_side_is_which(
    differences: list[tuple[float, float]], swaps: list[bool]
) -> None:
    by_time, by_roof = (tuple(pair[k] for pair in differences) for k in (0, 1))
    turned = [[-d if swap else d for d, swap in zip(ds, swaps, strict=False)] for ds in (by_time, by_roof)]
    assert basis_of(*turned) == basis_of(by_time, by_roof)


def test_shares_of_the_roof_decide_where_they_vary_less() -> None:
    disturbed = spread(18, 0.02)
    pairs = [
        pair_of("a", 1, k, d, head=timed_of(1e-3 * exp(d), 5e10 * exp(-d + 1e-4 * (k % 3))))
        for k, d in enumerate(disturbed, 1)
    ]
    trial = trial_of({"a": []})
    verdict = verdict_on("a", replace(trial, pairs=(*pairs, *trial.pairs)))
    assert verdict.basis == "roof"
    assert verdict.noise is not None and verdict.noise < 1e-3
    assert basis_of(disturbed, ()) == "time"


def test_the_basis_of_the_first_stage_holds_for_the_second() -> None:
    times, shares = spread(18, 0.02, FIVE_PERCENT), spread(18, 0.01, FIVE_PERCENT)
    first = Differences(by_time=times, by_roof=shares)
    second = Differences(by_time=spread(44, 0.001), by_roof=spread(44, 0.01, FIVE_PERCENT))
    verdict = decided("a", first, second, FULL, 1)
    assert (verdict.basis, verdict.verdict) == ("roof", "slower")


def test_a_second_stage_without_the_roof_of_the_first_decides_nothing() -> None:
    first = Differences(by_time=spread(18, 0.02, FIVE_PERCENT), by_roof=spread(18, 0.01, FIVE_PERCENT))
    second = Differences(by_time=spread(44, 0.01, FIVE_PERCENT))
    verdict = decided("a", first, second, FULL, 1)
    assert (verdict.verdict, verdict.reason) == ("inconclusive", "FEW")


def test_noise_beyond_the_gate_is_not_judged_and_the_least_visible_change_is_told() -> None:
    trial = trial_of({"a": both(0.07, 0.3), "b": both(0.02, FIVE_PERCENT)})
    verdict = verdict_on("a", trial)
    assert (verdict.verdict, verdict.reason, verdict.screened) == ("inconclusive", "NOISY", "")
    assert verdict.noise == pytest.approx(0.07, rel=0.05)
    assert verdict.smallest_effect is not None and 0.058 < verdict.smallest_effect < 0.062
    assert "a" not in to_confirm(trial)


def test_noise_is_a_standard_deviation_that_outliers_do_not_raise() -> None:
    quiet = spread(18, 0.02)
    assert noise_of(quiet) == pytest.approx(0.02, rel=0.05)
    assert noise_of([*quiet, 3.0]) == pytest.approx(0.02, rel=0.15)


def test_a_machine_that_never_stood_still_is_busy() -> None:
    trial = trial_of({"a": [[0.0] * 17]})
    refused = [refused_pair("a", 1, 100 + k) for k in range(37)]
    assert verdict_on("a", replace(trial, pairs=(*trial.pairs, *refused))).reason == "BUSY"
    assert verdict_on(SAME, replace(trial, pairs=(*trial.pairs, *refused))).verdict == "same"
    few = verdict_on("a", replace(trial, pairs=(*trial.pairs, *refused[1:])))
    assert (few.verdict, few.reason, few.pairs, few.ratio) == ("inconclusive", "FEW", (17, 0), None)


@pytest.mark.parametrize("reason", ["time limit", "SIGINT"])
def test_a_trial_that_ended_early_concludes_nothing_of_what_lacks_pairs(reason: str) -> None:
    points = {"a": [spread(18, 0.02, FIVE_PERCENT), spread(30, 0.02, FIVE_PERCENT)]}
    controls = {SAME: [spread(18, 0.01, 0.01), spread(44, 0.01)],
                SLOWER: [spread(18, 0.01, FIVE_PERCENT), spread(30, 0.01, FIVE_PERCENT)]}  # fmt: skip
    trial = trial_of({**points, "b": [spread(18, 0.02)]}, controls=controls, complete=False, reason=reason)
    verdict = verdict_on("a", trial)
    assert (verdict.verdict, verdict.reason, verdict.pairs) == ("inconclusive", "FEW", (18, 30))
    assert verdict_on("b", trial).verdict == "same"  # the first stage was whole, and its control was seen
    assert assay_defect(trial, verdicts_of(trial)) is None


def test_an_interval_wider_than_no_change_is_not_the_same() -> None:
    trial = trial_of({"a": [[0.01, -0.01] * 5 + [0.3, -0.3] * 4]})
    verdict = verdict_on("a", trial)
    assert verdict.screened == ""
    assert verdict.interval is not None and verdict.interval[1] > 1 + FULL.same_within
    assert (verdict.verdict, verdict.reason) == ("inconclusive", "WIDE")


def test_what_was_confirmed_beside_a_control_that_lacks_pairs_is_doubted() -> None:
    controls = {SLOWER: [spread(18, 0.01, FIVE_PERCENT), spread(43, 0.01, FIVE_PERCENT)]}
    trial = trial_of({"a": both(0.02, FIVE_PERCENT)}, controls=controls)
    assert assay_defect(trial, verdicts_of(trial)) == f"{SLOWER}: too few of its pairs count"
    assert verdict_on("a", trial).reason == "ASSAY"


def test_the_second_stage_of_a_control_that_was_not_flagged_decides_nothing() -> None:
    trial = trial_of({"a": both(0.02, FIVE_PERCENT)}, controls={SAME: [spread(18, 0.01), spread(43, 0.01)]})
    assert verdict_on("a", trial).verdict == "slower"


@pytest.mark.parametrize("control", [SAME, SLOWER])
def test_a_control_that_was_not_screened_is_said_to_lack_pairs(control: str) -> None:
    trial = trial_of({"a": [spread(18, 0.02)]}, controls={control: [[0.0]]})
    assert assay_defect(trial, verdicts_of(trial)) == f"{control}: too few of its pairs count"


@pytest.mark.parametrize(
    ("controls", "words"),
    [
        ({SAME: both(0.01, FIVE_PERCENT)}, "the same code on both sides was found slower"),
        ({SAME: both(0.01, -FIVE_PERCENT)}, "the same code on both sides was found faster"),
        ({SLOWER: both(0.01, 0.0)}, "5 % more calls were not noticed"),
        ({SLOWER: both(0.07, FIVE_PERCENT)}, "5 % more calls were not noticed"),
        ({SLOWER: [spread(18, 0.01, FIVE_PERCENT), spread(44, 0.01)]}, "5 % more calls were not confirmed"),
    ],
)
def test_controls_that_do_not_hold_take_every_conclusion_with_them(
    controls: dict[str, list[tuple[float, ...]]], words: str
) -> None:
    trial = trial_of({"a": both(0.02, FIVE_PERCENT), "b": [spread(18, 0.02)], "c": [[0.0]]}, controls=controls)
    found = verdicts_of(trial)
    assert words in str(assay_defect(trial, found))
    doubted = {verdict.point: (verdict.verdict, verdict.reason) for verdict in found if verdict.point in ("a", "b")}
    assert doubted == {"a": ("inconclusive", "ASSAY"), "b": ("inconclusive", "ASSAY")}
    assert verdict_on("c", trial).reason == "FEW"
    assert verdict_on("a", trial).ratio is not None  # the numbers stay


def test_the_control_is_not_held_against_a_trial_without_a_second_stage() -> None:
    trial = trial_of({"a": [spread(18, 0.02)]})
    assert to_confirm(trial) == ()
    assert assay_defect(trial, verdicts_of(trial)) is None
    assert verdict_on("a", trial).verdict == "same"


def test_a_flagged_control_of_the_same_code_is_confirmed_too() -> None:
    trial = trial_of({"a": [spread(18, 0.02)]}, controls={SAME: [spread(18, 0.01, FIVE_PERCENT)]})
    assert to_confirm(trial) == (SAME, SLOWER)


def test_nothing_is_screened_before_all_pairs_are_there() -> None:
    trial = trial_of({"a": [spread(17, 0.02, 0.3)]})
    assert screened(differences_of(trial, trial.points[0], 1), FULL) is None
    assert to_confirm(trial) == ()


@pytest.mark.parametrize(("kernels", "alpha"), [(0, 0.01), (1, 0.01), (20, 0.01), (50, 0.004), (100, 0.002)])
def test_the_levels_of_both_stages_multiply_to_one_percent_for_all_kernels(kernels: int, alpha: float) -> None:
    assert confirm_alpha(FULL, kernels) == pytest.approx(alpha)
    assert kernels * FULL.screen_alpha * confirm_alpha(FULL, kernels) <= 0.01 + 1e-12


def test_more_kernels_ask_for_more_evidence() -> None:
    negative = {31, *range(39, 45)}
    rare = [(-1 if rank in negative else 1) * 1e-3 * rank for rank in range(1, 45)]  # positive ranks: 710 of 990
    assert 0.002 < p_greater(rare) < 0.01
    confirmed = [d + log(1 + FULL.margin) for d in rare]
    asked = {"a": [spread(18, 0.02, FIVE_PERCENT), confirmed]}
    others = {f"k{k}": [spread(18, 0.02)] for k in range(99)}
    assert verdict_on("a", trial_of(asked)).verdict == "slower"
    assert verdict_on("a", trial_of({**asked, **others})).verdict == "same"


@pytest.mark.parametrize(
    ("sd", "effect"),
    [(0.02, 0.022), (0.03, 0.029), (0.04, 0.035), (0.05, 0.041), (0.055, 0.045), (0.06, 0.048), (0.08, 0.061)],
)
def test_the_smallest_effect_that_a_confirmation_alone_would_see_is_the_computed_one(sd: float, effect: float) -> None:
    unscreened = replace(FULL, screen_pairs=10**6)
    assert smallest_effect(sd, unscreened, 20) == pytest.approx(effect, abs=0.0006)
    assert effect - 0.0006 < smallest_effect(sd, FULL, 20) < 1.15 * effect  # both stages ask for a little more


@pytest.mark.parametrize(("sd", "kernels", "sees"), [(0.05, 50, True), (0.055, 20, True), (0.06, 20, False)])
def test_five_percent_is_seen_up_to_the_computed_noise(sd: float, kernels: int, sees: bool) -> None:
    assert (smallest_effect(sd, FULL, kernels) <= 0.05) is sees


def test_a_change_of_the_smallest_effect_passes_both_stages_as_often_as_it_says() -> None:
    noise, rounds = Random(3), 1500
    centre = log(1 + smallest_effect(0.05, FULL, 20))

    def says(count: int, alpha: float, margin: float) -> str:
        return flagged([noise.gauss(centre, 0.05) for _ in range(count)], alpha, margin)

    passed = sum(says(18, 0.05, 0) == says(44, 0.01, FULL.margin) == "slower" for _ in range(rounds))
    assert passed / rounds == pytest.approx(0.95, abs=0.02)


def test_the_quick_profile_sees_five_percent_at_its_own_gate() -> None:
    assert smallest_effect(QUICK.most_noise, QUICK, 20) <= 0.05 + 0.0005
    assert smallest_effect(FULL.most_noise, FULL, 50) <= 0.05


def test_the_smallest_effect_grows_with_noise_and_kernels_and_is_never_below_the_margin() -> None:
    effects = [smallest_effect(sd, FULL, 20) for sd in (0.0, 1e-6, 0.01, 0.05, 0.5, 5.0)]
    assert effects == sorted(effects)
    assert effects[0] == FULL.margin < 1 < effects[-1]
    assert smallest_effect(0.03, FULL, 20) < smallest_effect(0.03, FULL, 100)
