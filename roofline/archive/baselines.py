"""Baselines: names for runs that later ones are held against, kept beside the runs of their machine.

`<results>/<machine key>/baselines.json` holds them. It is replaced as a whole, under a lock of its folder: a reader
sees the old file or the new one, and no writer loses what another has written.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec.structs import asdict

from roofline.archive.disk import read_bytes, refuse_results, sync_folder, write_synced
from roofline.archive.document import typed
from roofline.archive.identity import RUN_ID, validated_label
from roofline.archive.tree import parse, shown
from roofline.errors import ArchiveError, ResultsError, UnknownName, UsageError
from roofline.model.grade import grade_of
from roofline.model.run import Run
from roofline.model.struct import Value

try:
    import fcntl
except ImportError:  # a system without flock: replacing the file is still atomic
    fcntl = None  # type: ignore[assignment]

FILE = "baselines.json"
LOCK = ".baselines.lock"
SCHEMA = 1
_WAIT_S, _LOOK_EVERY_S = 10.0, 0.02
_SET = "`python -m bench baseline set NAME` sets one"


class Baseline(Value, frozen=True, kw_only=True):
    """A name for a run."""

    name: str
    run: str
    """Id of the run."""
    set_utc: str
    """When the name was given: ISO 8601, seconds, `Z`."""
    revision: str | None = None
    """Git revision that the run was measured at; None outside a checkout."""
    grade: str = ""
    """Letter of the run."""


class Named(Value, frozen=True, kw_only=True):
    """A baseline and where it belongs."""

    baseline: Baseline
    machine: str
    """The key of its machine."""
    path: Path
    """The file of its run."""

    @property
    def is_there(self) -> bool:
        """True unless the run has been deleted."""
        return self.path.is_file()


class _Document(Value, frozen=True, kw_only=True):
    schema: int
    baselines: tuple[Baseline, ...]


def baselines(results: Path, machine: str | None = None) -> list[Named]:
    """Return all baselines of the folder, or those of one machine, by machine and name.

    Raises ArchiveError for a file of names that cannot be read.
    """
    files = sorted(path for path in results.glob(f"*/{FILE}") if machine in (None, path.parent.name))
    return [
        Named(baseline=baseline, machine=path.parent.name, path=path.with_name(f"{baseline.run}.json"))
        for path in files
        for baseline in sorted(_read(path), key=lambda baseline: baseline.name)
    ]


def baseline_named(name: str, results: Path, machine: str | None = None, prefer: str | None = None) -> Named:
    """Return the baseline of this name: of `machine` if given, else of `prefer` where it has one, else the only one.

    Raises UnknownName for one that is nowhere, and UsageError when several machines have one.
    """
    known = baselines(results, machine)
    found = [named for named in known if named.baseline.name == name]
    preferred = [named for named in found if named.machine == prefer] or found
    if not preferred:
        raise UnknownName("baseline", name[:80], [named.baseline.name for named in known], _SET)
    if len(preferred) > 1:
        machines = ", ".join(named.machine for named in preferred)
        raise UsageError(
            f"{len(preferred)} machines have a baseline {name!r}: {machines}; choose with --machine KEY, "
            "or name the run by its id"
        )
    return preferred[0]


def baseline_file(name: str, results: Path, prefer: str | None = None) -> Path:
    """Return the file of a baseline's run. Raises what `baseline_named` raises, UsageError for a run that is gone."""
    named = baseline_named(name, results, prefer=prefer)
    if not named.is_there:
        raise UsageError(
            f"baseline {name!r} is run {named.baseline.run}, and {named.path} is not there any more; restore the file, "
            f"or set the baseline anew: python -m bench baseline set NAME RUN"
        )
    return named.path


def set_baseline(name: str, run: Run, path: Path, results: Path, now_utc: str, force: bool = False) -> Named:
    """Name the run in `path` and return the baseline; a name that exists moves to it.

    Raises UsageError for a name that cannot be one, for a run that does not lie in its machine's results folder, and,
    without `force`, for one that is incomplete or of grade D. Raises ResultsError when the folder cannot be written.
    """
    name = validated_label(name, "baseline")
    if not run.complete and not force:
        raise UsageError(
            f"run {run.id} is incomplete ({run.reason or 'reason unknown'}), no good baseline; `python -m bench "
            "resume` finishes it, --force takes it as it is"
        )
    grade = grade_of(run)
    expected = results / run.machine.key / f"{run.id}.json"
    if not expected.is_file() or not path.samefile(expected):
        raise UsageError(f"{path} is not where its run belongs, expected {expected}; copy it there first")
    if grade.letter == "D" and not force:
        raise UsageError(
            f"run {run.id} has grade D, {grade.meaning} ({grade.gravest}); `python -m bench show {run.id}` has all "
            "reasons; measure again, or take it with --force"
        )
    baseline = Baseline(name=name, run=run.id, set_utc=now_utc, revision=run.revision, grade=grade.letter)
    _change(results / run.machine.key, lambda known: [*(one for one in known if one.name != name), baseline])
    return Named(baseline=baseline, machine=run.machine.key, path=expected)


def remove_baseline(name: str, results: Path, machine: str | None = None) -> Named:
    """Forget a name and return what it was; the run stays. Raises what `baseline_named` and `set_baseline` raise."""
    named = baseline_named(name, results, machine)
    _change(results / named.machine, lambda known: [one for one in known if one.name != name])
    return named


def _read(path: Path) -> tuple[Baseline, ...]:
    if not path.exists():
        return ()
    source = str(path)
    tree = parse(read_bytes(path), source)
    schema = tree.get("schema") if isinstance(tree, dict) else None
    if type(schema) is not int or schema != SCHEMA:
        raise ArchiveError(
            f"{source}: schema: found {shown(schema)}, expected {SCHEMA}; upgrade roofline-suite, or move the file away"
        )
    document: _Document = typed(tree, _Document, source)
    for place, baseline in enumerate(document.baselines):
        if not RUN_ID.fullmatch(baseline.run):  # it becomes the name of a file
            raise ArchiveError(
                f"{source}: baselines[{place}].run: found {shown(baseline.run)}, expected the id of a run"
            )
    return document.baselines


def _change(folder: Path, change: Callable[[Sequence[Baseline]], Sequence[Baseline]]) -> None:
    """Replace the names of a machine by what `change` makes of them. Raises ArchiveError and ResultsError."""
    path = folder / FILE
    temporary = path.with_name(f".{FILE}.{os.getpid()}.tmp")
    try:
        with _locked(folder):
            kept = sorted(change(_read(path)), key=lambda baseline: baseline.name)
            document = {"schema": SCHEMA, "baselines": [asdict(baseline) for baseline in kept]}
            data = (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()
            try:
                temporary.unlink(missing_ok=True)
                write_synced(temporary, data)
                temporary.replace(path)
            finally:
                with suppress(OSError):
                    temporary.unlink(missing_ok=True)
            sync_folder(folder)
    except OSError as error:
        refuse_results(folder, error)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other writers of the folder's names off as long as the context lasts."""
    if fcntl is None:
        yield
        return
    file = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
    try:
        deadline = time.monotonic() + _WAIT_S
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise ResultsError(
                        f"another process has held {folder / LOCK} for {_WAIT_S:.0f} s; end it, and try again"
                    ) from None
                time.sleep(_LOOK_EVERY_S)
        yield
    finally:
        os.close(file)
