"""`baseline`: set, show and rm, and a gate that compares with one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from answer import Answer, Ask
from msgspec.structs import replace
from small_run import run_at

from roofline.archive.store import save
from roofline.model.run import Run


def sound(minute: int, label: str) -> Run:
    run = run_at(minute, label)
    return replace(run, failures=(), measurements=tuple(m for m in run.measurements if m.drawable))


FIRST, SECOND = sound(1, "first"), sound(2, "second")
ELSEWHERE = replace(sound(3, "elsewhere"), machine=replace(FIRST.machine, cpu_model="Cortex"))
KEY, OTHER = FIRST.machine.key, ELSEWHERE.machine.key
REGRESSION = "gemm.naive: regression <= 50"


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs of one machine, in a folder without settings."""
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    save(FIRST, Path("results"))
    save(SECOND, Path("results"))
    return Path("results")


@pytest.fixture
def baseline(ask: Ask, results: Path) -> Ask:
    def call(*words: str) -> Answer:
        return ask("baseline", *words)

    return call


def shown(baseline: Ask, *words: str) -> list[tuple[str, str, bool]]:
    found = json.loads(baseline("show", *words, "--json").out)
    return [(one["name"], one["run"], one["is_there"]) for one in found]


def test_the_last_run_is_named_where_none_is(baseline: Ask) -> None:
    answer = baseline("set", "main")
    assert (answer.code, answer.out, answer.err) == (0, f"main is run {SECOND.id} of {KEY}\n", "")
    assert shown(baseline) == [("main", SECOND.id, True)]


def test_a_run_is_named_by_whatever_names_runs(baseline: Ask) -> None:
    for name, run in (("a", "first"), ("b", FIRST.id), ("c", "last~1"), ("d", f"results/{KEY}/{FIRST.id}.json")):
        assert baseline("set", name, run).code == 0
    assert baseline("set", "e", "baseline:a").code == 0
    assert {run for _, run, _ in shown(baseline)} == {FIRST.id}


def test_a_name_that_exists_moves(baseline: Ask) -> None:
    baseline("set", "main", "first")
    baseline("set", "main", "second")
    assert shown(baseline) == [("main", SECOND.id, True)]


def test_the_document_of_a_baseline_has_all_that_is_known(baseline: Ask) -> None:
    (one,) = json.loads(baseline("set", "main", "--json").out)
    (again,) = json.loads(baseline("show", "main", "--json").out)
    assert one == again
    assert one.pop("set_utc").endswith("Z")
    assert one == {
        "name": "main",
        "run": SECOND.id,
        "revision": SECOND.revision,
        "grade": "B",
        "machine": KEY,
        "path": f"results/{KEY}/{SECOND.id}.json",
        "is_there": True,
    }


def test_rm_forgets_the_name_and_leaves_the_run(baseline: Ask) -> None:
    baseline("set", "main")
    answer = baseline("rm", "main")
    assert (answer.code, answer.out) == (0, f"main was run {SECOND.id} of {KEY}\n")
    assert shown(baseline) == []
    assert Path(f"results/{KEY}/{SECOND.id}.json").is_file()


def test_without_baselines_show_says_how_to_set_one(baseline: Ask) -> None:
    answer = baseline("show")
    assert (answer.code, answer.out) == (0, "")
    assert "baseline set main" in answer.err
    assert json.loads(baseline("show", "--json").out) == []


def test_a_run_that_was_deleted_is_told_everywhere(baseline: Ask, ask: Ask) -> None:
    baseline("set", "main", "first")
    Path(f"results/{KEY}/{FIRST.id}.json").unlink()
    assert shown(baseline) == [("main", FIRST.id, False)]
    assert "deleted: restore the file" in baseline("show").out
    for words in (("gate", REGRESSION, "--baseline", "main"), ("show", "baseline:main")):
        answer = ask(*words)
        assert answer.code == 2
        assert "is not there any more" in answer.err
    assert baseline("rm", "main").code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["set"], "set needs a name"),
        (["rm"], "rm needs a name"),
        (["rm", "main"], "unknown baseline 'main'"),
        (["show", "main"], "unknown baseline 'main'"),
        (["set", "main", "nosuch"], "nosuch"),
        (["set", "last"], "means something else"),
        (["set", "main", "--machine", "x"], "set takes no --machine"),
        (["rm", "main", "first"], "rm takes no run"),
        (["show", "main", "--force"], "show takes no run and no --force"),
        (["list"], "'list' is not one of 'set', 'show', 'rm'"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_code_2(baseline: Ask, words: list[str], message: str) -> None:
    answer = baseline(*words)
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err and answer.err.count("\n") == 1


def test_a_run_that_is_no_good_baseline_needs_force(baseline: Ask) -> None:
    save(replace(sound(4, "cut"), complete=False, reason="SIGINT"), Path("results"))
    assert baseline("set", "main", "cut").code == 2
    assert baseline("set", "main", "cut", "--force").code == 0


def test_a_gate_takes_the_baseline_of_the_runs_own_machine(baseline: Ask, ask: Ask) -> None:
    save(ELSEWHERE, Path("results"))
    baseline("set", "main", "elsewhere")
    assert ask("gate", REGRESSION, "--baseline", "main", "--run", "second").code == 4
    baseline("set", "main", "first")
    document = json.loads(ask("gate", REGRESSION, "--baseline", "main", "--run", "second", "--json").out)
    assert (document["baseline"], document["exit_code"]) == (FIRST.id, 0)
    assert {name for name, _, _ in shown(baseline)} == {"main"}
    assert len(shown(baseline)) == 2
    assert shown(baseline, "--machine", OTHER) == [("main", ELSEWHERE.id, True)]


def test_a_name_that_two_machines_have_is_removed_from_the_one_that_is_named(baseline: Ask) -> None:
    save(ELSEWHERE, Path("results"))
    baseline("set", "main", "elsewhere")
    baseline("set", "main", "first")
    answer = baseline("rm", "main")
    assert answer.code == 2
    assert "--machine KEY" in answer.err
    assert baseline("rm", "main", "--machine", OTHER).code == 0
    assert shown(baseline) == [("main", FIRST.id, True)]


def test_a_gate_may_name_any_saved_run_and_says_which_baselines_there_are(baseline: Ask, ask: Ask) -> None:
    baseline("set", "main", "first")
    assert ask("gate", REGRESSION, "--baseline", "first", "--run", "second").code == 0
    answer = ask("gate", REGRESSION, "--baseline", "mian", "--run", "second")
    assert answer.code == 2
    assert "unknown baseline 'mian'; did you mean 'main'" in answer.err


def test_a_broken_file_of_names_is_exit_code_4(baseline: Ask, ask: Ask) -> None:
    Path(f"results/{KEY}/baselines.json").write_text("nonsense")
    for words in (("show",), ("set", "main"), ("rm", "main")):
        assert baseline(*words).code == 4
    assert ask("gate", REGRESSION, "--baseline", "main").code == 4
