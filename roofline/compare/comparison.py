"""Two runs beside each other: what became of every point, and what must be known of the runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from msgspec.structs import replace

from roofline.compare.change import FEWEST, SAME_CODE, VERDICTS, WITHIN, Change, change_of
from roofline.compare.match import Matched, matched, point_name, refuse_unlike
from roofline.errors import NotComparable, NothingMeasured, UnknownName
from roofline.model.comparable import differences
from roofline.model.grade import grade_of
from roofline.model.measurement import Derived, Measurement
from roofline.model.run import Run
from roofline.model.struct import Value

_NAMED = 4
"""Points that a message names."""


class ComparedPoint(Value, frozen=True, kw_only=True):
    """One point of both runs."""

    before: Measurement
    after: Measurement
    before_derived: Derived | None
    """None without samples."""
    after_derived: Derived | None
    change: Change

    @property
    def before_under_roof_after(self) -> Derived | None:
        """What follows from the side before, were it at its percent of the other machine's roof; None without both."""
        one, other, speedup = self.before_derived, self.after_derived, self.change.speedup
        if one is None or other is None or not speedup:
            return None
        return replace(one, flop_per_s=other.flop_per_s / speedup, flop_per_byte=other.flop_per_byte)


class Comparison(Value, frozen=True, kw_only=True):
    """Two runs, point by point."""

    before: Run
    after: Run
    across: bool = False
    """Whether percent of roof alone was judged."""
    points: tuple[ComparedPoint, ...]
    only_before: tuple[Measurement, ...] = ()
    only_after: tuple[Measurement, ...] = ()
    remarks: tuple[str, ...] = ()
    """What the reader must know, one line each."""

    @property
    def counts(self) -> dict[str, int]:
        """How many points have each verdict."""
        return {verdict: sum(point.change.verdict == verdict for point in self.points) for verdict in VERDICTS}

    @property
    def changed(self) -> tuple[ComparedPoint, ...]:
        """The points that became faster or slower."""
        return tuple(point for point in self.points if point.change.verdict in ("faster", "slower"))


def compared(
    before: Run, after: Run, *, across: bool = False, within: float = WITHIN, patterns: Sequence[str] = ()
) -> Comparison:
    """Compare two runs.

    `patterns` choose kernels by name or family, with `*`, `?` and `[...]`; `within` is what counts as the same (0.05
    is 5 %). Raises UsageError for one run twice, NothingMeasured for a run without measurements, UnknownName for a
    pattern that fits none, and NotComparable for runs without a common point, and unless `across` for runs of
    different machines or conditions and for points whose declared work differs.
    """
    for run in (before, after):
        if not run.measurements:
            raise NothingMeasured(f"run {run.id} holds no kernels; measure some: python -m bench run")
    if not across or before.id == after.id:
        refuse_unlike(before, after)
    both = [*before.measurements, *after.measurements]
    for pattern in patterns:
        if not any(_fits(measurement, (pattern,)) for measurement in both):
            raise UnknownName("kernel", pattern, {m.kernel for m in both}, "of these runs")
    chosen = matched(_chosen(before, patterns), _chosen(after, patterns))
    if not chosen.pairs:
        raise NotComparable(_nothing_in_common(before, after, chosen))
    if not across:
        _refuse_other_work(chosen)
    points = tuple(
        ComparedPoint(
            before=one,
            after=other,
            before_derived=before.derived(one),
            after_derived=after.derived(other),
            change=change_of(one, other, before, after, across, within),
        )
        for one, other in chosen.pairs
    )
    return Comparison(
        before=before,
        after=after,
        across=across,
        points=points,
        only_before=chosen.only_before,
        only_after=chosen.only_after,
        remarks=(*_remarks(before, after, across, points), *_of_other_sizes(chosen)),
    )


def _fits(measurement: Measurement, patterns: Sequence[str]) -> bool:
    names = (measurement.kernel, measurement.kernel.partition(".")[0])
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns for name in names)


