"""Memory that is measured on: aligned, on huge pages where the system gives them, written before it is read."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

PAGE_BYTES = 4096
HUGE_PAGE_BYTES = 2 * 2**20
_FILL_BYTES = 2**20


class Arena:
    """One private mapping, aligned to a huge page, that arrays are carved from.

    The pages belong to nobody until they are written: `fill` must run on the thread that will use them.
    """

    def __init__(self, size_bytes: int) -> None:
        """Reserve at least `size_bytes`. Raises MemoryError or OSError when the system refuses."""
        self.size_bytes = -(-size_bytes // HUGE_PAGE_BYTES) * HUGE_PAGE_BYTES
        length = self.size_bytes + HUGE_PAGE_BYTES
        if hasattr(mmap, "MAP_PRIVATE"):  # shared, Python's default, is a file to Linux: it rarely gets huge pages
            self._mapping = mmap.mmap(-1, length, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        else:
            self._mapping = mmap.mmap(-1, length)
        if hasattr(mmap, "MADV_HUGEPAGE"):
            with suppress(OSError):  # a kernel without transparent huge pages: ordinary pages then
                self._mapping.madvise(mmap.MADV_HUGEPAGE)
        raw = np.frombuffer(self._mapping, np.uint8)
        skip = -raw.ctypes.data % HUGE_PAGE_BYTES
        self.bytes = raw[skip : skip + self.size_bytes]
        """The usable bytes, as uint8."""

    @property
    def address(self) -> int:
        """Address of the first usable byte."""
        return int(self.bytes.ctypes.data)

    def fill(self, seed: int, size_bytes: int | None = None) -> None:
        """Write pseudo-random f64 values in [0.5, 1.5), to the first `size_bytes` or all bytes.

        No zeros, no subnormals, no repeated cache lines: all of these can be faster than real data.
        """
        rng = np.random.default_rng(seed)
        values = self.bytes.view(np.float64)[: None if size_bytes is None else -(-size_bytes // 8)]
        step = _FILL_BYTES // 8
        for start in range(0, values.size, step):
            chunk = values[start : start + step]
            rng.random(out=chunk)
            chunk += 0.5


def _span_bytes(size_bytes: int, arrays: int) -> int:
    """Return how far the next of `arrays` arrays starts from one of this size.

    Whole pages, then a fraction of a page and one cache line more: a store to one array and a load from the next
    never share their low 12 address bits, which many cores mistake for the same address.
    """
    shift = PAGE_BYTES // arrays // 64 * 64 + 64 if arrays > 1 else 0
    return -(-size_bytes // PAGE_BYTES) * PAGE_BYTES + shift


def array_offsets(size_bytes: int, arrays: int) -> list[int]:
    """Return offsets at which `arrays` arrays of `size_bytes` lie one after the other without aliasing."""
    return [number * _span_bytes(size_bytes, arrays) for number in range(arrays)]


def placed(arguments: Sequence[Any]) -> list[Any]:
    """Return unwritten twins of all arrays among `arguments`, together in one arena, and other values as they are.

    The twins keep their arena alive. The caller fills them, on the threads that will use them.
    """
    arrays = [value for value in arguments if isinstance(value, np.ndarray)]
    arena = Arena(sum(_span_bytes(array.nbytes, len(arrays)) for array in arrays))
    twins: list[Any] = []
    start = 0
    for value in arguments:
        if isinstance(value, np.ndarray):
            raw = arena.bytes[start : start + value.nbytes]
            order: Any = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
            twins.append(np.ndarray(value.shape, value.dtype, raw, order=order))
            start += _span_bytes(value.nbytes, len(arrays))
        else:
            twins.append(value)
    return twins
