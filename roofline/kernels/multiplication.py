"""Matrix products of any shape and order, packed and register-blocked: what the upper rungs of GEMM are made of.

Goto, van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 34(3), 2008, with rows and columns
exchanged for row-major matrices: a block of B is packed into panels that stay in the second cache, a few rows of A stay
in the first, and the micro-kernel of `codegen.multiply` keeps a tile of C in registers.
"""

from __future__ import annotations

import numpy as np

from roofline.codegen.multiply import (
    TILE_ROWS,
    TILE_VECTORS,
    aligned_start,
    has_contiguous_rows,
    lanes_of,
    multiply_tile,
    pack_panels,
)
from roofline.kernels.capacity import Capacity
from roofline.kernels.inner import cache_tile, inner
from roofline.model.isa import DTYPE_BITS

_FIRST_SHARE = 1.0
"""Share of the first cache for the rows of A that one tile reads: deep panels store C less often."""
_SECOND_SHARE = 0.5
"""Share of the second cache for the packed block of B: the rows of A to come and tiles of C pass through the rest."""
ROOM = 16
"""Elements that aligning an array may skip: a cache line of f32."""


def product_tiles(capacity: Capacity, dtype: str) -> tuple[int, int]:
    """Return (depth, columns) of the block of B that is packed at once, for caches of this capacity."""
    item = DTYPE_BITS[dtype] // 8
    depth = max(TILE_ROWS, int(_FIRST_SHARE * capacity.first_bytes) // (TILE_ROWS * item))
    columns = max(1, int(_SECOND_SHARE * capacity.second_bytes) // (depth * item))
    return depth, columns


@inner
def even_share(size, most, unit):
    """Return the length of the equal parts of at most `most` that `size` is cut into, in whole units; at least 1."""
    size = max(1, size)
    parts = (size + most - 1) // most
    return ((size + parts - 1) // parts + unit - 1) // unit * unit


@inner
def multiply_rows(C, A, B, tile_depth, tile_columns):
    """C = A B for matrices with contiguous rows.

    Elements of A are broadcast one by one, so A needs no packing.
    """
    rows, columns = C.shape
    total_depth = A.shape[1]
    lanes = lanes_of(C)
    width = TILE_VECTORS * lanes
    depth_step = even_share(total_depth, tile_depth, 1)
    column_step = even_share(columns, max(tile_columns, width), width if columns > width else lanes)
    panels = cache_tile(depth_step * column_step + ROOM, C.dtype)
    base = aligned_start(panels)
    if total_depth == 0:
        for i in range(rows):
            for j in range(columns):
                C[i, j] = 0
    for k0 in range(0, total_depth, depth_step):
        depth = min(depth_step, total_depth - k0)
        for j0 in range(0, columns, column_step):
            j1 = min(j0 + column_step, columns)
            pack_panels(panels, base, B, k0, depth, j0, j1 - j0)
            for i in range(0, rows, TILE_ROWS):
                height = min(TILE_ROWS, rows - i)
                for j in range(j0, j1, width):
                    length = min(width, j1 - j)
                    padded = (length + lanes - 1) // lanes * lanes
                    start = base + (j - j0) * depth
                    multiply_tile(C, i, j, height, length, A, k0, panels, start, padded, depth, k0 > 0)


@inner
def multiply_panels(C, A, k, panels, start, depth, accumulate):
    """C[i, j] (+)= sum over q < depth of A[i, k + q] * B[q, j], with B packed in panels from `start` on

    The rows of C and of A are contiguous.
    """
    rows, columns = C.shape
    lanes = lanes_of(C)
    width = TILE_VECTORS * lanes
    for i in range(0, rows, TILE_ROWS):
        height = min(TILE_ROWS, rows - i)
        for j in range(0, columns, width):
            length = min(width, columns - j)
            padded = (length + lanes - 1) // lanes * lanes
            multiply_tile(C, i, j, height, length, A, k, panels, start + j * depth, padded, depth, accumulate)


@inner
def multiply(C, A, B, tile_depth, tile_columns):
    """C = A B for matrices of any shape and order; `product_tiles` gives the tile sizes.

    Where the columns of C are contiguous, the transposed product is formed; where neither rows nor columns are, C is
    formed in a copy. An A or B without contiguous rows is copied.
    """
    if has_contiguous_rows(C):
        _multiply_into_rows(C, A, B, tile_depth, tile_columns)
    elif has_contiguous_rows(C.T):
        _multiply_into_rows(C.T, B.T, A.T, tile_depth, tile_columns)
    else:
        product = np.empty(C.shape, C.dtype)
        _multiply_into_rows(product, A, B, tile_depth, tile_columns)
        C[:, :] = product


@inner
def _multiply_into_rows(C, A, B, tile_depth, tile_columns):
    multiply_rows(C, _with_contiguous_rows(A), _with_contiguous_rows(B), tile_depth, tile_columns)


@inner
def _with_contiguous_rows(matrix):
    if has_contiguous_rows(matrix):
        return matrix
    return np.ascontiguousarray(matrix)
