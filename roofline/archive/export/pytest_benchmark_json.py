"""pytest-benchmark: what `pytest --benchmark-json` writes, read by `pytest-benchmark compare` and a few CI actions."""

from __future__ import annotations

import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

from roofline.archive.export.point import Point, points, run_facts
from roofline.archive.export.serialised import json_bytes
from roofline.model.legible import printable
from roofline.model.run import Run

LAYOUT = "5.3.1"
"""Version of pytest-benchmark whose layout this is."""


def pytest_benchmark_json(run: Run) -> bytes:
    """Return the document. Times are seconds per call; what is no time stands in `extra_info`, as `Point.facts`."""
    facts = run_facts(run)
    revision, _, dirty = facts.get("revision", "unversioned").partition("+")
    return json_bytes(
        {
            "machine_info": _machine_info(run, facts),
            "commit_info": {
                "id": revision,
                "time": None,
                "author_time": None,
                "dirty": bool(dirty),
                "project": "roofline-suite",
                "branch": None,
            },
            "benchmarks": [_benchmark(point, facts) for point in points(run)],
            "datetime": run.started_utc,
            "version": LAYOUT,
        }
    )


def _machine_info(run: Run, facts: dict[str, str]) -> dict[str, Any]:
    return {
        "node": facts["machine"],
        "processor": facts.get("microarchitecture", ""),
        "machine": facts.get("arch", ""),
        "python_implementation": "CPython",
        "python_version": facts.get("python", ""),
        "system": facts.get("system", ""),
        "cpu": {
            "brand_raw": facts.get("cpu_model", ""),
            "arch": facts.get("arch", ""),
            "count": run.machine.hardware_threads,
            "flags": [printable(feature) for feature in run.machine.features],
        },
    }


def _benchmark(point: Point, facts: dict[str, str]) -> dict[str, Any]:
    measurement = point.measurement
    return {
        "group": f"{point.family} {printable(measurement.dtype)}",
        "name": point.name,
        "fullname": point.name,
        "params": {name: point.facts[name] for name in ("n", "dtype", "threads")},
        "param": None,
        "extra_info": {**point.facts, "run": facts["run"], "grade": facts["grade"]},
        "options": {},
        "stats": statistics_of(measurement.samples_s, measurement.repeats),
    }


def statistics_of(samples_s: Sequence[float], iterations: int) -> dict[str, Any]:
    """Return the statistics of pytest-benchmark, by its own definitions (its tables mix files of both makers)."""
    ordered = sorted(samples_s)
    mean = statistics.mean(ordered)
    deviation = statistics.stdev(ordered) if len(ordered) > 1 else 0
    low, high = _quartiles(ordered)
    fence = 1.5 * (high - low)
    beyond_deviation = sum(not mean - deviation <= sample <= mean + deviation for sample in samples_s)
    beyond_fence = sum(not low - fence <= sample <= high + fence for sample in samples_s)
    return {
        "min": ordered[0],
        "max": ordered[-1],
        "mean": mean,
        "stddev": deviation,
        "rounds": len(ordered),
        "median": statistics.median(ordered),
        "iqr": high - low,
        "q1": low,
        "q3": high,
        "iqr_outliers": beyond_fence,
        "stddev_outliers": beyond_deviation,
        "outliers": f"{beyond_deviation};{beyond_fence}",
        "ld15iqr": ordered[bisect_left(ordered, low - fence)],
        "hd15iqr": ordered[bisect_right(ordered, high + fence) - 1],
        "ops": len(ordered) / sum(samples_s),
        "total": sum(samples_s),
        "data": list(samples_s),
        "iterations": iterations,
    }


def _quartiles(ordered: Sequence[float]) -> tuple[float, float]:
    """Return the lower and the upper quartile: medians of the halves, and for odd counts the third method.

    https://en.wikipedia.org/wiki/Quartile#Computing_methods
    """
    count = len(ordered)
    if count == 1:
        return ordered[0], ordered[0]
    if count % 2 == 0:
        return statistics.median(ordered[: count // 2]), statistics.median(ordered[count // 2 :])
    n, rest = divmod(count, 4)
    if rest == 1:
        return (
            0.25 * ordered[n - 1] + 0.75 * ordered[n],
            0.75 * ordered[3 * n] + 0.25 * ordered[3 * n + 1],
        )
    return (
        0.75 * ordered[n] + 0.25 * ordered[n + 1],
        0.25 * ordered[3 * n + 1] + 0.75 * ordered[3 * n + 2],
    )
