"""The revision of the code that was measured, as Git tells it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from roofline.archive.revision import revision

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
IDENTITY = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")


def git(folder: Path, *arguments: str) -> None:
    """Run git in a folder."""
    subprocess.run(["git", "-C", str(folder), *IDENTITY, *arguments], check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with one commit, and a tag that must not take the place of the revision."""
    git(tmp_path, "init", "-q")
    (tmp_path / "kernel.py").write_text("a = 1\n")
    git(tmp_path, "add", "kernel.py")
    git(tmp_path, "commit", "-qm", "first")
    git(tmp_path, "tag", "-a", "v1", "-m", "v1")
    return tmp_path


@needs_git
def test_a_clean_checkout_has_its_revision(checkout: Path) -> None:
    assert re.fullmatch("[0-9a-f]{12}", revision(checkout) or "")


@needs_git
def test_a_changed_checkout_is_dirty(checkout: Path) -> None:
    clean = revision(checkout)
    (checkout / "kernel.py").write_text("a = 2\n")
    assert revision(checkout) == f"{clean}+dirty"


@needs_git
def test_a_file_that_git_does_not_track_is_no_change(checkout: Path) -> None:
    clean = revision(checkout)
    (checkout / "results.json").write_text("{}")
    assert revision(checkout) == clean


@needs_git
def test_the_variables_of_a_hook_do_not_answer_for_another_folder(
    checkout: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    monkeypatch.setenv("GIT_DIR", str(checkout / ".git"))
    assert revision(outside) is None


@needs_git
def test_looking_at_a_folder_runs_none_of_its_programs(checkout: Path) -> None:
    hook = checkout / ".git" / "evil"
    hook.write_text(f"#!/bin/sh\ntouch {checkout}/ran\n")
    hook.chmod(0o700)
    git(checkout, "config", "core.fsmonitor", str(hook))
    (checkout / "kernel.py").write_text("a = 3\n")
    assert (revision(checkout) or "").endswith("+dirty")
    assert not (checkout / "ran").exists()


@needs_git
def test_a_folder_without_a_commit_has_none(tmp_path: Path) -> None:
    assert revision(tmp_path) is None
    git(tmp_path, "init", "-q")
    assert revision(tmp_path) is None


def test_without_git_there_is_none(tmp_path: Path) -> None:
    assert revision(tmp_path, git="no-such-program") is None
    assert revision(tmp_path / "missing") is None


def test_a_git_that_fails_has_none(tmp_path: Path) -> None:
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\necho 0123abc\nexit 1\n")
    program.chmod(0o700)
    assert revision(tmp_path, git=str(program)) is None
    program.write_text("not a program")
    assert revision(tmp_path, git=str(program)) is None
