"""What one core can hold in its caches, and how it reads what they cannot: where blocked kernels get their forms."""

from __future__ import annotations

from collections.abc import Sequence

from roofline.model.struct import Value


class Capacity(Value, frozen=True, kw_only=True):
    """Bytes that one core has of the first, the second and the last cache, and how memory is read fastest."""

    first_bytes: int = 32 * 1024
    second_bytes: int = 256 * 1024
    last_bytes: int = 2 * 1024 * 1024
    threads: int = 1
    """Threads that share the work, each on a core like this one."""
    ahead_bytes: int = 2048
    """How far ahead of its load the memory ceiling's fastest code fetches a line; 0 for not at all."""


UNKNOWN = Capacity()
"""What every core of the last decade has: used where no cache is known, and in tests."""


def capacity_of(sizes_bytes: Sequence[int], threads: int = 1) -> Capacity:
    """Return the capacity for one core's share of each cache, nearest first; that of UNKNOWN for none.

    With fewer than three caches the farthest one stands for those that are missing.
    """
    if not sizes_bytes:
        return Capacity(threads=threads)
    first, *others = sizes_bytes
    second = (others or [first])[0]
    return Capacity(first_bytes=first, second_bytes=second, last_bytes=max(sizes_bytes), threads=threads)
