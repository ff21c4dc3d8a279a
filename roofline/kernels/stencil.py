"""Jacobi sweeps over a grid: the classic memory-bound loop, and how blocking lifts its intensity.

The job: STEPS sweeps of a damped Jacobi iteration on a cube (or square) of n points per side whose outermost points
stay as they are. Each sweep replaces every inner point by a weighted mean of itself and its neighbours. The sweeps
take turns in the two grids of `out`, which at the end hold the last two iterates: what a solver compares to see
whether it may stop. The weights are positive and add up to 1, so all values stay within those of `u`.

Compulsory traffic: u is read once, both grids of out are written and never have to be read: N and 2 N elements for
N = n^d points. A form that finishes each sweep before the next moves every iterate, once the grids exceed the caches:
in each sweep N points are read and N written. That is its own work, counted as every value that an element has had.
Flops per inner point and sweep: 6 with 5 points (4 additions, 2 products), 8 with 7 points, 30 with 27.

Sources: Datta et al., "Stencil Computation Optimization and Auto-tuning on State-of-the-Art Multicore Architectures",
SC 2008; Wonnacott, "Achieving Scalable Locality with Time Skewing", Int. J. Parallel Programming 30(3), 2002.
"""

from __future__ import annotations

from numba import prange

from roofline.kernels.grid import frame_2d, frame_3d, grids, iterated, job, span, sweep_by_sweep
from roofline.kernels.kernel import kernel
from roofline.kernels.relax import relax_5, relax_7, relax_27
from roofline.model.isa import DTYPE_BITS

STEPS = 8
"""Sweeps in one call; even, so that the last one writes out[1]."""
ROWS = 128
"""Rows per tile of `temporal_2d5`: the gaps between tiles, 2 STEPS rows, are read and written twice."""
SIDE_2D = 3000
SIDE_3D = 200
"""Points per side: three grids of these sizes exceed the caches in f32 too, and the rows are no power of two."""


@kernel(
    family="stencil",
    work=lambda n, size: job(STEPS, 2, 6, n, size),
    own_work=lambda n, size: sweep_by_sweep(STEPS, 2, 6, n, size),
    arguments=lambda n, dtype, rng: (*grids(2, n, dtype, rng), dtype(1 / 2), dtype(1 / 8)),
    reference=lambda out, u, *weights: iterated(STEPS, u, weights),
    roundings=lambda n: 6 * STEPS,
    sizes=(SIDE_2D,),
)
def naive_2d5(out, u, centre, near):
    """u'[i, j] = centre * u[i, j] + near * (u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1]), STEPS times

    Sweep by sweep. Each sweep reads a grid and writes one, wherever three rows fit a cache.
    """
    n = u.shape[0]
    frame_2d(out, u)
    for step in range(STEPS):
        old = u if step == 0 else out[(step - 1) % 2]
        new = out[step % 2]
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                new[i, j] = centre * old[i, j] + near * (old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1])


