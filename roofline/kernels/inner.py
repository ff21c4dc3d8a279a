"""The decorator of functions that kernels' bodies call: compiled with the options of the kernels themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from numba import njit


def inner(function: Callable[..., Any] | None = None, *, fastmath: Iterable[str] = ()) -> Any:
    """Compile a function so that compiled bodies can call it; counting runs the plain one.

    `fastmath` are liberties as of a kernel: a body's own do not reach the functions that it calls.
    """
    compile_one = njit(nogil=True, error_model="numpy", boundscheck=False, fastmath=set(fastmath) or False)
    return compile_one if function is None else compile_one(function)
