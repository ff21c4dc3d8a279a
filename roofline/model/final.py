"""A run judged as a whole: once everything is measured, every verdict follows from all that is archived."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from roofline.model.ceilings import Ceilings
from roofline.model.consistency import doubted, streamed_patterns
from roofline.model.drift import drift, is_falling
from roofline.model.run import Caveat, Run, private_levels
from roofline.model.verdict import judged

_OF_THE_WHOLE = ("TURBO", "STREAMW")


def rejudged(run: Run) -> Run:
    """Return the run with its ceilings judged beside each other and its kernels judged under all of them.

    A kernel that was measured early may stand under a ceiling that was raised later. What has no samples stays as it
    is.
    """
    ceilings = doubted(run.ceilings, private_levels(run.levels))
    cpus = pinned_cpus(run)
    known = tuple(caveat for caveat in run.caveats if caveat.code not in _OF_THE_WHOLE)
    return replace(
        run,
        caveats=(*known, *_of_the_whole(run, ceilings)),
        ceilings=ceilings,
        measurements=tuple(judged(measurement, ceilings, cpus) for measurement in run.measurements),
    )


def _of_the_whole(run: Run, ceilings: Ceilings) -> Iterator[Caveat]:
    """Yield what only all ceilings together tell."""
    for isa, clocks_hz in _clocks_in_time(ceilings).items():
        if is_falling(clocks_hz):
            yield Caveat(
                code="TURBO",
                message=f"the clock under {isa} fell by {-100 * drift(clocks_hz):.0f} % from the first ceiling to the "
                "last: what the core began with is not what it can hold; compare per cycle, or fix its clock",
            )
    if streamed := streamed_patterns(ceilings):
        yield Caveat(
            code="STREAMW",
            message=f"plain stores skip some of the fetches that are counted for them: {'; '.join(streamed)}; compare "
            "with the nt_ patterns, which never fetch",
        )


def _clocks_in_time(ceilings: Ceilings) -> dict[str, list[float]]:
    """Return the clock held beside each launch of each ceiling of arithmetic, by ISA, in the order of measurement.

    The highest reading of each counts: whatever disturbs the chain of additions that tells it makes it look lower.
    """
    found: dict[str, list[tuple[float, float]]] = {}
    for ceiling in ceilings.compute:
        for launch in ceiling.launches:
            started_s = launch.evidence.started_s if launch.evidence else None
            if started_s is not None and launch.clock_samples_hz:
                found.setdefault(ceiling.isa, []).append((started_s, max(launch.clock_samples_hz)))
    return {isa: [hz for _, hz in sorted(pairs)] for isa, pairs in found.items()}


def pinned_cpus(run: Run) -> tuple[int, ...]:
    """Return the CPUs that the run's threads were pinned to, by rank; none where they could not be."""
    cpus = run.plan.get("cpus", ())
    pinned = all(caveat.code != "UNPINNED" for caveat in run.caveats)
    known = isinstance(cpus, list | tuple) and all(type(cpu) is int for cpu in cpus)
    return tuple(cpus) if pinned and known else ()
