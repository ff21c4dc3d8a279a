"""The files for CI services as values, and their shell steps."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from bench.cli.guide import pages

ROOT = Path(__file__).parents[3]
WORKFLOW = ROOT / ".github/workflows/roofline.yml"
ACTION = ROOT / ".github/actions/roofline/action.yml"


def parsed(text: str) -> Any:
    """Return a YAML document; `on` stays the word that it is."""
    document = yaml.safe_load(text)
    if isinstance(document, dict) and True in document:  # YAML 1.1 reads `on` as true
        document["on"] = document.pop(True)
    return document


def workflow() -> dict[str, Any]:
    return parsed(WORKFLOW.read_text(encoding="utf-8"))


def action() -> dict[str, Any]:
    return parsed(ACTION.read_text(encoding="utf-8"))


def steps() -> list[dict[str, Any]]:
    """Return every step of the workflow and of the action."""
    jobs = workflow()["jobs"].values()
    return [*(step for job in jobs for step in job["steps"]), *action()["runs"]["steps"]]


def step_named(name: str) -> dict[str, Any]:
    (step,) = [step for step in steps() if step.get("name") == name]
    return step


def snippets(language: str) -> list[str]:
    """Return the blocks of code of the guide's page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", pages()["ci"], re.MULTILINE | re.DOTALL)


def gitlab() -> dict[str, Any]:
    (text,) = [text for text in snippets("yaml") if "script:" in text]
    return parsed(text)


def jenkins_shell() -> str:
    (text,) = snippets("groovy")
    (script,) = re.findall(r"sh '''\n(.*?)'''", text, re.DOTALL)
    return str(script)
