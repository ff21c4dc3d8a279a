"""Small Git repositories, made in a test's folder."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

IDENTITY = ("-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")


def git(folder: Path, *words: str) -> str:
    """Run git in a folder, whatever the surroundings say, and return what it wrote."""
    variables = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-C", str(folder), *IDENTITY, *words]
    return subprocess.run(command, env=variables, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder: Path, files: Mapping[str, str | None], message: str = "more") -> str:
    """Write files (None removes one), commit them and return the hash."""
    for name, text in files.items():
        path = folder / name
        if text is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", message)
    return git(folder, "rev-parse", "HEAD")


def repository(folder: Path, files: Mapping[str, str | None]) -> str:
    """Make a repository whose branch `main` has one commit, and return its hash."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    return commit(folder, files, "first")


def worktrees(folder: Path) -> list[str]:
    """Return the folders that git knows as working trees of a repository."""
    lines = git(folder, "worktree", "list", "--porcelain").splitlines()
    return [line.removeprefix("worktree ") for line in lines if line.startswith("worktree ")]
