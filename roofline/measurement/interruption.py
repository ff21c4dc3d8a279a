"""Signals that ask a run to stop: noticed by whoever waits for a worker, held back while a run is saved."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

CAUGHT = tuple(number for number in signal.Signals if number.name in ("SIGINT", "SIGTERM", "SIGHUP"))
"""What asks a run to stop: Ctrl-C, a scheduler or `kill`, a terminal that is closed."""

_HELD_BACK = 2
"""Signals that wait while a run is saved."""

Handler = Callable[[int, Any], Any]


class Interruption(KeyboardInterrupt):
    """A signal asked the run to stop. Like a Ctrl-C, it is no Exception: nothing swallows it by accident."""

    def __init__(self, number: int, message: str = "") -> None:
        """`number` is the signal's; `message` says what became of the run, where there is one already."""
        self.number = number
        self.signal_name = signal.Signals(number).name
        super().__init__(message or f"interrupted by {self.signal_name}")


class Signals:
    """What a signal does to a command that measures: it raises, but not while what was measured is being saved."""

    def __init__(self) -> None:
        """Begin with no signal."""
        self._hold_back = 0
        self._waiting: int | None = None

    def handle(self, number: int, _: object) -> None:
        """Raise Interruption; within `held`, note the first signal instead, and let a second one pass."""
        if self._hold_back:
            self._hold_back -= 1
            self._waiting = self._waiting or number
            return
        raise Interruption(number)

    def take(self) -> int | None:
        """Return the signal that is held back, and hold it back no longer; None when there is none."""
        number, self._waiting = self._waiting, None
        return number

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the first signal back until the context ends, and raise its Interruption then.

        A second one, of a user who has lost patience or of a scheduler, changes nothing; a third raises at once.
        A launch within the context is given the signal and acts on it. When the context ends with an error, that
        error is what the caller hears of.
        """
        self._hold_back = _HELD_BACK
        try:
            yield
        finally:
            self._hold_back = 0
            number = self.take()
        if number is not None:
            raise Interruption(number)


@contextmanager
def interruptible() -> Iterator[Signals]:
    """Let SIGINT, SIGTERM and SIGHUP raise Interruption as long as the context lasts. Handlers are put back."""
    signals = Signals()
    with _handled_by(signals.handle):
        yield signals


@contextmanager
def catch_signals() -> Iterator[int]:
    """Lend a file descriptor that becomes readable, with the signal's number as a byte, when the run shall stop.

    One that `Signals` holds back counts as come now. Handlers are put back at the end. Outside the main thread,
    where Python lets nobody set handlers, the descriptor never becomes readable.
    """
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)

    def wake(number: int, _: object) -> None:
        os.write(write_end, bytes([number]))

    try:
        with _handled_by(wake) as before:
            for handler in before.values():
                owner = getattr(handler, "__self__", None)
                if isinstance(owner, Signals) and (number := owner.take()) is not None:
                    wake(number, None)
            yield read_end
    finally:
        os.close(read_end)
        os.close(write_end)


@contextmanager
def _handled_by(handler: Handler) -> Iterator[Mapping[signal.Signals, Any]]:
    """Set the handler of all signals that are caught and lend what handled them before, which is put back."""
    main = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, handler) for number in CAUGHT} if main else {}
    try:
        yield before
    finally:
        for number, old in before.items():
            signal.signal(number, old)
