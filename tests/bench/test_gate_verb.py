"""`gate`: what it prints and what it exits with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from answer import Answer, Ask
from msgspec.structs import replace
from small_run import run_at

from roofline.archive.store import save
from roofline.model.run import Failure, Run

PASSES, FAILS = "gemm.naive: gflops >= 0.001", "gemm.naive: gflops >= 999"
RATIO = "stream.copy[level=L1] / stream.triad[level=L1] <= 1000"
REGRESSION = "gemm.naive: regression <= 50"


def slower(run: Run, times: float) -> Run:
    """Return the run with GEMM taking so many times as long."""
    *others, gemm = run.measurements
    longer = replace(gemm, samples_s=tuple(times * sample_s for sample_s in gemm.samples_s), roof_samples=())
    return replace(run, measurements=(*others, longer))


def short(run: Run) -> Run:
    """Return the run with too few samples of everything."""
    return replace(
        run,
        measurements=tuple(
            replace(m, samples_s=m.samples_s[:3], roof_samples=(), clock_samples_hz=()) for m in run.measurements
        ),
    )


BEFORE, AFTER = slower(run_at(1, "before"), 1.0), slower(run_at(2, "after"), 1.0)
ELSEWHERE = replace(run_at(3, "elsewhere"), machine=replace(BEFORE.machine, cores=64, hardware_threads=64))
RUNS = (
    BEFORE,
    AFTER,
    ELSEWHERE,
    short(run_at(4, "short")),
    slower(run_at(5, "slow"), 3.0),
    replace(run_at(6, "empty"), measurements=(), failures=()),
    replace(run_at(7, "cut"), complete=False, reason="SIGINT"),
    replace(run_at(8, "crashed"), failures=(Failure(kind="crashed", point="gemm.fast n=9 f64 ×1", message="SIGSEGV"),)),
)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of runs of every kind. Tests only read it."""
    folder = tmp_path_factory.mktemp("gated")
    for run in RUNS:
        save(run, folder)
    return folder


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Be in a folder without settings."""
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def gate(ask: Ask, results: Path) -> Ask:
    """Call `gate` on a run of the folder, by its label."""

    def call(run: str, *words: str) -> Answer:
        return ask("gate", *words, "--run", run, "--results", str(results))

    return call


@pytest.mark.parametrize(
    ("run", "words", "code"),
    [
        ("after", [PASSES], 0),
        ("after", [PASSES, RATIO], 0),
        ("after", [FAILS], 1),
        ("after", [PASSES, FAILS], 1),
        ("after", ["gemm.nave: gflops >= 1"], 2),
        ("after", ["gemm.naive[i8]: gflops >= 1"], 2),
        ("after", ["gemm.naive > 1"], 2),
        ("after", [PASSES, "gemm.nave: gflops >= 1"], 2),
        ("after", [], 2),
        ("nosuch", [PASSES], 2),
        ("short", [PASSES], 0),
        ("short", [PASSES, "--on-inconclusive", "pass"], 0),
        ("short", [PASSES, "--on-inconclusive", "fail"], 1),
        ("short", [PASSES, "--on-inconclusive", "exit"], 3),
        ("short", [PASSES, "--on-inconclusive", "no"], 2),
        ("after", [REGRESSION, "--baseline", "before"], 0),
        ("slow", [REGRESSION, "--baseline", "before"], 1),
        ("after", [REGRESSION], 2),
        ("after", [REGRESSION, "--baseline", "after"], 2),
        ("after", [REGRESSION, "--baseline", "nosuch"], 2),
        ("after", [REGRESSION, "--baseline", "elsewhere"], 4),
        ("empty", [PASSES], 5),
        ("crashed", ["gemm.*: gflops >= 0.001"], 1),
        ("cut", [PASSES], 0),
        ("last~1", [PASSES], 0),
    ],
)
def test_it_ends_as_the_guide_says(gate: Ask, run: str, words: list[str], code: int) -> None:
    answer = gate(run, *words)
    assert answer.code == code
    assert answer.err.startswith("error: ") == (code in (2, 4, 5))
    assert (answer.out == "") == (code in (2, 4, 5))


def test_a_file_that_is_no_run_is_exit_code_4(gate: Ask) -> None:
    Path("broken.json").write_text("{}")
    assert gate("./broken.json", PASSES).code == 4


def test_a_point_above_its_roof_fails_and_says_why(gate: Ask) -> None:
    answer = gate("after", "stream.triad[level=L2]: gbs >= 0.001", "--json")
    assert answer.code == 1
    (outcome,) = json.loads(answer.out)["outcomes"]
    assert (outcome["result"], outcome["found"]) == ("failed", None)
    assert "above_roof (SMALLER_LEVEL)" in outcome["message"]


def test_the_table_has_a_row_for_each_point_and_stderr_the_reasons(gate: Ask) -> None:
    answer = gate("after", "stream.*: gbs >= 0.001", FAILS)
    rows = [line for line in answer.out.splitlines() if line.rstrip().endswith(("passed", "failed", "inconclusive"))]
    assert len(rows) == 5
    assert all(" GB/s [" in row for row in rows if row.startswith("stream.*") and row.rstrip().endswith("passed"))
    assert sum(" - " in row for row in rows) == 1  # the point above its roof has no number
    told = answer.err.splitlines()
    assert [line.split(":")[0] for line in told[:-1]] == ["failed", "failed"]
    assert "expected >= 999 GFLOP/s" in answer.err
    assert told[-1] == f"gate of run {AFTER.id}: 3 passed, 2 failed, 0 inconclusive; exit code 1"


def test_of_many_points_the_first_are_told_and_the_rest_counted(gate: Ask) -> None:
    told = gate("after", *(f"gemm.naive: gflops >= {limit}" for limit in range(900, 925))).err.splitlines()
    assert [line.split(":")[0] for line in told] == ["failed"] * 20 + ["... and 5 more", f"gate of run {AFTER.id}"]


def test_what_is_undecided_is_said_with_what_becomes_of_it(gate: Ask) -> None:
    answer = gate("short", PASSES, "--on-inconclusive", "exit")
    assert answer.err.splitlines()[0].startswith("inconclusive: gemm.naive")
    assert answer.err.splitlines()[-1].endswith("exit code 3 (--on-inconclusive exit)")


def test_an_incomplete_run_is_remarked_on(gate: Ask) -> None:
    assert "is incomplete (SIGINT)" in gate("cut", PASSES).err.splitlines()[0]


def test_quiet_leaves_the_table_and_the_exit_code(gate: Ask) -> None:
    answer = gate("after", FAILS, "-q")
    assert (answer.code, answer.err) == (1, "")
    assert "failed" in answer.out


def test_the_document_holds_every_outcome(gate: Ask) -> None:
    answer = gate("after", PASSES, FAILS, REGRESSION, "--baseline", "before", "--json")
    document = json.loads(answer.out)
    assert gate("after", PASSES, FAILS, REGRESSION, "--baseline", "before", "--format", "json").out == answer.out
    outcomes = document.pop("outcomes")
    assert document == {
        "run": AFTER.id,
        "baseline": BEFORE.id,
        "complete": True,
        "on_inconclusive": "pass",
        "exit_code": 1,
        "passed": 2,
        "failed": 1,
        "inconclusive": 0,
    }
    assert [outcome["rule"] for outcome in outcomes] == [PASSES, FAILS, REGRESSION]
    assert {frozenset(outcome) for outcome in outcomes} == {
        frozenset(
            ("rule", "kernel", "point", "result", "found", "limit", "unit", "interval", "median_s", "message")
        )
    }  # fmt: skip
    low, high = outcomes[0]["interval"]
    assert low <= outcomes[0]["found"] <= high


def test_without_regressions_there_is_no_baseline_in_the_document(gate: Ask) -> None:
    assert json.loads(gate("after", PASSES, "--baseline", "before", "--json").out)["baseline"] is None


def test_markdown_has_the_same_rows(gate: Ask) -> None:
    lines = gate("after", PASSES, FAILS, "--format", "md").out.splitlines()
    assert [line.rstrip(" |").rpartition("|")[2].strip() for line in lines if line.startswith("| gemm")] == [
        "passed",
        "failed",
    ]


SECTION = f"""
[tool.bench]
gate = ["{FAILS}", "{REGRESSION}"]
baseline = "before"
on-inconclusive = "exit"
"""


def test_rules_baseline_and_action_of_the_project_are_taken_and_typed_ones_go_before(gate: Ask) -> None:
    Path("pyproject.toml").write_text(SECTION)
    document = json.loads(gate("after", "--json").out)
    assert (document["exit_code"], document["baseline"], document["on_inconclusive"]) == (1, BEFORE.id, "exit")
    assert gate("after", PASSES).code == 0
    assert gate("short", PASSES).code == 3
    assert gate("short", PASSES, "--on-inconclusive", "fail").code == 1
    assert gate("after", REGRESSION, "--baseline", "elsewhere").code == 4


@pytest.mark.parametrize("text", ["[tool.bench]\ngates = []\n", "[tool.bench\n"])
def test_a_broken_section_is_exit_code_2_also_where_rules_are_typed(gate: Ask, text: str) -> None:
    Path("pyproject.toml").write_text(text)
    answer = gate("after", PASSES)
    assert answer.code == 2
    assert "pyproject.toml" in answer.err
