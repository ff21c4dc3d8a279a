"""Texts that a file can hold harm no reader of any export."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from runs_to_export import hostile_run

from roofline.archive.export import FORMATS, exported
from roofline.archive.export.csv_table import FORMULAS, neutral
from roofline.archive.export.delivery import deliver
from roofline.archive.export.point import points

RUN = hostile_run()
NAMES = [point.name for point in points(RUN)]
JSON = [name for name in FORMATS if name not in ("junit", "openmetrics", "csv", "parquet")]


def test_the_run_is_hostile_and_every_point_of_it_is_exported() -> None:
    assert len(NAMES) == len(RUN.measurements) > 20


@pytest.mark.parametrize("to", JSON)
def test_json_is_strict_ascii_and_holds_no_invisible_character(to: str) -> None:
    for content in exported(RUN, to).values():
        assert content.isascii()
        tree = json.loads(content, parse_constant=pytest.fail)
        for text in texts(tree):
            assert text.replace("\n", "").isprintable()


@pytest.mark.parametrize("to", sorted(FORMATS))
def test_the_same_run_gives_the_same_bytes(to: str) -> None:
    pytest.importorskip("pyarrow")
    assert exported(RUN, to) == exported(RUN, to)


@pytest.mark.parametrize(("module", "to"), [("pyperf", "pyperf"), ("pytest_benchmark", "pytest-benchmark")])
def test_tools_that_print_names_print_no_escape_sequence(module: str, to: str, tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        deliver(exported(RUN, to), to, tmp_path / name)
    verb = "compare_to" if module == "pyperf" else "compare"
    environment = {"PYTHONIOENCODING": "utf-8", "PATH": "", "HOME": str(tmp_path)}
    command = [sys.executable, "-m", module, verb, "a.json", "b.json"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", env=environment)
    assert result.returncode == 0, result.stderr
    assert "script" in result.stdout
    assert all(line.isprintable() for line in result.stdout.splitlines())


def test_pyperf_takes_all_metadata(tmp_path: Path) -> None:
    pyperf = pytest.importorskip("pyperf")
    deliver(exported(RUN, "pyperf"), "pyperf", tmp_path / "run.json")
    assert pyperf.BenchmarkSuite.load(str(tmp_path / "run.json")).get_benchmark_names() == NAMES


def test_asv_takes_all_names(tmp_path: Path) -> None:
    results = pytest.importorskip("asv.results")
    paths = deliver(exported(RUN, "asv"), "asv", tmp_path)
    assert all(tmp_path in path.resolve().parents for path in paths)
    (loaded,) = results.iter_results(str(tmp_path))
    count = sum(len(loaded.get_result_params(key)[0]) for key in loaded.get_all_result_keys())
    assert count == len(NAMES)


def test_metrics_are_parsed_with_every_label() -> None:
    parser = pytest.importorskip("prometheus_client.openmetrics.parser")
    families = list(parser.text_string_to_metric_families(exported(RUN, "openmetrics")[""].decode()))
    assert [sample.labels["point"] for sample in families[0].samples] == NAMES


def test_junit_is_well_formed_xml_with_each_test_once() -> None:
    root = ElementTree.fromstring(exported(RUN, "junit")[""])
    cases = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(set(cases)) == len(cases) == len(RUN.measurements) + len(RUN.failures)
    assert all(text.isprintable() for case in root.iter() for text in case.attrib.values())


def test_no_cell_of_csv_is_a_formula() -> None:
    rows = list(csv.reader(io.StringIO(exported(RUN, "csv")[""].decode())))
    assert len(rows) == len(NAMES) + 1
    assert not [cell for row in rows for cell in row if cell.lstrip().startswith(FORMULAS)]
    assert any(cell.startswith("'=1+1") for row in rows for cell in row)
    assert (neutral("-1"), neutral(-1.0), neutral(None)) == ("'-1", -1.0, None)


def test_no_name_ends_the_backticks_of_the_github_comment() -> None:
    for content in exported(RUN, "github-action").values():
        found = [entry["name"] for entry in json.loads(content)]
        assert len(set(found)) == len(found)
        assert not [name for name in found if set("`|@<>") & set(name)]


def texts(tree: object) -> list[str]:
    """Return every text of a tree, keys too."""
    if isinstance(tree, dict):
        return [text for pair in tree.items() for item in pair for text in texts(item)]
    if isinstance(tree, list):
        return [text for item in tree for text in texts(item)]
    return [tree] if isinstance(tree, str) else []