@kernel(
    improves=naive_2d5,
    own_work=naive_2d5.own_work,
    fastmath=("contract",),
    sizes=(SIDE_2D,),
    tiles=lambda capacity, dtype: (max(1, capacity.second_bytes // DTYPE_BITS[dtype]),),
)
def blocked_2d5(out, u, centre, near, columns):
    """u'[i, j] = centre * u[i, j] + near * (its four neighbours), STEPS times, in strips of columns

    Strips so narrow that three rows to read and one to write take half of the second-level cache: each point comes
    from farther away once, not three times. Where whole rows fit there is one strip, and nothing to gain.
    """
    n = u.shape[0]
    frame_2d(out, u)
    for step in range(STEPS):
        old = u if step == 0 else out[(step - 1) % 2]
        new = out[step % 2]
        for j0 in range(0, n - 2, columns):
            j1 = min(j0 + columns + 2, n)
            for i in prange(1, n - 1):
                relax_5(new[i, j0:j1], old[i - 1, j0:j1], old[i, j0:j1], old[i + 1, j0:j1], centre, near)


@kernel(improves=naive_2d5, fastmath=("contract",), sizes=(SIDE_2D,))
def temporal_2d5(out, u, centre, near):
    """u'[i, j] = centre * u[i, j] + near * (its four neighbours), STEPS times, in one pass

    Time skewing: while the first sweep goes through the rows, each later one follows a row behind, so that all work
    on rows that are still in the second-level cache (about 3 STEPS of them), and memory is passed once. The grids
    are cut into tiles of rows, each of which a thread relaxes alone; then come the gaps between them (`grid.span`).
    """
    n = u.shape[0]
    frame_2d(out, u)
    tiles = (n - 3 + ROWS) // ROWS
    for between in range(2):
        for tile in prange(tiles - between):
            first_row = 1 + tile * ROWS
            for front in range(first_row, min(first_row + ROWS + STEPS, n - 2) + STEPS):
                for step in range(STEPS):
                    i = front - step
                    first, last = span(tile, between, step, ROWS, n)
                    if first <= i < last:
                        old = u if step == 0 else out[(step - 1) % 2]
                        relax_5(out[step % 2, i], old[i - 1], old[i], old[i + 1], centre, near)


@kernel(
    family="stencil",
    work=lambda n, size: job(STEPS, 3, 8, n, size),
    own_work=lambda n, size: sweep_by_sweep(STEPS, 3, 8, n, size),
    arguments=lambda n, dtype, rng: (*grids(3, n, dtype, rng), dtype(1 / 4), dtype(1 / 8)),
    reference=lambda out, u, *weights: iterated(STEPS, u, weights),
    roundings=lambda n: 8 * STEPS,
    sizes=(SIDE_3D,),
)
def naive_3d7(out, u, centre, near):
    """u'[i, j, k] = centre * u[i, j, k] + near * (sum of its 6 neighbours along the axes), STEPS times

    Sweep by sweep. Each sweep reads a grid and writes one, wherever three planes fit a cache.
    """
    n = u.shape[0]
    frame_3d(out, u)
    for step in range(STEPS):
        old = u if step == 0 else out[(step - 1) % 2]
        new = out[step % 2]
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    beside = old[i - 1, j, k] + old[i + 1, j, k] + old[i, j - 1, k] + old[i, j + 1, k]
                    new[i, j, k] = centre * old[i, j, k] + near * (beside + old[i, j, k - 1] + old[i, j, k + 1])


@kernel(
    improves=naive_3d7,
    own_work=naive_3d7.own_work,
    fastmath=("contract",),
    sizes=(SIDE_3D,),
    tiles=lambda capacity, dtype: (max(1, capacity.last_bytes // DTYPE_BITS[dtype]),),
)
def blocked_3d7(out, u, centre, near, points):
    """u'[i, j, k] = centre * u[i, j, k] + near * (sum of its 6 neighbours along the axes), STEPS times, in slabs

    Slabs of rows so few that three planes to read and one to write, of `points` each, take half of the last cache:
    each point comes from memory once per sweep, not three times. Where whole planes fit there is one slab, and
    nothing to gain.
    """
    n = u.shape[0]
    width = max(1, points // n)
    frame_3d(out, u)
    for step in range(STEPS):
        old = u if step == 0 else out[(step - 1) % 2]
        new = out[step % 2]
        for first in range(1, n - 1, width):
            for i in prange(1, n - 1):
                for j in range(first, min(first + width, n - 1)):
                    relax_7(new[i, j], old, i, j, centre, near)


@kernel(
    improves=naive_3d7,
    fastmath=("contract",),
    sizes=(SIDE_3D,),
    tiles=lambda capacity, dtype: (max(1, 8 * capacity.second_bytes // ((2 * STEPS + 7) * DTYPE_BITS[dtype])),),
)
def temporal_3d7(out, u, centre, near, points):
    """u'[i, j, k] = centre * u[i, j, k] + near * (sum of its 6 neighbours along the axes), STEPS times, in one pass

    Time skewing as in `temporal_2d5`, plane by plane in slabs of rows so few that the planes in use, three of u and
    STEPS + 2 of each grid of out, fit the second-level cache with `points` each. The gaps between the slabs are read
    and written once more: the wider the slabs, the less.
    """
    n = u.shape[0]
    width = max(2 * STEPS, points // n)
    frame_3d(out, u)
    slabs = (n - 3 + width) // width
    for between in range(2):
        for slab in prange(slabs - between):
            for front in range(1, n - 2 + STEPS):
                for step in range(STEPS):
                    i = front - step
                    if 1 <= i < n - 1:
                        old = u if step == 0 else out[(step - 1) % 2]
                        new = out[step % 2, i]
                        first, last = span(slab, between, step, width, n)
                        for j in range(first, last):
                            relax_7(new[j], old, i, j, centre, near)


@kernel(
    family="stencil",
    work=lambda n, size: job(STEPS, 3, 30, n, size),
    own_work=lambda n, size: sweep_by_sweep(STEPS, 3, 30, n, size),
    arguments=lambda n, dtype, rng: (
        *grids(3, n, dtype, rng),
        dtype(1 / 8),
        dtype(1 / 16),
        dtype(1 / 32),
        dtype(1 / 64),
    ),
    reference=lambda out, u, *weights: iterated(STEPS, u, weights),
    roundings=lambda n: 30 * STEPS,
    sizes=(SIDE_3D,),
)
def naive_3d27(out, u, centre, face, edge, corner):
    """u'[i, j, k] = weighted mean of u in the cube of 27 points around [i, j, k], STEPS times

    Four weights: centre, 6 faces, 12 edges, 8 corners; 26 additions and 4 products. Sweep by sweep.
    """
    n = u.shape[0]
    frame_3d(out, u)
    for step in range(STEPS):
        old = u if step == 0 else out[(step - 1) % 2]
        new = out[step % 2]
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    faces = old[i - 1, j, k] + old[i + 1, j, k] + old[i, j - 1, k] + old[i, j + 1, k]
                    faces += old[i, j, k - 1] + old[i, j, k + 1]
                    edges = old[i - 1, j - 1, k] + old[i - 1, j + 1, k] + old[i + 1, j - 1, k] + old[i + 1, j + 1, k]
                    edges += old[i - 1, j, k - 1] + old[i - 1, j, k + 1] + old[i + 1, j, k - 1] + old[i + 1, j, k + 1]
                    edges += old[i, j - 1, k - 1] + old[i, j - 1, k + 1] + old[i, j + 1, k - 1] + old[i, j + 1, k + 1]
                    corners = old[i - 1, j - 1, k - 1] + old[i - 1, j - 1, k + 1] + old[i - 1, j + 1, k - 1]
                    corners += old[i - 1, j + 1, k + 1] + old[i + 1, j - 1, k - 1] + old[i + 1, j - 1, k + 1]
                    corners += old[i + 1, j + 1, k - 1] + old[i + 1, j + 1, k + 1]
                    new[i, j, k] = centre * old[i, j, k] + face * faces + edge * edges + corner * corners


@kernel(
    improves=naive_3d27,
    own_work=naive_3d27.own_work,
    fastmath=("contract",),
    sizes=(SIDE_3D,),
    tiles=lambda capacity, dtype: (max(1, capacity.last_bytes // DTYPE_BITS[dtype]),),
)
def blocked_3d27(out, u, centre, face, edge, corner, points):
    """u'[i, j, k] = weighted mean of u in the cube of 27 points around [i, j, k], STEPS times, in slabs

    Slabs as in `blocked_3d7`.
    """
    n = u.shape[0]
    width = max(1, points // n)
    frame_3d(out, u)
    for step in range(STEPS):
        old = u if step == 0 else out[(step - 1) % 2]
        new = out[step % 2]
        for first in range(1, n - 1, width):
            for i in prange(1, n - 1):
                for j in range(first, min(first + width, n - 1)):
                    relax_27(new[i, j], old, i, j, centre, face, edge, corner)
