"""The two sides of a trial as they lie on disk: revisions that are checked out, or files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.checkout import Checkout, Repository
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
    checkout: Checkout | None = None
    """Where its revision, or the working tree, lies; None for files without a repository."""

    @property
    def folder(self) -> Path | None:
        """Where its processes start, and import from first: in a checkout, what corresponds to here; None for here."""
        if self.suite is not None or self.checkout is None:
            return self.suite
        return self.checkout.place(Path.cwd()) or self.checkout.folder

    def python_path(self, known: str) -> str:
        """Return PYTHONPATH, for a side whose libraries are those of its revision before `known` ones."""
        own = [] if self.suite is None else [str(self.suite)]
        if self.checkout is not None:
            ours = str(Path(__file__).parents[1])  # the suite that runs stays, where the revision brings none
            own += self.checkout.import_folders(entry for entry in sys.path if entry != ours)
        return os.pathsep.join([*own, *filter(None, [known])])

    def refuse_strays(self, sources: Sequence[str]) -> None:
        """Raise NotComparable for files that were imported from the working tree, which is no revision."""
        if self.checkout is not None and (strays := self.checkout.strays(sources)):
            raise NotComparable(
                f"{self.side.name}: its kernels import {strays[0]} from the working tree, which is no revision; "
                "put the folder of that library on PYTHONPATH, from where each side takes its own, instead of "
                "installing it as editable"
            )


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
            found.append(_version(name, commit, Checkout(folder, repository.folder), places))
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


def _version(name: str, commit: str | None, checkout: Checkout, places: Sequence[Path]) -> Version:
    folder = checkout.folder
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
    return Version(side=side, files=files, suite=folder if is_suite else None, checkout=checkout)
