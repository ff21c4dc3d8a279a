"""What a run says of its conditions: caveats, levels, plan and times, compared with the facts that it holds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from msgspec.structs import asdict

from roofline.archive.ceiling_claims import launches_of
from roofline.archive.tree import Defect, shown
from roofline.model.evidence import Evidence
from roofline.model.final import rejudged
from roofline.model.host_caveat import host_caveats
from roofline.model.levels import contradictions, find_levels, most_set_bytes, small_caches
from roofline.model.machine import Environment, Machine
from roofline.model.run import Caveat, Run

CLOCKS_APART = timedelta(days=1)
"""Clocks of two machines, and what they take for UTC, may differ by so much."""
ROUNDING = 1e-9
OF_ALL_CEILINGS = ("TURBO", "STREAMW")
"""Caveats that only all ceilings together tell."""


def condition_defects(run: Run) -> Iterator[Defect]:
    """Yield what the conditions of a run lack, of one whose version kept evidence."""
    judged = {caveat.code for caveat in rejudged(run).caveats}
    found = {caveat.code for caveat in run.caveats}
    expected = (*host_caveats(run.machine, run.environment), *small_caches(run.levels), *contradictions(run.levels))
    yield from caveat_defects(run.caveats, expected)
    for code in OF_ALL_CEILINGS:
        if (code in found) != (code in judged):
            said = (code if code in found else f"no {code}", code if code in judged else f"no {code}")
            yield Defect("caveats", said[0], f"{said[1]}, as the ceilings together say")
    yield from _levels(run)
    yield from _plan(run)
    if run.elapsed_s is None and run.complete:
        yield Defect("elapsed_s", "nothing", "what the run took")


def caveat_defects(caveats: Sequence[Caveat], expected: Sequence[Caveat]) -> Iterator[Defect]:
    """Yield the caveats that are missing among those of a run or trial; their words may differ between versions."""
    found = {caveat.code for caveat in caveats}
    for code, message in {caveat.code: caveat.message for caveat in expected}.items():
        if code not in found:
            yield Defect("caveats", f"no {code}", f"{code}: {message}")


def machine_claims(machine: Machine, environment: Environment) -> Iterator[Defect]:
    """Yield what a machine says of itself in two ways that differ."""
    if machine.cores is not None and machine.core_classes and sum(machine.core_classes) != machine.cores:
        kinds = " + ".join(map(str, machine.core_classes))
        yield Defect("machine.cores", str(machine.cores), f"{sum(machine.core_classes)}, as there are {kinds}")
    if machine.hardware_threads is not None and len(environment.affinity or ()) > machine.hardware_threads:
        found = f"{len(environment.affinity or ())} CPUs"
        yield Defect("environment.affinity", found, f"at most the machine's {machine.hardware_threads}")


def future_defects(started_utc: str, now: datetime) -> Iterator[Defect]:
    """Yield a start that lies in the future of who reads."""
    started = datetime.strptime(started_utc, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    if started > now + CLOCKS_APART:
        yield Defect("started_utc", shown(started_utc), f"no later than today, {now:%Y-%m-%d}")


def _levels(run: Run) -> Iterator[Defect]:
    """Levels follow from the sweep, the latencies, and what the machine reports of its caches."""
    budget_bytes, threads = run.plan.get("memory_budget_bytes"), run.plan.get("threads")
    if run.levels and not run.sweep:
        yield Defect("sweep", "nothing", "the bandwidths that the levels follow from")
        return
    if not (run.levels and isinstance(budget_bytes, int | None) and isinstance(threads, list) and threads):
        return
    if not all(type(count) is int and count > 0 for count in threads):
        return
    most_bytes = most_set_bytes(budget_bytes, threads[-1])
    machine = run.machine
    derived = find_levels(run.sweep, machine.caches, machine.threads_per_core, most_bytes, run.latencies)
    if [level.name for level in derived] != [level.name for level in run.levels]:
        names = ", ".join(level.name for level in derived)
        yield Defect("levels", ", ".join(shown(level.name) for level in run.levels), f"{names}, as the machine has")
        return
    for index, (level, expected) in enumerate(zip(run.levels, derived, strict=True)):
        for name, value in asdict(expected).items():
            stored = getattr(level, name)
            if not _same(stored, value):
                yield Defect(f"levels[{index}].{name}", shown(stored), f"{shown(value)}, as sweep and latencies say")


def _same(stored: Any, expected: Any) -> bool:
    if isinstance(stored, float) and isinstance(expected, float):
        return math.isclose(stored, expected, rel_tol=ROUNDING)
    # Why a level is skipped is told in words, which may differ between versions.
    return (stored is None) == (expected is None) if isinstance(expected, str) else bool(stored == expected)


def _plan(run: Run) -> Iterator[Defect]:
    """A run says what was to be measured: else nobody could tell what was left out."""
    points = run.plan.get("points")
    if not isinstance(points, list) or not points:
        yield Defect("plan.points", "nothing", "the names of all that was to be measured")
        return
    for ceiling in run.ceilings.all:
        if ceiling.name not in points:
            yield Defect("plan.points", f"no {shown(ceiling.name)}", "every ceiling that the run has")


def time_defects(run: Run) -> Iterator[Defect]:
    """Yield what cannot be: a run measures one thing at a time, and takes longer than all of them."""
    spans = sorted(_spans(run))
    for (begun_s, ended_s, path), (next_s, _, later) in pairwise(spans):
        # A run that was resumed may have been measured since two starts of the system's clock.
        if run.resumed_from is None and next_s < ended_s - ROUNDING * abs(begun_s):
            yield Defect(f"{later}.evidence.started_s", f"{next_s:.9g} s", f"after {path} ended, at {ended_s:.9g} s")
    sampled_s = sum(sum(launch.samples_s) for _, launch in launches_of(run.ceilings))
    sampled_s += sum(measurement.repeats * sum(measurement.samples_s) for measurement in run.measurements)
    least_s = max(sampled_s, sum(ended_s - begun_s for begun_s, ended_s, _ in spans))
    if spans and run.resumed_from is None:
        least_s = max(sampled_s, max(ended_s for _, ended_s, _ in spans) - spans[0][0])
    if run.elapsed_s is not None and run.elapsed_s < least_s:
        yield Defect("elapsed_s", f"{run.elapsed_s:g} s", f"at least the {least_s:.4g} s of its samples")


def _spans(run: Run) -> Iterator[tuple[float, float, str]]:
    """Yield when everything that has samples began and ended, on the clock that all processes of a run share."""
    for path, launch in launches_of(run.ceilings):
        yield from _span(launch.evidence, path)
    for index, measurement in enumerate(run.measurements):
        yield from _span(measurement.evidence, f"measurements[{index}]")


def _span(evidence: Evidence | None, path: str) -> Iterator[tuple[float, float, str]]:
    if evidence is not None and evidence.started_s is not None and evidence.interval_s is not None:
        yield evidence.started_s, evidence.started_s + evidence.interval_s, path
