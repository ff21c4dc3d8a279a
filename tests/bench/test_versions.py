"""What two words and some files mean: two files, or revisions of the repository here."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from git_repository import commit, git, repository, worktrees

from bench.versions import WORKTREE, Version, versions_of
from roofline.errors import NotComparable, UnknownName, UsageError

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
SUITE = {"roofline/measurement/worker.py": "", "bench/__main__.py": "", "roofline/measurement/side.py": ""}
OLD_SUITE = {"roofline/measurement/worker.py": "", "bench/__main__.py": ""}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of somebody's kernels, of which one is new in the second commit."""
    folder = tmp_path_factory.mktemp("template") / "repo"
    repository(folder, {"src/a.py": "one", "README": "x"})
    git(folder, "tag", "v1")
    commit(folder, {"src/a.py": "two", "src/b.py": "new"})
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that repository, which is the current folder."""
    shutil.copytree(template, tmp_path / "repo")
    monkeypatch.chdir(tmp_path / "repo")
    return tmp_path / "repo"


def texts(versions: Sequence[Version]) -> list[list[str]]:
    return [[Path(file).read_text() for file in version.files] for version in versions]


def refused(*words: str, head: str | None = None, files: Sequence[str] = (), worktree: bool = False) -> str:
    """Return why something is not compared, once nothing is left of it."""
    with pytest.raises((UsageError, NotComparable)) as error, versions_of(words[0], head, files, worktree):
        pass
    return str(error.value)


def test_a_file_of_two_revisions(folder: Path) -> None:
    with versions_of("v1", "HEAD", ["src/a.py"], False) as versions:
        assert texts(versions) == [["one"], ["two"]]
        assert [(version.side.name, version.side.files) for version in versions] == [
            ("v1", ("src/a.py",)), ("HEAD", ("src/a.py",)),
        ]  # fmt: skip
        assert [version.side.revision for version in versions] == [git(folder, "rev-parse", r) for r in ("v1", "HEAD")]
        assert [(version.suite, version.side.own_suite) for version in versions] == [(None, False)] * 2
    assert worktrees(folder) == [str(folder)]


def test_each_revision_imports_its_own_library(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", ["", str(folder / "lib"), str(folder / "not there"), str(tmp_path), *sys.path])
    commit(folder, {"lib/mine.py": "", "top.py": ""})
    with versions_of("v1", "HEAD", ["src/a.py"], False) as versions:
        for version, has_library in zip(versions, (False, True), strict=True):
            assert version.checkout is not None
            root = version.checkout.folder
            own = [str(root / "lib")] * has_library + [str(root / "src")]
            assert version.folder == root
            assert version.python_path("known").split(os.pathsep) == [*own, "known"]
            version.refuse_strays([str(root / "src" / "a.py"), str(tmp_path / "elsewhere.py")])
            with pytest.raises(
                NotComparable, match=rf"{version.side.name}: its kernels import .*top\.py from the work"
            ):
                version.refuse_strays([str(folder.resolve() / "top.py")])


def test_a_side_starts_in_the_place_of_ones_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(folder, {"new/c.py": ""})
    monkeypatch.chdir(folder / "new")
    with versions_of("v1", "HEAD", ["../src/a.py"], False) as (before, after):
        assert before.checkout is not None and before.folder == before.checkout.folder
        assert after.checkout is not None and after.folder == after.checkout.folder / "new"


def test_the_working_tree_imports_from_itself(folder: Path) -> None:
    with versions_of("v1", None, ["src/a.py"], True) as (_, version):
        assert version.folder is not None and version.folder.samefile(folder)
        assert version.python_path("") == str(folder.resolve() / "src")
        version.refuse_strays([str(folder.resolve() / "src" / "a.py")])


def test_without_a_second_revision_it_is_the_commit_that_is_checked_out(folder: Path) -> None:
    with versions_of("v1", None, ["src/a.py"], False) as versions:
        assert versions[1].side.name == "HEAD"
        assert texts(versions) == [["one"], ["two"]]


def test_files_are_named_from_where_one_stands(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder / "src")
    with versions_of("v1", None, ["a.py"], False) as versions:
        assert texts(versions) == [["one"], ["two"]]


def test_changes_are_refused_unless_the_working_tree_or_a_revision_is_named(folder: Path) -> None:
    (folder / "src" / "a.py").write_text("three")
    assert "--worktree" in refused("v1", files=["src/a.py"])
    with versions_of("v1", None, ["src/a.py"], True) as versions:
        assert texts(versions) == [["one"], ["three"]]
        assert (versions[1].side.name, versions[1].side.revision) == (WORKTREE, None)
    with versions_of("v1", "HEAD", ["src/a.py"], False) as versions:
        assert texts(versions) == [["one"], ["two"]]


def test_the_working_tree_is_the_second_side(folder: Path) -> None:
    assert "--worktree is the second side" in refused("v1", head="HEAD", files=["src/a.py"], worktree=True)


def test_a_file_that_one_revision_lacks_is_named_with_it(folder: Path) -> None:
    assert refused("v1", head="HEAD", files=["src/b.py"]).startswith("src/b.py is not there in v1")
    assert refused("HEAD", head="v1", files=["src/a.py", "src/b.py"]).startswith("src/b.py is not there in v1")
    assert worktrees(folder) == [str(folder)]


def test_a_name_that_no_file_can_have_is_not_there(folder: Path) -> None:
    assert "is not there in v1" in refused("v1", files=["x" * 300 + ".py"])


@pytest.mark.parametrize("file", ["../elsewhere.py", "/etc/passwd.py", "src/link.py"])
def test_a_file_outside_of_the_repository_is_refused(file: str, folder: Path, tmp_path: Path) -> None:
    (folder / "src" / "link.py").symlink_to(tmp_path / "elsewhere.py")
    assert "is not in the repository" in refused("v1", head="HEAD", files=[file])


def test_an_unknown_revision_is_refused_before_anything_is_checked_out(folder: Path) -> None:
    for words in (("nightly", "HEAD"), ("v1", "--help")):
        with pytest.raises(UnknownName), versions_of(*words, ["src/a.py"], False):
            pass
    assert worktrees(folder) == [str(folder)]


def test_somebody_elses_repository_needs_files(folder: Path) -> None:
    assert "is not the suite itself: name its files of kernels" in refused("v1", head="HEAD")


def test_revisions_of_the_suite_itself_bring_their_own_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(tmp_path / "suite", SUITE)
    monkeypatch.chdir(tmp_path / "suite")
    with versions_of("main", None, [], False) as versions:
        for version in versions:
            assert version.suite is not None and (version.suite / "roofline").is_dir()
            assert version.side.own_suite and version.files == ()
        assert versions[0].suite != versions[1].suite
    with versions_of("main", None, [], True) as versions:
        assert versions[1].suite is not None and versions[1].suite.samefile(tmp_path / "suite")


@pytest.mark.parametrize("files", [[], ["mine.py"]])
def test_a_suite_from_before_this_verb_is_not_comparable(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(tmp_path / "suite", {**OLD_SUITE, "mine.py": ""})
    git(tmp_path / "suite", "tag", "old")
    commit(tmp_path / "suite", SUITE)
    monkeypatch.chdir(tmp_path / "suite")
    assert "old has a version of this suite that knows no `ab` yet; choose a later" in refused("old", files=files)
    assert len(worktrees(tmp_path / "suite")) == 1


def test_a_suite_on_one_side_only_is_not_comparable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(tmp_path / "suite", {"mine.py": ""})
    git(tmp_path / "suite", "tag", "before")
    commit(tmp_path / "suite", SUITE)
    monkeypatch.chdir(tmp_path / "suite")
    assert "only one of the revisions brings its own version" in refused("before", files=["mine.py"])


def test_two_files_need_no_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.py").write_text("one")
    Path("new.py").write_text("two")
    with versions_of("old.py", "new.py", [], False) as versions:
        assert texts(versions) == [["one"], ["two"]]
        assert all(Path(file).is_absolute() for version in versions for file in version.files)
        assert [version.side.name for version in versions] == ["old.py", "new.py"]


@pytest.mark.parametrize(
    ("head", "files", "worktree", "words"),
    [
        ("none.py", (), False, r"'none\.py' is not there"),
        (None, (), False, r"old\.py is compared with nothing; name a second file"),
        ("main", (), False, r"old\.py is compared with nothing"),
        ("old.py", ("third.py",), False, "compares exactly two files"),
        (None, (), True, "compares exactly two files"),
        ("folder.py", (), False, r"'folder\.py' is not there"),
        ("nul\0.py", (), False, "is not there"),
        ("x" * 300 + ".py", (), False, "is not there"),
    ],
)
def test_what_is_not_two_files_is_refused(
    head: str | None, files: Sequence[str], worktree: bool, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.py").write_text("one")
    Path("folder.py").mkdir()
    with pytest.raises(UsageError, match=words), versions_of("old.py", head, files, worktree):
        pass


def test_a_missing_first_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("new.py").write_text("two")
    with pytest.raises(UsageError, match=r"'gone\.py' is not there"), versions_of("gone.py", "new.py", [], False):
        pass
