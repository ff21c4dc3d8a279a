"""`ci`: what is written and what it exits with, whatever the gate says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from answer import Answer, Ask
from hostile import TEXTS
from measured import Measured, only_file
from msgspec.structs import replace

from bench.cli.session import Session
from roofline.archive.document import encode
from roofline.archive.store import load, runs, save
from roofline.model.run import Failure, Run

ARTEFACTS = {"junit.xml", "metrics.txt", "bmf.json", "customBiggerIsBetter.json", "customSmallerIsBetter.json"}
PASSES, FAILS = "gemm.naive: percent_of_roof >= 1", "gemm.naive: percent_of_roof >= 99"
MEANS_NOTHING = "gemm.nave: percent_of_roof >= 1"


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Be in no CI service, and in a folder without settings."""
    for name in ("GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Be in GitHub Actions; return the folder of the step's files."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "output"))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    return tmp_path


@pytest.fixture
def sound(run: Run, tmp_path: Path) -> Run:
    """A saved run in which nothing failed."""
    sound = replace(run, failures=())
    save(sound, tmp_path / "results")
    return sound


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_run_is_measured_judged_and_told_in_every_format(ask: Ask, tmp_path: Path, few: dict[str, Any]) -> None:
    launch = Measured(**few)
    answer = ask("ci", PASSES, session=Session(launch=launch))
    assert answer.code == 0, answer.err
    saved = only_file(tmp_path / "results", "2*.json")
    assert launch.plan is not None and launch.plan.mode == "run"
    assert names(tmp_path / "results" / "ci") == ARTEFACTS | {"summary.md"}
    assert "gate passed (1 passed" in (tmp_path / "results/ci/summary.md").read_text()
    assert "Gate" in answer.out and "gemm.naive" in answer.out
    listed = [line for line in answer.out.splitlines() if line.startswith("results/")]
    assert listed[:3] == [str(saved.relative_to(tmp_path).with_suffix(suffix)) for suffix in (".json", ".svg", ".png")]
    assert {Path(line).name for line in listed[3:]} == ARTEFACTS | {"summary.md"}
    assert all(Path(line).is_file() for line in listed)


def test_artefacts_are_there_when_the_gate_fails(ask: Ask, sound: Run, tmp_path: Path) -> None:
    answer = ask("ci", FAILS, PASSES, "--run", "last", "--output", "told")
    assert answer.code == 1
    assert names(tmp_path / "told") == ARTEFACTS | {"summary.md"}
    suite = ElementTree.parse(tmp_path / "told" / "junit.xml").getroot()
    assert int(suite.attrib["failures"]) > 0
    assert json.loads((tmp_path / "told" / "bmf.json").read_text())
    assert "gate failed" in (tmp_path / "told" / "summary.md").read_text()


def test_without_rules_it_is_a_report(ask: Ask, sound: Run, tmp_path: Path) -> None:
    assert ask("ci", "--run", "last").code == 0
    assert "a report, no gate" in (tmp_path / "results/ci/summary.md").read_text()


