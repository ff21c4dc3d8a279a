"""What a run says of its ceilings beyond their numbers: how often each was measured, and what its launches prove."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from roofline.archive.tree import Defect, shown
from roofline.model.ceilings import Ceiling, Ceilings
from roofline.model.final import pinned_cpus
from roofline.model.judging import Circumstances, verdict_of
from roofline.model.launch import Launch, has_flat_top
from roofline.model.run import Run
from roofline.model.verdict import too_low


def placed(ceilings: Ceilings) -> Iterator[tuple[str, Ceiling]]:
    """Yield every ceiling with its path in the document."""
    yield from ((f"ceilings.compute[{index}]", ceiling) for index, ceiling in enumerate(ceilings.compute))
    yield from ((f"ceilings.memory[{index}]", ceiling) for index, ceiling in enumerate(ceilings.memory))


def launches_of(ceilings: Ceilings) -> Iterator[tuple[str, Launch]]:
    """Yield every launch of every ceiling with its path in the document."""
    for path, ceiling in placed(ceilings):
        yield from ((f"{path}.launches[{index}]", launch) for index, launch in enumerate(ceiling.launches))


def ceiling_claims(ceilings: Ceilings, cpus: tuple[int, ...] = ()) -> Iterator[Defect]:
    """Yield what is wrong with ceilings by themselves; `cpus` are those that the threads were pinned to, by rank."""
    for path, ceiling in placed(ceilings):
        if not ceiling.audited:
            yield Defect(f"{path}.audited", "false", "true: what fails its audit is never written")
        if not any(launch.samples_s for launch in ceiling.launches):
            yield Defect(f"{path}.launches", "no samples", "those that its numbers follow from")
        before_s: float | None = None
        for index, launch in enumerate(ceiling.launches):
            place = f"{path}.launches[{index}]"
            if not launch.samples_s:
                yield Defect(f"{place}.samples_s", "none", "the samples of this launch")
            yield from _codes(launch, ceiling, cpus, place)
            started_s = launch.evidence.started_s if launch.evidence else None
            if started_s is not None and before_s is not None and started_s <= before_s:
                found = f"{started_s:.9g} s"
                yield Defect(f"{place}.evidence.started_s", found, f"later than the launch before it, {before_s:.9g} s")
            before_s = started_s


def _codes(launch: Launch, ceiling: Ceiling, cpus: tuple[int, ...], path: str) -> Iterator[Defect]:
    """Compare the codes of a launch with what its samples and its evidence say."""
    if launch.evidence is None or not launch.samples_s:
        return
    sampled_s, interval_s = sum(launch.samples_s), launch.evidence.interval_s
    if interval_s is not None and sampled_s > interval_s:
        found = f"{sampled_s:.4g} s in all samples"
        yield Defect(f"{path}.samples_s", found, f"at most the {interval_s:.4g} s from the first to the last")
    taken = len(launch.samples_s) + launch.evidence.clock_steps_back
    verdict = verdict_of(launch.evidence, Circumstances(samples=taken, threads=ceiling.threads, cpus=cpus))
    flat = has_flat_top(launch.rates_per_s, ceiling.flat_within)
    unknown = set() if cpus else {"UNPINNED"}  # only who knows the CPUs can tell
    degraded = (*verdict.degraded, *(() if flat else ("NO_FLAT_TOP",)))
    for name, expected in (("caveats", degraded), ("invalid", verdict.invalid)):
        stored = getattr(launch, name)
        if (set(stored) ^ set(expected)) - unknown:
            yield Defect(f"{path}.{name}", shown(sorted(stored)), f"{sorted(expected)}, as samples and evidence say")


def launch_counts(run: Run) -> Iterator[Defect]:
    """Yield the ceilings of a complete run that were not measured as often as its plan says."""
    planned, again = run.plan.get("launches"), run.plan.get("again")
    if not (run.complete and isinstance(planned, int)):
        return
    failed = {failure.point for failure in run.failures}
    whole = [(path, ceiling) for path, ceiling in placed(run.ceilings) if ceiling.name not in failed]
    for path, ceiling in whole:
        count, raised = len(ceiling.launches), bool(ceiling.raised_by)
        if isinstance(again, list):
            allowed: tuple[int, ...] = (planned if ceiling.name in again else 1,)
        else:  # an older version did not write which ceilings every launch measures
            allowed = (1, planned)
        enough = count > min(allowed) if raised else count in allowed
        if not enough:
            expected = " or ".join(map(str, dict.fromkeys(allowed)))
            also = ", and the one that raised it" if raised else ""
            yield Defect(f"{path}.launches", f"{count} launches", f"{expected}, as planned{also}")
    most = max((len(ceiling.launches) for _, ceiling in whole), default=planned)
    if most < planned and not failed:
        yield Defect("ceilings", f"at most {most} launches of any", f"{planned} of some, as plan.launches says")


def raise_claims(run: Run) -> Iterator[Defect]:
    """Yield the ceilings that were raised by nothing: no kernel of the run found them too low."""
    for path, ceiling in placed(run.ceilings):
        if ceiling.raised_by and len(ceiling.launches) > 1 and all(launch.samples_s for launch in ceiling.launches):
            yield from _raise(run, ceiling, path)


def _raise(run: Run, ceiling: Ceiling, path: str) -> Iterator[Defect]:
    last, earlier = ceiling.launches[-1], ceiling.launches[:-1]
    # Before, it was as first measured, or as an earlier kernel had raised it.
    before = [replace(ceiling, launches=earlier, raised_by=by).rederived() for by in ("", ceiling.raised_by)]
    low = min(before, key=lambda one: one.per_s)
    if last.samples_s and last.best_per_s <= low.per_s:
        expected = f"more than {low.per_s:.4g}, which it raised"
        yield Defect(f"{path}.launches[{len(earlier)}]", f"{last.best_per_s:.4g} per s", expected)
    if any(failure.point.startswith(f"{ceiling.raised_by} ") for failure in run.failures):
        return  # it raised the ceiling, and has no number itself
    beside = [m for m in run.measurements if (m.kernel, m.ceiling) == (ceiling.raised_by, ceiling.name)]
    ceilings = run.ceilings.with_ceiling(low)
    if not any(too_low(measurement, ceilings) for measurement in beside):
        found = f"{shown(ceiling.raised_by)}, {'which stayed below it' if beside else 'not held against it here'}"
        yield Defect(f"{path}.raised_by", found, "a kernel of this run beside which it proved too low, or nothing")


def own_claims(run: Run) -> Iterator[Defect]:
    """Yield all that the ceilings of a run say and its launches do not bear out."""
    yield from ceiling_claims(run.ceilings, pinned_cpus(run))
    yield from launch_counts(run)
    yield from raise_claims(run)
