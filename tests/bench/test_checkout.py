"""Revisions checked out beside the user's working tree, which nothing changes and no hook notices."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from git_repository import commit, git, repository, worktrees

from bench.checkout import Repository
from roofline.errors import UnknownName, UsageError

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of one file in two versions; the first one is tagged v1."""
    folder = tmp_path_factory.mktemp("template") / "repo"
    repository(folder, {"kernel.py": "one"})
    git(folder, "tag", "v1")
    commit(folder, {"kernel.py": "two"})
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    """A copy of that repository."""
    return shutil.copytree(template, tmp_path / "repo")


def executable(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_a_revision_is_found_by_any_of_its_names(folder: Path) -> None:
    first = git(folder, "rev-parse", "v1")
    git(folder, "tag", "-a", "annotated", "-m", "x", "v1")
    found = Repository(folder)
    assert [found.commit(name) for name in ("v1", "HEAD~1", first, first[:8], "main^", "annotated")] == [first] * 6
    (folder / "below").mkdir()
    assert Repository(folder / "below").folder.samefile(folder)


@pytest.mark.parametrize(
    "name",
    ["--help", "-h", "--git-dir=/tmp", "a;b", "$(touch x)", "", " ", "main\nHEAD", "HEAD main", "main..v1", "\x1b[31m"],
)
def test_what_is_no_revision_is_unknown_and_never_an_option(name: str, folder: Path) -> None:
    with pytest.raises(UnknownName, match="unknown revision"):
        Repository(folder).commit(name)
    assert sorted(path.name for path in folder.iterdir()) == [".git", "kernel.py"]


def test_a_mistyped_branch_or_tag_is_guessed(folder: Path) -> None:
    with pytest.raises(UnknownName, match=r"did you mean 'main'\? \(known: HEAD, main, v1\); of the repository"):
        Repository(folder).commit("mian")


def test_a_file_is_no_revision(folder: Path) -> None:
    with pytest.raises(UnknownName):
        Repository(folder).commit("HEAD:kernel.py")


def test_a_revision_is_lent_as_a_folder_and_taken_back(folder: Path) -> None:
    found = Repository(folder)
    with found.checked_out(found.commit("v1")) as place:
        assert (place / "kernel.py").read_text() == "one"
        assert not place.is_relative_to(folder)
        with found.checked_out(found.commit("v1")) as other:  # both sides may be the same commit
            assert other != place and (other / "kernel.py").read_text() == "one"
    assert not place.parent.exists() and not other.parent.exists()
    assert worktrees(folder) == [str(folder)]
    assert (folder / "kernel.py").read_text() == "two"
    assert git(folder, "status", "--porcelain") == "" and git(folder, "branch", "--show-current") == "main"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_folder_is_taken_back_whatever_happens(error: type[BaseException], folder: Path) -> None:
    found = Repository(folder)
    with pytest.raises(error), found.checked_out(found.commit("v1")) as place:
        (place / "kernel.py").write_text("changed")
        (place / "new").write_text("new")
        raise error
    assert not place.parent.exists()
    assert worktrees(folder) == [str(folder)]


def test_what_a_killed_run_has_left_is_forgotten(folder: Path, tmp_path: Path) -> None:
    git(folder, "worktree", "add", "--detach", str(tmp_path / "left"), "v1")
    shutil.rmtree(tmp_path / "left")
    found = Repository(folder)
    with found.checked_out(found.commit("v1")) as place:
        assert str(tmp_path / "left") not in worktrees(folder)
        assert str(place) in worktrees(folder)


def test_a_checkout_of_a_killed_run_is_removed_and_one_in_use_is_not(folder: Path) -> None:
    code = f"""
import os, signal
from pathlib import Path
from bench.checkout import Repository
found = Repository(Path({str(folder)!r}))
with found.checked_out(found.commit("v1")) as place:
    print(place, flush=True)
    input()
    os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert killed.stdin is not None and killed.stdout is not None
    left = Path(killed.stdout.readline().strip())
    found = Repository(folder)
    with found.checked_out(found.commit("v1")):
        assert left.is_dir() and str(left) in worktrees(folder)
    killed.communicate("\n")
    assert left.is_dir() and str(left) in worktrees(folder)
    with found.checked_out(found.commit("v1")):
        assert not left.parent.exists() and str(left) not in worktrees(folder)


def test_no_hook_and_no_monitor_of_the_repository_runs(folder: Path, tmp_path: Path) -> None:
    spy = f"#!/bin/sh\ntouch {tmp_path / 'spied'}\nexit 1\n"
    for hook in ("post-checkout", "reference-transaction", "post-index-change"):
        executable(folder / ".git" / "hooks" / hook, spy)
    git(folder, "config", "core.fsmonitor", str(executable(tmp_path / "monitor", spy)))
    found = Repository(folder)
    with found.checked_out(found.commit("v1")) as place:
        assert (place / "kernel.py").read_text() == "one"
    found.refuse_changes()
    assert not (tmp_path / "spied").exists()


def test_a_broken_monitor_hides_no_change(folder: Path) -> None:
    git(folder, "config", "core.fsmonitor", "/nowhere/monitor")
    (folder / "kernel.py").write_text("three")
    assert Repository(folder).changes() == ("kernel.py",)


def test_variables_of_another_repository_are_not_seen(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(tmp_path / "other", {"x": "x"})
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))  # as within one of its hooks
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
    assert Repository(folder).folder.samefile(folder)


def test_changes_that_no_revision_has_are_refused_by_name(folder: Path) -> None:
    names = [f"file {k}.py" for k in range(5)]
    commit(folder, dict.fromkeys(names, "1"))
    found = Repository(folder)
    found.refuse_changes()
    (folder / "untracked").write_text("x")
    found.refuse_changes()
    for name in names:
        (folder / name).write_text("2")
    with pytest.raises(
        UsageError, match=r"file 0\.py, file 1\.py, file 2\.py and 2 more; commit or stash .*--worktree"
    ):
        found.refuse_changes()


def test_a_renamed_and_a_staged_file_are_changes(folder: Path) -> None:
    git(folder, "mv", "kernel.py", "renamed.py")
    assert sorted(Repository(folder).changes()) == ["kernel.py", "renamed.py"]


def test_a_repository_whose_state_cannot_be_read_is_not_taken_for_clean(folder: Path) -> None:
    (folder / ".git" / "index").write_bytes(b"broken")
    with pytest.raises(UsageError, match=r"git cannot say what has changed in .*index"):
        Repository(folder).refuse_changes()


def test_a_commit_that_cannot_be_checked_out_says_so(folder: Path) -> None:
    blob = git(folder, "rev-parse", "v1:kernel.py")
    (folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    found = Repository(folder)
    with (
        pytest.raises(UsageError, match=r"git cannot check .* out: (error|fatal): "),
        found.checked_out(found.commit("v1")),
    ):
        pass
    assert worktrees(folder) == [str(folder)]


def test_a_folder_outside_of_any_repository_is_told_with_gits_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match=r"is in no Git repository .*not a git repository.*; go to one, or name two"):
        Repository(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match=r"there is no `git` here, .*name two files instead"):
        Repository(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to somebody else")
def test_a_repository_of_somebody_else_is_told_with_gits_words(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder.parent))  # where nothing calls it safe
    for path in (folder, folder / ".git"):
        os.chown(path, 12345, 12345)
    with pytest.raises(UsageError, match="dubious ownership"):
        Repository(folder)
