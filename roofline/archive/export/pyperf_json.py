"""pyperf: its JSON, version 1.0, read by `pyperf stats`, `compare_to`, `hist`, `check`."""

from __future__ import annotations

from typing import Any

from roofline.archive.export.point import Point, Told, points, run_facts
from roofline.archive.export.serialised import json_bytes
from roofline.model.legible import printable
from roofline.model.run import Run


def pyperf_json(run: Run) -> bytes:
    """Return the document: one run of values (seconds per call) for each point.

    What is no time is metadata. Metadata are numbers, or texts of one line that are not empty.
    """
    facts = run_facts(run)
    common: dict[str, Told | None] = {f"roofline_{name}": facts.get(name) for name in ("run", "label", "grade")}
    common |= {
        "unit": "second",
        "date": run.started_utc.replace("T", " ").removesuffix("Z"),
        "platform": facts.get("system"),
        "cpu_machine": facts.get("arch"),
        "cpu_model_name": facts.get("cpu_model"),
        "cpu_count": run.machine.hardware_threads,
        "cpu_affinity": ",".join(map(str, run.environment.affinity or ())),
        "cpu_config": _configured(run),
        "load_avg_1min": run.environment.load_1min,
        "python_version": facts.get("python"),
        "python_implementation": "cpython",
        "timer": "clock of the suite: monotonic, wall time",
    }
    metadata = {name: value for name, value in common.items() if value not in (None, "")}
    return json_bytes(
        {"version": "1.0", "metadata": metadata, "benchmarks": [_benchmark(point) for point in points(run)]}
    )


def _benchmark(point: Point) -> dict[str, Any]:
    told = {name: value.strip() if isinstance(value, str) else value for name, value in point.facts.items()}
    metadata = {name: value for name, value in told.items() if value != ""}
    return {
        "metadata": {**metadata, "name": point.name, "loops": point.measurement.repeats},
        "runs": [{"values": list(point.measurement.samples_s)}],
    }


def _configured(run: Run) -> str:
    environment = run.environment
    switches = {"turbo": environment.turbo, "SMT": environment.smt}
    known = [f"governor {printable(environment.governor.strip())}"] if environment.governor else []
    known += [f"{name} {'on' if state else 'off'}" for name, state in switches.items() if state is not None]
    return ", ".join(known)
