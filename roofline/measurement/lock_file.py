"""The file that a lock belongs to: a regular one, in the place where it was opened, whoever owns the folder."""

from __future__ import annotations

import errno
import glob
import os
import stat
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # a system without flock
    fcntl = None  # type: ignore[assignment]

_TAKEN = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)

Identity = tuple[int, int]
"""Device and inode: which file it is, whatever its name."""


def open_for_all(path: Path, flags: int) -> int:
    """Open a file that is there, else make one that every user may write. Raises OSError for all but regular files.

    Where all users share a folder, Linux refuses to "create" what is there already and somebody else's.
    """
    with suppress(FileNotFoundError):
        return open_regular(path, flags)
    file = open_regular(path, flags | os.O_CREAT)
    with suppress(OSError):
        os.fchmod(file, 0o666)  # whatever the umask of who is first
    return file


def open_regular(path: Path, flags: int) -> int:
    """Open a regular file: no link is followed, and no pipe or device waited for."""
    kept_off = (getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK"))
    file = os.open(path, flags | sum(kept_off), 0o666)
    if stat.S_ISREG(os.fstat(file).st_mode):
        return file
    os.close(file)
    raise OSError(errno.EINVAL, "it is no regular file")


def locked(file: int) -> bool:
    """Lock a file, until it is closed, and return True; False when another holds it.

    Raises OSError where the system, or the file system, knows no locks.
    """
    if fcntl is None:
        raise OSError(errno.ENOSYS, "this system has no flock")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as refused:
        if refused.errno in _TAKEN:
            return False
        raise
    return True


def identity(file: int) -> Identity:
    """Return which file is open."""
    found = os.fstat(file)
    return found.st_dev, found.st_ino


def identity_at(path: Path) -> Identity | None:
    """Return which file lies at a path now; None where there is none."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def keeper_of_removed(path: Path) -> int | None:
    """Return a process that still has a file open which was removed from this path, as far as Linux tells this user."""
    removed = f"{path.parent.resolve() / path.name} (deleted)"
    for link in glob.iglob("/proc/[0-9]*/fd/*"):  # noqa: PTH207  Path.glob raises when a process ends meanwhile
        with suppress(OSError):
            if os.readlink(link) == removed:  # noqa: PTH115
                return int(link.split("/")[2])
    return None
