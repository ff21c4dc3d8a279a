"""The placed data of a kernel: filled, and touched, by the threads that use it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numba
import numpy as np
from numba import prange

from roofline.codegen.kept import kept
from roofline.measurement.buffers import placed
from roofline.measurement.team import Team

_TOUCHED_BYTES = 64 * 2**20
"""More data than this leaves nothing in a cache that the next call would find there."""


class Twins:
    """Twins of a kernel's arguments, its arrays where they are timed."""

    def __init__(self, arguments: Sequence[Any], team: Team, parallel: bool) -> None:
        """Place and fill them; `parallel` where Numba's threads use them, else the team's first does."""
        self._team = team
        self._parallel = parallel
        self.values = placed(arguments)
        self.fill(arguments)

    @property
    def arrays(self) -> list[np.ndarray]:
        """Those that are arrays, in order."""
        return [value for value in self.values if isinstance(value, np.ndarray)]

    def are_like(self, arguments: Sequence[Any]) -> bool:
        """Whether these fit into the twins: as many, of the same types and shapes."""
        return len(arguments) == len(self.values) and all(
            type(one) is type(other) and np.shape(one) == np.shape(other) and _dtype(one) == _dtype(other)
            for one, other in zip(arguments, self.values, strict=True)
        )

    def fill(self, arguments: Sequence[Any]) -> None:
        """Put these values into the twins, which must be like them."""
        if self._parallel:
            _fill_parallel(self.values, arguments)
        else:
            self._team.each(lambda _: _fill(self.values, arguments), 1)

    def touch(self) -> None:
        """Read all arrays, where they fit a cache: what was filled or wiped last would else lie nearest.

        Numba's threads write them anew: that wakes the threads, and leaves each the part that it uses.
        """
        arrays = self.arrays
        if self._parallel:
            _fill_parallel(self.values, self.values)
        elif sum(array.nbytes for array in arrays) <= _TOUCHED_BYTES:
            self._team.each(lambda _: [array.max() for array in arrays], 1)


def threading_layer() -> str | None:
    """Start Numba's threads and return what they run on; None where they do not start."""
    try:
        _copy_block()(np.zeros(2), np.ones(2))
        return str(numba.threading_layer())  # type: ignore[attr-defined]
    except (ValueError, ImportError, RuntimeError):
        return None


def _dtype(value: Any) -> Any:
    return getattr(value, "dtype", None)


def _fill(twins: list[Any], arguments: Sequence[Any]) -> None:
    for place, value in enumerate(arguments):
        if isinstance(value, np.ndarray):
            np.copyto(twins[place], value)
        else:
            twins[place] = value


def _fill_parallel(twins: list[Any], arguments: Sequence[Any]) -> None:
    """Copy with the same static schedule as a kernel's outer loop, so that pages lie near the thread that uses them."""
    for place, value in enumerate(arguments):
        if isinstance(value, np.ndarray):
            _copy_block()(twins[place].ravel("K"), value.ravel("K"))
        else:
            twins[place] = value


@cache
def _copy_block() -> Any:
    def copy_parallel(target, source):  # type: ignore[no-untyped-def]
        for i in prange(target.size):
            target[i] = source[i]

    return kept(nogil=True, parallel=True)(copy_parallel)
