"""`compare`: the verb."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from answer import Ask
from msgspec.structs import replace
from small_run import run_at

from roofline.archive.store import save
from roofline.model.run import Run

BEFORE, AFTER = run_at(1, "before"), run_at(2, "after")
GEMM = BEFORE.measurements[-1]


def faster(run: Run) -> Run:
    """Return the run with GEMM in half the time, from other source."""
    *others, gemm = run.measurements
    halved = replace(gemm, samples_s=tuple(sample_s / 2 for sample_s in gemm.samples_s), digest="ffff")
    return replace(run, measurements=(*others, halved))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder with a run before, one after, and one that holds no kernel, and one of another machine."""
    folder = tmp_path_factory.mktemp("compared")
    elsewhere = replace(run_at(4, "elsewhere"), machine=replace(BEFORE.machine, cores=64, hardware_threads=64))
    other = replace(run_at(5, "other"), measurements=(replace(GEMM, kernel="user.other"),))
    for run in (BEFORE, faster(AFTER), replace(run_at(3, "roof"), measurements=()), elsewhere, other):
        save(run, folder)
    return folder


def test_the_verb_shows_the_change_and_exits_with_0(ask: Ask, folder: Path) -> None:
    answer = ask("compare", "before", "after", "--results", str(folder))
    assert answer.code == 0
    (row,) = [line for line in answer.out.splitlines() if line.startswith("gemm.naive")]
    assert "faster" in row and "×2.0" in row and "code changed" in row
    assert answer.out.splitlines()[-1].startswith("1 faster, 0 slower, ")
    assert "grade" in answer.out


def test_only_changed_lists_nothing_else(ask: Ask, folder: Path) -> None:
    answer = ask("compare", "before", "after", "--only-changed", "--results", str(folder))
    assert "gemm.naive" in answer.out and "stream.triad" not in answer.out
    answer = ask("compare", "before", "after", "--only-changed", "--kernel", "stream", "--results", str(folder))
    assert (answer.code, "0 faster, 0 slower" in answer.out) == (0, True)


def test_every_format_holds_the_same_points(ask: Ask, folder: Path) -> None:
    def asked(*words: str) -> str:
        return ask("compare", "before", "after", "--results", str(folder), *words).out

    document = json.loads(asked("--format", "json"))
    assert json.loads(asked("--json")) == document
    assert len(document["points"]) == len(BEFORE.measurements)
    rows = list(csv.DictReader(StringIO(asked("--format", "csv"))))
    assert [row["verdict"] for row in rows] == [point["verdict"] for point in document["points"]]
    lines = asked("--format", "md").splitlines()
    assert sum(line.startswith("| stream") or line.startswith("| gemm") for line in lines) == len(rows)
    changed = json.loads(asked("--json", "--only-changed"))
    assert [point["kernel"] for point in changed["points"]] == ["gemm.naive"]
    assert changed["counts"] == document["counts"]


def test_plot_prints_where_the_picture_is(ask: Ask, folder: Path) -> None:
    answer = ask("compare", "before", "after", "--kernel", "gemm", "--plot", "--results", str(folder))
    files = [Path(line) for line in answer.out.splitlines()[-2:]]
    assert [file.name for file in files] == [f"{BEFORE.id}-vs-{AFTER.id}.svg", f"{BEFORE.id}-vs-{AFTER.id}.png"]
    assert all(file.is_file() and file.parent.name == AFTER.machine.key for file in files)
    answer = ask("compare", "before", "after", "--kernel", "gemm", "--plot", "--json", "--results", str(folder))
    assert json.loads(answer.out)["points"]
    assert answer.err.splitlines()[-1].endswith(".png")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("before", "before"), 2, "is the same run twice"),
        (("nowhere", "after"), 2, "unknown run 'nowhere'"),
        (("before",), 2, "Missing argument 'AFTER'"),
        (("2026", "after"), 2, "fits 5 runs"),
        (("before", "after", "--kernel", "gem"), 2, "unknown kernel 'gem'"),
        (("before", "after", "--within", "nan"), 2, "nan is no number of percent"),
        (("before", "after", "--within", "0.5"), 2, "0.5 is not in the range"),
        (("before", "elsewhere"), 4, "machine.cores: 2 and 64"),
        (("before", "other"), 4, "have no point in common"),
        (("before", "roof"), 5, "holds no kernels"),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_line(
    ask: Ask, folder: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    answer = ask("compare", *words, "--results", str(folder))
    assert (answer.code, answer.out) == (code, "")
    assert message in answer.err
    assert answer.err.count("\n") == 1


def test_across_compares_other_machines_by_percent_of_roof(ask: Ask, folder: Path) -> None:
    answer = ask("compare", "before", "elsewhere", "--across", "--results", str(folder))
    assert answer.code == 0
    assert "percent of the machine's roof is judged, never time; what differs: machine.cores: 2 and 64" in answer.err
    assert "roof ratio" in answer.out and "faster" not in answer.out.splitlines()[-2]


def test_a_label_of_two_runs_a_broken_file_and_an_empty_folder_are_told(ask: Ask, tmp_path: Path) -> None:
    answer = ask("compare", "last", "last~1", "--results", str(tmp_path))
    assert (answer.code, "there are no saved runs" in answer.err) == (2, True)
    for minute in (1, 2):
        save(run_at(minute, "twice"), tmp_path)
    answer = ask("compare", "twice", "last", "--results", str(tmp_path))
    assert (answer.code, "'twice' fits 2 runs" in answer.err) == (2, True)
    torn = tmp_path / "torn.json"
    torn.write_text('{"schema": 2, ')
    answer = ask("compare", str(torn), "last", "--results", str(tmp_path))
    assert (answer.code, "torn.json" in answer.err) == (4, True)


def test_a_kernel_in_one_run_only_is_listed(ask: Ask, tmp_path: Path) -> None:
    more = replace(AFTER, measurements=(*AFTER.measurements, replace(GEMM, kernel="user.\u202enew")))
    for run in (replace(BEFORE, measurements=BEFORE.measurements[1:]), more):
        save(run, tmp_path)
    answer = ask("compare", "before", "after", "--results", str(tmp_path))
    only = [line for line in answer.out.splitlines() if line.startswith("only in")]
    assert only == [
        f"only in AFTER: stream.copy n={AFTER.measurements[0].n} f64 ×1 in L1, user.\\u202enew n={GEMM.n} f64 ×1 in L2"
    ]


def test_remarks_are_silent_when_quiet_is_asked_for(ask: Ask, tmp_path: Path) -> None:
    for run in (replace(BEFORE, complete=False, reason="SIGINT"), AFTER):
        save(run, tmp_path)
    assert "BEFORE" in ask("compare", "before", "after", "--results", str(tmp_path)).err
    assert ask("compare", "before", "after", "-q", "--results", str(tmp_path)).err == ""
    assert (
        "is incomplete: SIGINT" in ask("compare", "before", "after", "--format", "md", "--results", str(tmp_path)).out
    )
