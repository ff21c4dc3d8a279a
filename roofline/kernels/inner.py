"""What kernels' bodies call: functions compiled with the options of the kernels themselves, and tiles for a cache."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numba import njit

from roofline.codegen.aligned import starts_a_line


def inner(function: Callable[..., Any] | None = None, *, fastmath: Iterable[str] = ()) -> Any:
    """Compile a function so that compiled bodies can call it; counting runs the plain one.

    `fastmath` are liberties as of a kernel: a body's own do not reach the functions that it calls.
    """
    compile_one = njit(nogil=True, error_model="numpy", boundscheck=False, fastmath=set(fastmath) or False)
    return compile_one if function is None else compile_one(function)


@starts_a_line
def cache_tile(shape, dtype):
    """Return an array that is filled and used up while it is in a cache, of a size that does not grow with n.

    When compiled it starts a cache line: whether NumPy's functions give one that does is luck, and a kernel whose every
    vector lies across two lines takes up to twice as long. Counting leaves it out: whatever passes through it never
    reaches memory. An intermediate that grows with n, or that holds data of the job in another order, is made with
    NumPy's functions and counts.
    """
    return np.empty(shape, dtype)
