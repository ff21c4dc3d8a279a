"""Derives every published number of a run file again from its raw samples, and says what does not hold.

Reads the document itself, not only what the suite's own readers take from it: the derived numbers in a file are for
other tools, and here they are compared with the samples that they should follow from.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from roofline.archive.ceiling_claims import own_claims
from roofline.archive.conditions import condition_defects, future_defects, machine_claims, time_defects
from roofline.archive.disk import read_bytes
from roofline.archive.document import from_tree, json_arrays
from roofline.archive.migration import later_fields
from roofline.archive.plausibility import run_defects
from roofline.archive.proofs import is_proved, proof_defects, register_defects, repeated_samples
from roofline.archive.store import load
from roofline.archive.tree import Defect, parse, shown
from roofline.model.final import rejudged
from roofline.model.grade import grade_of
from roofline.model.measurement import Measurement
from roofline.model.run import Run
from roofline.model.struct import Value

APART = 1e-9
"""Two floating-point numbers that should be the same may differ by this share: sums in another order."""
SAME_JOB = 0.01
"""Forms of one job may differ by so much in their flops: scaling what was stored in fewer bits takes some."""
FIRST_JUDGED_SCHEMA = 2
"""Verdicts of earlier versions followed other rules: of their files only the numbers are compared."""


class Verification(Value, frozen=True, kw_only=True):
    """What came of it."""

    source: str
    """The file."""
    numbers: int
    """Published numbers that were derived again."""
    defects: tuple[Defect, ...] = ()
    """What does not hold; empty when everything does."""
    doubts: tuple[str, ...] = ()
    """What holds, and is no sound result: the run is incomplete, points are invalid or above their roof."""


def verify(path: Path, now: datetime | None = None) -> Verification:
    """Read one run file, or journal, and check it; `now` is by default the clock's.

    Raises ArchiveError for what cannot be read at all.
    """
    if path.name.endswith(".part"):
        run, tree = load(path), {}
    else:
        tree = parse(read_bytes(path), str(path))
        run = from_tree(tree, str(path))
    checks = _Checks(run, tree, now or datetime.now(UTC))
    defects = tuple(checks.defects())
    return Verification(source=str(path), numbers=checks.numbers, defects=defects, doubts=tuple(_doubts(run)))


def _doubts(run: Run) -> Iterator[str]:
    if not is_proved(run):
        yield "no evidence beside any sample: an older version kept none, so that what was left out cannot be told"
    if not run.complete:
        yield f"the run is incomplete: {run.reason or 'reason unknown'}"
    for status in ("invalid", "above_roof", "failed"):
        named = [f"{m.kernel} n={m.n} {m.dtype} ×{m.threads}" for m in run.measurements if m.status == status]
        if named:
            yield f"{len(named)} {status}: {', '.join(named[:4])}{', ...' if len(named) > 4 else ''}"
    if (grade := grade_of(run)).letter == "D":
        yield f"grade D: {'; '.join(grade.reasons)}"


class _Checks:
    """The checks of one run, which count the numbers that they derive."""

    def __init__(self, run: Run, tree: Any, now: datetime) -> None:
        self.run = run
        self.now = now
        self.tree = tree if isinstance(tree, dict) else {}
        self.final = rejudged(run)
        self.numbers = 0
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
            yield from self._same("grade.letter", letter, grade.letter)
            # The words of reasons may differ between versions of this suite.
            found = len(reasons) if isinstance(reasons, list) else None
            yield from self._same("grade.reasons", found, len(grade.reasons))

    def _ceilings(self) -> Iterator[Defect]:
        for kind in ("compute", "memory"):
            stored = getattr(self.run.ceilings, kind)
            for index, (ceiling, final) in enumerate(zip(stored, getattr(self.final.ceilings, kind), strict=True)):
                path = f"ceilings.{kind}[{index}]"
                derived = ceiling.rederived()
                for name in ("flop_per_s", "flop_per_cycle", "byte_per_s", "byte_per_cycle", "clock_hz"):
                    if hasattr(ceiling, name) and derived.launches:
                        yield from self._number(f"{path}.{name}", getattr(ceiling, name), getattr(derived, name))
                if not self.judges:
                    continue
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
                yield from self._same(
                    f"{path}.derived", trees[index]["derived"], None if derived is None else _builtins(derived)
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
        """Forms of one job do the same arithmetic, or a ladder compares different things."""
        flops = {(m.kernel, m.n, m.dtype): m.work.flops for m in self.run.measurements}
        for index, measurement in enumerate(self.run.measurements):
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

    def _number(self, path: str, stored: float, expected: float) -> Iterator[Defect]:
        self.numbers += 1
        if not math.isclose(stored, expected, rel_tol=APART):
            yield Defect(path, f"{stored:.12g}", f"{expected:.12g}, as the samples say")

    def _same(self, path: str, stored: Any, expected: Any) -> Iterator[Defect]:
        """Compare a derived object of the document with what follows from the samples."""
        if isinstance(expected, Mapping):
            for name, value in expected.items():
                if not isinstance(stored, Mapping) or name not in stored:
                    yield Defect(f"{path}.{name}", "nothing", shown(value))
                else:
                    yield from self._same(f"{path}.{name}", stored[name], value)
        elif isinstance(expected, list) and isinstance(stored, list) and len(stored) == len(expected):
            for index, value in enumerate(expected):
                yield from self._same(f"{path}[{index}]", stored[index], value)
        elif _is_number(expected) and _is_number(stored):
            yield from self._number(path, stored, expected)
        else:
            self.numbers += 1
            if stored != expected:
                yield Defect(path, shown(stored), f"{shown(expected)}, as the samples say")


def _builtins(value: msgspec.Struct) -> Any:
    return json_arrays(msgspec.to_builtins(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _status(status: str, codes: tuple[str, ...]) -> str:
    return f"{status}: {' '.join(codes)}" if codes else status
