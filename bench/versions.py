"""The two sides of a trial as they lie on disk: revisions that are checked out, or files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.checkout import Repository
from roofline.errors import NotComparable, UsageError
from roofline.model.trial import Side

WORKTREE = "working tree"
"""Name of the side that is the files as they lie here."""


@dataclass(frozen=True)
class Version:
    """One side as it lies on disk."""

    side: Side
    files: tuple[str, ...]
    """Absolute paths of the user's files of kernels."""
    suite: Path | None = None
    """Folder of its own version of this suite; None for the installed one."""


@contextmanager
def versions_of(base: str, head: str | None, files: Sequence[str], worktree: bool) -> Iterator[tuple[Version, Version]]:
    """Lend both sides. Two names of Python files are two files; everything else are revisions of the repository here.

    Without files, revisions of this suite itself are compared. Raises UsageError for what cannot be compared.
    """
    if base.endswith(".py"):
        yield _two_files(base, head, files, worktree)
        return
    if worktree and head is not None:
        raise UsageError("--worktree is the second side: name one revision with it, as in ab main --worktree")
    repository = Repository(Path.cwd())
    commits = [repository.commit(base), None if worktree else repository.commit(head or "HEAD")]
    if head is None and not worktree:
        repository.refuse_changes()
    names = (base, WORKTREE if worktree else head or "HEAD")
    places = [_in_repository(file, repository) for file in files]
    with ExitStack() as stack:
        found = []
        for name, commit in zip(names, commits, strict=True):
            folder = repository.folder if commit is None else stack.enter_context(repository.checked_out(commit))
            found.append(_version(name, commit, folder, places))
        if found[0].side.own_suite != found[1].side.own_suite:
            raise NotComparable("only one of the revisions brings its own version of this suite; name files of kernels")
        yield found[0], found[1]


def _two_files(base: str, head: str | None, files: Sequence[str], worktree: bool) -> tuple[Version, Version]:
    if worktree or files:
        raise UsageError("ab OLD.py NEW.py compares exactly two files; for more, name revisions: ab BASE HEAD FILE.py")
    if head is None or not head.endswith(".py"):
        raise UsageError(f"{base} is compared with nothing; name a second file, as in ab OLD.py NEW.py")
    for name in (base, head):
        if not _is_file(name):
            raise UsageError(f"{name!r} is not there; expected a Python file of kernels, see `guide adding-a-kernel`")
    one, other = (
        Version(side=Side(name=name, files=(name,)), files=(str(Path(name).resolve()),)) for name in (base, head)
    )
    return one, other


def _in_repository(file: str, repository: Repository) -> Path:
    place = Path(file).resolve()
    if not place.is_relative_to(repository.folder.resolve()):
        raise UsageError(f"{file} is not in the repository {repository.folder}, whose revisions are compared")
    return place.relative_to(repository.folder.resolve())


def _is_file(name: str) -> bool:
    return os.path.isfile(name)  # noqa: PTH113  (Path.is_file raises for names that no file can have)


def _version(name: str, commit: str | None, folder: Path, places: Sequence[Path]) -> Version:
    files = tuple(str(folder / place) for place in places)
    for place, file in zip(places, files, strict=True):
        if not _is_file(file):
            raise UsageError(f"{place} is not there in {name}; name files that both revisions have")
    is_suite = (folder / "roofline" / "measurement" / "worker.py").is_file() and (folder / "bench").is_dir()
    if is_suite and not (folder / "roofline" / "measurement" / "side.py").is_file():
        raise NotComparable(f"{name} has a version of this suite that knows no `ab` yet; choose a later revision")
    if not is_suite and not files:
        raise UsageError(
            "this repository is not the suite itself: name its files of kernels, as in ab main HEAD FILE.py"
        )
    side = Side(name=name, revision=commit, files=tuple(map(str, places)), own_suite=is_suite)
    return Version(side=side, files=files, suite=folder if is_suite else None)
