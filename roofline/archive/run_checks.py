"""Whether a run file is what it says it is: its numbers, its verdicts, its grade, its plan and its claims."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from roofline.archive.ceiling_claims import own_claims
from roofline.archive.comparison import Comparison, builtins_of
from roofline.archive.conditions import condition_defects, future_defects, machine_claims, time_defects
from roofline.archive.content_digest import digest_defects
from roofline.archive.migration import later_fields
from roofline.archive.plausibility import run_defects
from roofline.archive.proofs import is_proved, proof_defects, register_defects, repeated_samples
from roofline.archive.tree import Defect, shown
from roofline.model.final import rejudged
from roofline.model.grade import grade_of
from roofline.model.measurement import Measurement
from roofline.model.run import Run
from roofline.model.work import Work

SAME_JOB = 0.01
"""Forms of one job may differ by so much in their flops: scaling what was stored in fewer bits takes some."""
FIRST_JUDGED_SCHEMA = 2
"""Verdicts of earlier versions followed other rules: of their files only the numbers are compared."""


class RunChecks:
    """The checks of one run, which count the numbers that they derive."""

    def __init__(self, run: Run, tree: Any, now: datetime) -> None:
        self.run = run
        self.now = now
        self.tree = tree if isinstance(tree, dict) else {}
        self.final = rejudged(run)
        self.compared = Comparison()
        self.judges = self.tree.get("schema", FIRST_JUDGED_SCHEMA) >= FIRST_JUDGED_SCHEMA

    def defects(self) -> Iterator[Defect]:
        """Yield everything that does not hold."""
        yield from run_defects(self.run)
        yield from self._ceilings()
        yield from self._measurements()
        yield from self._ladders()
        yield from self._plan()
        yield from self._header()
        yield from self._claims()
        stored = self.tree.get("grade")
        if stored is None and self.tree and self.judges:
            yield Defect("grade", "nothing", "the grade, which every run of this schema has")
        if stored is not None:
            grade = grade_of(self.run)
            letter, reasons = (
                (stored.get("letter"), stored.get("reasons")) if isinstance(stored, dict) else (stored, None)
            )
            yield from self.compared.same("grade.letter", letter, grade.letter)
            # The words of reasons may differ between versions of this suite.
            found = len(reasons) if isinstance(reasons, list) else None
            yield from self.compared.same("grade.reasons", found, len(grade.reasons))
        yield from digest_defects(self.tree, always="again" in self.run.plan and bool(self.tree))

    def doubts(self) -> Iterator[str]:
        """Yield what holds, and is no sound result."""
        run = self.run
        if not is_proved(run):
            yield "no evidence beside any sample: an older version kept none, so that what was left out cannot be told"
        if not run.complete:
            yield f"the run is incomplete: {run.reason or 'reason unknown'}"
        for status in ("invalid", "above_roof", "failed"):
            named = [f"{m.kernel} n={m.n} {m.dtype} ×{m.threads}" for m in run.measurements if m.status == status]
            if named:
                yield f"{len(named)} {status}: {', '.join(named[:4])}{', ...' if len(named) > 4 else ''}"
        if (grade := grade_of(run)).letter == "D":
            yield f"grade D: {grade.gravest}; `python -m bench show {run.id}` has all reasons"

    def _ceilings(self) -> Iterator[Defect]:
        yield from self.compared.ceilings(self.run.ceilings)
        if not self.judges:
            return
        for kind in ("compute", "memory"):
            stored = getattr(self.run.ceilings, kind)
            for index, (ceiling, final) in enumerate(zip(stored, getattr(self.final.ceilings, kind), strict=True)):
                path = f"ceilings.{kind}[{index}]"
                derived = ceiling.rederived()
                own = {*derived.caveats, *(code for code in final.caveats if code not in ceiling.own_caveats)}
                if derived.launches and set(ceiling.caveats) != own:
                    yield Defect(f"{path}.caveats", shown(sorted(ceiling.caveats)), shown(sorted(own)))
                if ceiling.invalid != derived.invalid:
                    yield Defect(f"{path}.invalid", shown(ceiling.invalid), shown(derived.invalid))

    def _measurements(self) -> Iterator[Defect]:
        trees = self.tree.get("measurements", ())
        digests: dict[tuple[str, str], str] = {}
        for index, (measurement, final) in enumerate(zip(self.run.measurements, self.final.measurements, strict=True)):
            path = f"measurements[{index}]"
            if index < len(trees) and isinstance(trees[index], dict) and "derived" in trees[index]:
                derived = self.run.derived(measurement)
                yield from self.compared.same(
                    f"{path}.derived", trees[index]["derived"], None if derived is None else builtins_of(derived)
                )
            elif trees and self.judges and measurement.samples_s:
                yield Defect(f"{path}.derived", "nothing", "the numbers that follow from its samples")
            yield from self._proof(measurement, path)
            stored = (measurement.status, measurement.status_codes)
            expected = (final.status, final.status_codes)
            if self.judges and stored != expected and measurement.samples_s:
                yield Defect(f"{path}.status", _status(*stored), f"{_status(*expected)}, as the samples say")
            key = (measurement.kernel, measurement.variant)
            digest = digests.setdefault(key, measurement.digest)
            if digest != measurement.digest:
                yield Defect(f"{path}.digest", shown(measurement.digest), f"{digest}, as elsewhere in this run")
            used = len(self.run.environment.cpus_used)
            if used and measurement.threads > used:
                yield Defect(f"{path}.threads", str(measurement.threads), f"at most the {used} CPUs used")

    def _proof(self, measurement: Measurement, path: str) -> Iterator[Defect]:
        """What every measured kernel brings along: its own ceiling, blocks of that, and a time that they all fit in."""
        if measurement.ceiling and self.run.ceilings.named(measurement.ceiling) is None:
            yield Defect(f"{path}.ceiling", shown(measurement.ceiling), "a ceiling of this run")
        if not (self.judges and measurement.drawable):
            return
        if measurement.ceiling and len(measurement.roof_samples) != len(measurement.samples_s) + 1:
            found = f"{len(measurement.roof_samples)} samples"
            yield Defect(f"{path}.roof_samples", found, f"{len(measurement.samples_s) + 1}, one around each sample")
        for name in ("error", "tolerance"):
            if getattr(measurement, name) is None:
                yield Defect(f"{path}.{name}", "nothing", "what was found beside the samples, as of the others")
        interval_s = measurement.evidence.interval_s if measurement.evidence else None
        taken_s = measurement.repeats * sum(measurement.samples_s)
        if interval_s is not None and taken_s > interval_s:
            found = f"{taken_s:.3g} s in all samples"
            yield Defect(f"{path}.repeats", found, f"at most the {interval_s:.3g} s from the first to the last")

    def _header(self) -> Iterator[Defect]:
        run = self.run
        if not self.judges and (later := later_fields(self.tree)):
            yield Defect("schema", shown(self.tree.get("schema")), f"2, which brought {', '.join(later)}")
        names = Counter(ceiling.name for ceiling in run.ceilings.all)
        for name, count in names.items():
            if count > 1:
                yield Defect("ceilings", f"{shown(name)} {count} times", "each ceiling once")
        if run.complete and run.reason:
            yield Defect("reason", shown(run.reason), "none, as the run is complete")
        if run.resumed_from == run.id:
            yield Defect("resumed_from", "the run itself", "another one, or none")
        begun = "".join(sign for sign in run.started_utc if sign.isdigit())
        if self.judges and run.resumed_from is None and begun != run.id.replace("-", "")[: len(begun)]:
            yield Defect("id", shown(run.id), f"one that begins with the time of the start, {shown(run.started_utc)}")

    def _claims(self) -> Iterator[Defect]:
        """What is no number, and yet follows from something else that the file holds."""
        yield from own_claims(self.run)
        yield from repeated_samples(self.run)
        yield from machine_claims(self.run.machine, self.run.environment)
        yield from future_defects(self.run.started_utc, self.now)
        yield from time_defects(self.run)
        if self.judges:
            yield from register_defects(self.run)
        if is_proved(self.run):
            yield from proof_defects(self.run)
            yield from condition_defects(self.run)

    def _ladders(self) -> Iterator[Defect]:
        """Forms of one job do the same arithmetic, or a ladder compares different things; and one form always."""
        works: dict[tuple[str, int, str], Work] = {}
        flops = {(m.kernel, m.n, m.dtype): m.work.flops for m in self.run.measurements}
        for index, measurement in enumerate(self.run.measurements):
            work = works.setdefault((measurement.kernel, measurement.n, measurement.dtype), measurement.work)
            if work != measurement.work:
                expected = "the same at every thread count"
                yield Defect(f"measurements[{index}].work", shown(measurement.work), expected)
            foot = flops.get((measurement.improves or "", measurement.n, measurement.dtype))
            if foot is not None and not math.isclose(foot, measurement.work.flops, rel_tol=SAME_JOB):
                path = f"measurements[{index}].work.flops"
                yield Defect(path, str(measurement.work.flops), f"{foot}, as {shown(measurement.improves)} at this n")

    def _plan(self) -> Iterator[Defect]:
        """A complete run has a number or a failure for every ceiling that it planned."""
        points = self.run.plan.get("points")
        if not self.run.complete or not isinstance(points, list):
            return
        ended = {ceiling.name for ceiling in self.run.ceilings.all} | {failure.point for failure in self.run.failures}
        for index, measurement in enumerate(self.run.measurements):
            where = f"{measurement.dtype} ×{measurement.threads}"
            names = {
                f"{measurement.kernel} n={measurement.n} {where}",
                f"{measurement.kernel} in {measurement.level} {where}",
            }
            if not names & set(map(str, points)):
                yield Defect(f"measurements[{index}]", f"{shown(min(names))}", "a point that was planned")
            ended |= names
        for point in points:
            if isinstance(point, str) and point not in ended and point.count(" ") in (2, 3, 4):
                yield Defect(
                    "complete", "true", f"false, as {shown(point)} was planned and neither measured nor failed"
                )


def _status(status: str, codes: tuple[str, ...]) -> str:
    return f"{status}: {' '.join(codes)}" if codes else status
