"""What a project asks of the program: `[tool.bench]` in the nearest pyproject.toml.

[tool.bench]
gate = ["gemm.blocked / gemm.naive >= 3", "gemm.*: regression <= 5"]
baseline = "main"
on-inconclusive = "pass"
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roofline.compare.gate import ON_INCONCLUSIVE
from roofline.errors import UnknownName, UsageError

KEYS = ("gate", "baseline", "on-inconclusive")


@dataclass(frozen=True)
class Settings:
    """What the file says; all of it may be missing."""

    gate: tuple[str, ...] = ()
    """Rules, as `roofline.compare.rule` has them."""
    baseline: str | None = None
    on_inconclusive: str | None = None
    """One of ON_INCONCLUSIVE."""
    source: Path | None = None
    """The file; None when there is none, or when it has no such section."""


def settings_for(folder: Path) -> Settings:
    """Return the settings of the nearest pyproject.toml in `folder` or above it.

    Raises UsageError for a file that cannot be read and for anything in the section that is not understood.
    """
    for place in (folder, *folder.parents):
        path = place / "pyproject.toml"
        if path.is_file():
            return _read(path)
    return Settings()


def _read(path: Path) -> Settings:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:  # tomllib's error and a wrong encoding are ValueErrors
        raise UsageError(f"cannot read {path}: {error}; mend it, or run from another folder") from error
    tool = document.get("tool")
    if not isinstance(tool, dict) or "bench" not in tool:
        return Settings()
    where = f"{path}: [tool.bench]"
    section = tool["bench"]
    if not isinstance(section, dict):
        raise UsageError(f"{where}: found {_kind(section)}, expected a table")
    for key in section:
        if key not in KEYS:
            raise UsageError(f"{where}: {UnknownName('key', key, KEYS)}")
    rules = section.get("gate", [])
    if not isinstance(rules, list) or not all(isinstance(rule, str) for rule in rules):
        found = "a list with something else than texts" if isinstance(rules, list) else _kind(rules)
        raise UsageError(f'{where}: gate: found {found}, expected a list of rules, as ["gemm.*: gflops >= 3"]')
    baseline = section.get("baseline")
    if not isinstance(baseline, str | None) or baseline == "":
        raise UsageError(f"{where}: baseline: found {_kind(baseline)}, expected the name of a baseline")
    action = section.get("on-inconclusive")
    if action is not None and action not in ON_INCONCLUSIVE:
        raise UsageError(f"{where}: {UnknownName('on-inconclusive', str(action), ON_INCONCLUSIVE)}")
    return Settings(gate=tuple(rules), baseline=baseline, on_inconclusive=action, source=path)


def _kind(value: Any) -> str:
    if value == "":
        return "an empty text"
    kinds = {str: "a text", list: "a list", dict: "a table", bool: "true or false", int: "a number", float: "a number"}
    return kinds.get(type(value), type(value).__name__)
