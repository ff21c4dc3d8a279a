"""Whether a trial file is what it says it is: its verdicts, its pairs, its coins and its controls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from math import sqrt
from typing import Any

from roofline.archive.ceiling_claims import ceiling_claims
from roofline.archive.comparison import Comparison, builtins_of
from roofline.archive.conditions import caveat_defects, future_defects, machine_claims
from roofline.archive.content_digest import digest_defects
from roofline.archive.proofs import FEWEST, uncounted
from roofline.archive.tree import Defect, shown
from roofline.archive.trial_plausibility import trial_defects
from roofline.model.host_caveat import host_caveats
from roofline.model.trial import CONTROLS, SIDES, Trial
from roofline.model.trial_verdict import assay_defect, to_confirm, verdicts_of

UNFAIR = 4.9
"""Standard deviations from half of the tosses that a fair coin leaves once in a million trials."""


class TrialChecks:
    """The checks of one trial, which count the numbers that they derive."""

    def __init__(self, trial: Trial, tree: Any, now: datetime) -> None:
        self.trial = trial
        self.tree = tree
        self.now = now
        self.compared = Comparison()
        self.verdicts = verdicts_of(trial)

    def defects(self) -> Iterator[Defect]:
        """Yield everything that does not hold."""
        trial = self.trial
        yield from trial_defects(trial)
        yield from self.compared.ceilings(trial.ceilings)
        yield from ceiling_claims(trial.ceilings)
        yield from self._verdicts()
        yield from machine_claims(trial.machine, trial.environment)
        yield from caveat_defects(trial.caveats, host_caveats(trial.machine, trial.environment))
        yield from future_defects(trial.started_utc, self.now)
        yield from self._controls()
        yield from self._samples()
        yield from self._order()
        yield from self._counts()
        yield from self._coins()
        yield from digest_defects(self.tree, always=False)

    def doubts(self) -> Iterator[str]:
        """Yield what holds, and is no sound result."""
        if not self.trial.complete:
            yield f"the trial is incomplete: {self.trial.reason or 'reason unknown'}"
        if (defect := assay_defect(self.trial, self.verdicts)) is not None:
            yield f"the controls did not hold: {defect}"
        for point in self.trial.points:
            if point.stretched and not point.control:
                yield f"{point.name} was slowed down on purpose, for a study"

    def _verdicts(self) -> Iterator[Defect]:
        stored, expected = self.tree.get("verdicts"), [builtins_of(verdict) for verdict in self.verdicts]
        if not isinstance(stored, list) or len(stored) != len(expected):
            found = f"{len(stored)} verdicts" if isinstance(stored, list) else "nothing"
            yield Defect("verdicts", found, f"{len(expected)}, one for each point")
            return
        yield from self.compared.same("verdicts", stored, expected)

    def _controls(self) -> Iterator[Defect]:
        """Nothing was timed without both controls, which are the same code on both sides."""
        kinds = Counter(point.control for point in self.trial.points if point.control)
        for kind in CONTROLS:
            if self.trial.pairs and kinds[kind] != 1:
                yield Defect("points", f"{kinds[kind]} controls of {kind} code", "one")
        for index, point in enumerate(self.trial.points):
            if point.control and point.base.digest != point.head.digest:
                found = f"{shown(point.base.digest)} and {shown(point.head.digest)}"
                yield Defect(f"points[{index}].head.digest", found, "the same code on both sides of a control")
            if point.control and point.stretched != (point.control == "slower"):
                expected = "true for the control of slower code, false for that of the same"
                yield Defect(f"points[{index}].stretched", str(point.stretched).lower(), expected)

    def _samples(self) -> Iterator[Defect]:
        """No two processes give the same times, all of them whole nanoseconds, and the trial takes longer than all."""
        repeats = {point.name: point.repeats for point in self.trial.points}
        first: dict[tuple[float, ...], str] = {}
        sampled_s = 0.0
        for index, pair in enumerate(self.trial.pairs):
            for side in SIDES:
                path, timed = f"pairs[{index}].{side}.samples_s", getattr(pair, side).samples_s
                sampled_s += repeats[pair.point] * sum(timed)
                yield from uncounted(timed, repeats[pair.point], path)
                earlier = first.setdefault(timed, path) if len(timed) >= FEWEST else path
                if earlier != path:
                    yield Defect(path, f"{earlier} again", "samples of its own")
        elapsed_s = self.trial.elapsed_s
        if elapsed_s is not None and elapsed_s < sampled_s:
            yield Defect("elapsed_s", f"{elapsed_s:g} s", f"at least the {sampled_s:.4g} s of its samples")
        elif elapsed_s is None and self.trial.complete:
            yield Defect("elapsed_s", "nothing", "what the trial took")

    def _order(self) -> Iterator[Defect]:
        """Launches come one after the other, those that confirm last; a pair that is accepted ends its point's."""
        for index, (pair, later) in enumerate(pairwise(self.trial.pairs), 1):
            if (later.stage, later.launch) < (pair.stage, pair.launch):
                found = f"stage {later.stage}, launch {later.launch}"
                expected = f"one after stage {pair.stage}, launch {pair.launch}"
                yield Defect(f"pairs[{index}].launch", found, expected)
        ended: set[tuple[str, int, int]] = set()
        for index, pair in enumerate(self.trial.pairs):
            key = (pair.point, pair.stage, pair.launch)
            if key in ended:
                expected = "none after the one of this launch that was accepted"
                yield Defect(f"pairs[{index}]", f"another pair of {shown(pair.point)}", expected)
            if pair.accepted:
                ended.add(key)

    def _counts(self) -> Iterator[Defect]:
        """A complete trial took as many pairs as its profile plans, or tried as often as that allows."""
        trial, profile = self.trial, self.trial.profile
        broken = any(failure.kind != "skipped" for failure in trial.failures)
        confirmed = to_confirm(trial)
        counted = Counter((pair.point, pair.stage) for pair in trial.pairs if pair.accepted)
        launches: dict[tuple[str, int], int] = {}
        for pair in trial.pairs:
            launches[pair.point, pair.stage] = max(pair.launch, launches.get((pair.point, pair.stage), 0))
        for index, point in enumerate(trial.points):
            for stage, planned in ((1, profile.screen_pairs), (2, profile.confirm_pairs)):
                most = (1 + profile.rejected_per_accepted) * planned
                count, tried = counted[point.name, stage], launches.get((point.name, stage), 0)
                what = "screening" if stage == 1 else "confirming"
                found = f"{count} {what} pairs of it in {tried} launches"
                asked = stage == 1 or point.name in confirmed
                if tried and not asked:
                    yield Defect(f"points[{index}]", found, "none, as screening flagged nothing that needs them")
                elif count > planned or tried > most:
                    yield Defect(f"points[{index}]", found, f"at most {planned} in {most} launches")
                elif asked and trial.complete and not broken and count < planned and tried < most:
                    expected = f"{planned}, or {most} launches, as the trial is complete"
                    yield Defect(f"points[{index}]", found, expected)

    def _coins(self) -> Iterator[Defect]:
        """Which side came first was a coin's choice, anew for every pair."""
        count = len(self.trial.pairs)
        heads = sum(pair.base_first for pair in self.trial.pairs)
        if count and abs(2 * heads - count) / sqrt(count) > UNFAIR:
            yield Defect("pairs", f"the base first in {heads} of {count}", "about half, as a fair coin has it")
