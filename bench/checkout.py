"""Revisions of a Git repository, each checked out into a folder of its own for as long as it is measured."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from roofline.errors import UnknownName, UsageError
from roofline.measurement.lock_file import locked

_TIMEOUT_S = 120.0
_SCRATCH = "roofline-ab-"
"""How the folders begin that hold a checkout."""
_LOCK = ".lock"
_SOURCES = "src"
"""Where a project keeps its library if not at the top."""
_NAMED = 3
"""Changed files that a message names."""


@dataclass(frozen=True)
class Checkout:
    """A revision in a folder of its own, beside the working tree that it is a revision of; or that tree itself."""

    folder: Path
    working_tree: Path

    def place(self, path: Path) -> Path | None:
        """Return where a path of the working tree lies in the checkout; None for other paths, and for what is not."""
        try:
            place = self.folder / path.resolve().relative_to(self.working_tree.resolve())
        except ValueError:
            return None
        return place if place.exists() else None

    def import_folders(self, folders: Iterable[str]) -> list[str]:
        """Return the folders of the checkout that correspond to those that modules come from, and its `src`."""
        wanted = [*map(Path, filter(None, folders)), self.working_tree / _SOURCES]
        places = map(self.place, wanted)
        return list(dict.fromkeys(str(place) for place in places if place is not None))

    def strays(self, files: Iterable[str]) -> tuple[str, ...]:
        """Return the files that lie in the working tree, and so are no part of the revision."""
        return tuple(
            file
            for file in files
            if Path(file).is_relative_to(self.working_tree.resolve())
            and not Path(file).is_relative_to(self.folder.resolve())
        )


class Repository:
    """The repository that a folder belongs to."""

    def __init__(self, folder: Path) -> None:
        """Raises UsageError where there is no Git, or no repository."""
        if shutil.which("git") is None:
            raise UsageError("there is no `git` here, expected it to check revisions out; name two files instead")
        answer = _git(folder, "rev-parse", "--show-toplevel")
        if answer.returncode:
            raise UsageError(
                f"{folder} is in no Git repository that can be used ({_last_words(answer)}); go to one, or name two "
                "files: ab OLD.py NEW.py"
            )
        self.folder = Path(answer.stdout.rstrip("\n"))

    def commit(self, revision: str) -> str:
        """Return the full hash of a revision. Raises UnknownName with the nearest branch or tag."""
        answer = _git(self.folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        if answer.returncode or not answer.stdout.strip():
            names = _git(self.folder, "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags").stdout
            hint = f"of the repository {self.folder}; see `git log`"
            raise UnknownName("revision", revision, [*names.splitlines(), "HEAD"], hint)
        return answer.stdout.strip()

    def changes(self) -> tuple[str, ...]:
        """Return the tracked files whose changes are in no commit. Raises UsageError when Git cannot tell."""
        answer = _git(self.folder, "status", "--porcelain", "--untracked-files=no", "--no-renames", "-z")
        if answer.returncode:
            raise UsageError(f"git cannot say what has changed in {self.folder}: {_last_words(answer)}")
        return tuple(entry[3:] for entry in answer.stdout.split("\0") if len(entry) > 3)

    def refuse_changes(self) -> None:
        """Raise UsageError for changes that no revision has: they would not be measured."""
        if changed := self.changes():
            more = f" and {len(changed) - _NAMED} more" if len(changed) > _NAMED else ""
            raise UsageError(
                f"changes are in no commit, so that no revision has them: {', '.join(changed[:_NAMED])}{more}; commit "
                "or stash them, or measure the files as they lie here with --worktree"
            )

    @contextmanager
    def checked_out(self, commit: str) -> Iterator[Path]:
        """Lend a folder with the files of a commit; it is removed at the end. Raises UsageError when Git refuses."""
        self._forget_orphans()
        scratch = Path(tempfile.mkdtemp(prefix=_SCRATCH))
        folder = scratch / commit[:12]
        try:
            with _held(scratch):
                answer = _git(self.folder, "worktree", "add", "--detach", "--force", str(folder), commit)
                if answer.returncode:
                    raise UsageError(f"git cannot check {commit[:12]} out: {_last_words(answer)}")
                yield folder
        finally:
            _git(self.folder, "worktree", "remove", "--force", str(folder))
            shutil.rmtree(scratch, ignore_errors=True)
            _git(self.folder, "worktree", "prune")

    def _forget_orphans(self) -> None:
        """Remove the checkouts that killed runs have left: those whose lock nobody holds."""
        listed = _git(self.folder, "worktree", "list", "--porcelain").stdout.splitlines()
        for folder in (Path(line.removeprefix("worktree ")) for line in listed if line.startswith("worktree ")):
            if folder.parent.name.startswith(_SCRATCH) and (folder.parent / _LOCK).is_file():
                with _held(folder.parent) as is_ours:
                    if is_ours:
                        _git(self.folder, "worktree", "remove", "--force", str(folder))
                        shutil.rmtree(folder.parent, ignore_errors=True)
        _git(self.folder, "worktree", "prune")  # those whose folder is gone already


@contextmanager
def _held(scratch: Path) -> Iterator[bool]:
    """Hold a folder's lock, which ends with this process however it ends; False where another process holds it."""
    with (scratch / _LOCK).open("w") as file:
        try:
            is_ours = locked(file.fileno())
        except OSError:  # a system without locks: what a killed run leaves stays until somebody removes it
            is_ours = False
        yield is_ours


def _last_words(answer: subprocess.CompletedProcess[str]) -> str:
    """Return the line in which git says what is wrong: the first fatal one, before its advice."""
    lines = answer.stderr.strip().splitlines() or ["it said nothing"]
    return next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1])


def _git(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run git in a folder: no hook and no program that a repository names, and no variables of another one."""
    safe: Sequence[str] = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
    variables = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    try:
        return subprocess.run(
            ["git", "-C", str(folder), *safe, *words],
            env={**variables, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise UsageError(f"git did not answer within {_TIMEOUT_S:.0f} s: git {' '.join(words)}") from late
