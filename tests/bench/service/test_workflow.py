"""The workflow, the action and the snippets: valid by their published schemas, and safe."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from ci_files import ACTION, ROOT, WORKFLOW, action, gitlab, jenkins_shell, parsed, snippets, steps, workflow

from bench.cli.group import program
from bench.cli.session import Session

BESIDE = Path(sys.executable).parent
RUNS = [step for step in steps() if "run" in step]


def tool(name: str) -> str:
    """Return the path of a program that the dev extra brings."""
    path = shutil.which(name, path=str(BESIDE)) or shutil.which(name)
    assert path, f"{name} is not installed: pip install -e '.[dev]'"
    return path


def checked(*words: str | Path, **settings: Any) -> None:
    answer = subprocess.run(list(map(str, words)), capture_output=True, text=True, **settings)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_files_fit_their_published_schemas(tmp_path: Path) -> None:
    of_gitlab = tmp_path / ".gitlab-ci.yml"
    of_gitlab.write_text(next(text for text in snippets("yaml") if "script:" in text))
    of_github = tmp_path / "snippet.yml"
    of_github.write_text("on: push\n" + next(text for text in snippets("yaml") if "jobs:" in text))
    for schema, files in (
        ("vendor.github-workflows", [WORKFLOW, of_github]),
        ("vendor.github-actions", [ACTION]),
        ("vendor.gitlab-ci", [of_gitlab]),
    ):
        checked(tool("check-jsonschema"), "--builtin-schema", schema, *files)


def test_the_auditor_of_workflows_finds_nothing() -> None:
    checked(tool("zizmor"), "--offline", "--no-progress", "--strict-collection", ROOT / ".github")


@pytest.mark.parametrize(
    "script", [*(step["run"] for step in RUNS), jenkins_shell(), "\n".join(gitlab()["roofline"]["script"])]
)
def test_a_script_is_sound_shell(script: str) -> None:
    script = re.sub(r"\$\{\{.*?\}\}", "value", script)
    checked(tool("shellcheck"), "--shell=bash", "--exclude=SC1091", "-", input=script)


@pytest.mark.parametrize("step", RUNS, ids=lambda step: step["name"])
def test_a_script_stops_at_the_first_error_and_nothing_is_written_into_it(step: dict[str, Any]) -> None:
    assert step["run"].startswith("set -euo pipefail\n")
    assert "${{" not in step["run"]


def test_nothing_may_write_but_the_job_for_pushes_to_main() -> None:
    document = workflow()
    assert document["permissions"] == {"contents": "read"}
    may_write = {
        name for name, job in document["jobs"].items() if "write" in str(job.get("permissions", {"contents": "read"}))
    }
    assert may_write == {"publish"}
    publish = document["jobs"]["publish"]
    assert publish["permissions"] == {"contents": "write"}
    assert publish["if"] == "github.event_name == 'push' && github.ref == 'refs/heads/main'"
    assert publish["needs"] == "measure"
    assert document["on"]["push"] == {"branches": ["main"]}


def test_the_job_that_may_write_runs_nothing_of_the_checkout() -> None:
    used = [step["uses"] for step in workflow()["jobs"]["publish"]["steps"] if "uses" in step]
    assert [name.partition("@")[0] for name in used] == ["actions/download-artifact"]


def test_a_pull_request_from_a_fork_needs_nothing_more() -> None:
    """It has no secret and a token that can only read; what it runs asks for neither."""
    document = workflow()
    assert set(document["on"]) == {"push", "pull_request", "workflow_dispatch"}
    measure = document["jobs"]["measure"]
    assert "if" not in measure and measure["permissions"] == {"contents": "read"}
    for text in (str(measure), str(action())):
        assert not re.search(r"secrets\.|github\.token|GITHUB_TOKEN|GH_TOKEN", text)
    checkouts = [step for step in measure["steps"] if step.get("uses", "").startswith("actions/checkout@")]
    assert [step["with"]["persist-credentials"] for step in checkouts] == [False]


def test_jobs_end_in_time_and_two_never_measure_at_once() -> None:
    jobs = workflow()["jobs"]
    assert all(0 < job["timeout-minutes"] <= 30 for job in jobs.values())
    assert jobs["measure"]["concurrency"] == {"group": "roofline-measure", "cancel-in-progress": False}


def test_actions_of_others_are_pinned_to_a_major_version() -> None:
    used = [step["uses"] for step in steps() if "uses" in step]
    others = [name for name in used if not name.startswith("./")]
    assert len(others) == 5
    assert [name for name in others if not re.fullmatch(r"actions/[a-z-]+@v[0-9]+", name)] == []


def test_what_was_measured_is_kept_whatever_the_gate_says() -> None:
    kept = [step for step in workflow()["jobs"]["measure"]["steps"] if "upload-artifact" in step.get("uses", "")]
    assert [(step["if"], step["with"]["path"]) for step in kept] == [("always()", "results/")]
    assert gitlab()["roofline"]["artifacts"]["when"] == "always"


def test_the_action_takes_and_gives_what_the_guide_says() -> None:
    found = action()
    assert set(found["inputs"]) == {"rules", "plan", "baseline", "python-version", "results-dir"}
    assert set(found["outputs"]) == {"result", "grade", "run-id"}
    text = (ROOT / "bench/guide/ci.md").read_text(encoding="utf-8")
    assert [name for name in (*found["inputs"], *found["outputs"]) if f"`{name}`" not in text] == []
    used = parsed(next(text for text in snippets("yaml") if "jobs:" in text))["jobs"]["roofline"]["steps"]
    (given,) = [set(step["with"]) for step in used if step.get("uses") == "./.github/actions/roofline"]
    assert given <= set(found["inputs"])


@pytest.mark.parametrize("script", [jenkins_shell(), "\n".join(gitlab()["roofline"]["script"])])
def test_a_command_of_a_snippet_parses(script: str) -> None:
    (words,) = [shlex.split(line)[3:] for line in script.splitlines() if "-m bench" in line]
    group = program()
    with click.Context(group, obj=Session()) as parent:
        command = group.get_command(parent, words[0])
        assert command is not None
        context = command.make_context(words[0], words[1:], parent=parent)
        assert context.params["rules"] == ("gemm.blocked / gemm.naive >= 3",)
