"""The micro-kernel touches no element that is not there: its matrices end where the memory ends."""

from __future__ import annotations

import subprocess
import sys

import pytest

AT_THE_END = """
import ctypes
import mmap
import numpy as np
from numba import njit
from roofline.codegen.multiply import ISA, TILE_ROWS, TILE_VECTORS, multiply_tile, pack_panels

def at_the_end_of_memory(rows, columns):
    # what follows the last element is a page that may be neither read nor written
    size = rows * columns * 8
    pages = size // mmap.PAGESIZE + 1
    memory = mmap.mmap(-1, (pages + 1) * mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    forbidden = ctypes.c_void_p(start + pages * mmap.PAGESIZE)
    assert ctypes.CDLL(None).mprotect(forbidden, ctypes.c_size_t(mmap.PAGESIZE), 0) == 0
    array = np.frombuffer(memory, np.float64, rows * columns, pages * mmap.PAGESIZE - size).reshape(rows, columns)
    array[:] = 1 + np.arange(rows * columns).reshape(rows, columns) / 64
    return array

@njit
def product(C, A, B, panels, rows, columns, depth, width, accumulate):
    pack_panels(panels, 0, B, 0, depth, 0, columns)
    multiply_tile(C, 0, 0, rows, columns, A, 0, panels, 0, width, depth, accumulate)

lanes = ISA.lanes("f64")
depth = 5
for rows in (1, TILE_ROWS - 1, TILE_ROWS):
    for columns in (1, lanes, TILE_VECTORS * lanes - 1, TILE_VECTORS * lanes):
        width = (columns + lanes - 1) // lanes * lanes
        shapes = ((rows, columns), (rows, depth), (depth, columns))
        C, A, B = (at_the_end_of_memory(*shape) for shape in shapes)
        panels = at_the_end_of_memory(1, width * depth).ravel()
        for accumulate in (False, True):
            before = accumulate * C
            product(C, A, B, panels, rows, columns, depth, width, accumulate)
            assert np.allclose(C, before + A @ B, rtol=1e-14), (rows, columns)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="pages are forbidden through mprotect, which Windows does not have")
def test_matrices_that_end_where_the_memory_ends_are_multiplied() -> None:
    done = subprocess.run([sys.executable, "-c", AT_THE_END], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"exit code {done.returncode} (-11: read or wrote beyond an end)\n{done.stderr}"
