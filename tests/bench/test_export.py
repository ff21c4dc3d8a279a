"""`export`: what goes to stdout, what to files, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from answer import Ask
from msgspec.structs import replace

from bench.cli.export import DIRECTIONS, formats
from bench.cli.session import Session
from roofline.archive.export import FORMATS, exported
from roofline.archive.export.github_action import BIGGER, SMALLER
from roofline.archive.store import save
from roofline.model.run import Run

MANY = ("asv", "github-action")


@pytest.fixture
def exports(ask: Ask, results: Path) -> Ask:
    """Call `export` of the sample run."""
    return lambda *words, **others: ask("export", "last", "--results", str(results), *words, **others)


def test_one_file_goes_to_stdout_and_what_is_left_out_is_said_on_stderr(exports: Ask, run: Run) -> None:
    answer = exports("--to", "bmf")
    assert answer.code == 0
    assert answer.out.encode() == exported(run, "bmf")[""]
    left_out = sum(not m.drawable for m in run.measurements)
    assert left_out and f"note: {left_out} of {len(run.measurements)} measurements" in answer.err


def test_junit_leaves_nothing_out(exports: Ask) -> None:
    answer = exports("--to", "junit")
    assert (answer.code, answer.err) == (0, "")


@pytest.mark.parametrize("to", sorted(set(FORMATS) - set(MANY)))
def test_a_file_is_written_where_it_is_asked_for_and_named(exports: Ask, run: Run, tmp_path: Path, to: str) -> None:
    answer = exports("--to", to, "-o", str(tmp_path / "out.file"))
    assert (answer.code, answer.out) == (0, f"{tmp_path / 'out.file'}\n")
    assert (tmp_path / "out.file").read_bytes() == exported(run, to)[""]


def test_the_two_files_of_the_github_action_go_to_a_folder_or_a_beginning(exports: Ask, tmp_path: Path) -> None:
    folder = exports("--to", "github-action", "-o", str(tmp_path))
    assert folder.out.split() == [str(tmp_path / BIGGER), str(tmp_path / SMALLER)]
    beginning = exports("--to", "github-action", "-o", str(tmp_path / "bench.json"))
    assert beginning.out.split() == [str(tmp_path / f"bench-{name}") for name in (BIGGER, SMALLER)]
    assert (tmp_path / BIGGER).read_bytes() == (tmp_path / f"bench-{BIGGER}").read_bytes()


def test_one_direction_of_the_github_action_goes_to_stdout(exports: Ask) -> None:
    bigger, smaller = (json.loads(exports("--to", "github-action", "--direction", way).out) for way in DIRECTIONS)
    assert {entry["unit"] for entry in smaller} == {"ns"}
    assert "%" in {entry["unit"] for entry in bigger}


@pytest.mark.parametrize("to", MANY)
def test_several_files_do_not_go_to_stdout(exports: Ask, to: str) -> None:
    answer = exports("--to", to)
    assert (answer.code, answer.out) == (2, "")
    assert "cannot all go to stdout; give -o FOLDER" in answer.err
    assert ("--direction" in answer.err) == (to == "github-action")


def test_asv_keeps_what_its_folder_describes_already(exports: Ask, tmp_path: Path) -> None:
    (tmp_path / "benchmarks.json").write_text('{"theirs.time_it": {"name": "theirs.time_it"}, "version": 2}')
    assert exports("--to", "asv", "-o", str(tmp_path)).code == 0
    described = json.loads((tmp_path / "benchmarks.json").read_text())
    assert {"theirs.time_it", "gemm.naive"} <= set(described)
    assert len(list(tmp_path.glob("*/*.json"))) == 2


@pytest.mark.parametrize("content", ["[]", '{"version": 1}', "{"])
def test_a_benchmarks_json_that_is_none_is_left_alone(exports: Ask, tmp_path: Path, content: str) -> None:
    (tmp_path / "benchmarks.json").write_text(content)
    answer = exports("--to", "asv", "-o", str(tmp_path))
    assert answer.code == 4 and "benchmarks.json" in answer.err
    assert (tmp_path / "benchmarks.json").read_text() == content and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (("--to", "jmh"), 2, "unknown format 'jmh'"),
        (("--to", "csv", "-o", "{tmp}"), 2, "is a folder, expected the name of a file"),
        (("--to", "csv", "-o", "{tmp}/gone/x.csv"), 73, "cannot write"),
        (("--to", "csv", "-o", "{tmp}/file/x.csv"), 73, "cannot write"),
        (("--to", "csv", "-o", ""), 2, "is a folder"),
        (("--to", "asv", "-o", "{tmp}/file"), 2, "is a file, expected the results folder"),
        (("--to", "asv", "-o", "{tmp}/file/x"), 73, "cannot write"),
        (("--to", "csv", "--direction", "bigger"), 2, "--direction chooses"),
        (("--to", "github-action", "--direction", "up"), 2, "up"),
        ((), 2, "--to"),
    ],
)
def test_what_cannot_be_is_said(
    exports: Ask, tmp_path: Path, words: tuple[str, ...], code: int, complaint: str
) -> None:
    (tmp_path / "file").write_text("kept")
    answer = exports(*(word.format(tmp=tmp_path) for word in words))
    assert (answer.code, answer.out) == (code, "")
    assert complaint in answer.err
    assert (tmp_path / "file").read_text() == "kept" and len(list(tmp_path.iterdir())) == 1


def test_a_run_without_kernels_ends_with_5(ask: Ask, run: Run, tmp_path: Path) -> None:
    save(replace(run, measurements=()), tmp_path)
    answer = ask("export", "last", "--to", "csv", "--results", str(tmp_path))
    assert (answer.code, answer.out) == (5, "")
    assert "nothing to export" in answer.err


def test_the_help_and_the_shell_name_every_format(ask: Ask) -> None:
    text = ask("export", "--help").out
    assert [to for to in FORMATS if to not in text.replace("\n", " ")] == []
    assert formats(None, None, "p") == ["pytest-benchmark", "pyperf", "parquet"]  # type: ignore[arg-type]


def test_quiet_says_nothing_but_data(ask: Ask, results: Path) -> None:
    session = Session()
    assert ask("export", "last", "--to", "csv", "--results", str(results), "-q", session=session).err == ""
