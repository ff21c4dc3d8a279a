"""`ci` that ends before there is a run: the service hears of it as of any other end."""

from __future__ import annotations

from pathlib import Path

import pytest
from answer import Ask
from measured import Measured

from bench.cli.session import Session
from bench.service.github import SUMMARY_BYTES
from roofline.errors import MachineBusy, RooflineError, WrongResult

ARTEFACTS = Path("results/ci")
NAIVE = "gemm.naive: gflops >= 1"


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Be in no CI service, and in a folder whose last job left its artefacts."""
    for name in ("GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text("")
    ARTEFACTS.mkdir(parents=True)
    for name in ("junit.xml", "metrics.txt", "bmf.json", "summary.md"):
        (ARTEFACTS / name).write_text("of an earlier job")


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (["no rule"], 2, "expected"),
        (["gemm.nave / gemm.naive >= 3"], 2, "did you mean 'gemm.naive'"),
        (["gemm.naive[threads=9999]: gflops >= 1"], 2, "9999 threads"),
        (["gemm.naive[f16]: gflops >= 1"], 2, "unknown dtype"),
        (["--plan", "gemm,,stream"], 2, "between its commas"),
        (["--plan", ""], 2, "between its commas"),
        (["--plan", "quick", "--run", "last"], 2, "give one of them"),
        (["--run", "last"], 2, "no saved runs"),
        (["--run", "pyproject.json"], 4, "not a run"),
    ],
)
def test_what_is_asked_wrongly_measures_nothing_and_is_in_the_summary(
    ask: Ask, words: list[str], code: int, why: str
) -> None:
    Path("pyproject.json").write_text("{}")
    launch = Measured()
    answer = ask("ci", *words, session=Session(launch=launch))
    assert (answer.code, launch.plan, answer.out) == (code, None, "")
    assert answer.err.startswith("error: ") and why in answer.err and answer.err.count("\n") == 1
    assert [path.name for path in ARTEFACTS.iterdir()] == ["summary.md"]
    assert (ARTEFACTS / "summary.md").read_text().startswith("## Roofline: no verdict: ")


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be in GitHub Actions; the step's files are `output` and `summary`."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_OUTPUT", "output")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary")


def refusing(error: RooflineError) -> Session:
    def launch(*args: object, **settings: object) -> None:
        raise error

    return Session(launch=launch)


@pytest.mark.parametrize(
    ("error", "code"), [(MachineBusy("a run since 10:00"), 75), (WrongResult("a run since 10:00"), 6)]
)
def test_measuring_that_is_refused_is_told_as_summary(ask: Ask, error: RooflineError, code: int) -> None:
    assert ask("ci", NAIVE, session=refusing(error)).code == code
    assert (ARTEFACTS / "summary.md").read_text() == "## Roofline: no verdict: a run since 10:00\n"


def test_settings_that_cannot_be_read_are_told(ask: Ask) -> None:
    Path("pyproject.toml").write_text("[tool.bench\n")
    assert ask("ci").code == 2
    assert "pyproject.toml" in (ARTEFACTS / "summary.md").read_text()


@pytest.mark.usefixtures("github")
def test_github_gets_summary_outputs_and_one_annotation(ask: Ask) -> None:
    answer = ask("ci", NAIVE, "-v", session=refusing(MachineBusy("busy\n::error::with a run")))
    assert answer.code == 75
    assert Path("summary").read_text().startswith("## Roofline: no verdict: busy")
    assert Path("output").read_text().splitlines()[1::3] == ["", "", "error", "75"]
    first, *said = answer.err.splitlines()
    end = said.index(f"::{first.removeprefix('::stop-commands::')}::")
    assert any("Traceback" in line for line in said[:end]) and "error: busy" in "\n".join(said[:end])
    assert said[end + 1 :] == ["::error title=Roofline%3A no verdict::busy\\n::error::with a run"]


@pytest.mark.usefixtures("github")
def test_a_summary_that_is_full_stays_as_it_is(ask: Ask) -> None:
    Path("summary").write_bytes(b"x" * (SUMMARY_BYTES - 20))
    assert ask("ci", NAIVE, session=refusing(MachineBusy("busy"))).code == 75
    assert Path("summary").stat().st_size == SUMMARY_BYTES - 20


@pytest.mark.usefixtures("github")
def test_a_folder_that_cannot_be_written_is_told_where_that_is_possible(ask: Ask) -> None:
    assert ask("ci", NAIVE, "--results", "pyproject.toml", session=refusing(MachineBusy("never reached"))).code == 73
    assert "pyproject.toml" in Path("summary").read_text()


def test_a_folder_that_cannot_be_written_is_still_exit_code_73(ask: Ask) -> None:
    answer = ask("ci", NAIVE, "--results", "pyproject.toml", session=refusing(MachineBusy("never reached")))
    assert answer.code == 73
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize(("reason", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_before_anything_was_measured_is_told(ask: Ask, reason: str, code: int) -> None:
    answer = ask("ci", NAIVE, session=Session(launch=Measured(complete=False, reason=reason)))
    assert (answer.code, answer.err.splitlines()[-1]) == (code, "interrupted before anything was measured")
    assert "interrupted before anything was measured" in (ARTEFACTS / "summary.md").read_text()