def test_rules_of_the_project_are_taken(ask: Ask, sound: Run, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[tool.bench]\ngate = ["{FAILS}"]\n')
    assert ask("ci", "--run", "last").code == 1
    assert ask("ci", PASSES, "--run", "last").code == 0


def test_a_rule_that_means_nothing_is_exit_code_2_and_artefacts_say_so(ask: Ask, sound: Run, tmp_path: Path) -> None:
    answer = ask("ci", MEANS_NOTHING, "--run", "last", "-q")
    assert answer.code == 2
    assert answer.err.startswith("error: ") and "gemm.nave" in answer.err
    assert names(tmp_path / "results" / "ci") == ARTEFACTS | {"summary.md"}
    assert "no verdict" in (tmp_path / "results/ci/summary.md").read_text()


def ended(ask: Ask, run: Run, *words: str) -> Answer:
    Path("run.json").write_bytes(encode(run))
    return ask("ci", *words, "--run", "run.json")


def test_a_failed_kernel_is_exit_code_6_and_outweighs_the_gate(ask: Ask, run: Run) -> None:
    for rule, result in ((PASSES, "passed"), (FAILS, "failed"), (MEANS_NOTHING, "error")):
        answer = ended(ask, run, rule, "--json")
        assert answer.code == 6
        document = json.loads(answer.out)
        assert (document["result"], document["exit_code"]) == (result, 6)


def test_a_baseline_of_another_machine_is_exit_code_4(ask: Ask, sound: Run) -> None:
    other = replace(sound, id="20261104-111500-a1b2", machine=replace(sound.machine, cpu_model="another"))
    answer = ended(ask, other, "gemm.*: regression <= 5", "--baseline", sound.id)
    assert answer.code == 4
    assert "cpu_model" in Path("results/ci/summary.md").read_text()


def test_a_run_without_numbers_is_exit_code_5_and_its_failures_are_told(ask: Ask, run: Run) -> None:
    Path("results/ci").mkdir(parents=True)
    Path("results/ci/bmf.json").write_text("of an earlier run")
    empty = replace(run, ceilings=type(run.ceilings)(), measurements=())
    assert ended(ask, empty).code == 5
    assert names(Path("results/ci")) == {"junit.xml", "summary.md"}


@pytest.mark.parametrize(("asked", "code"), [("pass", 0), ("fail", 1), ("exit", 3)])
def test_what_is_inconclusive_ends_as_asked(ask: Ask, sound: Run, asked: str, code: int) -> None:
    short = tuple(
        replace(m, samples_s=m.samples_s[:3], roof_samples=m.roof_samples[:4], clock_samples_hz=())
        for m in sound.measurements
    )
    assert ended(ask, replace(sound, measurements=short), PASSES, "--on-inconclusive", asked).code == code


@pytest.mark.parametrize(("reason", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_an_interrupted_run_exits_as_elsewhere_and_is_told(
    ask: Ask, tmp_path: Path, few: dict[str, Any], reason: str, code: int
) -> None:
    session = Session(launch=Measured(**few | {"complete": False, "reason": reason}))
    assert ask("ci", FAILS, session=session).code == code
    assert names(tmp_path / "results" / "ci") == ARTEFACTS | {"summary.md"}
    assert load(only_file(tmp_path / "results", "2*.json")).reason == reason
    assert ask("ci", PASSES, "--run", "last").code == 0


def test_artefacts_are_no_runs(ask: Ask, sound: Run, tmp_path: Path) -> None:
    ask("ci", "--run", "last")
    assert [entry.error for entry in runs(tmp_path / "results")] == [None]


def test_github_gets_summary_outputs_and_annotations(ask: Ask, run: Run, github: Path) -> None:
    answer = ended(ask, run, FAILS)
    assert answer.code == 6
    assert "gate failed" in (github / "summary").read_text()
    assert "result<<" in (github / "output").read_text()
    assert names(Path("results/ci")) == ARTEFACTS
    lines = answer.err.splitlines()
    token = lines[0].removeprefix("::stop-commands::")
    after = lines[lines.index(f"::{token}::") + 1 :]
    assert [line.split("::")[1].split(" ")[0] for line in after] == ["error", "error"]
    assert all(line.startswith("run.json") or line.startswith("results/ci/") for line in answer.out.splitlines())


@pytest.mark.parametrize("text", TEXTS)
def test_nothing_that_a_run_says_is_a_command_in_the_log(ask: Ask, run: Run, github: Path, text: str) -> None:
    hostile = replace(
        run,
        label=None,
        measurements=tuple(replace(m, kernel=f"{text}.naive") for m in run.measurements[:2]),
        failures=(Failure(kind="wrong", point=text, message=text),),
    )
    answer = ended(ask, hostile, "*: percent_of_roof >= 99")
    assert answer.code == 6
    lines = [*answer.err.splitlines(), *answer.out.splitlines()]
    token = lines[0].removeprefix("::stop-commands::")
    loose = [line for line in lines[lines.index(f"::{token}::") + 1 :] if line.lstrip().startswith("::")]
    assert [line for line in loose if not line.startswith(("::error title=Roofline", "::warning title=Roofline"))] == []
    assert len(loose) == 2
