"""`import`: another tool's file as a table, and one of its benchmarks under a roof of ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from answer import Ask

from roofline.archive.export import exported
from roofline.archive.export.point import points
from roofline.model.run import Run

NAME = "test_own.py::test_sum"


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A file of pytest-benchmark with one benchmark of 2 ms."""
    stats = {"median": 2e-3, "rounds": 3, "data": [1.9e-3, 2e-3, 2.2e-3]}
    path = tmp_path / "theirs.json"
    path.write_text(json.dumps({"machine_info": {}, "benchmarks": [{"fullname": NAME, "stats": stats}]}))
    return path


@pytest.fixture
def places(ask: Ask, theirs: Path, results: Path) -> Ask:
    """Call `import` of the file, with the sample run at hand."""
    return lambda *words: ask("import", str(theirs), "--results", str(results), *words)


def test_a_file_is_shown_as_a_table(places: Ask) -> None:
    answer = places()
    assert (answer.code, answer.err) == (0, "")
    assert "pytest-benchmark: theirs.json" in answer.out
    (row,) = [line.split() for line in answer.out.splitlines() if NAME in line]
    assert row == [NAME, "2.00", "ms", "7.5", "%", "3"]


def test_our_own_export_is_shown_with_rates_and_percentages(ask: Ask, run: Run, tmp_path: Path) -> None:
    (tmp_path / "ours.json").write_bytes(exported(run, "pyperf")[""])
    answer = ask("import", str(tmp_path / "ours.json"))
    assert "GFLOP/s" in answer.out and "roof" in answer.out
    assert all(point.name in answer.out for point in points(run))


def test_a_benchmark_is_put_on_the_roof_of_a_run_and_marked(places: Ask, run: Run) -> None:
    words = ("--name", NAME, "--flops", "2e6", "--bytes", "3e6", "--roof", "sample", "--level", "DRAM", "--json")
    placement = json.loads(places(*words).out)["placement"]
    best = run.ceilings.best_memory("DRAM", 1)
    assert best is not None
    assert placement["bound"] == best.name
    assert placement["flop_per_byte"] == pytest.approx(2 / 3)
    assert placement["flop_per_s"] == pytest.approx(1e9)
    assert placement["percent_of_roof"] == pytest.approx(100 * 1.5e9 / best.byte_per_s)
    assert placement["above_roof"] is False
    shown = places(*words[:-1])
    assert "unpaired, not checked, not counted" in shown.out
    assert f"{NAME} under the roof of sample" in shown.out and best.name in shown.out


def test_a_point_above_the_roof_says_that_it_cannot_be(places: Ask) -> None:
    answer = places("--name", NAME, "--flops", "1e12", "--roof", "last", "--dtype", "f32", "--threads", "2")
    assert answer.code == 0
    assert "above the roof, which cannot be" in answer.out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--name", "x"), "unknown benchmark 'x'"),
        (("--from", "jmh"), "unknown format 'jmh'"),
        (("--flops", "1"), "give --roof RUN too"),
        (("--level", "L1"), "give --roof RUN too"),
        (("--roof", "last"), "give --name NAME"),
        (("--roof", "last", "--name", NAME), "--flops F"),
        (("--roof", "last", "--flops", "1"), "give --name NAME"),
        (("--roof", "last", "--name", NAME, "--flops", "nan"), "--flops is nan"),
        (("--roof", "last", "--name", NAME, "--flops", "1e300"), "--flops is 1e+300"),
        (("--roof", "last", "--name", NAME, "--bytes", "-1"), "--bytes is -1"),
        (("--roof", "last", "--name", NAME, "--flops", "0", "--bytes", "0"), "no work is declared"),
        (("--roof", "last", "--name", NAME, "--bytes", "1", "--level", "L7"), "unknown level 'L7'"),
        (("--roof", "nix", "--name", NAME, "--bytes", "1"), "nix"),
    ],
)
def test_what_cannot_be_is_said(places: Ask, words: tuple[str, ...], complaint: str) -> None:
    answer = places(*words)
    assert (answer.code, answer.out) == (2, "")
    assert complaint in answer.err


@pytest.mark.parametrize("content", ["", "{", "[]", '{"a": NaN}'])
def test_a_file_that_is_none_ends_with_4(ask: Ask, tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    answer = ask("import", str(path))
    assert (answer.code, answer.out) == (4, "")
    assert "Traceback" not in answer.err


def test_a_file_that_is_not_there_ends_with_4(ask: Ask, tmp_path: Path) -> None:
    for path in (tmp_path / "gone.json", tmp_path):
        answer = ask("import", str(path))
        assert answer.code == 4 and "expected a benchmark file" in answer.err


def test_hostile_names_reach_no_terminal(ask: Ask, theirs: Path) -> None:
    tree: Any = json.loads(theirs.read_text())
    tree["benchmarks"][0]["fullname"] = "\x1b]0;owned\x07\u202egnp"
    theirs.write_text(json.dumps(tree))
    answer = ask("import", str(theirs))
    assert answer.code == 0
    assert all(line.isprintable() for line in answer.out.splitlines())


def test_what_is_no_time_is_left_out_and_told(ask: Ask, tmp_path: Path) -> None:
    entries = [{"name": "a", "real_time": 1.0}, {"name": "b", "error_occurred": True}]
    (tmp_path / "google.json").write_text(json.dumps({"context": {}, "benchmarks": entries}))
    answer = ask("import", str(tmp_path / "google.json"), "--json")
    assert json.loads(answer.out)["left_out"] == ["b, which failed"]
    assert answer.err == "note: left out: b, which failed\n"
