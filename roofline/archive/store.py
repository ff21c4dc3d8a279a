"""The results folder: one folder per machine, one file per run, whole or not there, and found by name.

`<results>/<machine key>/<id>.json` is a run, `<id>.jsonl.part` beside it the journal of one that is not saved (yet).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from roofline.archive.baselines import FILE as BASELINES
from roofline.archive.baselines import baseline_file
from roofline.archive.disk import read_bytes, refuse_results, sync_folder, write_synced
from roofline.archive.document import decode, encode
from roofline.archive.identity import BASELINE, LAST, MAX_LABEL, RUN_ID
from roofline.archive.journal import SUFFIX, journal_path, read_journal
from roofline.archive.trials import SUFFIX as TRIALS
from roofline.errors import ArchiveError, ResultsError, UnknownName, UsageError
from roofline.model.run import Run
from roofline.model.struct import Value

_NAME = MAX_LABEL
"""Characters of a wrong name that a message repeats."""
LISTED = 8
"""Runs that a message names at most, the newest."""
ARTEFACTS = "ci"
"""The folder among the results in which no machine's runs are, but what CI services read of one."""
_SEE = "see `python -m bench list runs`"
_MEASURE = "measure one with `python -m bench all`, or name the folder with --results DIR"
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS)
"""How a file system says that it has no hard links."""


def save(run: Run, results: Path, link: Callable[[Path, Path], None] = os.link) -> Path:
    """Write a run durably to `<results>/<machine key>/<id>.json`, remove its journal and return the path.

    Written to a temporary name, synced, then linked: the file is never half there, and never overwrites
    another. `link` is how a file gets its name. Raises ArchiveError for a run that could not be read back, and
    ResultsError when the folder cannot be written; then nothing of the file is left.
    """
    data = encode(run)
    path = results / run.machine.key / f"{run.id}.json"
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            write_synced(temporary, data)
            _give_name(temporary, path, link)
        finally:
            with suppress(OSError):  # what went wrong before says more
                temporary.unlink(missing_ok=True)
        sync_folder(path.parent)
    except FileExistsError as error:
        if path.is_file():
            raise ResultsError(f"{path} is already there and is never overwritten; save under another id") from error
        refuse_results(path.parent, error)
    except OSError as error:
        refuse_results(path.parent, error)
    with suppress(OSError):  # the run is safe: a journal left behind is only clutter
        journal_path(run, results).unlink(missing_ok=True)
    return path


def load(path: Path) -> Run:
    """Read a run from its file, or from its journal when the name ends in `.part`.

    Raises ArchiveError for a file that is missing, unreadable, too large or not a run.
    """
    if path.name.endswith(".part"):
        return read_journal(path)[0]
    return decode(read_bytes(path), str(path))


class Entry(Value, frozen=True, kw_only=True):
    """One file of the results folder."""

    path: Path
    id: str
    """The run's id; the name of the file when it cannot be read."""
    label: str | None = None
    started_utc: str = ""
    """ISO 8601; empty when the file cannot be read."""
    machine: str
    """The key of its machine."""
    mode: str | None = None
    """What was asked for: `quick`, `thorough` or a verb; None when the run does not say."""
    complete: bool = False
    reason: str | None = None
    """Why the run is not complete, e.g. `SIGINT`."""
    error: str | None = None
    """Why the file cannot be read; None when it can."""


def runs(results: Path) -> list[Entry]:
    """Return every run file and every journal left behind, oldest first. A file that is broken says so in `error`."""
    files = [path for path in results.glob("*/*.json") if path.parent.name != ARTEFACTS]
    saved = [path for path in files if path.name != BASELINES and not path.name.endswith(TRIALS)]
    ids = {path.stem for path in saved}
    # A run that was killed while it removed the journal of what it had saved has left both.
    left = [path for path in results.glob(f"*/*{SUFFIX}") if path.name.removesuffix(SUFFIX) not in ids]
    entries = [_entry(path) for path in [*saved, *left]]
    return sorted(entries, key=lambda entry: (entry.id, str(entry.path)))


