"""A worker as its launcher sees it: a process group of its own, a request in, messages out."""

from __future__ import annotations

import os
import secrets
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from roofline.measurement.channel import Seal, new_key
from roofline.measurement.guardian import MARK
from roofline.measurement.interruption import Interruption
from roofline.measurement.message import Finished, PlanRequest, Request, SideRequest, message_from, to_line
from roofline.measurement.strays import LAUNCHER, expected, kill_strays, tell_guard

WORKER = (sys.executable, "-m", "roofline.measurement.worker")

_LAST_LINES = 3
"""Of what a worker said last, or of the frames of a crash, innermost first."""
_LONGEST_LINE = 64 * 2**20
_LOOK_EVERY_S = 0.25
"""Whether a worker has ended, where the system does not tell."""


@dataclass(frozen=True)
class Died:
    """The worker ended without having finished."""

    what: str
    """`died of SIGSEGV`, `exited with 1`."""
    detail: str
    """Last lines that it wrote to standard error."""


@dataclass(frozen=True)
class Silent:
    """The worker has said nothing for too long."""

    what: str
    detail: str


class WorkerProcess:
    """A started worker."""

    def __init__(
        self,
        command: Sequence[str],
        request: Request | PlanRequest | SideRequest,
        environment: Mapping[str, str],
        interruption: int,
        folder: Path | None = None,
    ) -> None:
        """Start `command FD` and hand it the request; `command FD FD` for one that is told more on the way, by `tell`.

        `interruption` is a descriptor of `catch_signals`, `folder` where the process starts (default: here): another
        version of this suite, which may know no seals.
        """
        self._sealed = folder is None
        self._interruption = interruption
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed in stop()
        self._read_end, write_end = os.pipe()
        self._mark = secrets.token_hex(8)
        told: list[int] = []
        self._tell_end: int | None = None
        if isinstance(request, SideRequest):
            told_end, self._tell_end = os.pipe()
            told = [told_end]
        tell_guard(f"begin {self._mark}")
        with tempfile.TemporaryFile() as asked:  # a pipe would make the launcher wait, deaf to signals, for its reader
            key = new_key()
            asked.write(to_line(request) + key.encode() + b"\n")
            asked.seek(0)
            self._process = subprocess.Popen(
                [*command, *map(str, (write_end, *told))],
                stdin=asked,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                pass_fds=(write_end, *told),
                cwd=folder,
                env={**environment, MARK: self._mark, LAUNCHER: str(os.getpid())},
                start_new_session=True,
            )
        self._seal = Seal(key)
        tell_guard(f"begin {self._mark} {self._process.pid}")
        self._end_watch = _watch_of(self._process.pid)
        self._deaf = False
        expected.add(self._process.pid)
        for given in (write_end, *told):
            os.close(given)
        self._buffer = bytearray()

    def tell(self, line: str) -> None:
        """Say one line to a worker that listens; one that has died hears nothing, which `hear` reports."""
        assert self._tell_end is not None  # only sides of a trial listen
        with suppress(BrokenPipeError):
            os.write(self._tell_end, f"{line}\n".encode())

    def hear(self, patience_s: float) -> Any:
        """Return the next message, or Died, or Silent after `patience_s`. Raises Interruption when a signal came."""
        deadline = time.monotonic() + patience_s
        while True:
            line, separator, rest = self._buffer.partition(b"\n")
            if separator:
                self._buffer = rest
                return self._message(bytes(line))
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                return Silent(f"said nothing for {patience_s:.0f} s", self._last_lines())
            if self._deaf:
                return self._end()
            self._wait(left_s)

    def _wait(self, most_s: float) -> None:
        """Wait until the worker says something or ends, and take what it has said. Raises Interruption.

        Once it has ended nothing more is heard: a child that it has left behind may keep the pipe open.
        """
        watched = [self._interruption, self._read_end]
        if self._end_watch is None:
            most_s = min(most_s, _LOOK_EVERY_S)
        else:
            watched.append(self._end_watch)
        readable, _, _ = select.select(watched, [], [], most_s)
        if self._interruption in readable:
            raise Interruption(os.read(self._interruption, 1)[0])
        ended = self._process.poll() is not None  # before the last look at the pipe: what it has said is in there
        while select.select([self._read_end], [], [], 0)[0]:
            chunk = os.read(self._read_end, 2**20)
            self._buffer += chunk
            self._deaf = not chunk or len(self._buffer) > _LONGEST_LINE
            if self._deaf or not ended:
                break
        self._deaf = self._deaf or ended

    def _message(self, line: bytes) -> Any:
        self._sealed = self._sealed or not line.startswith(b"{")
        text = self._seal.opened(line) if self._sealed else line
        if text is None:
            return Died("said what is no message", "a line in its pipe is not its own; kernels write to no pipe")
        try:
            return message_from(text)
        except msgspec.DecodeError as error:
            return Died("said what is no message", str(error))

    def last_word(self, patience_s: float, heard: Callable[[Any], None]) -> Finished | Died | Silent:
        """Return the last that is heard of the worker. Raises Interruption.

        Calls `heard` with everything that it says.
        """
        while True:
            message = self.hear(patience_s)
            heard(message)
            if isinstance(message, Finished | Died | Silent):
                return message

    def stop(self) -> None:
        """Kill the worker's whole process group, if any of it is left, and collect it."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        expected.discard(self._process.pid)
        kill_strays(self._mark)
        tell_guard(f"end {self._mark}")
        if self._end_watch is not None:
            os.close(self._end_watch)
        os.close(self._read_end)
        if self._tell_end is not None:
            os.close(self._tell_end)
        self._errors.close()

    def _end(self) -> Died:
        """Return how the worker ended, once nothing more is heard of it."""
        try:
            code = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return Died("closed its pipe", self._last_lines())
        if code < 0:
            return Died(f"died of {signal.Signals(-code).name}", self._last_lines())
        return Died(f"exited with {code}", self._last_lines())

    def _last_lines(self) -> str:
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, self._errors.tell() - 4096))
        text = self._errors.read().decode(errors="replace").strip()
        lines = [line for line in text.splitlines() if not line.startswith("Extension modules:")]
        if told := _of_crash(lines):
            return told
        return " | ".join(line.strip() for line in lines[-_LAST_LINES:]) or "it left no message"


def _watch_of(pid: int) -> int | None:
    """Return a descriptor that becomes readable when a process ends; None where the system has none."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _of_crash(lines: Sequence[str]) -> str:
    """Return what faulthandler says of a crash: what it was, and where the thread that met it was; else nothing."""
    fatal = next((place for place, line in enumerate(lines) if line.startswith("Fatal Python error: ")), None)
    if fatal is None:
        return ""
    current = next((place for place, line in enumerate(lines) if line.startswith("Current thread")), None)
    frames = [] if current is None else [line.strip() for line in lines[current + 1 : current + 1 + _LAST_LINES]]
    return " | ".join([lines[fatal].removeprefix("Fatal Python error: "), *(f for f in frames if f.startswith("File"))])
