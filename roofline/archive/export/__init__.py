"""Runs in the formats of other tools: what may be drawn, under one name a point, with as much as each has room for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from roofline.archive.export.asv_results import asv_results
from roofline.archive.export.bencher_metrics import bencher_metrics
from roofline.archive.export.csv_table import csv_table
from roofline.archive.export.github_action import github_action
from roofline.archive.export.google_benchmark_json import google_benchmark_json
from roofline.archive.export.junit_xml import junit_xml
from roofline.archive.export.openmetrics_text import openmetrics_text
from roofline.archive.export.parquet_table import parquet_table
from roofline.archive.export.point import points
from roofline.archive.export.pyperf_json import pyperf_json
from roofline.archive.export.pytest_benchmark_json import pytest_benchmark_json
from roofline.errors import NothingMeasured, UnknownName
from roofline.model.outcome import Outcome
from roofline.model.run import Run


class Format(NamedTuple):
    """One format."""

    read_by: str
    """What reads it."""
    write: Callable[[Run], bytes | dict[str, bytes]]
    """Writes a run with points: one file, or several by name."""


FORMATS = {
    "pytest-benchmark": Format("pytest-benchmark compare", pytest_benchmark_json),
    "pyperf": Format("pyperf stats, compare_to", pyperf_json),
    "bmf": Format("bencher run --adapter json", bencher_metrics),
    "github-action": Format("github-action-benchmark", github_action),
    "google-benchmark": Format("Google Benchmark's tools/compare.py", google_benchmark_json),
    "asv": Format("asv compare, show", asv_results),
    "junit": Format("CI services, as tests", junit_xml),
    "openmetrics": Format("Prometheus, GitLab metrics reports", openmetrics_text),
    "csv": Format("spreadsheets, pandas", csv_table),
    "parquet": Format("pandas, polars, DuckDB", parquet_table),
}
"""Every format by the name that `--to` takes."""


def exported(run: Run, to: str, outcomes: Sequence[Outcome] = ()) -> dict[str, bytes]:
    """Return the files of a run in a format: what comes behind the name that the user chose, and the content.

    A format of one file has one entry, under `""`. `github-action` has two, by file name; `asv` has three, by path
    in its results folder. Only measurements that may be drawn are numbers in it; `junit` tells the others, and
    failures, as errors, and with `outcomes` of a gate has a test for each of these instead.

    Raises UnknownName for a format that does not exist, NothingMeasured for a run without any point to export, and
    UsageError where a library is missing.
    """
    if to not in FORMATS:
        raise UnknownName("format", to, FORMATS)
    if to == "junit":
        return {"": junit_xml(run, outcomes)}
    if not points(run):
        among = f"none of its {len(run.measurements)} measurements may be drawn" if run.measurements else "no kernel"
        raise NothingMeasured(
            f"run {run.id} has nothing to export: {among} (junit tells what failed); measure with `python -m bench run`"
        )
    files = FORMATS[to].write(run)
    return files if isinstance(files, dict) else {"": files}
