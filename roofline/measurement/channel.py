"""The pipe from a worker to its launcher, sealed: what a kernel writes to it is told from what the worker says.

A seal is a keyed hash of a line and of its number. The key comes with the request and goes through no pipe, so that
whoever reads along, writes or repeats a line has no seal for it. Code in the same process can in the end read the key:
this keeps accidents and simple forgeries off, not an attacker.
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from hmac import compare_digest
from typing import Any, TypeVar

from roofline.measurement.message import to_line

try:
    import fcntl
except ImportError:  # not POSIX
    fcntl = None  # type: ignore[assignment]

Asked = TypeVar("Asked")

_PLACES = (512, 400)
"""First descriptor, and how many, among which the pipe gets a place: far from where descriptors are made and closed."""


def new_key() -> str:
    """Return a key that nobody guesses, as hexadecimal digits."""
    return secrets.token_hex(32)


class Seal:
    """One end of a sealed pipe: makes the seals of the lines that go in, or checks those of the lines that come out."""

    def __init__(self, key: str) -> None:
        """Begin with the first line."""
        self._keyed = blake2b(key=bytes.fromhex(key), digest_size=16)
        self._lines = 0

    def sealed(self, text: bytes) -> bytes:
        """Return the next line with its seal before it."""
        return self._next(text) + b" " + text

    def opened(self, line: bytes) -> bytes | None:
        """Return the next line without its seal; None when the seal is not its own."""
        seal, _, text = line.partition(b" ")
        return text if compare_digest(seal, self._next(text)) else None

    def _next(self, text: bytes) -> bytes:
        made = self._keyed.copy()
        made.update(b"%d " % self._lines + text)
        self._lines += 1
        return made.hexdigest().encode()


class Speaker:
    """The worker's end: call it with a message to say it."""

    def __init__(self, pipe: int, key: str) -> None:
        """`pipe` is the descriptor to write to; without a `key`, of a launcher that knows no seals, lines have none."""
        self._pipe = pipe
        self._seal = Seal(key) if key else None

    def __call__(self, message: Any) -> None:
        """Say one message. Raises OSError when nobody hears it."""
        line = to_line(message)
        left = memoryview(self._seal.sealed(line.rstrip(b"\n")) + b"\n" if self._seal else line)
        while left:
            left = left[os.write(self._pipe, left) :]


def asked_by_launcher(decode: Callable[[bytes], Asked]) -> tuple[Asked, Speaker]:
    """Return the request on standard input and the way to answer it, before any code of a user runs.

    The request's second line is the key. Afterwards standard input is empty, and the pipe whose descriptor was the
    first word of the command lies elsewhere, where no program that a kernel starts inherits it.
    """
    with os.fdopen(os.dup(0), "rb") as lines:
        request = decode(lines.readline())
        key = lines.readline().strip().decode()
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    return request, Speaker(_moved(int(sys.argv.pop(1))), key)


def _moved(pipe: int) -> int:
    """Return another descriptor of a pipe, which is closed here; the same one where the system has no room."""
    os.set_inheritable(pipe, False)
    with suppress(OSError, AttributeError):
        moved = fcntl.fcntl(pipe, fcntl.F_DUPFD_CLOEXEC, _PLACES[0] + secrets.randbelow(_PLACES[1]))
        os.close(pipe)
        return moved
    return pipe
