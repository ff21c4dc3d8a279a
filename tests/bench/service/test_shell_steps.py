"""The shell steps of the action and the workflow, run as a runner runs them: bash -e, a bare environment, its files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from ci_files import ACTION, ROOT, action, step_named, workflow
from msgspec.structs import replace
from test_github_files import outputs

from roofline.archive.document import encode
from roofline.model.run import Run

Ran = subprocess.CompletedProcess[str]
PYTHON = f"""#!{sys.executable}
import json, os, sys
words = sys.argv[1:]
with open({{log!r}}, "a") as log:
    log.write(json.dumps(words) + "\\n")
if "pip" not in words:
    if "ci" in words:  # measure nothing: judge a run that is there
        if "--plan" in words[: words.index("--")]:
            at = words.index("--plan")
            del words[at : at + 2]
        words[words.index("ci") + 1 : words.index("ci") + 1] = ["--run", {{run!r}}]
    os.execve(sys.executable, [sys.executable, *words], {{{{**os.environ, "PYTHONPATH": {str(ROOT)!r}}}}})
"""
"""What the steps find as `python`: writes down what it is called with, installs nothing and measures nothing."""


class Runner:
    """Runs a step in a workspace of its own, with no more in its environment than a fork's pull request has."""

    def __init__(self, folder: Path, run: Run) -> None:
        self.workspace = folder / "workspace"
        self.log = folder / "calls"
        self.output, self.summary = folder / "output", folder / "summary"
        saved = folder / "run.json"
        saved.write_bytes(encode(run))
        shims = folder / "bin"
        for path in (self.workspace, shims, folder / "home"):
            path.mkdir()
        (shims / "python").write_text(PYTHON.format(log=str(self.log), run=str(saved)))
        (shims / "python").chmod(0o755)
        self.variables = {
            "PATH": f"{shims}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(folder / "home"),
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_OUTPUT": str(self.output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_ACTION_PATH": str(ACTION.parent),
            "GITHUB_SHA": "0123abc",
        }

    def __call__(self, step: str, variables: Mapping[str, str] = {}, folder: Path | None = None) -> Ran:
        script = str(step_named(step)["run"])
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]
        environment = {**self.variables, **variables}
        at = folder or self.workspace
        return subprocess.run(command, cwd=at, env=environment, capture_output=True, text=True, timeout=60)

    def measure(self, rules: str = "", results: str = "results", baseline: str = "", plan: str = "") -> Ran:
        """Run the step that measures; every variable of it is given, and no other."""
        given = {"RULES": rules, "RESULTS": results, "BASELINE": baseline, "PLAN": plan}
        assert set(step_named("Measure")["env"]) == set(given)
        return self("Measure", given)

    @property
    def calls(self) -> list[list[str]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@pytest.fixture
def runner(tmp_path: Path, run: Run) -> Runner:
    return Runner(tmp_path, replace(run, failures=()))


def test_every_shell_step_is_run_here() -> None:
    named = {step["name"] for step in action()["runs"]["steps"] if "run" in step}
    named |= {step["name"] for job in workflow()["jobs"].values() for step in job["steps"] if "run" in step}
    assert named == {"Install", "Name the compiled kernels", "Measure", "Add the run to the branch of results"}


def test_the_suite_is_installed_from_where_the_action_is(runner: Runner) -> None:
    assert runner("Install").returncode == 0
    (words,) = runner.calls
    assert words[:3] == ["-m", "pip", "install"]
    assert Path(words[-1]).resolve() == ROOT
    assert (Path(words[-1]) / "pyproject.toml").is_file()


def test_the_cache_of_compiled_kernels_has_a_key_of_cpu_numba_and_sources(runner: Runner) -> None:
    ran = runner("Name the compiled kernels")
    assert ran.returncode == 0, ran.stderr
    found = outputs(runner.output.read_text())
    assert found["key"].startswith("roofline-") and "-numba-" in found["key"]
    assert found["key"].endswith(Path(found["path"]).name)
    (cache,) = [step["with"] for step in action()["runs"]["steps"] if "actions/cache@" in step.get("uses", "")]
    assert [cache["key"], cache["path"]] == [f"${{{{ steps.kernels.outputs.{name} }}}}" for name in ("key", "path")]


@pytest.mark.parametrize(
    ("rules", "code", "result"),
    [
        ("gemm.naive: percent_of_roof >= 1\n", 0, "passed"),
        ("gemm.naive: percent_of_roof >= 1\r\n\r\n  \ngemm.naive: percent_of_roof >= 99\r\n", 1, "failed"),
        ("gemm.nave: percent_of_roof >= 1", 2, "error"),
        ("", 0, "ungated"),
    ],
)
def test_a_run_is_judged_and_told_without_any_token(runner: Runner, rules: str, code: int, result: str) -> None:
    assert not [name for name in runner.variables if "TOKEN" in name]
    ran = runner.measure(rules)
    assert ran.returncode == code, ran.stderr
    found = outputs(runner.output.read_text())
    assert (found["result"], found["exit-code"], found["grade"]) == (result, str(code), "B")
    assert found["run-id"] == "20261104-101500-a1b2"
    assert runner.summary.read_text().startswith("## Roofline: ")
    assert (runner.workspace / "results/ci/junit.xml").is_file()
    assert ("::error title=" in ran.stderr) == (code != 0)


@pytest.mark.parametrize(
    "text",
    [
        "$(touch pwned)",
        "`touch pwned`",
        "'; touch pwned; '",
        '"; touch pwned; "',
        "--help",
        "*",
        "\\",
        "a b  c",
        "${HOME}",
    ],
)
def test_an_input_is_never_a_command_nor_an_option(runner: Runner, text: str) -> None:
    runner.measure(rules=f"{text}\r\n\nsecond", results="folder", baseline=text, plan=text)
    (words,) = runner.calls
    assert words[-3:] == ["--", text, "second"]
    assert words[words.index("--plan") + 1] == words[words.index("--baseline") + 1] == text
    assert not list(runner.workspace.glob("**/pwned"))


def test_without_a_plan_the_kernels_of_the_rules_are_measured(runner: Runner) -> None:
    assert action()["inputs"]["plan"]["default"] == ""
    runner.measure(rules="gemm.naive: percent_of_roof >= 1")
    assert "--plan" not in runner.calls[0]


def test_a_job_that_cannot_measure_says_so_in_summary_and_outputs(runner: Runner) -> None:
    ran = runner.measure(rules="gemm.naive > 1\n::error::pwned")
    assert ran.returncode == 2
    found = outputs(runner.output.read_text())
    assert found == {"run-id": "", "grade": "", "result": "error", "exit-code": "2"}
    assert runner.summary.read_text().startswith("## Roofline: no verdict: rule 'gemm.naive &#62; 1', column 12")
    said = ran.stderr.splitlines()
    assert [line for line in said if line.startswith("::error")] == [said[-1]]
    assert said[-1].startswith("::error title=Roofline%3A no verdict::rule 'gemm.naive > 1', column 12")


def test_a_folder_named_as_the_program_is_not_run_instead(runner: Runner) -> None:
    for name in ("bench", "roofline"):
        (runner.workspace / name).mkdir()
        (runner.workspace / name / "__init__.py").write_text("raise SystemExit('the wrong one')")
    assert runner("Name the compiled kernels").returncode == 0
    assert runner.measure().returncode == 0


@pytest.fixture
def publish(runner: Runner, tmp_path: Path) -> Callable[[str], Ran]:
    """Run the job that publishes, with a repository beside it and results as the artefact brings them."""
    subprocess.run(["git", "init", "--quiet", "--bare", str(tmp_path / "owner/suite.git")], check=True)
    variables = {"GITHUB_SERVER_URL": f"file://{tmp_path}", "GITHUB_REPOSITORY": "owner/suite", "GH_TOKEN": "t0k3n"}
    variables["GIT_CONFIG_GLOBAL"] = os.devnull

    def call(run_id: str) -> Ran:
        workspace = tmp_path / f"job-{len(list(tmp_path.glob('job-*')))}"
        for name in (
            f"a-machine/{run_id[:20]}.json",
            f"a-machine/{run_id[:20]}.svg",
            "a-machine/other.json",
            "ci/bmf.json",
        ):
            path = workspace / "downloaded" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("{}")
        given: dict[str, Any] = {**variables, "RUN_ID": run_id}
        assert set(step_named("Add the run to the branch of results")["env"]) <= set(given)
        return runner("Add the run to the branch of results", given, workspace)

    return call


def published(tmp_path: Path, *words: str) -> list[str]:
    command = ["git", "-C", str(tmp_path / "owner/suite.git"), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")[:-1]


def test_a_run_of_main_is_added_to_the_branch_of_results(publish: Callable[[str], Ran], tmp_path: Path) -> None:
    for run_id in ("20261104-101500-a1b2", "20261104-111500-a1b2"):
        ran = publish(run_id)
        assert ran.returncode == 0, ran.stderr
        assert "t0k3n" not in ran.stdout + ran.stderr
    assert published(tmp_path, "ls-tree", "-r", "--name-only", "results") == [
        f"results/a-machine/2026110{hour}00-a1b2.{kind}" for hour in ("4-1015", "4-1115") for kind in ("json", "svg")
    ]
    assert published(tmp_path, "log", "--format=%s", "results")[0] == "Run 20261104-111500-a1b2 of 0123abc"


@pytest.mark.parametrize("run_id", ["", "../../../x", "$(touch pwned)", "20261104-101500-a1b2\nx"])
def test_what_is_no_id_of_a_run_is_not_published(publish: Callable[[str], Ran], tmp_path: Path, run_id: str) -> None:
    ran = publish(run_id)
    assert ran.returncode == 1
    assert "expected YYYYMMDD" in ran.stderr
    assert published(tmp_path, "branch", "--list") == []