def _chosen(run: Run, patterns: Sequence[str]) -> Run:
    return replace(run, measurements=tuple(m for m in run.measurements if _fits(m, patterns)))


def _nothing_in_common(before: Run, after: Run, chosen: Matched) -> str:
    """Say what keeps the runs apart: other kernels, or other sizes of the same."""
    ours, theirs = ([point_name(m) for m in side] for side in (chosen.only_before, chosen.only_after))
    kernels = {m.kernel for m in chosen.only_before} & {m.kernel for m in chosen.only_after}
    remedy = (
        "measure the same sizes (--size), --dtype and --threads"
        if kernels
        else "measure the same kernels on both sides"
    )
    return (
        f"runs {before.id} and {after.id} have no point in common: found {_few(ours)} before and {_few(theirs)} after; "
        f"{remedy}"
    )


def _refuse_other_work(chosen: Matched) -> None:
    """Raise NotComparable for pairs that are not the same job."""
    apart = [
        f"{point_name(one)} {one.work.flops} and {other.work.flops} flops"
        for one, other in chosen.pairs
        if one.work.flops != other.work.flops
    ]
    if apart:
        raise NotComparable(
            f"the declared work differs: {_few(apart)}; leave these out with --kernel, or --across compares percent of "
            "roof alone"
        )


def _remarks(before: Run, after: Run, across: bool, points: Sequence[ComparedPoint]) -> Iterator[str]:
    if across:
        apart = differences(before, after)
        yield "across: percent of the machine's roof is judged, never time" + (
            f"; what differs: {'; '.join(apart)}" if apart else "; the machine and the conditions are the same"
        )
    for side, run in (("BEFORE", before), ("AFTER", after)):
        if not run.complete:
            yield f"{side} {run.id} is incomplete: {run.reason or 'reason unknown'}"
        if (grade := grade_of(run)).letter == "D":
            yield f"{side} {run.id} has grade D, {grade.meaning} ({grade.gravest}); `show {run.id}` has all reasons"
    if before.started_utc > after.started_utc:
        yield f"BEFORE was measured later ({before.started_utc}) than AFTER ({after.started_utc})"
    if other := [point_name(point.before) for point in points if _moves_other_bytes(point)]:
        yield f"declared bytes differ, so that intensities do: {_few(other)}"
    if few := [point_name(point.before) for point in points if _has_few_samples(point)]:
        yield (
            f"{len(few)} points have fewer than {FEWEST} samples on a side: {_few(few)}; give them more time: "
            "python -m bench run KERNEL --budget 30"
        )
    if same := [point_name(point.before) for point in points if point.change.same_code]:
        yield f"{SAME_CODE}: {_few(same)}"


def _of_other_sizes(chosen: Matched) -> Iterator[str]:
    """Yield a remark on points that only their n keeps apart: sizes that follow from measured levels vary by run."""
    after = {(m.kernel, m.dtype, m.threads, m.level): m.n for m in chosen.only_after}
    apart = [
        f"{point_name(m)} and n={after[place]}"
        for m in chosen.only_before
        if (place := (m.kernel, m.dtype, m.threads, m.level)) in after
    ]
    if apart:
        yield f"{len(apart)} points differ in n alone: {_few(apart)}; measure both runs with the same --size"


def _moves_other_bytes(point: ComparedPoint) -> bool:
    return point.before.work.bytes != point.after.work.bytes


def _has_few_samples(point: ComparedPoint) -> bool:
    return min(len(point.before.samples_s), len(point.after.samples_s)) < FEWEST


def _few(names: Sequence[str]) -> str:
    """Return the names, of many the first ones and how many there are."""
    if len(names) <= _NAMED:
        return ", ".join(names) or "nothing"
    return f"{', '.join(names[: _NAMED - 1])} and {len(names) - _NAMED + 1} more"
