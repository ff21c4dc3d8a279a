"""What must be true after the samples: the inputs are as they were, and a call on other data does all of its work.

A result that is checked before anything is timed says nothing about calls that find their work done: that keep what
they have computed, or leave alone what is there already. On data that it has never seen a call can know nothing.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from roofline.errors import WrongResult
from roofline.kernels.check import Expected, poison, scaled_error

MOST_TRIES = 12
_LEAST_TRIES = 3
_PATIENCE_S = 0.5
"""What all tries after the first ones may take."""
_SEEN_CALLS = 2
"""Calls on known data that short ones are compared with: the fastest of them."""
_ALIKE = 1.15
"""A call on new data that takes so many times as long is tried again: it may have been disturbed."""
_CLOCK_S = 1e-7
"""What the readings of the clock around a single call may be off by: both times are taken for so much longer."""
_COMPARED = 2**18
"""Elements of a large result that are compared: one call that does not do its work leaves more than a few wrong."""

Renew = Callable[[], Callable[[], Expected | None] | None]
"""Puts data never seen before where the calls find theirs, and returns what asks the reference about it, if that is
affordable; None where other data has other shapes."""


@dataclass(frozen=True)
class Aftermath:
    """What prepared data must look like once a kernel has been timed on it."""

    point: str
    """The kernel and its size, for messages."""
    constant: tuple[np.ndarray, ...]
    """Arrays that no call may change."""
    sums: tuple[int, ...]
    """Their fingerprints when they were placed."""
    output: np.ndarray | None
    """The array that calls only write."""
    result: np.ndarray
    """Where the last call has put its result, output or returned value."""
    expected: Callable[[], Expected] | None
    """Returns what every call on the data that was timed gives; None where each changes it, or it is not known."""
    renew: Renew | None
    """None where making other data takes too long."""
    touch: Callable[[], None]
    """Reads all arrays on the cores that use them, so that the caches hold what they held among the samples."""
    tolerance: float
    alone_s: float
    """Timed calls that took so long are like single ones; of shorter ones a single call is timed for comparison."""

    def confirm(self, call: Callable[[], float], call_s: float) -> float | None:
        """Check what the samples have left, then calls on new data with their output wiped: their results and times.

        `call` makes one call and returns its seconds, `call_s` is what a timed one took. Returns how many times as
        long a call takes on data that it has not seen; None where there is no such data. Raises WrongResult.
        """
        for position, (array, before) in enumerate(zip(self.constant, self.sums, strict=True)):
            if fingerprint(array) != before:
                raise WrongResult(
                    f"{self.point} changed an input, number {position}, when it was timed; let it write its output only"
                )
        if self.renew is None and self.output is None:
            if self.expected is not None:
                self._compare(self.expected())
            return None
        if self.renew is not None and self.expected is not None:
            self._compare(self.expected())
        seen_s: list[float] = [call_s] if call_s >= self.alone_s else []
        new_s: list[float] = []
        started_s = perf_counter()
        while not new_s or (self._is_late(min(seen_s), min(new_s)) and self._may_try(len(new_s), started_s)):
            if call_s < self.alone_s:
                for _ in range(_SEEN_CALLS):
                    self.touch()
                    seen_s.append(call())
            seconds = self._on_new_data(call, compare=not new_s)
            if seconds is None:
                return None
            new_s.append(seconds)
        return _ratio(min(seen_s), min(new_s))

    def _on_new_data(self, call: Callable[[], float], compare: bool) -> float | None:
        """Return the seconds of one call on new data, or at least on a wiped output; None where there is neither."""
        before = np.array(thinned(self.result))
        right = self.renew() if self.renew is not None else None
        is_new = right is not None
        if not is_new and self.output is None:
            return None
        right = right or self.expected
        if self.output is not None:
            poison(self.output)
        self.touch()
        seconds = call()
        if self.output is not None and not np.isfinite(self.output).all():
            place = np.flatnonzero(~np.isfinite(self.output.ravel()))[0]
            raise WrongResult(
                f"{self.point} left its output unwritten or not finite at the timed size, first at flat index "
                f"{place} of {self.output.size}; mend the kernel"
            )
        known = right() if compare and right is not None else None
        if known is not None:
            self._compare(known)
        elif compare and is_new and np.array_equal(before, thinned(self.result)):
            raise WrongResult(
                f"{self.point} gives for other data the result that it gave before; every call must do all of its work"
            )
        return seconds

    def _compare(self, expected: Expected) -> None:
        error = scaled_error(thinned(self.result), _thinned(expected))
        if not error <= self.tolerance:
            raise WrongResult(
                f"{self.point} is wrong after it was timed: scaled error {error:.3g}, expected at most "
                f"{self.tolerance:.3g}; every call must do all of its work, at every size and on any data"
            )

    def _is_late(self, seen_s: float, new_s: float) -> bool:
        return _ratio(seen_s, new_s) > _ALIKE

    def _may_try(self, tries: int, started_s: float) -> bool:
        return tries < _LEAST_TRIES or (tries < MOST_TRIES and perf_counter() - started_s < _PATIENCE_S)


def _ratio(seen_s: float, new_s: float) -> float:
    return (new_s + _CLOCK_S) / (seen_s + _CLOCK_S)


def fingerprint(array: np.ndarray) -> int:
    """Return a checksum of an array: no accident keeps it, nor do values that change places."""
    contiguous = array if array.flags.forc else np.ascontiguousarray(array)
    return zlib.crc32(contiguous.ravel("K").view(np.uint8).data)


def thinned(result: np.ndarray) -> np.ndarray:
    """Return evenly spaced elements of a result, all of a small one."""
    flat = np.asarray(result).reshape(-1)
    step = max(1, flat.size // _COMPARED)
    return flat[:: step if step % 2 else step + 1]  # an odd step: no column of a matrix is passed over


def _thinned(expected: Expected) -> Expected:
    magnitudes = expected.magnitudes
    return Expected(thinned(expected.values), None if magnitudes is None else thinned(magnitudes))


def constants(arrays: Sequence[np.ndarray]) -> tuple[tuple[np.ndarray, ...], tuple[int, ...]]:
    """Return these arrays with their fingerprints."""
    return tuple(arrays), tuple(map(fingerprint, arrays))
