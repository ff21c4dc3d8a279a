"""Trials that nobody measured, made of the numbers that their pairs shall have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log
from random import Random
from statistics import NormalDist
from typing import Any

from msgspec.structs import replace
from sample_host import sample_environment, sample_machine

from roofline.model.trial import PROFILES, Pair, Profile, Side, Timed, Trial, TrialPoint

BASE_S = 1e-3
ROOF_PER_S = 5e10
CLOCK_HZ = 3e9
SAME, SLOWER = "control: same code", "control: slower code"
FIVE_PERCENT = log(1.05)
TINY = Profile(name="tiny", screen_pairs=6, confirm_pairs=7, most_noise=0.05)
"""The fewest pairs with which both stages can find anything, and nothing, too."""


def spread(count: int, sd: float, centre: float = 0.0) -> tuple[float, ...]:
    """Return the quantiles of a normal distribution, in an order that tells nothing."""
    found = [centre + sd * NormalDist().inv_cdf((k + 0.5) / count) for k in range(count)]
    Random(count).shuffle(found)
    return tuple(found)


def point_of(name: str, control: str = "", **fields: Any) -> TrialPoint:
    """Return a point that is called so."""
    kernel = "stream.triad" if control else name
    return TrialPoint(
        name=name, kernel=kernel, n=8192, dtype="f64", threads=1, control=control, repeats=20,
        stretched=control == "slower", **fields,
    )  # fmt: skip


def timed_of(best_s: float, roof_per_s: float | None = ROOF_PER_S, after: float = 1.0, clock: float = 1.0) -> Timed:
    """Return one kernel's samples; `after` and `clock` are what the second probe found over the first."""
    if roof_per_s is None:
        return Timed(samples_s=(1.3 * best_s, best_s, 1.1 * best_s))
    return Timed(
        samples_s=(1.3 * best_s, best_s, 1.1 * best_s),
        roof_samples=(roof_per_s, roof_per_s * after),
        clock_samples_hz=(CLOCK_HZ, CLOCK_HZ * clock),
    )


def pair_of(point: str, stage: int, launch: int, difference: float, **fields: Any) -> Pair:
    """Return a pair whose head takes exp(difference) times as long."""
    sides = {"base": timed_of(BASE_S), "head": timed_of(BASE_S * exp(difference))} | fields
    return Pair(point=point, stage=stage, launch=launch, base_first=launch % 2 == 0, **sides)


def pairs_of(point: str, stage: int, differences: Sequence[float]) -> tuple[Pair, ...]:
    """Return a pair for each difference."""
    return tuple(pair_of(point, stage, launch, d) for launch, d in enumerate(differences, 1))


def refused_pair(point: str, stage: int, launch: int, difference: float = 0.0) -> Pair:
    """Return a pair in which the roof was 10 % lower for the head."""
    head = timed_of(BASE_S * exp(difference), 0.9 * ROOF_PER_S)
    return pair_of(point, stage, launch, difference, head=head)


def trial_of(
    points: Mapping[str, Sequence[Sequence[float]]],
    profile: str | Profile = "full",
    controls: Mapping[str, Sequence[Sequence[float]]] | None = None,
    **fields: Any,
) -> Trial:
    """Return a trial: for each point its differences when screening and, if there are, when confirming.

    The controls hold unless `controls` says otherwise.
    """
    planned = PROFILES[profile] if isinstance(profile, str) else profile
    counts = (planned.screen_pairs, planned.confirm_pairs)
    stages = 1 + any(len(stages) > 1 for stages in points.values())
    held = {
        SAME: [spread(count, 0.01) for count in counts[:stages]],
        SLOWER: [spread(count, 0.01, FIVE_PERCENT) for count in counts[:stages]],
    }
    asked = {**points, **held, **(controls or {})}
    described = [point_of(name, {SAME: "same", SLOWER: "slower"}.get(name, "")) for name in asked]
    pairs = [
        pair for name, both in asked.items() for stage, values in enumerate(both, 1)
        for pair in pairs_of(name, stage, values)
    ]  # fmt: skip
    trial = Trial(
        id="20261203-090000-a1b2",
        started_utc="2026-12-03T09:00:00Z",
        machine=sample_machine(),
        environment=sample_environment(),
        base=Side(name="main", revision="1" * 40),
        head=Side(name="HEAD", revision="2" * 40),
        profile=planned,
        seed=7,
        points=tuple(described),
        pairs=tuple(pairs),
        elapsed_s=60.0,
        complete=True,
    )
    return replace(trial, **fields)


def mirrored(trial: Trial) -> Trial:
    """Return the trial with its labels swapped: base is head. A slowed-down control stays the head's."""
    slowed = {point.name for point in trial.points if point.control == "slower"}
    swapped = [p if p.point in slowed else replace(p, base=p.head, head=p.base) for p in trial.pairs]
    return replace(trial, base=trial.head, head=trial.base, pairs=tuple(swapped))
