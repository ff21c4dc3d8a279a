"""The decorator of functions that kernels' bodies call: compiled with the options of the kernels themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def inner(function: Callable[..., Any]) -> Any:
    """Compile a function so that compiled bodies can call it; counting runs the plain one."""
    return njit(nogil=True, error_model="numpy", boundscheck=False)(function)
