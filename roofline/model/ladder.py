"""Ladders: the forms of one job in their order, what each step gained, and which ceilings lie below and above it.

A ladder is the foot (a kernel that improves none) and every kernel that names it as what it improves, in the order in
which they were measured. A library call is no step: it stands beside the path, for reference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from roofline.errors import UnknownName, UsageError
from roofline.model.measurement import Measurement
from roofline.model.run import Run
from roofline.model.rung import Rung, is_library, ratio_of_rates, rung_of
from roofline.model.struct import Value

_NAMED = 3
"""Measurements that a message names."""


class Ladder(Value, frozen=True, kw_only=True):
    """One path: the same job, one size, better and better."""

    foot: str
    """Name of the kernel that all rungs improve; it need not be measured itself."""
    rungs: tuple[Rung, ...]
    """The path."""
    references: tuple[Rung, ...] = ()
    """Library calls beside the path."""
    left_out: tuple[str, ...] = ()
    """Kernels of the ladder that were measured, but have no drawable number that fits this path."""


def family_of(kernel: str) -> str:
    """Return the part of a kernel's name before the dot."""
    return kernel.partition(".")[0]


def ladders_of(
    run: Run, family: str, *, dtype: str | None = None, threads: int | None = None, size: int | None = None
) -> tuple[Ladder, ...]:
    """Return the paths of a family, one for each foot, in the order of measurement.

    A path keeps to one dtype (f64, or else the first measured), to the fewest threads, and to the n that most of its
    kernels share, the largest of these. A kernel without a number of that dtype, or of that thread count, continues
    the path in its own: gemm.parallel on all threads, an integer product in i8. What is given is kept to strictly.
    Kernels that are sized by memory level and have no n in common are matched by level.
    Raises UnknownName for a family or dtype that the run does not hold, UsageError when it holds no ladder of it.
    """
    families = {family_of(measurement.kernel) for measurement in run.measurements}
    if not families:
        raise UsageError(f"run {run.id} holds no kernels; measure a family: python -m bench run {family}")
    if family not in families:
        raise UnknownName("family", family, families, f"run {run.id} holds only these")
    groups = {foot: found for foot, found in _groups(run).items() if family_of(foot) == family}
    members = [measurement for found in groups.values() for measurement in found]
    known = {measurement.dtype for measurement in members}
    if dtype is not None and dtype not in known:
        raise UnknownName("dtype", dtype, known, f"run {run.id} holds only these of {family}")
    found = tuple(
        ladder
        for foot, measurements in groups.items()
        if len({measurement.kernel for measurement in measurements}) > 1
        and (ladder := _path(run, foot, measurements, dtype, threads, size)) is not None
    )
    if not found:
        raise UsageError(_no_ladder(run, family, members, dtype, threads, size))
    return found


def steps(run: Run) -> tuple[float | None, ...]:
    """Return, for each measurement of the run, how many times as fast it is as the rung before; None where none is.

    The rung before is the nearest earlier form of the same job that was measured at the same n, in the same dtype and
    on as many threads. Library calls are no rungs, and of two noisy numbers none is told.
    """
    found: dict[int, float] = {}
    for measurements in _groups(run).values():
        rungs = [m for m in measurements if m.drawable and not is_library(m)]
        for place, measurement in enumerate(rungs):
            before = _before(measurement, rungs[:place])
            doubtful = before is None or any("NOISY" in m.status_codes for m in (measurement, before))
            step = None if before is None or doubtful else ratio_of_rates(measurement, before)
            if step is not None:
                found[id(measurement)] = step
    return tuple(found.get(id(measurement)) for measurement in run.measurements)


def _groups(run: Run) -> dict[str, list[Measurement]]:
    """Return the measurements by the foot of their ladder, in the order of their kernels."""
    parents = {measurement.kernel: measurement.improves for measurement in run.measurements}
    groups: dict[str, list[Measurement]] = {}
    for measurement in run.measurements:
        foot, seen = measurement.kernel, {measurement.kernel}
        while (parent := parents.get(foot)) is not None and parent not in seen:
            foot = parent
            seen.add(foot)
        groups.setdefault(foot, []).append(measurement)
    order = {kernel: place for place, kernel in enumerate(parents)}
    return {foot: sorted(found, key=lambda m: order[m.kernel]) for foot, found in groups.items()}


def _before(measurement: Measurement, earlier: Sequence[Measurement]) -> Measurement | None:
    """Return the nearest earlier rung that did the same: another kernel at this n, dtype and thread count."""
    same = (measurement.n, measurement.dtype, measurement.threads)
    for other in reversed(earlier):
        if (other.n, other.dtype, other.threads) == same and other.kernel != measurement.kernel:
            return other
    return None


def _at(measurements: Sequence[Measurement], n: int, level: str, others: set[int]) -> Measurement | None:
    """Return the one at this n; of those whose n are all different from the others', the largest in this level."""
    for measurement in measurements:
        if measurement.n == n:
            return measurement
    if any(measurement.n in others for measurement in measurements):
        return None
    in_level = [measurement for measurement in measurements if measurement.level == level]
    return max(in_level, key=lambda measurement: measurement.n, default=None)


