"""What a user says that one call of a function does: flops and bytes, from which its roof follows."""

from __future__ import annotations

import math
from typing import Any

from roofline.errors import UsageError
from roofline.model.ceilings import ALLOCATING_PATTERNS, PATTERN_WRITE_SHARE
from roofline.model.struct import Value
from roofline.model.work import Work

MOST = 2**63 - 1
"""No call does more; beyond it a number is a mistake of units."""
_MIXES = ("load", "update", "triad")
"""Patterns that bytes of an unknown mix may be: between them lie the roofs of the others, but for stores alone, which
say so with `write_bytes`."""


class Claim(Value, frozen=True, kw_only=True):
    """Work of one call, as declared. Make it with `claim_of`."""

    flops: int = 0
    """Floating-point operations; a fused multiply-add counts 2. 0 when none are declared."""
    bytes: int = 0
    """Read plus written, as STREAM counts. 0 when none are declared."""
    write_bytes: int | None = None
    """Those that are written; None when the mix is not declared."""

    @property
    def readings(self) -> tuple[Work, ...]:
        """All that the claim may mean: which share is written, and whether what is written is read before.

        The highest roof of them counts, so that no call looks better for what was not said.
        """
        if not self.bytes:
            return (Work(flops=self.flops, read_bytes=0, write_bytes=0),)
        if self.write_bytes is None:
            return tuple(self._mixed(pattern) for pattern in _MIXES)
        fetched = (0, self.write_bytes) if self.write_bytes else (0,)
        return tuple(
            Work(
                flops=self.flops,
                read_bytes=self.bytes - self.write_bytes,
                write_bytes=self.write_bytes,
                allocate_bytes=allocate_bytes,
            )
            for allocate_bytes in fetched
        )

    def _mixed(self, pattern: str) -> Work:
        write_bytes = round(self.bytes * PATTERN_WRITE_SHARE[pattern])
        return Work(
            flops=self.flops,
            read_bytes=self.bytes - write_bytes,
            write_bytes=write_bytes,
            allocate_bytes=write_bytes if pattern in ALLOCATING_PATTERNS else 0,
        )


def claim_of(*, flops: Any = None, bytes: Any = None, read_bytes: Any = None, write_bytes: Any = None) -> Claim:
    """Return what is declared of one call. Raises UsageError for nothing, and for what no call can do.

    `bytes` is all that is read and written, where the mix does not matter; `read_bytes` and `write_bytes` say more.
    """
    split = read_bytes is not None or write_bytes is not None
    if bytes is not None and split:
        raise UsageError("bytes= and read_bytes= or write_bytes= say the same twice; give one or the other")
    known_flops = _count("flops", flops)
    total = _count("bytes", bytes)
    written = _count("write_bytes", write_bytes)
    if split:
        total = _count("read_bytes", read_bytes) + written
    if not known_flops and not total:
        raise UsageError(
            "neither flops nor bytes of one call are given: without work there is no roof; give flops=, bytes= (read + "
            "written), or both"
        )
    return Claim(flops=known_flops, bytes=total, write_bytes=written if split else None)


def _count(name: str, value: Any) -> int:
    if value is None:
        return 0
    try:
        number = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 <= number <= MOST:
        raise UsageError(
            f"{name}={repr(value)[:60]} is no amount of work, expected a number from 0 to {MOST:.2g} per call"
        )
    return int(value) if isinstance(value, int) else round(number)
