"""What must be true after the samples: the inputs are as they were, and a call still gives the right result.

A result that is checked before anything is timed says nothing about calls that find their work done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from roofline.errors import WrongResult
from roofline.kernels.check import Expected, poison, scaled_error

LEAST_CALL_S = 1e-4
"""Shorter calls do not tell a wiped output from cold caches."""
_TRIES = 6
_ALIKE = 1.3
"""A call on a wiped output that takes so many times as long is tried again: it may have been disturbed."""
_WORD_BYTES = 8
_COMPARED = 2**18
"""Elements of a large result that are compared: one call that does not do its work leaves more than a few wrong."""


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
    result: Callable[[], np.ndarray] | None
    """Returns what the last call gave, output or returned value, where every call gives the same."""
    expected: Callable[[], Expected] | None
    """Returns what it should be at this size; None where the reference takes too long."""
    tolerance: float

    def confirm(self, call: Callable[[], float], call_s: float) -> float | None:
        """Check the data, call once more on a wiped output, and check the result.

        `call` makes one call and returns its seconds, `call_s` is what a timed one took. Returns how many times as
        long a call takes that finds its output wiped; None where that tells nothing. Raises WrongResult.
        """
        for position, (array, before) in enumerate(zip(self.constant, self.sums, strict=True)):
            if fingerprint(array) != before:
                raise WrongResult(
                    f"{self.point} changed an input, number {position}, when it was timed; let it write its output only"
                )
        wiped_s: list[float] = []
        while self.output is not None and len(wiped_s) < _TRIES and (not wiped_s or min(wiped_s) > _ALIKE * call_s):
            wiped_s.append(self._wiped(self.output, call))
        if self.result is not None and self.expected is not None:
            error = scaled_error(thinned(self.result()), _thinned(self.expected()))
            if not error <= self.tolerance:
                raise WrongResult(
                    f"{self.point} is wrong after it was timed: scaled error {error:.3g}, expected at most "
                    f"{self.tolerance:.3g}; every call must do all of its work, at every size"
                )
        return min(wiped_s) / call_s if wiped_s and call_s >= LEAST_CALL_S else None

    def _wiped(self, output: np.ndarray, call: Callable[[], float]) -> float:
        poison(output)
        seconds = call()
        if not np.isfinite(output).all():
            place = np.flatnonzero(~np.isfinite(output.ravel()))[0]
            raise WrongResult(
                f"{self.point} left its output unwritten or not finite at the timed size, first at flat index "
                f"{place} of {output.size}; mend the kernel"
            )
        return seconds


def fingerprint(array: np.ndarray) -> int:
    """Return the sum of the array's 64-bit words, and of the bytes that are left: cheap, and no accident keeps it."""
    flat = array.ravel("K").view(np.uint8)
    whole = flat.size // _WORD_BYTES * _WORD_BYTES
    words = int(np.add.reduce(flat[:whole].view(np.uint64), dtype=np.uint64))
    return words + int(flat[whole:].sum(dtype=np.uint64))


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
