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
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from roofline.errors import MachineBusy
from roofline.measurement.lock_file import identity, identity_at, keeper_of_removed, locked, open_for_all, open_regular
from roofline.model.run import Caveat

FILE = "roofline-suite.lock"
_LONGEST_BYTES = 4096
_LOOK_EVERY_S = 0.1
_MOST_TRIES = 20
"""Of locking a file that is replaced every time."""


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

    def __init__(self, caveats: tuple[Caveat, ...] = (), path: Path | None = None, file: int | None = None) -> None:
        """`path` is the lock's, and `file` its descriptor; None for a run that holds none."""
        self._caveats = caveats
        self._path = path
        self._identity = None if file is None else identity(file)

    def caveats(self) -> tuple[Caveat, ...]:
        """Return what the reader of the run must know: who ran meanwhile, or that nothing could keep others off."""
        if self._path is None:
            return self._caveats
        found = list(self._caveats)
        if self.was_exchanged:
            found.append(_unlocked(f"{self._path} was removed or replaced while this run held it"))
        signed = _signed(_intruders(self._path))
        if signed is None:
            found.append(_unlocked(f"{_intruders(self._path)} is no regular file: no run beside can sign in it"))
        elif signed:
            found.append(_beside(signed))
        return tuple(found)

    @property
    def was_exchanged(self) -> bool:
        """True when the file that is held is not the one in its place any more."""
        return self._path is not None and self._identity != identity_at(self._path)


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
        file = _held(path, wait_s, concurrent, clock, sleep)
    except OSError as refused:
        yield Hold((_unlocked(f"{path}: {refused.strerror or refused}"),))
        return
    except _BesideAnother as other:
        _sign(_intruders(path), command)
        yield Hold((_beside([str(other)]),))
        return
    try:
        _write_holder(file, command)
        with suppress(OSError):
            _intruders(path).unlink(missing_ok=True)
        hold = Hold((), path, file)
        yield hold
        with suppress(OSError):
            os.ftruncate(file, 0)
        if hold.was_exchanged:
            _sign(_intruders(path), command)  # for who has locked the new file meanwhile
    finally:
        os.close(file)


class _BesideAnother(Exception):
    """Another run holds the machine, and this one goes on beside it."""


def _held(
    path: Path, wait_s: float, concurrent: bool, clock: Callable[[], float], sleep: Callable[[float], None]
) -> int:
    """Return the descriptor of the lock's file, locked.

    Raises MachineBusy when another run holds it too long, _BesideAnother at once if `concurrent`, and OSError where
    there is nothing to lock.
    """
    deadline = clock() + wait_s
    for tries in count(1):
        with ExitStack() as closing:
            file = open_for_all(path, os.O_RDWR)
            closing.callback(os.close, file)
            other = _forgotten(path) if locked(file) else _holder(file)
            if other is None and identity(file) == identity_at(path):
                closing.pop_all()
                return file
        if other is None:  # somebody has put another file there since it was opened: that one is the lock
            if tries > _MOST_TRIES:
                raise OSError(errno.ESTALE, "the file is replaced again and again")
            continue
        if concurrent:
            raise _BesideAnother(str(other))
        if clock() >= deadline:
            waited = f" (waited {wait_s:g} s)" if wait_s else ""
            raise MachineBusy(
                f"another run measures on this machine{waited}: {other}; wait for it with --wait S, or go on beside it "
                "with --allow-concurrent, which marks both runs"
            )
        sleep(_LOOK_EVERY_S)
    raise AssertionError  # count() has no end


def _forgotten(path: Path) -> Holder | None:
    """Return who still holds a lock whose file was removed."""
    keeper = keeper_of_removed(path)
    return None if keeper is None else Holder(pid=keeper)


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
        file = open_for_all(path, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(file, line.encode(errors="replace"))
        finally:
            os.close(file)


def _signed(path: Path) -> list[str] | None:
    """Return who has signed; None when nobody can, because something else lies there."""
    try:
        file = open_regular(path, os.O_RDONLY)
    except FileNotFoundError:
        return []
    except OSError:
        return None
    try:
        text = os.pread(file, _LONGEST_BYTES, 0).decode(errors="replace")
    finally:
        os.close(file)
    return [line for line in text.splitlines() if line.isprintable()][:3]


def _beside(others: list[str]) -> Caveat:
    message = f"another run measured on this machine meanwhile ({'; '.join(others)}): measure again, alone"
    return Caveat(code="BUSY", message=message)


def _unlocked(why: str) -> Caveat:
    message = f"the machine could not be locked ({why}): nothing keeps another run off; run one at a time"
    return Caveat(code="NO_LOCK", message=message)
