"""What a trial says of each point: the two-stage rule, the same for live pairs and for simulated ones.

Stage one screens every point on few pairs; what it flags is measured again, and only the fresh pairs of stage two
decide. Both stages are signed-rank tests whose null distribution is exact, because a coin decides the order within each
pair; the coins of the stages are independent, so their levels multiply. The family's false alarms stay below
K x screen_alpha x FAMILY_ALPHA / K = 1 %, whatever the number K of kernels. Two looks, counts fixed before the first
sample, no more pairs because of what was seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, sqrt
from statistics import NormalDist, median

from msgspec.structs import replace

from roofline.model.signed_rank import (
    hodges_lehmann,
    hodges_lehmann_interval,
    p_greater,
)
from roofline.model.struct import Value
from roofline.model.trial import CONTROLS, FAMILY_ALPHA, Profile, Trial, TrialPoint

VERDICTS = ("slower", "faster", "same", "inconclusive")
CONFIRMED = ("slower", "faster")
LACKING = ("BUSY", "FEW")
"""Reasons of a point of which too few pairs count."""
_EFFICIENCY = 0.955
"""Of the signed-rank test beside the t test, for normal noise (3 / pi)."""
_MAD = 1.4826
"""Median absolute deviation to standard deviation, for normal noise."""
_POWER = 0.95


class Verdict(Value, frozen=True, kw_only=True):
    """What a trial says of one point."""

    point: str
    verdict: str
    """One of VERDICTS: `slower` and `faster` are confirmed on fresh pairs."""
    reason: str = ""
    """Why it is inconclusive: `NOISY`, `BUSY`, `FEW`, `WIDE`, `ASSAY`."""
    ratio: float | None = None
    """Head's time over the base's: Hodges and Lehmann's estimate."""
    interval: tuple[float, float] | None = None
    """Its exact 95 % interval."""
    noise: float | None = None
    """Standard deviation of the pairs, as a share."""
    smallest_effect: float | None = None
    """Share by which a change had to exceed 0 to be confirmed 95 times in 100, at this noise."""
    basis: str = "time"
    """`time`, or `roof` where each side's time was divided by its own roof's: whichever varied less when screening."""
    pairs: tuple[int, int] = (0, 0)
    """How many counted when screening and when confirming."""
    screened: str = ""
    """What the first stage flagged: `slower`, `faster` or nothing."""


class Differences(Value, frozen=True, kw_only=True):
    """The accepted pairs of one point in one stage, as ln(head / base)."""

    by_time: tuple[float, ...] = ()
    """Of the times."""
    by_roof: tuple[float, ...] = ()
    """Of the shares of the roof, each inverted; none for a point without a roof."""

    def of(self, basis: str) -> tuple[float, ...]:
        """Return those of a basis: `time` or `roof`."""
        return self.by_roof if basis == "roof" else self.by_time


class Screened(Value, frozen=True, kw_only=True):
    """What the first stage says of one point."""

    basis: str
    noise: float
    flagged: str
    """`slower`, `faster` or empty."""


def differences_of(trial: Trial, point: TrialPoint, stage: int) -> Differences:
    """Return a point's accepted pairs of a stage."""
    pairs = trial.accepted(point.name, stage)
    by_roof = tuple(pair.log_roof for pair in pairs if pair.log_roof is not None)
    return Differences(
        by_time=tuple(pair.log_time for pair in pairs), by_roof=by_roof if len(by_roof) == len(pairs) else ()
    )


def basis_of(by_time: Sequence[float], by_roof: Sequence[float]) -> str:
    """Return which differences vary less about 0.

    The mean square does not change when the sides of any pair are swapped, so the choice keeps the test exact.
    """
    if not by_roof:
        return "time"
    squares = [sum(difference**2 for difference in differences) for differences in (by_time, by_roof)]
    return "roof" if squares[1] < squares[0] else "time"


def noise_of(differences: Sequence[float]) -> float:
    """Return the robust standard deviation of differences about their median."""
    middle = median(differences)
    return _MAD * median(abs(difference - middle) for difference in differences)


