"""Units at the edge: the only place where prefixes exist.

Inside the suite everything is SI without prefixes (B, B/s, flop/s, Hz, s). Rates use decimal
prefixes (GB/s = 1e9 B/s), sizes of memory use binary ones (KiB = 1024 B).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

_DECIMAL = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_BINARY = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))
_TIME = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def _significant(value: float, digits: int) -> str:
    """Write `value` with `digits` significant digits and no exponent."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")  # so that 9.9996 is 10.0, not 10.00
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{value:.{decimals}f}"


def _decimal(value: float, unit: str, digits: int) -> str:
    rounded = float(f"{value:.{digits - 1}e}")  # so that 999.96 moves up a prefix instead of reading "1000"
    for factor, prefix in _DECIMAL:
        if abs(rounded) >= factor:
            return f"{_significant(rounded / factor, digits)} {prefix}{unit}"
    return f"{value:.{digits}g} {unit}"


def flop_rate(flop_per_s: float, digits: int = 3) -> str:
    """Write a rate of arithmetic, e.g. `56.8 GFLOP/s`."""
    return _decimal(flop_per_s, "FLOP/s", digits)


def byte_rate(byte_per_s: float, digits: int = 3) -> str:
    """Write a bandwidth with decimal prefixes, e.g. `227 GB/s`."""
    return _decimal(byte_per_s, "B/s", digits)


def frequency(hz: float, digits: int = 3) -> str:
    """Write a clock, e.g. `3.62 GHz`."""
    return _decimal(hz, "Hz", digits)


def memory_size(size_bytes: float, digits: int = 3) -> str:
    """Write a size of memory with binary prefixes, e.g. `32 KiB`, `1.5 MiB`."""
    for factor, name in _BINARY:
        if abs(size_bytes) >= factor - factor / 2048:  # what would read "1024 KiB" is 1 MiB
            text = _significant(size_bytes / factor, digits)
            return f"{text.rstrip('0').rstrip('.') if '.' in text else text} {name}"
    return f"{size_bytes:g} B"


def duration(seconds: float, digits: int = 3) -> str:
    """Write a time, e.g. `1.25 ms`."""
    rounded = float(f"{seconds:.{digits - 1}e}")
    for factor, name in _TIME:
        if abs(rounded) >= factor:
            return f"{_significant(seconds / factor, digits)} {name}"
    return f"{seconds / 1e-9:.{digits}g} ns"


def intensity(flop_per_byte: float, digits: int = 3) -> str:
    """Write an arithmetic intensity, e.g. `0.0833 flop/B`."""
    return f"{_significant(flop_per_byte, digits)} flop/B"


def giga(rate: float, digits: int = 3) -> str:
    """Write a rate in units of 1e9 without the unit, for a column titled GFLOP/s or GB/s, e.g. `58.6`."""
    return "0" if rate == 0 else _significant(float(f"{rate / 1e9:.{digits - 1}e}"), digits)


def rate_unit(dtypes: Sequence[str]) -> str:
    """Return the unit of a rate in these dtypes: operations on whole numbers are no flops."""
    return "GFLOP/s" if all(dtype.startswith("f") for dtype in dtypes) else "GOP/s"


def intensity_unit(dtypes: Sequence[str]) -> str:
    """Return the unit of an intensity in these dtypes."""
    return "flop/B" if rate_unit(dtypes) == "GFLOP/s" else "op/B"
