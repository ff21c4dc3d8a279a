"""Which measurement of one run belongs to which of another, and whether the two runs are of one kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from roofline.errors import NotComparable, UsageError
from roofline.model.comparable import differences
from roofline.model.measurement import Measurement
from roofline.model.run import Run
from roofline.model.struct import Value

Key = tuple[str | int, ...]


class Matched(Value, frozen=True, kw_only=True):
    """The points of two runs: those in both, and those that have no counterpart."""

    pairs: tuple[tuple[Measurement, Measurement], ...] = ()
    """(before, after), in the order of the run before."""
    only_before: tuple[Measurement, ...] = ()
    only_after: tuple[Measurement, ...] = ()


def matched(before: Run, after: Run) -> Matched:
    """Pair the measurements by kernel, n, dtype and threads; by level and variant too where those repeat."""
    repeated = _repeated(before.measurements) | _repeated(after.measurements)
    ours, theirs = _keyed(before.measurements, repeated), _keyed(after.measurements, repeated)
    return Matched(
        pairs=tuple((measurement, theirs[key]) for key, measurement in ours.items() if key in theirs),
        only_before=tuple(measurement for key, measurement in ours.items() if key not in theirs),
        only_after=tuple(measurement for key, measurement in theirs.items() if key not in ours),
    )


def point_name(measurement: Measurement) -> str:
    """Return the point in words, e.g. `gemm.blocked n=384 f64 ×2`."""
    return f"{measurement.kernel} n={measurement.n} {measurement.dtype} ×{measurement.threads}"


def refuse_unlike(before: Run, after: Run) -> None:
    """Raise NotComparable for runs of different machines or conditions, naming what differs.

    Raises UsageError for a run beside itself.
    """
    if before.id == after.id:
        raise UsageError(f"{before.id} is the same run twice, expected two; `python -m bench list runs` lists them")
    if apart := differences(before, after):
        raise NotComparable(
            f"runs {before.id} and {after.id} were not measured under the same conditions: {'; '.join(apart)}; "
            "--across compares percent of roof alone"
        )


def _key(measurement: Measurement) -> Key:
    return measurement.kernel, measurement.n, measurement.dtype, measurement.threads


def _repeated(measurements: Sequence[Measurement]) -> set[Key]:
    counted = Counter(map(_key, measurements))
    return {key for key, count in counted.items() if count > 1}


def _keyed(measurements: Sequence[Measurement], repeated: set[Key]) -> dict[Key, Measurement]:
    """Return the measurements by what identifies them; what is the same in all is told apart by its place."""
    keyed: dict[Key, Measurement] = {}
    seen: Counter[Key] = Counter()
    for measurement in measurements:
        key = _key(measurement)
        if key in repeated:
            key = (*key, measurement.level, measurement.variant)
        seen[key] += 1
        keyed[(*key, seen[key])] = measurement
    return keyed
