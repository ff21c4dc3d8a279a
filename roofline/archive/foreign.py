"""Benchmark files of pytest-benchmark, pyperf and Google Benchmark, read with the suspicion that our own get."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from roofline.archive.document import typed
from roofline.archive.plausibility import TIME_S
from roofline.archive.tree import parse, shown
from roofline.errors import ArchiveError, UnknownName
from roofline.model.legible import printable
from roofline.model.statistics import median, relative_spread
from roofline.model.struct import Value

UNIT_S = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
"""Seconds in each unit of Google Benchmark."""


class Benchmark(Value, frozen=True, kw_only=True):
    """One benchmark of a file."""

    name: str
    """Printable."""
    median_s: float
    """Seconds per call."""
    spread: float | None = None
    """Interquartile range / median; None when the file does not tell."""
    samples: int
    """How many the median is of."""
    flop_per_s: float | None = None
    """As the file says, where it is one of our exports or of our harness."""
    percent_of_roof: float | None = None
    """The same."""


class Foreign(Value, frozen=True, kw_only=True):
    """A benchmark file of another tool."""

    format: str
    """One of FORMATS."""
    benchmarks: tuple[Benchmark, ...]
    left_out: tuple[str, ...] = ()
    """What is in the file and is no time, in words."""


def read_foreign(data: bytes, source: str, of: str | None = None) -> Foreign:
    """Read a file of the format `of`, by default the one that its content has; `source` is what messages call it.

    Raises UnknownName for a format that is not read, and ArchiveError, with the place, for anything that is no such
    file: broken, too large or too deeply nested, with repeated keys, with numbers that are not finite or no times.
    """
    if of is not None and of not in FORMATS:
        raise UnknownName("format", of, FORMATS)
    tree = parse(data, source, "benchmark file")
    kind = of or _guessed(tree, source)
    benchmarks, left_out = FORMATS[kind](tree, source)
    if not benchmarks:
        raise ArchiveError(f"{source}: holds no benchmark with a time, expected at least one in a {kind} file")
    return Foreign(format=kind, benchmarks=benchmarks, left_out=left_out)


def _guessed(tree: Any, source: str) -> str:
    members = tree if isinstance(tree, dict) else {}
    if "schema" in members and "machine" in members:
        raise ArchiveError(f"{source}: is a run of this suite; see it with `python -m bench show`")
    if isinstance(members.get("benchmarks"), list):
        first = next(iter(members["benchmarks"]), None)
        if "machine_info" in members or (isinstance(first, dict) and "stats" in first):
            return "pytest-benchmark"
        if "context" in members or (isinstance(first, dict) and "real_time" in first):
            return "google-benchmark"
        if isinstance(first, dict) and "runs" in first:
            return "pyperf"
    raise ArchiveError(f"{source}: found none of the formats {', '.join(FORMATS)}; name one with --from")


Found = tuple[tuple[Benchmark, ...], tuple[str, ...]]


class _Statistics(Value, frozen=True, kw_only=True):
    median: float
    rounds: int
    iqr: float | None = None
    data: tuple[float, ...] = ()


class _Timed(Value, frozen=True, kw_only=True):
    fullname: str
    stats: _Statistics
    extra_info: dict[str, Any] = {}


class _PytestBenchmark(Value, frozen=True, kw_only=True):
    benchmarks: tuple[_Timed, ...]


def _pytest_benchmark(tree: Any, source: str) -> Found:
    document: _PytestBenchmark = typed(tree, _PytestBenchmark, source)
    found = []
    for index, entry in enumerate(document.benchmarks):
        place = f"{source}: benchmarks[{index}].stats"
        stats = entry.stats
        if stats.data:
            found.append(_sampled(entry.fullname, stats.data, entry.extra_info, place))
            continue
        _check(stats.median, place)
        spread = None if stats.iqr is None or stats.iqr < 0 else stats.iqr / stats.median
        found.append(_benchmark(entry.fullname, stats.median, spread, stats.rounds, entry.extra_info))
    return tuple(found), ()


class _Process(Value, frozen=True, kw_only=True):
    values: tuple[float, ...] = ()


class _Timings(Value, frozen=True, kw_only=True):
    runs: tuple[_Process, ...]
    metadata: dict[str, Any] = {}


class _Pyperf(Value, frozen=True, kw_only=True):
    benchmarks: tuple[_Timings, ...]
    metadata: dict[str, Any] = {}
    version: Any = None


def _pyperf(tree: Any, source: str) -> Found:
    document: _Pyperf = typed(tree, _Pyperf, source)
    if document.version != "1.0":
        raise ArchiveError(f"{source}: version: found {shown(document.version)}, expected '1.0'")
    found, left_out = [], []
    for index, entry in enumerate(document.benchmarks):
        metadata = document.metadata | entry.metadata
        name = str(metadata.get("name", f"benchmark {index + 1}"))
        values = [value for process in entry.runs for value in process.values]  # none where a process only calibrated
        if metadata.get("unit", "second") != "second":
            left_out.append(f"{name}, in units of {metadata['unit']}")
        elif not values:
            left_out.append(f"{name}, without values")
        else:
            found.append(_sampled(name, values, metadata, f"{source}: benchmarks[{index}].runs"))
    return tuple(found), tuple(map(printable, left_out))


class _Repetition(Value, frozen=True, kw_only=True):
    name: str
    run_name: str | None = None
    run_type: str = "iteration"
    aggregate_name: str = ""
    repetitions: int = 1
    real_time: float | None = None
    time_unit: str = "ns"
    error_occurred: bool = False
    flop_per_s: float | None = None
    percent_of_roof: float | None = None


class _GoogleBenchmark(Value, frozen=True, kw_only=True):
    benchmarks: tuple[_Repetition, ...]


def _google_benchmark(tree: Any, source: str) -> Found:
    document: _GoogleBenchmark = typed(tree, _GoogleBenchmark, source)
    grouped: dict[str, list[_Repetition]] = {}
    medians: dict[str, _Repetition] = {}
    left_out = []
    for entry in document.benchmarks:
        name = entry.run_name or entry.name
        if entry.error_occurred:
            left_out.append(f"{name}, which failed")
        elif entry.run_type != "aggregate":
            grouped.setdefault(name, []).append(entry)
        elif entry.aggregate_name == "median":
            medians[name] = entry
    found = [
        _sampled(name, [_seconds(entry, source) for entry in entries], _told(entries), f"{source}: {shown(name)}")
        for name, entries in grouped.items()
    ]
    for name, entry in medians.items():
        if name not in grouped:  # a file of aggregates only
            median_s = _seconds(entry, source)
            _check(median_s, f"{source}: {shown(name)}")
            found.append(_benchmark(name, median_s, None, entry.repetitions, _told([entry])))
    return tuple(found), tuple(map(printable, left_out))


def _seconds(entry: _Repetition, source: str) -> float:
    if entry.real_time is None or entry.time_unit not in UNIT_S:
        found = "no real_time" if entry.real_time is None else f"the unit {shown(entry.time_unit)}"
        raise ArchiveError(f"{source}: {shown(entry.name)}: found {found}, expected real_time in {', '.join(UNIT_S)}")
    return entry.real_time * UNIT_S[entry.time_unit]


def _told(entries: Sequence[_Repetition]) -> dict[str, float]:
    told = {}
    for name in ("flop_per_s", "percent_of_roof"):
        values = [value for entry in entries if (value := getattr(entry, name)) is not None]
        if values:
            told[name] = median(values)
    return told


def _sampled(name: str, samples_s: Sequence[float], told: Mapping[str, Any], place: str) -> Benchmark:
    for sample_s in samples_s:
        _check(sample_s, place)
    return _benchmark(name, median(samples_s), relative_spread(samples_s), len(samples_s), told)


def _check(time_s: float, place: str) -> None:
    if not TIME_S[0] <= time_s <= TIME_S[1]:
        raise ArchiveError(f"{place}: found {time_s:g} s, expected a time between {TIME_S[0]:g} and {TIME_S[1]:g} s")


def _benchmark(name: str, median_s: float, spread: float | None, samples: int, told: Mapping[str, Any]) -> Benchmark:
    return Benchmark(
        name=printable(name),
        median_s=median_s,
        spread=spread,
        samples=samples,
        flop_per_s=_positive(told.get("flop_per_s")),
        percent_of_roof=_positive(told.get("percent_of_roof")),
    )


def _positive(value: Any) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) and value > 0 else None


FORMATS: dict[str, Callable[[Any, str], Found]] = {
    "pytest-benchmark": _pytest_benchmark,
    "pyperf": _pyperf,
    "google-benchmark": _google_benchmark,
}
"""What reads each format that is read."""


def named(foreign: Foreign, name: str) -> Benchmark:
    """Return the benchmark of this name. Raises UnknownName when there is none, ArchiveError when there are more."""
    found = [benchmark for benchmark in foreign.benchmarks if benchmark.name == name]
    if len(found) > 1:
        raise ArchiveError(f"{len(found)} benchmarks are called {name!r}, expected one; give each a name of its own")
    if not found:
        known: Iterable[str] = (benchmark.name for benchmark in foreign.benchmarks)
        raise UnknownName("benchmark", name, known, "see them without --name")
    return found[0]
