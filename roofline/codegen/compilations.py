"""Counts what Numba compiles: nothing, as long as something is timed."""

from __future__ import annotations

from typing import Any

from numba.core import event


class Compilations(event.Listener):
    """The number of functions that Numba has begun to compile since this was made."""

    def __init__(self) -> None:
        """Begin to count."""
        self.count = 0
        event.register("numba:compile", self)  # type: ignore[no-untyped-call]

    def on_start(self, event: Any) -> None:
        """Count one more; called by Numba."""
        self.count += 1

    def on_end(self, event: Any) -> None:
        """Do nothing; called by Numba."""
