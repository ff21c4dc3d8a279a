"""Google Benchmark: what `--benchmark_out` writes, read by its `tools/compare.py` and by many CI services."""

from __future__ import annotations

import re
from collections.abc import Iterator
from statistics import median
from typing import Any

from roofline.archive.export.point import Point, points, run_facts
from roofline.archive.export.serialised import json_bytes
from roofline.model.run import Run


def google_benchmark_json(run: Run) -> bytes:
    """Return the document: one repetition for each sample, rates and percent of roof as user counters.

    `cpu_time`, which its tools demand, is `real_time` again: CPU time is not measured, and the context says so.
    """
    found = points(run)
    entries = [entry for family, point in enumerate(found) for entry in _repetitions(point, family)]
    return json_bytes({"context": _context(run, found), "benchmarks": entries})


def _context(run: Run, found: tuple[Point, ...]) -> dict[str, Any]:
    facts = run_facts(run)
    clocks_hz = [hz for point in found for hz in point.measurement.clock_samples_hz]
    load = run.environment.load_1min
    return {
        "date": run.started_utc,
        "host_name": facts["machine"],
        "executable": "roofline-suite",
        "num_cpus": run.machine.hardware_threads or 0,
        "mhz_per_cpu": round(median(clocks_hz) / 1e6) if clocks_hz else 0,
        "cpu_scaling_enabled": run.environment.governor not in (None, "performance"),
        "caches": [
            {
                "type": "Data" if cache.name == "L1" else "Unified",
                "level": int(level[0]) if (level := re.findall("[0-9]{1,2}", cache.name)) else 0,
                "size": cache.size_bytes,
                "num_sharing": cache.shared_by,
            }
            for cache in run.machine.caches
        ],
        "load_avg": [] if load is None else [load],
        "library_build_type": "release",
        "json_schema_version": 1,
        "cpu_time": "not measured: real_time again",
        **{f"roofline_{name}": fact for name, fact in facts.items()},
    }


def _repetitions(point: Point, family: int) -> Iterator[dict[str, Any]]:
    measurement, facts = point.measurement, point.facts
    label = " ".join(str(facts[name]) for name in ("level", "status", "digest", "bound") if name in facts)
    work = measurement.work
    for index, sample_s in enumerate(measurement.samples_s):
        counters = {"bytes_per_second": work.bytes / sample_s}
        if work.flops:
            counters |= {"flop_per_s": work.flops / sample_s, "flop_per_byte": work.flop_per_byte}
        if point.derived.percent_of_roof is not None:
            counters["percent_of_roof"] = point.derived.percent_of_roof  # of all samples: the median over paired blocks
        yield {
            "name": point.name,
            "family_index": family,
            "per_family_instance_index": 0,
            "run_name": point.name,
            "run_type": "iteration",
            "repetitions": len(measurement.samples_s),
            "repetition_index": index,
            "threads": measurement.threads,
            "iterations": measurement.repeats,
            "real_time": sample_s * 1e9,
            "cpu_time": sample_s * 1e9,
            "time_unit": "ns",
            **counters,
            "label": label,
        }
