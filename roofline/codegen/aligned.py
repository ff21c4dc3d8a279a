"""Arrays that start a cache line, made inside compiled code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload

from roofline.codegen.multiply import aligned_start
from roofline.codegen.tile import LINE_BYTES


def starts_a_line(plain: Callable[..., Any]) -> Any:
    """Let compiled code make, for `plain(shape, dtype)`, an empty array that starts a cache line.

    `shape` is a whole number, or a tuple of them. Numba's own arrays start a line, or half of one, as luck has it.
    """

    def typed(shape: Any, dtype: Any) -> Any:
        if isinstance(shape, types.Integer):
            return lambda shape, dtype: _row(shape, dtype)
        return lambda shape, dtype: _shaped(shape, dtype)

    overload(plain, strict=False)(typed)
    plain.implementations = (_row.py_func, _shaped.py_func)  # type: ignore[attr-defined]  # for the kernel's digest
    return plain


@njit(nogil=True)
def _row(size, dtype):  # type: ignore[no-untyped-def]
    room = np.empty(size + LINE_BYTES, dtype)  # elements, of a byte or more
    start = aligned_start(room)
    return room[start : start + size]


@njit(nogil=True)
def _shaped(shape, dtype):  # type: ignore[no-untyped-def]
    size = 1
    for extent in shape:
        size *= extent
    return _row(size, dtype).reshape(shape)
