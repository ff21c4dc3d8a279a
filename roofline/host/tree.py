"""Files below a root that is not trusted: what is missing, unreadable or garbage is None, never an exception."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

_LONGEST_BYTES = 16 * 2**20
"""Nothing below /proc and /sys that is read here is longer."""
_LARGEST = 2**50
"""Nothing that is counted here is larger: a petabyte in bytes, an exabyte in kB."""
_MOST_CPUS = 8192
"""The most that Linux can be built for."""


class Tree:
    """The files below `root`: `/` for this machine, a folder for a recorded one."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def is_live(self) -> bool:
        """Whether this is the running system, about which the process itself may be asked too."""
        return self.root == Path("/")

    def text(self, path: str) -> str | None:
        """Return the file's text without NULs; None when there is no such regular file or it cannot be read."""
        file = self.root / path
        try:
            if not file.is_file():  # opening a pipe would block, reading a folder would raise
                return None
            with file.open("rb") as stream:
                data = stream.read(_LONGEST_BYTES)
        except (OSError, ValueError):  # ValueError: a path taken from a file may be none
            return None
        return data.decode("utf-8", errors="replace").replace("\0", "")

    def word(self, path: str) -> str | None:
        """Return the file's text without surrounding white space; None when nothing printable is left."""
        return printable(self.text(path))

    def number(self, path: str) -> int | None:
        """Return the whole number that the file holds, or None."""
        return whole_number(self.text(path))

    def cpus(self, path: str) -> tuple[int, ...] | None:
        """Return the ascending CPU numbers of a list such as `0-3,8`; None when the file holds no such list."""
        return cpu_list(self.text(path))

    def names(self, path: str) -> tuple[str, ...]:
        """Return the sorted names in a folder; none when it cannot be listed."""
        try:
            return tuple(sorted(entry.name for entry in (self.root / path).iterdir()))
        except OSError:
            return ()

    def exists(self, path: str) -> bool:
        """Return whether there is such a file or folder, as far as can be seen."""
        try:
            return (self.root / path).exists()
        except OSError:
            return False

    def numbered(self, folder: str, prefix: str) -> tuple[int, ...]:
        """Return n, ascending, for the entries `<prefix><n>` of a folder."""
        rests = (name.removeprefix(prefix) for name in self.names(folder) if name.startswith(prefix))
        return tuple(sorted(int(rest) for rest in rests if rest.isascii() and rest.isdigit()))


def printable(text: str | None) -> str | None:
    """Return the text on one line, single-spaced; None when it is empty or holds what cannot be printed."""
    line = " ".join((text or "").split())
    return line if line and line.isprintable() and "\ufffd" not in line else None


def whole_number(text: str | None) -> int | None:
    """Return the number that the text is, or None when it is none or absurdly large."""
    try:
        number = int(text or "")
    except ValueError:
        return None
    return number if abs(number) < _LARGEST else None


def decimal_number(text: str | None) -> float | None:
    """Return the finite number that the text is, or None."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and abs(number) < _LARGEST else None


def cpu_list(text: str | None) -> tuple[int, ...] | None:
    """Return the ascending CPU numbers of a list such as `0-3,8`; None when it is not such a list."""
    cpus: set[int] = set()
    for part in (text or "").strip().split(","):
        first_text, dash, last_text = part.partition("-")
        first = whole_number(first_text)
        last = whole_number(last_text) if dash else first
        if first is None or last is None or not 0 <= first <= last < _MOST_CPUS:
            return None
        cpus.update(range(first, last + 1))
    return tuple(sorted(cpus))


def fields(lines: Iterable[str], separator: str = ":") -> dict[str, str]:
    """Return `key: value` lines as a dictionary; of a repeated key the first counts."""
    found: dict[str, str] = {}
    for line in lines:
        key, colon, value = line.partition(separator)
        if colon:
            found.setdefault(key.strip(), value.strip())
    return found