def flagged(differences: Sequence[float], alpha: float, margin: float = 0.0) -> str:
    """Return `slower` or `faster` when a one-sided test at `alpha` says so beyond the margin, else nothing."""
    shift = log(1 + margin)
    if p_greater([difference - shift for difference in differences]) <= alpha:
        return "slower"
    if p_greater([-difference - shift for difference in differences]) <= alpha:
        return "faster"
    return ""


def confirm_alpha(profile: Profile, kernels: int) -> float:
    """Return the second stage's level for so many kernels."""
    return min(profile.confirm_alpha, FAMILY_ALPHA / max(1, kernels))


def screened(found: Differences, profile: Profile) -> Screened | None:
    """Return what the first stage says; None as long as pairs are missing."""
    if len(found.by_time) < profile.screen_pairs:
        return None
    basis = basis_of(found.by_time, found.by_roof)
    differences = found.of(basis)
    noise = noise_of(differences)
    says = flagged(differences, profile.screen_alpha) if noise <= profile.most_noise else ""
    return Screened(basis=basis, noise=noise, flagged=says)


def decided(
    point: str, first: Differences, second: Differences | None, profile: Profile, kernels: int, few: str = "FEW"
) -> Verdict:
    """Return the verdict on a point: from its screening pairs, and its confirming ones where it was confirmed.

    `few` is the reason where pairs are missing.
    """
    says = screened(first, profile)
    counts = (len(first.by_time), 0 if second is None else len(second.by_time))
    if says is None:
        return Verdict(point=point, verdict="inconclusive", reason=few, pairs=counts)
    fresh = () if second is None else second.of(says.basis)
    whole = len(fresh) == profile.confirm_pairs
    decisive = fresh if whole else first.of(says.basis)
    interval = hodges_lehmann_interval(decisive)
    confirmed = flagged(decisive, confirm_alpha(profile, kernels), profile.margin) if whole else ""
    verdict, reason = confirmed if confirmed == says.flagged else "", ""
    if says.noise > profile.most_noise:
        verdict, reason = "inconclusive", "NOISY"
    elif says.flagged and not whole:
        verdict, reason = "inconclusive", few
    elif not verdict:
        near = log(1 + profile.same_within)
        inside = interval is not None and -near < interval[0] and interval[1] < near
        verdict, reason = ("same", "") if inside else ("inconclusive", "WIDE")
    return Verdict(
        point=point,
        verdict=verdict,
        reason=reason,
        ratio=exp(hodges_lehmann(decisive)),
        interval=None if interval is None else (exp(interval[0]), exp(interval[1])),
        noise=says.noise,
        smallest_effect=smallest_effect(says.noise, profile, kernels),
        basis=says.basis,
        pairs=counts,
        screened=says.flagged,
    )


def to_confirm(trial: Trial) -> tuple[str, ...]:
    """Return the names of the points that the second stage measures, as `places_to_confirm` chooses them."""
    says = [screened(differences_of(trial, point, 1), trial.profile) for point in trial.points]
    places = places_to_confirm([point.control for point in trial.points], says)
    return tuple(trial.points[place].name for place in places)


def places_to_confirm(controls: Sequence[str], says: Sequence[Screened | None]) -> tuple[int, ...]:
    """Return the places of the points that the second stage measures: what was flagged, and both controls.

    `controls` holds for each point which control it is, empty for a kernel; `says` what the first stage found. None
    when nothing but the slowed-down control was flagged.
    """
    chosen = [
        place
        for place, (control, found) in enumerate(zip(controls, says, strict=True))
        if control != "slower" and found is not None and found.flagged
    ]
    if not chosen:
        return ()
    return tuple(dict.fromkeys((*chosen, *(place for place, control in enumerate(controls) if control))))


