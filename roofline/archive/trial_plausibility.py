"""What a well-formed trial can still get wrong: what passes here can be judged and shown, whoever wrote it."""

from __future__ import annotations

from collections.abc import Iterator

from roofline.archive.plausibility import (
    AMOUNT,
    CLOCK_HZ,
    COUNT,
    RATE,
    TIME_S,
    ceiling_defects,
    header_defects,
    level_defects,
    machine_defects,
    within,
)
from roofline.archive.tree import Defect, shown
from roofline.model.trial import CONTROLS, SIDES, Pair, Profile, Timed, Trial, TrialPoint

MAX_POINTS = 500
MAX_PAIRS = 60_000
MAX_STAGE_PAIRS = 100
"""Of one point in one stage: the exact distribution of more takes seconds."""
MAX_SAMPLES = 1000
"""Of a kernel in one process."""
SHARE = (0.0, 1.0)
LEVEL = (1e-6, 0.5)
"""Of a test."""


def trial_defects(trial: Trial) -> Iterator[Defect]:
    """Yield what is implausible in a trial."""
    yield from header_defects(trial.id, trial.started_utc)
    yield from within("elapsed_s", trial.elapsed_s, (0.0, 1e9))
    yield from machine_defects(trial.machine, trial.environment)
    yield from _profile_defects(trial.profile)
    for index, compute in enumerate(trial.ceilings.compute):
        yield from ceiling_defects(compute, f"ceilings.compute[{index}]")
    for index, memory in enumerate(trial.ceilings.memory):
        yield from ceiling_defects(memory, f"ceilings.memory[{index}]")
    yield from level_defects(trial.levels)
    if len(trial.points) > MAX_POINTS:
        yield Defect("points", f"{len(trial.points)} points", f"at most {MAX_POINTS}")
    if len(trial.pairs) > MAX_PAIRS:
        yield Defect("pairs", f"{len(trial.pairs)} pairs", f"at most {MAX_PAIRS}")
    names: set[str] = set()
    for index, point in enumerate(trial.points):
        yield from _point_defects(point, f"points[{index}]", names)
        names.add(point.name)
    for index, pair in enumerate(trial.pairs):
        yield from _pair_defects(pair, f"pairs[{index}]", names)
    for index, failure in enumerate(trial.failures):
        if failure.side not in (*SIDES, ""):
            yield Defect(f"failures[{index}].side", shown(failure.side), "base, head or nothing")


def _profile_defects(profile: Profile) -> Iterator[Defect]:
    for name in ("screen_pairs", "confirm_pairs"):
        yield from within(f"profile.{name}", getattr(profile, name), (1, MAX_STAGE_PAIRS))
    for name in ("screen_alpha", "confirm_alpha"):
        yield from within(f"profile.{name}", getattr(profile, name), LEVEL)
    for name in ("most_noise", "margin", "same_within"):
        yield from within(f"profile.{name}", getattr(profile, name), SHARE)
    yield from within("profile.rejected_per_accepted", profile.rejected_per_accepted, (0, MAX_STAGE_PAIRS))


def _point_defects(point: TrialPoint, path: str, others: set[str]) -> Iterator[Defect]:
    if point.name in others:
        yield Defect(f"{path}.name", f"{shown(point.name)} twice", "each point once")
    if point.control not in ("", *CONTROLS):
        yield Defect(f"{path}.control", shown(point.control), f"{', '.join(CONTROLS)} or nothing")
    yield from within(f"{path}.threads", point.threads, COUNT)
    for name in ("n", "repeats"):
        yield from within(f"{path}.{name}", getattr(point, name), AMOUNT)


def _pair_defects(pair: Pair, path: str, points: set[str]) -> Iterator[Defect]:
    if pair.point not in points:
        yield Defect(f"{path}.point", shown(pair.point), "the name of one of the trial's points")
    if pair.stage not in (1, 2):
        yield Defect(f"{path}.stage", shown(pair.stage), "1 or 2")
    yield from _timed_defects(pair.base, f"{path}.base")
    yield from _timed_defects(pair.head, f"{path}.head")


def _timed_defects(timed: Timed, path: str) -> Iterator[Defect]:
    if not 1 <= len(timed.samples_s) <= MAX_SAMPLES:
        yield Defect(f"{path}.samples_s", f"{len(timed.samples_s)} values", f"1 to {MAX_SAMPLES}")
    for name in ("roof_samples", "clock_samples_hz"):
        if len(getattr(timed, name)) not in (0, 2):
            yield Defect(f"{path}.{name}", f"{len(getattr(timed, name))} values", "one before and one after, or none")
    limits = {"samples_s": TIME_S, "roof_samples": RATE, "clock_samples_hz": CLOCK_HZ}
    for name, bounds in limits.items():
        for index, value in enumerate(getattr(timed, name)):
            yield from within(f"{path}.{name}[{index}]", value, bounds)
