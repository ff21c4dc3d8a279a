"""asv: a results folder with one machine and one commit, read by `asv compare`, `show` and `publish`."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from hashlib import sha1
from statistics import quantiles
from typing import Any

from roofline.archive.export.point import Point, points, run_facts
from roofline.archive.export.serialised import json_bytes
from roofline.archive.tree import parse
from roofline.errors import ArchiveError
from roofline.model.legible import printable
from roofline.model.run import Run
from roofline.model.statistics import interval_of_median

BENCHMARKS = "benchmarks.json"
RESULTS_VERSION, MACHINE_VERSION, BENCHMARKS_VERSION = 2, 1, 2
ENVIRONMENT = "roofline-suite"
"""asv compares within one environment only, so that it has to be the same for all runs."""
PARAMETER = "point"

_COMMIT = re.compile("[0-9a-f]{7,40}")
_COLUMNS = (
    "result",
    "params",
    "version",
    "started_at",
    "duration",
    "stats_ci_99_a",
    "stats_ci_99_b",
    "stats_q_25",
    "stats_q_75",
    "stats_number",
    "stats_repeat",
    "samples",
    "profile",
)


def asv_results(run: Run) -> dict[str, bytes]:
    """Return the files by their path in the results folder.

    A benchmark is a kernel, with one parameter that tells its points apart; its value is seconds per call, since asv
    takes less for better everywhere.
    """
    machine, commit = run.machine.key, commit_of(run)
    kernels: dict[str, list[Point]] = {}
    for point in points(run):
        kernels.setdefault(_split(point)[0], []).append(point)
    results = {
        "commit_hash": commit,
        "env_name": ENVIRONMENT,
        "date": _started_ms(run),
        "params": {**_machine(run), **{f"roofline_{name}": fact for name, fact in run_facts(run).items()}},
        "python": run_facts(run).get("python", ""),
        "requirements": {},
        "env_vars": {},
        "result_columns": list(_COLUMNS),
        "results": {name: _row(found, _started_ms(run)) for name, found in kernels.items()},
        "durations": {},
        "version": RESULTS_VERSION,
    }
    described: dict[str, Any] = {name: _benchmark(name, found) for name, found in kernels.items()}
    return {
        BENCHMARKS: json_bytes({**described, "version": BENCHMARKS_VERSION}),
        f"{machine}/machine.json": json_bytes({**_machine(run), "version": MACHINE_VERSION}),
        f"{machine}/{commit[:8]}-{ENVIRONMENT}.json": json_bytes(results),
    }


def commit_of(run: Run) -> str:
    """Return the revision of a clean checkout; for any other a hash of the run's id, since no commit is that code."""
    revision = run.revision or ""
    return revision if _COMMIT.fullmatch(revision) else sha1(run.id.encode(), usedforsecurity=False).hexdigest()


def with_earlier(new: bytes, earlier: bytes, source: str) -> bytes:
    """Return a `benchmarks.json` that also describes what the one in the folder does, a user's own suite or an
    earlier run. Raises ArchiveError for one that is none."""
    known = parse(earlier, source, "benchmarks.json of asv")
    if not isinstance(known, dict) or known.get("version") != BENCHMARKS_VERSION:
        raise ArchiveError(
            f"{source}: found no benchmarks.json of asv, version {BENCHMARKS_VERSION}; name another folder with -o"
        )
    return json_bytes({**known, **json.loads(new)})


def _split(point: Point) -> tuple[str, str]:
    """Return kernel and parameter of a point's name, `gemm.naive` and `n=2048,f64,t=2`."""
    kernel, _, parameter = point.name.rpartition("[")
    return kernel or "kernel", parameter.replace("]", "")


def _machine(run: Run) -> dict[str, str]:
    machine = run.machine
    return {
        "machine": machine.key,
        "os": printable(machine.system or ""),
        "arch": printable(machine.arch),
        "cpu": printable(machine.cpu_model),
        "num_cpu": str(machine.hardware_threads or ""),
        "ram": str(machine.memory_bytes or ""),
    }


def _row(found: list[Point], started_ms: int) -> list[Any]:
    samples = [list(point.measurement.samples_s) for point in found]
    intervals = [interval_of_median(s, 0.99) or (min(s), max(s)) for s in samples]  # of few samples: their range
    middles = [quantiles(s, n=4, method="inclusive") if len(s) > 1 else s * 3 for s in samples]
    return [
        [point.derived.median_s for point in found],
        [[repr(_split(point)[1]) for point in found]],
        "1",
        started_ms,
        None,
        [low for low, _ in intervals],
        [high for _, high in intervals],
        [low for low, _, _ in middles],
        [high for _, _, high in middles],
        [point.measurement.repeats for point in found],
        [len(s) for s in samples],
        samples,
    ]


def _benchmark(name: str, found: list[Point]) -> dict[str, Any]:
    return {
        "name": name,
        "code": "",
        "param_names": [PARAMETER],
        "params": [[repr(_split(point)[1]) for point in found]],
        "type": "time",
        "unit": "seconds",
        "version": "1",
        "timeout": 60.0,
    }


def _started_ms(run: Run) -> int:
    """Return the start in JavaScript's time, which asv counts in."""
    started = datetime.strptime(run.started_utc, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    return int(started.timestamp() * 1000)
