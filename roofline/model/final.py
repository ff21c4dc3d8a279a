"""A run judged as a whole: once everything is measured, every verdict follows from all that is archived."""

from __future__ import annotations

from msgspec.structs import replace

from roofline.model.consistency import doubted
from roofline.model.run import Run, private_levels
from roofline.model.verdict import judged


def rejudged(run: Run) -> Run:
    """Return the run with its ceilings judged beside each other and its kernels judged under all of them.

    A kernel that was measured early may stand under a ceiling that was raised later. What has no samples stays as it
    is.
    """
    ceilings = doubted(run.ceilings, private_levels(run.levels))
    cpus = pinned_cpus(run)
    return replace(
        run,
        ceilings=ceilings,
        measurements=tuple(judged(measurement, ceilings, cpus) for measurement in run.measurements),
    )


def pinned_cpus(run: Run) -> tuple[int, ...]:
    """Return the CPUs that the run's threads were pinned to, by rank; none where they could not be."""
    cpus = run.plan.get("cpus", ())
    pinned = all(caveat.code != "UNPINNED" for caveat in run.caveats)
    known = isinstance(cpus, list | tuple) and all(type(cpu) is int for cpu in cpus)
    return tuple(cpus) if pinned and known else ()