def _path(
    run: Run, foot: str, measurements: Sequence[Measurement], dtype: str | None, threads: int | None, size: int | None
) -> Ladder | None:
    """Return the path of these measurements; None when it has fewer than two points."""
    shown = [
        m
        for m in measurements
        if m.drawable and m.work.flops and dtype in (None, m.dtype) and threads in (None, m.threads)
    ]
    names = list(dict.fromkeys(m.kernel for m in measurements))
    dtypes = list(dict.fromkeys(m.dtype for m in shown))
    first = "f64" if "f64" in dtypes else next(iter(dtypes), "")
    fewest = min((m.threads for m in shown if m.dtype == first), default=1)
    chosen = {name: _nearest(name, shown, measurements, first, fewest) for name in names}
    counted = Counter(n for some in chosen.values() for n in {m.n for m in some} if size in (None, n))
    if not counted:
        return None
    n = max(counted, key=lambda n: (counted[n], n))
    level = next(m.level for some in chosen.values() for m in some if m.n == n)
    found: dict[str, Measurement] = {}
    for name, some in chosen.items():
        others = {m.n for other, theirs in chosen.items() if other != name for m in theirs}
        fitting = _at(some, n, level, others if size is None else {m.n for m in some})
        if fitting is not None:
            found[name] = fitting
    rungs: list[Rung] = []
    for measurement in found.values():
        if not is_library(measurement):
            rungs.append(rung_of(run, measurement, rungs[-1:], rungs[:1]))
    beside = [
        rung_of(run, library, [r for r in rungs if r.measurement.threads == library.threads][-1:], rungs[:1])
        for measurement in found.values()
        if is_library(measurement)
        for library in _on_each(measurement, shown, {rung.measurement.threads for rung in rungs})
    ]
    if not rungs or len(found) < 2:
        return None
    left_out = tuple(name for name in names if name not in found)
    return Ladder(foot=foot, rungs=tuple(rungs), references=tuple(beside), left_out=left_out)


def _nearest(
    name: str, shown: Sequence[Measurement], measured: Sequence[Measurement], dtype: str, fewest: int
) -> list[Measurement]:
    """Return what is shown of a kernel in this dtype on the fewest threads.

    One that was never measured so is taken in its first dtype, or on its most threads; one that was, and has no number
    that can be shown, is left out.
    """
    of_dtype = [m for m in shown if (m.kernel, m.dtype) == (name, dtype)]
    all_of_dtype = [m for m in measured if (m.kernel, m.dtype) == (name, dtype)]
    if not all_of_dtype:
        of_dtype = all_of_dtype = [m for m in shown if m.kernel == name]
        of_dtype = [m for m in of_dtype if m.dtype == of_dtype[0].dtype]
    if any(m.threads == fewest for m in all_of_dtype):
        return [m for m in of_dtype if m.threads == fewest]
    most = max((m.threads for m in of_dtype), default=fewest)
    return [m for m in of_dtype if m.threads == most]


def _on_each(library: Measurement, shown: Sequence[Measurement], threads: set[int]) -> list[Measurement]:
    """Return this library call, and the same on each other thread count that the path reaches."""
    same = [m for m in shown if (m.kernel, m.dtype, m.level) == (library.kernel, library.dtype, library.level)]
    others = [m for m in same if m.n == library.n and m.threads in threads - {library.threads}]
    return [library, *others]


def _no_ladder(
    run: Run, family: str, members: Sequence[Measurement], dtype: str | None, threads: int | None, size: int | None
) -> str:
    """Say why there is no ladder, and what to do."""
    names = list(dict.fromkeys(measurement.kernel for measurement in members))
    again = f"measure the family again: python -m bench run {family}"
    if len(names) == 1:
        return f"run {run.id} holds only {names[0]} of {family}, and a ladder has at least two rungs; {again}"
    if all(measurement.improves is None for measurement in members):
        return (
            f"run {run.id} does not say which kernel of {family} improves which: they are different jobs, or it was "
            f"archived before that was recorded; in the latter case {again}"
        )
    asked = "".join(
        [
            f" in {dtype}" if dtype else "",
            f" with threads = {threads}" if threads else "",
            f" at n = {size}" if size else "",
        ]
    )
    refused = [f"{m.kernel} n={m.n} {m.dtype} ×{m.threads} is {m.status}" for m in members if not m.drawable]
    drawable = [measurement for measurement in members if measurement.drawable]
    sizes = ", ".join(map(str, sorted({measurement.n for measurement in drawable}))) or "none"
    counts = ", ".join(map(str, sorted({measurement.threads for measurement in drawable}))) or "none"
    return (
        f"run {run.id} holds fewer than two drawable rungs of {family}{asked}; what it holds has n = {sizes} and "
        f"threads = {counts}{'; without a number that can be drawn: ' if refused else ''}{', '.join(refused[:_NAMED])}"
    )
