"""`history`: what it prints, what it draws, and which runs it takes."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest
from answer import Answer, Ask
from msgspec.structs import replace
from small_run import run_at

from roofline.archive.journal import Journal
from roofline.archive.store import save
from roofline.host import read_machine
from roofline.model.run import Run

COUNT, STEP = 12, 6


def moved(run: Run, times: float) -> Run:
    """Return the run with only GEMM and a copy, the former taking so many times as long."""
    copy, gemm = run.measurements[0], run.measurements[-1]
    longer = replace(gemm, samples_s=tuple(times * sample_s for sample_s in gemm.samples_s), roof_samples=())
    return replace(run, measurements=(copy, longer), failures=())


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve runs, from the seventh on with a slower GEMM. Tests only add pictures to it, and remove them."""
    folder = tmp_path_factory.mktemp("history")
    rng = Random(3)
    for minute in range(COUNT):
        save(moved(run_at(minute), (1.0 if minute < STEP else 1.4) * rng.gauss(1, 0.01)), folder)
    return folder


@pytest.fixture(scope="module")
def three_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs, too few for a change, and what is no run: a journal and a broken file. Tests only read it."""
    folder = tmp_path_factory.mktemp("three_runs")
    for minute in range(3):
        save(moved(run_at(minute), 1.0), folder)
    Journal(run_at(50), folder).close()
    (folder / run_at(0).machine.key / "20261104-105900-ffff.json").write_text("{}")
    return folder


KEY = run_at(0).machine.key


@pytest.fixture
def history(ask: Ask, results: Path) -> Ask:
    def call(*words: str) -> Answer:
        return ask("history", *words, "--results", str(results))

    return call


@pytest.fixture
def short_history(ask: Ask, three_runs: Path) -> Ask:
    def call(*words: str) -> Answer:
        return ask("history", *words, "--results", str(three_runs))

    return call


def test_a_row_tells_a_point_and_the_run_from_which_it_is_another(history: Ask) -> None:
    answer = history("--metric", "time_ms")
    assert answer.code == 0
    rows = {line.split()[0]: line for line in answer.out.splitlines() if line.startswith(("gemm", "stream"))}
    assert set(rows) == {"gemm.naive", "stream.copy"}
    assert f"from {run_at(STEP).id}" in rows["gemm.naive"] and "+4" in rows["gemm.naive"]
    assert " from " not in rows["stream.copy"]
    assert "History: time_ms, 12 runs" in answer.out


def test_files_that_are_no_runs_are_left_out_with_a_remark(short_history: Ask) -> None:
    answer = short_history()
    assert [line.split(": ")[0] for line in answer.err.splitlines()] == ["left out"]
    assert "20261104-105900-ffff.json" in answer.err


def test_the_document_holds_runs_and_series(history: Ask) -> None:
    document = json.loads(history("gemm", "--metric", "gflops", "--json").out)
    assert (document["machine"], document["metric"], document["unit"]) == (KEY, "gflops", "GFLOP/s")
    assert [run["run"] for run in document["runs"]] == [run_at(minute).id for minute in range(COUNT)]
    (series,) = document["series"]
    assert (series["kernel"], series["dtype"], series["threads"]) == ("gemm.naive", "f64", 1)
    assert [sighting["place"] for sighting in series["sightings"]] == list(range(COUNT))
    (shift,) = series["shifts"]
    assert (shift["place"], shift["run"]) == (STEP, run_at(STEP).id)
    assert shift["size"] == pytest.approx(1 / 1.4 - 1, abs=0.02)


def test_markdown_has_a_row_for_each_point(short_history: Ask) -> None:
    lines = short_history("--format", "md").out.splitlines()
    assert sum(line.startswith(("| gemm", "| stream")) for line in lines) == 2


def test_plot_writes_pictures_that_open_and_prints_their_names(history: Ask, results: Path) -> None:
    answer = history("gemm", "--metric", "time_ms", "--plot", "-q")
    files = [Path(line) for line in answer.out.splitlines()[-2:]]
    assert files == [results / KEY / f"history-time_ms.{ending}" for ending in ("svg", "png")]
    assert ElementTree.parse(files[0]).getroot().tag.endswith("svg")
    png = files[1].read_bytes()
    assert png.startswith(b"\x89PNG\r\n\x1a\n") and png.endswith(b"IEND\xaeB`\x82")
    assert "change point" in files[0].read_text()
    for file in files:
        file.unlink()


def test_output_names_the_one_file_to_draw_and_json_leaves_it_to_stderr(short_history: Ask, tmp_path: Path) -> None:
    answer = short_history("gemm", "-o", str(tmp_path / "one.svg"), "--json")
    assert json.loads(answer.out)["series"]
    assert answer.err.splitlines()[-1] == str(tmp_path / "one.svg")
    assert [path.name for path in tmp_path.iterdir()] == ["one.svg"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["gemm.nave"], 2, "unknown kernel 'gemm.nave'; did you mean 'gemm.naive'"),
        (["gemm[f32]"], 2, "gemm[f32] means no point of 3 runs"),
        (["gemm["], 2, "column 6"),
        (["--metric", "speed"], 2, "'speed' is not one of"),
        (["--machine", "nosuch"], 2, "unknown machine 'nosuch'"),
        (["-o", "a.gif"], 2, ".svg, .png or .pdf"),
        (["-o", "/nosuch/a.svg"], 73, "/nosuch"),
    ],
)
def test_what_cannot_be_told_is_one_line(short_history: Ask, words: list[str], code: int, message: str) -> None:
    answer = short_history(*words, "-q")
    assert answer.code == code
    assert message in answer.err and answer.err.count("\n") == 1


def test_one_run_is_a_history(ask: Ask, tmp_path: Path) -> None:
    save(moved(run_at(0), 1.0), tmp_path)
    answer = ask("history", "--results", str(tmp_path))
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("History: percent_of_roof, 1 run ")


def test_without_runs_it_says_what_to_type(ask: Ask, tmp_path: Path) -> None:
    answer = ask("history", "--results", str(tmp_path))
    assert answer.code == 2
    assert "python -m bench all" in answer.err


def test_a_journal_alone_is_no_history(ask: Ask, tmp_path: Path) -> None:
    Journal(run_at(0), tmp_path).close()
    assert ask("history", "--results", str(tmp_path)).code == 2


def test_files_that_cannot_be_read_alone_are_no_history(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / KEY).mkdir()
    (tmp_path / KEY / "20261104-105900-ffff.json").write_text("{}")
    answer = ask("history", "--results", str(tmp_path))
    assert answer.code == 2
    assert "list runs" in answer.err


def test_of_several_machines_one_must_be_named(ask: Ask, tmp_path: Path) -> None:
    other = replace(moved(run_at(1), 1.0), machine=replace(run_at(1).machine, cpu_model="Cortex"))
    save(moved(run_at(0), 1.0), tmp_path)
    save(other, tmp_path)
    answer = ask("history", "--results", str(tmp_path))
    assert answer.code == 2
    assert "2 machines" in answer.err and KEY in answer.err
    document = json.loads(ask("history", "--machine", other.machine.key, "--json", "--results", str(tmp_path)).out)
    assert [run["run"] for run in document["runs"]] == [other.id]


def test_of_several_machines_this_one_is_meant(ask: Ask, tmp_path: Path) -> None:
    here = replace(moved(run_at(1), 1.0), machine=read_machine())
    save(moved(run_at(0), 1.0), tmp_path)
    save(here, tmp_path)
    document = json.loads(ask("history", "--json", "--metric", "time_ms", "--results", str(tmp_path)).out)
    assert (document["machine"], [run["run"] for run in document["runs"]]) == (here.machine.key, [here.id])