def verdicts_of(trial: Trial) -> tuple[Verdict, ...]:
    """Return what the trial says of each point, the controls too; all is inconclusive when these did not hold."""
    kernels = sum(1 for point in trial.points if not point.control)
    confirming = to_confirm(trial)
    found = tuple(_verdict(trial, point, kernels, point.name in confirming) for point in trial.points)
    if assay_defect(trial, found) is None:
        return found
    return tuple(
        verdict
        if point.control or verdict.verdict == "inconclusive"
        else replace(verdict, verdict="inconclusive", reason="ASSAY")
        for point, verdict in zip(trial.points, found, strict=True)
    )


def assay_defect(trial: Trial, verdicts: Sequence[Verdict]) -> str | None:
    """Return what the controls have shown to be wrong with the whole trial; None when they held."""
    both = list(zip(trial.points, verdicts, strict=True))
    controls = [(point.control, verdict) for point, verdict in both if point.control]
    others = [verdict for point, verdict in both if not point.control]
    return defect_of_controls(controls, others, trial.profile)


def defect_of_controls(
    controls: Sequence[tuple[str, Verdict]], others: Sequence[Verdict], profile: Profile
) -> str | None:
    """Return what controls, each with its kind, have shown to be wrong; None when they held.

    The same code on both sides must not be confirmed to differ; the same code with 5 % more calls must be flagged, and
    confirmed where there was a second stage. A control that lacks pairs holds nothing up: when screening, all depends
    on it, and when confirming, what was decided there. Without one of the two nothing is known.
    """
    for kind in CONTROLS:
        if kind not in dict(controls):
            return f"control: {kind} code: the trial has none"
    fresh = any(verdict.screened and verdict.pairs[1] >= profile.confirm_pairs for verdict in others)
    for kind, verdict in controls:
        if kind == "same" and verdict.verdict in CONFIRMED:
            return f"{verdict.point}: the same code on both sides was found {verdict.verdict}"
        screening, confirming = verdict.pairs
        lacking = verdict.reason in LACKING
        if lacking and (screening < profile.screen_pairs or (confirming and fresh)):
            return f"{verdict.point}: too few of its pairs count"
        if kind == "slower" and verdict.screened != "slower":
            return f"{verdict.point}: 5 % more calls were not noticed"
        if kind == "slower" and confirming and not lacking and verdict.verdict != "slower":
            return f"{verdict.point}: 5 % more calls were not confirmed"
    return None


def smallest_effect(noise: float, profile: Profile, kernels: int) -> float:
    """Return the share that a change must have to pass both stages 95 times in 100, for normal noise."""
    alphas = (profile.screen_alpha, confirm_alpha(profile, kernels))
    counts = (profile.screen_pairs, profile.confirm_pairs)
    margins = (0.0, profile.margin)
    if noise <= 0:
        return profile.margin

    def power(effect: float) -> float:
        both = 1.0
        for alpha, count, margin in zip(alphas, counts, margins, strict=True):
            reach = sqrt(count * _EFFICIENCY) * (log(1 + effect) - log(1 + margin)) / noise
            both *= NormalDist().cdf(reach - NormalDist().inv_cdf(1 - alpha))
        return both

    low, high = 0.0, 1.0
    while power(high) < _POWER and high < 1e3:
        high *= 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if power(middle) >= _POWER else (middle, high)
    return high


def _verdict(trial: Trial, point: TrialPoint, kernels: int, confirming: bool) -> Verdict:
    first = differences_of(trial, point, 1)
    second = differences_of(trial, point, 2) if confirming else None
    few = _why_few(trial, point, 1 if len(first.by_time) < trial.profile.screen_pairs else 2)
    return decided(point.name, first, second, trial.profile, kernels, few)


def _why_few(trial: Trial, point: TrialPoint, stage: int) -> str:
    """Return why a stage has too few pairs: the machine was never the same for both, or the trial ended."""
    launches = {pair.launch for pair in trial.pairs if (pair.point, pair.stage) == (point.name, stage)}
    planned = trial.profile.screen_pairs if stage == 1 else trial.profile.confirm_pairs
    return "BUSY" if len(launches) >= (1 + trial.profile.rejected_per_accepted) * planned else "FEW"
