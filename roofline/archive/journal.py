"""The journal of a run that is being measured: what it holds survives whatever kills the process.

One line per record, `<CRC32 of the JSON, 8 hex digits> <JSON>`; the first line is the run as it started.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any
from zlib import crc32

from msgspec.structs import replace

from roofline.archive.disk import read_bytes, refuse_results
from roofline.archive.document import from_tree, to_tree, typed
from roofline.archive.migration import upgraded_record
from roofline.archive.plausibility import record_defects
from roofline.archive.tree import parse
from roofline.errors import ArchiveError
from roofline.model.final import rejudged
from roofline.model.run import Caveat, Record, Run

try:
    import fcntl
except ImportError:  # a system without flock: nobody can tell whether a journal is being written
    fcntl = None  # type: ignore[assignment]

SUFFIX = ".jsonl.part"
MAX_LINES = 20_000
"""Lines that are read: growing a run by a record copies it, and a full run has some hundred."""
UNSAVED = "read from the journal: the run was not saved"
"""The reason of a run that a journal holds."""


def journal_path(run: Run, results: Path) -> Path:
    """Return where the journal of this run belongs: beside its file."""
    return results / run.machine.key / f"{run.id}{SUFFIX}"


class Journal:
    """Keeps the records of one run as they come: each is on the disk when `append` returns.

    `with Journal(run, results) as journal:` closes it at the end. `save` removes the file once the run is safe.
    """

    def __init__(self, run: Run, results: Path) -> None:
        """Start the journal of `run`, which holds what is known before the first record.

        Raises ArchiveError for a run that could not be read back, and ResultsError when the file cannot be made.
        """
        header = to_tree(run, "the journal")
        from_tree(header, "the journal")
        self.path = journal_path(run, results)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("x+b", buffering=0)
        except OSError as error:
            refuse_results(self.path.parent, error)
        _claim(self._file)
        self._written_bytes = 0
        self._append_line(header)

    def append(self, record: Record) -> None:
        """Keep one record.

        Raises ArchiveError for a record that could not be read back, before anything is written, and
        ResultsError when the disk does not take it; the journal is then as it was before.
        """
        tree = to_tree(record, "a record")
        _record(tree, "a record")
        self._append_line(tree)

    def close(self) -> None:
        """Close the file, which stays where it is."""
        self._file.close()

    def __enter__(self) -> Journal:
        """Return the journal itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self.close()

    def _append_line(self, tree: Any) -> None:
        text = json.dumps(tree, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")
        line = b"%08x %s\n" % (crc32(text), text)
        try:
            if not os.fstat(self._file.fileno()).st_nlink:
                self._make_again()
            _write_synced(self._file, line)
        except OSError as error:
            with suppress(OSError):  # a torn line would swallow the next one; reading copes when this fails too
                self._file.truncate(self._written_bytes)
                self._file.seek(self._written_bytes)
            refuse_results(self.path.parent, error)
        self._written_bytes += len(line)

    def _make_again(self) -> None:
        """Put the file back under its name: somebody has removed it, or its folder, and only this process has it yet.

        Raises OSError where that cannot be; the old file is then still open.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file.seek(0)
        lines = self._file.read()
        file = self.path.open("x+b", buffering=0)
        try:
            _write_synced(file, lines)
        except OSError:
            file.close()
            self.path.unlink()
            raise
        self._file.close()
        self._file = file
        _claim(file)


def is_being_written(path: Path) -> bool:
    """Return whether the process that writes this journal still lives; False where nothing tells."""
    if fcntl is None:
        return False
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _claim(file: FileIO) -> None:
    """Lock a journal for as long as it is open, so that no other process takes its run up."""
    if fcntl is not None:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def read_journal(path: Path) -> tuple[Run, int]:
    """Rebuild a run from its journal; return it and the number of lines that were torn or corrupt.

    The run is never complete, and says in a caveat when lines are lost. Raises ArchiveError when the file cannot
    be read, or when its first line, which says what and where was measured, is lost.
    """
    source = str(path)
    lines = [line for line in read_bytes(path).split(b"\n") if line]
    if len(lines) > MAX_LINES:
        raise ArchiveError(f"{source}: found {len(lines)} lines, expected the journal of a run, at most {MAX_LINES}")
    if not lines:
        raise ArchiveError(f"{source}: the journal is empty, expected a first line that describes the run")
    header = _content(lines[0], f"{source} line 1")
    run = from_tree(header, f"{source} line 1")
    upgrade = upgraded_record if header["schema"] == 1 else lambda tree: tree
    lost = 0
    for line in lines[1:]:
        try:
            run = run.with_record(_record(upgrade(_content(line, source)), source))
        except ArchiveError:
            lost += 1
    if lost:
        what = "1 record" if lost == 1 else f"{lost} records"
        message = f"{what} of the journal lost, torn or corrupt; `resume` measures again what a point has lost"
        caveat = Caveat(code="JOURNAL_TORN", message=message)
        run = replace(run, caveats=(*run.caveats, caveat))
    return replace(rejudged(run), complete=False, reason=run.reason or UNSAVED), lost


def _write_synced(file: FileIO, data: bytes) -> None:
    """Write all of it, and wait until it is on the disk. Raises OSError."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]
    os.fsync(file.fileno())


def _content(line: bytes, source: str) -> Any:
    checksum, _, text = line.partition(b" ")
    if checksum != b"%08x" % crc32(text):
        raise ArchiveError(f"{source}: the checksum does not fit, so the line is torn or corrupt")
    return parse(text, source)


def _record(tree: Any, source: str) -> Record:
    record: Record = typed(tree, Record, source)
    for defect in record_defects(record):
        raise ArchiveError(f"{source}: {defect}")
    return record
