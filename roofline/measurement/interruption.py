"""SIGINT, SIGTERM and SIGHUP (a closed terminal) as something that a waiting launcher wakes up for."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_CAUGHT = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Interruption(Exception):
    """A signal asked the run to stop."""

    def __init__(self, number: int) -> None:
        """`number` is the signal's."""
        self.signal_name = signal.Signals(number).name
        super().__init__(f"interrupted by {self.signal_name}")


@contextmanager
def catch_signals() -> Iterator[int]:
    """Lend a file descriptor that becomes readable, with the signal's number as a byte, when the run shall stop.

    Handlers are put back at the end. Outside the main thread, where Python lets nobody set handlers, the descriptor
    never becomes readable.
    """
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)

    def wake(number: int, _: object) -> None:
        os.write(write_end, bytes([number]))

    main = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, wake) for number in _CAUGHT} if main else {}
    try:
        yield read_end
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(read_end)
        os.close(write_end)