def find(name: str, results: Path) -> Path:
    """Return the file that `name` means.

    `last` is the newest saved run, `last~N` the N-th before it, `baseline:NAME` the run of a baseline. Otherwise a
    path, an id, a label, or the beginning of an id that no other has. Raises UnknownName when nothing fits and
    UsageError when several do.
    """
    last = LAST.fullmatch(name)
    if last is not None:
        return _nth_last(int(last[1] or 0), results)
    if name.startswith(BASELINE):
        return baseline_file(name.removeprefix(BASELINE), results)
    looks_like_path = os.sep in name or name.endswith((".json", ".part"))
    is_file = os.path.isfile(name)  # noqa: PTH113  (Path.is_file raises for names that no file can have)
    if looks_like_path and is_file:
        return Path(name)
    stored = _stored(results)
    if name in stored:
        return stored[name]
    labels, broken = _labels(stored)
    labelled = [run_id for run_id, label in labels.items() if label == name]
    begun = [run_id for run_id in stored if name and run_id.startswith(name)]
    for found in (labelled, begun):
        if len(found) > 1:
            raise UsageError(f"{name!r} fits {len(found)} runs: {_newest(found)}; name one by its id")
        if found:
            return stored[found[0]]
    if is_file:
        return Path(name)
    if looks_like_path:
        raise UsageError(f"there is no file {name[-_NAME:]!r}, expected a run file; {_SEE}")
    if not stored:
        raise UsageError(_empty(results))
    known = {"last", *list(stored)[-LISTED:], *list(filter(None, labels.values()))[-LISTED:]}
    raise UnknownName("run", name[:_NAME], known, (f"{broken} files could not be read; " if broken else "") + _SEE)


def _give_name(temporary: Path, path: Path, link: Callable[[Path, Path], None]) -> None:
    try:
        link(temporary, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        path.touch(exist_ok=False)  # without hard links: claim the name, then replace the empty claim
        temporary.replace(path)


def _nth_last(back: int, results: Path) -> Path:
    saved = [path for path in _stored(results).values() if path.suffix == ".json"]
    if not saved:
        raise UsageError(_empty(results))
    if back >= len(saved):
        raise UsageError(f"last~{back} is not there: {results} holds {len(saved)} runs, the oldest is {saved[0].stem}")
    return saved[-1 - back]


def _empty(results: Path) -> str:
    unsaved = len(list(results.glob(f"*/*{SUFFIX}")))
    journals = f" (but {unsaved} unsaved: {_SEE})" if unsaved else ""
    return f"there are no saved runs in {results}{journals}; {_MEASURE}"


def _newest(ids: list[str]) -> str:
    return ", ".join(ids[-LISTED:]) + (", ..." if len(ids) > LISTED else "")


def _stored(results: Path) -> dict[str, Path]:
    """Files by id, oldest first; a saved run hides its journal. Renamed files are found by path only."""
    found: dict[str, Path] = {}
    for suffix in (SUFFIX, ".json"):
        for path in results.glob(f"*/*{suffix}"):
            run_id = path.name.removesuffix(suffix)
            if RUN_ID.fullmatch(run_id):
                found[run_id] = path
    return dict(sorted(found.items()))


def _labels(stored: dict[str, Path]) -> tuple[dict[str, str | None], int]:
    """Labels by id, and how many files could not be read."""
    labels: dict[str, str | None] = {}
    for run_id, path in stored.items():
        with suppress(ArchiveError):  # a broken file must not hide the others
            labels[run_id] = load(path).label
    return labels, len(stored) - len(labels)


def _entry(path: Path) -> Entry:
    try:
        run = load(path)
    except ArchiveError as error:
        name = path.name.removesuffix(SUFFIX).removesuffix(".json")
        return Entry(path=path, id=name, machine=path.parent.name, error=str(error))
    return Entry(
        path=path,
        id=run.id,
        label=run.label,
        started_utc=run.started_utc,
        machine=run.machine.key,
        mode=mode if isinstance(mode := run.plan.get("mode"), str) else None,
        complete=run.complete,
        reason=run.reason,
    )
