"""The grids of the stencils: their data, the frames that stay, their tiles, and what sweeps over them move."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numba import njit

from roofline.kernels.data import uniform
from roofline.model.work import Work


@njit(error_model="numpy", boundscheck=False)
def copy_frame_2d(to, source):
    """Copy the outermost points of a square."""
    n = source.shape[0]
    for i in range(n):
        if i == 0 or i == n - 1:
            for j in range(n):
                to[i, j] = source[i, j]
        else:
            to[i, 0] = source[i, 0]
            to[i, n - 1] = source[i, n - 1]


@njit(error_model="numpy", boundscheck=False)
def copy_frame_3d(to, source):
    """Copy the outermost points of a cube."""
    n = source.shape[0]
    for i in range(n):
        if i == 0 or i == n - 1:
            for j in range(n):
                for k in range(n):
                    to[i, j, k] = source[i, j, k]
        else:
            copy_frame_2d(to[i], source[i])


@njit(error_model="numpy", boundscheck=False)
def frame_2d(out, u):
    """Copy the outermost points of u to both grids of `out`."""
    copy_frame_2d(out[0], u)
    copy_frame_2d(out[1], u)


@njit(error_model="numpy", boundscheck=False)
def frame_3d(out, u):
    """Copy the outermost points of u to both grids of `out`."""
    copy_frame_3d(out[0], u)
    copy_frame_3d(out[1], u)


@njit(error_model="numpy", boundscheck=False)
def span(tile, between, step, width, n):
    """Return the inner points [first, last) that a tile may relax in sweep `step`, given that each tile works alone.

    Trapezoids (between = 0): a tile loses a point per sweep and side, for the next sweep needs neighbours that the next
    tile has not made yet; not at the frame. When all are done, the gaps between tile and the next (between = 1)
    grow by as much. Any width of at least twice the number of sweeps keeps the gaps apart.
    """
    first = 1 + tile * width
    last = min(first + width, n - 1)
    if between == 1:
        return last - step, min(last + step, n - 1)
    return first + (step if tile > 0 else 0), last - (step if last < n - 1 else 0)


def grids(dimensions: int, n: int, dtype: Any, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the two grids of `out` and u."""
    shape = (n,) * dimensions
    return uniform(rng, (2, *shape), dtype), uniform(rng, shape, dtype)


def job(steps: int, dimensions: int, flops: int, n: int, size: int) -> Work:
    """Return the compulsory work: u is read once, and two grids that were not read are written."""
    inner, points = max(n - 2, 0) ** dimensions, n**dimensions
    moved_bytes = points * size
    return Work(
        flops=steps * flops * inner,
        read_bytes=moved_bytes,
        write_bytes=2 * moved_bytes,
        allocate_bytes=2 * moved_bytes,
    )


def sweep_by_sweep(steps: int, dimensions: int, flops: int, n: int, size: int) -> Work:
    """Return what sweeps over all points move: every iterate is written, and read by the next sweep.

    The frame is copied to both grids once, and read there as far as an inner point has it for a neighbour.
    """
    side = max(n - 2, 0)
    inner = side**dimensions
    frame = n**dimensions - inner
    beside = frame if dimensions == 3 and flops == 30 and side else 2 * dimensions * side ** (dimensions - 1)
    written_bytes = (steps * inner + 2 * frame) * size
    return Work(
        flops=steps * flops * inner,
        read_bytes=(n**dimensions + (steps - 1) * inner + 2 * beside) * size,
        write_bytes=written_bytes,
        allocate_bytes=written_bytes,
    )


def iterated(steps: int, u: np.ndarray, weights: tuple[np.ndarray, ...]) -> np.ndarray:
    """Return the last two of `steps` iterates of u, the last one last.

    weights[d] is that of the neighbours that differ in d of their indices.
    """
    n = u.shape[0]
    before, after = u, u
    for _ in range(steps):
        mean = np.zeros([max(n - 2, 0)] * u.ndim, u.dtype)
        for offset in product((-1, 0, 1), repeat=u.ndim):
            distance = np.count_nonzero(offset)
            if distance < len(weights):
                mean += weights[distance] * after[tuple(slice(1 + shift, max(n - 1, 1) + shift) for shift in offset)]
        before, after = after, after.copy()
        after[(slice(1, -1),) * u.ndim] = mean
    return np.stack((before, after))
