"""The guardian: outlives a launcher that is killed, and ends what its workers have left.

Started as `python guardian.py`: reads lines on standard input, `begin MARK` before a worker is started, then
`begin MARK PID`, and `end MARK` when it has ended. When the launcher dies, which closes that pipe, it kills the workers
that have not ended, their process groups and sessions, and whatever carries their marks. Then it ends itself. It
imports nothing that takes time to load.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator

MARK = "ROOFLINE_WORKER"
"""Variable by which whatever a worker has started can be known, however it tries to leave."""
_ROUNDS = 50
"""Of killing what others have left in the meantime."""


def left_by(lines: Iterable[str]) -> dict[str, int]:
    """Return the marks of the workers that have not ended when the lines do, with their ids (0 where unknown)."""
    workers: dict[str, int] = {}
    for line in lines:
        match line.split():
            case ["begin", mark, *pid]:
                workers[mark] = int(pid[0]) if pid else 0
            case ["end", mark]:
                workers.pop(mark, None)
    return workers


def kill_left(workers: dict[str, int]) -> None:
    """Kill these workers and whatever they have started, until nothing is found."""
    for pid in filter(None, workers.values()):
        _kill(os.killpg, pid)
    for _ in range(_ROUNDS if workers else 0):
        found = list(_found(workers))
        for pid in found:
            _kill(os.kill, pid)
        if not found:
            return


def _found(workers: dict[str, int]) -> Iterator[int]:
    """Yield the processes of these workers that still run, as far as Linux tells."""
    marks = {f"{MARK}={mark}".encode() for mark in workers}
    leaders = set(workers.values()) - {0}
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():  # noqa: PTH112, PTH208  pathlib loads slowly
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                state, _, group, session, *_ = file.read().rpartition(b")")[2].split()
            with open(f"/proc/{name}/environ", "rb") as file:  # noqa: PTH123
                variables = file.read().split(b"\0")
        except (OSError, ValueError):
            continue
        theirs = leaders.intersection((int(group), int(session))) or marks.intersection(variables)
        if theirs and state not in b"ZX":
            yield int(name)


def _kill(how: Callable[[int, int], None], pid: int) -> None:
    try:  # noqa: SIM105  contextlib loads slowly
        how(pid, signal.SIGKILL)
    except OSError:
        pass  # it has ended meanwhile


if __name__ == "__main__":
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)  # whoever ends a run with them ends this with the run
    kill_left(left_by(sys.stdin))
