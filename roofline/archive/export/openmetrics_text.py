"""OpenMetrics 1.0 text: Prometheus (pushed or from a file), and GitLab's metrics report."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from roofline.archive.export.point import Point, points, run_facts
from roofline.model.run import Run

Read = Callable[[Point], float | None]

GAUGES: tuple[tuple[str, str, str, Read], ...] = (
    ("time", "seconds", "Median time of one call.", lambda point: point.derived.median_s),
    (
        "arithmetic",
        "flops_per_second",
        "Operations per second, at the median time; of whole numbers where dtype is no float.",
        lambda point: point.derived.flop_per_s if point.measurement.work.flops else None,
    ),
    (
        "traffic",
        "bytes_per_second",
        "Compulsory bytes, read and written, per second, at the median time.",
        lambda point: point.derived.byte_per_s,
    ),
    (
        "intensity",
        "flops_per_byte",
        "Arithmetic intensity.",
        lambda point: point.derived.flop_per_byte if point.measurement.work.flops else None,
    ),
    (
        "roof",
        "ratio",
        "Share of the roof, 1 being all of it.",
        lambda point: None if point.derived.percent_of_roof is None else point.derived.percent_of_roof / 100,
    ),
    ("spread", "ratio", "Interquartile range of the samples over their median.", lambda point: point.derived.spread),
)
"""Name, unit, help and value of each gauge."""


def openmetrics_text(run: Run) -> bytes:
    """Return the exposition. What may change from run to run (digest, bound, revision) stands in info metrics only,
    so that the labels of a gauge are the same in the next run."""
    found = points(run)
    lines = []
    for name, unit, about, read in GAUGES:
        metric = f"roofline_kernel_{name}_{unit}"
        values = [(point, value) for point in found if (value := read(point)) is not None]
        if values:
            lines += [f"# TYPE {metric} gauge", f"# UNIT {metric} {unit}", f"# HELP {metric} {about}"]
            lines += [f"{metric}{labels(_identity(point))} {float(value)!r}" for point, value in values]
    lines += ["# TYPE roofline_kernel info", "# HELP roofline_kernel What each point was."]
    told = ("variant", "level", "digest", "status", "bound")
    for point in found:
        facts = {name: str(point.facts[name]) for name in told if name in point.facts}
        lines.append(f"roofline_kernel_info{labels({'point': point.name, **facts})} 1")
    lines += ["# TYPE roofline_run info", "# HELP roofline_run The run that all of this is from."]
    lines += [f"roofline_run_info{labels(run_facts(run))} 1", "# EOF", ""]
    return "\n".join(lines).encode("utf-8")


def labels(values: Mapping[str, str]) -> str:
    """Return a set of labels, its values escaped."""
    escaped = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
    return "{" + ",".join(f'{name}="{value.translate(escaped)}"' for name, value in values.items()) + "}"


def _identity(point: Point) -> dict[str, str]:
    facts = point.facts
    return {"point": point.name, **{name: str(facts.get(name, "")) for name in ("kernel", "n", "dtype", "threads")}}
