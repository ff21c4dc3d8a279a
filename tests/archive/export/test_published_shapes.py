"""Formats whose reader does not install from PyPI: held against what it publishes, or what its source reads."""

from __future__ import annotations

import io
import json
from typing import Any

import jsonschema
import pytest
from msgspec.structs import replace
from runs_to_export import sound_run, spoiled_run

from roofline.archive.export import FORMATS, exported
from roofline.archive.export.github_action import BIGGER, SMALLER
from roofline.archive.export.point import points
from roofline.errors import NothingMeasured, UnknownName

RUN = sound_run()
NAMES = [point.name for point in points(RUN)]
BMF: dict[str, Any] = {
    "$id": "https://bencher.dev/bmf.json",
    "$schema": "http://json-schema.org/draft-07/schema",
    "type": "object",
    "patternProperties": {
        ".+": {
            "type": "object",
            "patternProperties": {
                ".+": {
                    "type": "object",
                    "properties": {
                        "value": {"type": "number"},
                        "lower_value": {"type": "number"},
                        "upper_value": {"type": "number"},
                    },
                    "required": ["value"],
                }
            },
        }
    },
}
"""As published at https://bencher.dev/bmf.json; names have at most 1024 characters, measures 64."""


def test_bencher_metrics_are_valid_and_bounded() -> None:
    document = json.loads(exported(RUN, "bmf")[""])
    jsonschema.validate(document, BMF)
    assert list(document) == NAMES
    for point in points(RUN):
        measures = document[point.name]
        assert measures["latency"]["value"] == pytest.approx(point.derived.median_s * 1e9)
        assert measures["percent-of-roof"]["value"] == point.derived.percent_of_roof
        assert ("gflops" in measures) == bool(point.measurement.work.flops)
        bounded = [metric for metric in measures.values() if "lower_value" in metric]
        assert bounded and all(m["lower_value"] <= m["value"] <= m["upper_value"] for m in bounded)


def test_each_file_of_the_github_action_has_one_direction_and_fixed_units() -> None:
    files = {name: json.loads(content) for name, content in exported(RUN, "github-action").items()}
    assert {entry["unit"] for entry in files[BIGGER]} == {"GFLOP/s", "GB/s", "%"}
    assert {entry["unit"] for entry in files[SMALLER]} == {"ns"}
    assert [entry["name"] for entry in files[SMALLER]] == [f"{name} time" for name in NAMES]
    for entry in (*files[BIGGER], *files[SMALLER]):
        assert entry["value"] > 0 and "digest: " in entry["extra"]
        sign, number = entry.get("range", "± 0").split()
        assert sign == "±" and float(number) >= 0


def test_operations_on_whole_numbers_are_no_flops_for_the_github_action() -> None:
    measurement = replace(RUN.measurements[-1], dtype="i8")
    entries = json.loads(exported(replace(RUN, measurements=(measurement,)), "github-action")[BIGGER])
    assert "GOP/s" in {entry["unit"] for entry in entries}


def test_google_benchmark_has_what_its_compare_reads() -> None:
    """`tools/compare.py`: context; per repetition name, run_name, run_type, real_time, cpu_time, time_unit."""
    document = json.loads(exported(RUN, "google-benchmark")[""])
    context = document["context"]
    assert context["num_cpus"] == RUN.machine.hardware_threads and context["host_name"] == RUN.machine.key
    assert {cache["type"] for cache in context["caches"]} == {"Data", "Unified"}
    entries = document["benchmarks"]
    assert len(entries) == sum(len(m.samples_s) for m in RUN.measurements)
    for entry in entries:
        assert entry["run_type"] == "iteration" and entry["time_unit"] == "ns"
        assert entry["real_time"] == entry["cpu_time"] > 0
        assert entry["name"] == entry["run_name"] and entry["percent_of_roof"] > 0
    first = [entry for entry in entries if entry["name"] == NAMES[0]]
    assert [entry["repetition_index"] for entry in first] == list(range(first[0]["repetitions"]))
    assert [entry["real_time"] for entry in first] == pytest.approx([s * 1e9 for s in RUN.measurements[0].samples_s])


@pytest.mark.parametrize("to", sorted(set(FORMATS) - {"junit"}))
def test_what_may_not_be_drawn_is_no_number_in_any_format(to: str) -> None:
    pytest.importorskip("pyarrow")
    for content in exported(spoiled_run(), to).values():
        if to == "parquet":
            content = str(pytest.importorskip("pandas").read_parquet(io.BytesIO(content)).to_dict()).encode()
        assert content and b"spoiled" not in content


@pytest.mark.parametrize("to", sorted(set(FORMATS) - {"junit"}))
def test_a_run_without_points_has_nothing_to_export(to: str) -> None:
    invalid = tuple(replace(m, status="invalid") for m in RUN.measurements)
    for measurements in ((), invalid):
        with pytest.raises(NothingMeasured, match="nothing to export"):
            exported(replace(RUN, measurements=measurements), to)


def test_an_unknown_format_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(UnknownName, match="did you mean 'pytest-benchmark'"):
        exported(RUN, "pytest-benchmrk")
