"""The numbers that kernels work on."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

FIXED_POINT_SCALAR = sqrt(2) - 1
"""q with 2q + q^2 = 1: a chain of STREAM's four kernels gives the array back that it started from, however often.

With STREAM's own 3 the arrays grow fifteenfold per round until they overflow.
"""


def uniform(rng: np.random.Generator, shape: int | tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return a C-ordered array of `shape`, uniform in [0.5, 1.5).

    Random because equal or zero data runs faster on some CPUs; of one sign so that no sum cancels and the
    error of each element is relative to itself; near 1 so that nothing is ever subnormal.
    """
    array = rng.random(shape, dtype=dtype)
    array += dtype(0.5)
    return array


def whole_numbers(rng: np.random.Generator, shape: int | tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return a C-ordered array of int8 or int32 from -127 to 127, the range of symmetric quantisation to int8."""
    return rng.integers(-127, 128, shape, dtype=dtype)
