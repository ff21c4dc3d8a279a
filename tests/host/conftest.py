"""Recorded hosts (tests/data/hosts), and small trees planted for one test."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

HOSTS = Path(__file__).parents[1] / "data" / "hosts"

Plant = Callable[..., Path]


@pytest.fixture(scope="session")
def hosts() -> Path:
    """The folder of the recorded hosts; each folder below it is a root."""
    return HOSTS


@pytest.fixture
def plant(tmp_path: Path) -> Plant:
    """Return a function that copies a recorded host (or none) and writes some of its files anew."""

    def planted(files: dict[str, str], host: str | None = None) -> Path:
        root = tmp_path / "root"
        if host is not None:
            shutil.copytree(HOSTS / host, root, dirs_exist_ok=True)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return root

    return planted
