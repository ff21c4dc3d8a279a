"""One row of a stencil: what its blocked forms do between their tiles."""

from __future__ import annotations

from numba import njit


@njit(fastmath={"contract"}, error_model="numpy", boundscheck=False)
def relax_5(new, above, row, below, centre, near):
    """Write a row of weighted means of 5 points, all but its first and last.

    The index starts at 0 and only grows: with j - 1 Numba would ask for each j whether it is negative, and no vector
    would be filled.
    """
    for j in range(new.size - 2):
        new[j + 1] = centre * row[j + 1] + near * ((above[j + 1] + below[j + 1]) + (row[j] + row[j + 2]))


@njit(fastmath={"contract"}, error_model="numpy", boundscheck=False)
def relax_7(new, old, i, j, centre, near):
    """Write the row (i, j) of weighted means of 7 points, all but its first and last."""
    front, above, row, below, back = old[i - 1, j], old[i, j - 1], old[i, j], old[i, j + 1], old[i + 1, j]
    for k in range(new.size - 2):
        new[k + 1] = centre * row[k + 1] + near * (
            (front[k + 1] + back[k + 1]) + (above[k + 1] + below[k + 1]) + (row[k] + row[k + 2])
        )


@njit(fastmath={"contract"}, error_model="numpy", boundscheck=False)
def relax_27(new, old, i, j, centre, face, edge, corner):
    """Write the row (i, j) of weighted means of 27 points, all but its first and last."""
    a, b, c = old[i - 1, j - 1], old[i - 1, j], old[i - 1, j + 1]
    d, e, f = old[i, j - 1], old[i, j], old[i, j + 1]
    g, h, m = old[i + 1, j - 1], old[i + 1, j], old[i + 1, j + 1]
    for k in range(new.size - 2):
        new[k + 1] = (
            centre * e[k + 1]
            + face * ((b[k + 1] + d[k + 1]) + (f[k + 1] + h[k + 1]) + (e[k] + e[k + 2]))
            + edge
            * (
                ((a[k + 1] + c[k + 1]) + (g[k + 1] + m[k + 1]))
                + ((b[k] + b[k + 2]) + (d[k] + d[k + 2]))
                + ((f[k] + f[k + 2]) + (h[k] + h[k + 2]))
            )
            + corner * (((a[k] + a[k + 2]) + (c[k] + c[k + 2])) + ((g[k] + g[k + 2]) + (m[k] + m[k + 2])))
        )
