"""Bytes on disk: read with limits, written durably, and refused with the reason and the remedy."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import NoReturn

from roofline.archive.tree import MAX_BYTES, oversized
from roofline.errors import ArchiveError, ResultsError

_REMEDY = {
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some of your quota",
    errno.EFBIG: "raise the file size limit (ulimit -f)",
    errno.EROFS: "choose one on a writable file system",
    errno.EACCES: "check its permissions",
    errno.EPERM: "check its permissions",
    errno.ENOTDIR: "move the file that is in the way",
    errno.EEXIST: "move the file that is in the way",
    errno.EIO: "check the disk",
}


def refuse_results(folder: Path, error: OSError) -> NoReturn:
    """Raise the ResultsError that says why `folder` cannot be written and what to do."""
    remedy = _REMEDY.get(error.errno or 0, "check that it can be written")
    raise ResultsError(
        f"cannot write results in {folder}: {error.strerror or error}; {remedy}, or name another with --results DIR"
    ) from error


def check_writable(results: Path) -> None:
    """Make the results folder and prove that files can be written in it. Raises ResultsError when they cannot."""
    try:
        results.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=results, prefix=".probe-") as probe:
            probe.write(b"probe")
    except OSError as error:
        refuse_results(results, error)


def read_bytes(path: Path, what: str = "run file") -> bytes:
    """Return the content of a regular file of at most MAX_BYTES; `what` is expected. Raises ArchiveError for others."""
    try:
        if path.exists() and not path.is_file():  # opening a pipe would wait for ever
            raise ArchiveError(f"{path} is not a regular file, expected a {what}")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)  # whatever the file's size says, or becomes
    except OSError as error:
        raise ArchiveError(f"cannot read {path}: {error.strerror or error}; expected a {what}") from error
    except ValueError as error:  # a name with a NUL
        raise ArchiveError(f"cannot read {str(path)!r}: {error}; expected the path of a {what}") from error
    if len(data) > MAX_BYTES:
        raise ArchiveError(oversized(str(path), what))
    return data


def write_synced(path: Path, data: bytes) -> None:
    """Write a new file and wait until it is on the disk. Raises OSError; FileExistsError when it is there."""
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until the names in `folder` are on the disk, where the system can."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some file systems cannot sync a folder
            raise
    finally:
        os.close(descriptor)
