"""One measuring run at a time on a machine: two would measure each other.

The lock is advisory and belongs to a file (flock), so that whatever ends its holder frees it. Who holds it stands in
the file: process, time and command.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from roofline.errors import MachineBusy
from roofline.model.run import Caveat

try:
    import fcntl
except ImportError:  # a system without flock: no lock, and the caveat says so
    fcntl = None  # type: ignore[assignment]

FILE = "roofline-suite.lock"
_LONGEST_BYTES = 4096
_LOOK_EVERY_S = 0.1
_TAKEN = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)


@dataclass(frozen=True)
class Holder:
    """Who holds the lock, as far as its file tells."""

    pid: int | None = None
    since_utc: str = ""
    command: str = ""

    def __str__(self) -> str:
        """Write process, time and command in a line; what is unknown is left out."""
        who = f"process {self.pid}" if self.pid is not None else "another process"
        since = f", since {self.since_utc}" if self.since_utc else ""
        return f"{who}{since}{f': {self.command}' if self.command else ''}"


class Hold:
    """What the holder of the machine learns at its end."""

    def __init__(self, caveats: tuple[Caveat, ...], intruders: Path | None) -> None:
        """`intruders` is the file in which runs that went on beside this one sign."""
        self._caveats = caveats
        self._intruders = intruders

    def caveats(self) -> tuple[Caveat, ...]:
        """Return what the reader of the run must know: who ran meanwhile, or that nothing could keep others off."""
        signed = _signed(self._intruders)
        return (*self._caveats, *((_beside(signed),) if signed else ()))


def lock_folder(variables: Mapping[str, str] = os.environ) -> Path:
    """Return where the machine's lock lies: a folder that all users share, or what ROOFLINE_LOCK_FOLDER says."""
    if variables.get("ROOFLINE_LOCK_FOLDER"):
        return Path(variables["ROOFLINE_LOCK_FOLDER"])
    if sys.platform == "linux":
        shared = Path("/run/lock")
        if shared.is_dir() and os.access(shared, os.W_OK):
            return shared
    return Path(tempfile.gettempdir())


@contextmanager
def machine_lock(
    folder: Path,
    command: str,
    *,
    wait_s: float = 0.0,
    concurrent: bool = False,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Hold]:
    """Hold the machine as long as the context lasts; lend a Hold that tells what happened meanwhile.

    Waits up to `wait_s` for another holder. With `concurrent` it goes on beside one, and both runs say so. Where the
    folder or its file system knows no locks, it goes on with a caveat. Raises MachineBusy when another run holds it.
    """
    path = folder / FILE
    try:
        file = _opened(path)
    except OSError as refused:
        yield Hold((_unlocked(f"{path}: {refused.strerror or refused}"),), None)
        return
    try:
        deadline = clock() + wait_s
        while not _taken(file):
            if concurrent:
                _sign(_intruders(path), command)
                yield Hold((_beside([str(_holder(file))]),), None)
                return
            if clock() >= deadline:
                waited = f" (waited {wait_s:g} s)" if wait_s else ""
                raise MachineBusy(
                    f"another run measures on this machine{waited}: {_holder(file)}; wait for it with --wait S, or go "
                    "on beside it with --allow-concurrent, which marks both runs"
                )
            sleep(_LOOK_EVERY_S)
        _write_holder(file, command)
        with suppress(OSError):
            _intruders(path).unlink(missing_ok=True)
        yield Hold((), _intruders(path))
        with suppress(OSError):
            os.ftruncate(file, 0)
    except _NoLocks as refused:
        yield Hold((_unlocked(f"{path}: {refused}"),), None)
    finally:
        os.close(file)


class _NoLocks(Exception):
    """The file system knows no locks."""


def _opened(path: Path) -> int:
    """Open the lock's file, which any user may hold; never through a link that somebody has put there."""
    if fcntl is None:
        raise OSError(errno.ENOSYS, "this system has no flock")
    return _open_for_all(path, os.O_RDWR)


def _open_for_all(path: Path, flags: int) -> int:
    """Open a file that is there, else make one that every user may write.

    Where all users share a folder, Linux refuses to "create" what is there already and somebody else's.
    """
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    with suppress(FileNotFoundError):
        return os.open(path, flags)
    file = os.open(path, flags | os.O_CREAT, 0o666)
    with suppress(OSError):
        os.fchmod(file, 0o666)  # whatever the umask of who is first
    return file


def _taken(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as refused:
        if refused.errno in _TAKEN:
            return False
        raise _NoLocks(refused.strerror or str(refused)) from refused
    return True


def _write_holder(file: int, command: str) -> None:
    who = {"pid": os.getpid(), "since_utc": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", "command": command[:500]}
    with suppress(OSError):
        os.ftruncate(file, 0)
        os.pwrite(file, json.dumps(who).encode(), 0)


def _holder(file: int) -> Holder:
    """Return what the file says of its holder; anybody may have written it."""
    try:
        found: Any = json.loads(os.pread(file, _LONGEST_BYTES, 0))
    except (OSError, ValueError, RecursionError):
        return Holder()
    if not isinstance(found, dict):
        return Holder()
    pid, since, command = found.get("pid"), found.get("since_utc"), found.get("command")
    return Holder(
        pid=pid if type(pid) is int else None,
        since_utc=since if isinstance(since, str) and since.isprintable() else "",
        command=command if isinstance(command, str) and command.isprintable() else "",
    )


def _intruders(path: Path) -> Path:
    return path.with_suffix(".beside")


def _sign(path: Path, command: str) -> None:
    line = f"process {os.getpid()}, since {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}: {command[:200]}\n"
    with suppress(OSError):
        file = _open_for_all(path, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(file, line.encode(errors="replace"))
        finally:
            os.close(file)


def _signed(path: Path | None) -> list[str]:
    if path is None:
        return []
    try:
        with path.open("rb") as file:
            text = file.read(_LONGEST_BYTES).decode(errors="replace")
    except OSError:
        return []
    return [line for line in text.splitlines() if line.isprintable()][:3]


def _beside(others: list[str]) -> Caveat:
    message = f"another run measured on this machine meanwhile ({'; '.join(others)}): measure again, alone"
    return Caveat(code="BUSY", message=message)


def _unlocked(why: str) -> Caveat:
    message = f"the machine could not be locked ({why}): nothing keeps another run off; run one at a time"
    return Caveat(code="NO_LOCK", message=message)
