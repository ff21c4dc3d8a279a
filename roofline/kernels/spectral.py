"""The discrete Fourier transform of complex numbers, y[k] = sum over j of x[j] w^(j k) with w = exp(-2 pi i / L).

The length L is the largest power of two that is not above n. Complex numbers are pairs of a real and an imaginary part,
as libraries keep them; w[j], j < L / 2, is a table, made once for many transforms.

All: 5 L log2 L flop, the convention of FFTW's benchmarks and exactly what radix 2 takes: log2 L times L / 2 butterflies
of one complex product (6) and two complex sums (4). Compulsory traffic: x and the table are read (3 L reals), y is
written (2 L). log2 L flop per real: 1.5 flop/B in f64 at L = 4096. Higher radices take fewer flop; rates keep to the
convention.
Sizes: 4096 stays in a second-level cache, 65536 leaves it.
One transform is not shared between threads: at these lengths its passes are too short to wait for one another.
Sources: Cooley, Tukey, "An Algorithm for the Machine Calculation of Complex Fourier Series", Math. Comp. 19, 1965;
Frigo, Johnson, "The Design and Implementation of FFTW3", Proc. IEEE 93(2), 2005.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft
from numba import njit

from roofline.kernels.data import uniform
from roofline.kernels.kernel import kernel
from roofline.model.work import Work


def length_of(n: int) -> int:
    """Return the length of the transform at size n: the largest power of two that is not above it."""
    return 1 << (n.bit_length() - 1)


def _arguments(n: int, dtype: Any, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return y, x in [-0.5, 0.5), so that no y[k] towers over the others and hides their errors, and the table."""
    length = length_of(n)
    turns = np.arange(max(length // 2, 1)) / length
    cosines = np.sin(2 * np.pi * (0.25 - turns))  # exactly 0 at a quarter turn
    table = np.stack((cosines, -np.sin(2 * np.pi * turns)), axis=1)
    return uniform(rng, (length, 2), dtype), uniform(rng, (length, 2), dtype) - dtype(1), table.astype(dtype)


def _work(n: int, size: int) -> Work:
    length = length_of(n)
    return Work(
        flops=5 * length * (length.bit_length() - 1),
        read_bytes=(2 * length + 2 * (length // 2)) * size,
        write_bytes=2 * length * size,
        allocate_bytes=2 * length * size,
    )


def _stockham_work(n: int, size: int) -> Work:
    """Return the work of passes of radix 4: a quarter of the table read, one intermediate, or two in turn."""
    length = length_of(n)
    flops, stride = (45 * length // 4, 4) if length >= 8 else (0, 1)
    intermediates = 1
    while length // stride > 4:
        flops += 11 * length // (4 * stride) + 34 * length // 4
        stride *= 4
        intermediates = 2
    flops += {4: 4 * length, 2: 2 * length, 1: 0}[length // stride]
    table = length // 2 if length >= 8 else 0
    moved = (1 + intermediates) * 2 * length
    return Work(flops=flops, read_bytes=(moved + table) * size, write_bytes=moved * size, allocate_bytes=moved * size)


@kernel(
    family="spectral",
    work=_work,
    arguments=_arguments,
    reference=lambda y, x, w: np.fft.fft(x.astype("f8").view("c16")[:, 0]).view("f8").reshape(x.shape).astype(x.dtype),
    magnitude=lambda y, x, w: np.full(y.shape, np.linalg.norm(x.astype("f8"))),  # each pass keeps the root mean square
    roundings=lambda n: 4 * n.bit_length(),
    sizes=(4096, 65536),
)
def naive(y, x, w):
    """y[k] = sum over j of x[j] * exp(-2 pi i j k / L)

    Radix 2, in place after the order of the bits is reversed: log2 L passes over y, whose pairs lie ever farther apart.
    """
    length = x.shape[0]
    reverse = 0
    for j in range(length):
        y[reverse, 0] = x[j, 0]
        y[reverse, 1] = x[j, 1]
        bit = length // 2
        while bit > 0 and reverse >= bit:  # adds 1 at the highest bit, carrying downwards
            reverse -= bit
            bit //= 2
        reverse += bit
    half = 1
    while half < length:
        step = length // (2 * half)
        for first in range(0, length, 2 * half):
            for j in range(half):
                upper = first + j
                lower = upper + half
                re, im = _product(w[j * step, 0], w[j * step, 1], y[lower, 0], y[lower, 1])
                y[lower, 0] = y[upper, 0] - re
                y[lower, 1] = y[upper, 1] - im
                y[upper, 0] += re
                y[upper, 1] += im
        half *= 2


@kernel(improves=naive, fastmath=("contract",), own_work=_stockham_work)
def stockham(y, x, w):
    """y[k] = sum over j of x[j] * exp(-2 pi i j k / L), radix 4 in the self-sorting order of Stockham

    Half the passes, and from the second on a loop over neighbours that share their twiddle: it fills vectors. The
    passes go from one intermediate to the other and sort as they go; in between, real and imaginary parts lie apart.
    34 flop per butterfly of 4, and 11 for the powers of its twiddle: 16 % fewer than radix 2 at L = 4096.
    Source: Cochran et al., "What is the Fast Fourier Transform?", Proc. IEEE 55(10), 1967; Van Loan, "Computational
    Frameworks for the Fast Fourier Transform", 1992, section 1.7.
    """
    length = x.shape[0]
    re = np.empty(length, x.dtype)
    im = np.empty(length, x.dtype)
    next_re = np.empty(length, x.dtype)
    next_im = np.empty(length, x.dtype)
    stride = 1
    if length >= 8:
        _first_pass(re, im, x, w)
        stride = 4
    else:
        for j in range(length):
            re[j] = x[j, 0]
            im[j] = x[j, 1]
    while length // stride > 4:
        _middle_pass(next_re, next_im, re, im, w, stride)
        re, next_re = next_re, re
        im, next_im = next_im, im
        stride *= 4
    if length == 4 * stride:
        _last_pass(y, re, im)
    else:
        half = length // 2
        for j in range(half):
            y[j, 0] = re[j] + re[half + j]
            y[j, 1] = im[j] + im[half + j]
            y[half + j, 0] = re[j] - re[half + j]
            y[half + j, 1] = im[j] - im[half + j]
        for j in range(2 * half, length):  # a transform of length 1
            y[j, 0] = re[j]
            y[j, 1] = im[j]


@kernel(improves=naive, compiled=False)
def scipy_fft(y, x, w):
    """y[k] = sum over j of x[j] * exp(-2 pi i j k / L), by SciPy's pocketfft

    On one thread, with its own table, which it keeps; it returns a new array, which is copied to y.
    """
    pair = np.complex64 if x.itemsize == 4 else np.complex128
    y.view(pair)[:, 0] = scipy.fft.fft(x.view(pair)[:, 0], workers=1)


@njit(inline="always")
def _product(ar, ai, br, bi):
    return ar * br - ai * bi, ar * bi + ai * br


@njit(inline="always")
def _powers(r, i):
    """Return the square and the cube of a complex number, 11 flop."""
    square_r = r * r - i * i
    square_i = (r + r) * i
    cube_r, cube_i = _product(r, i, square_r, square_i)
    return square_r, square_i, cube_r, cube_i


@njit(inline="always")
def _butterfly(ar, ai, br, bi, cr, ci, dr, di):
    """Return the transform of four complex numbers, 16 flop."""
    sr, si, tr, ti = ar + cr, ai + ci, br + dr, bi + di
    fr, fi, gr, gi = ar - cr, ai - ci, bi - di, dr - br
    return sr + tr, si + ti, fr + gr, fi + gi, sr - tr, si - ti, fr - gr, fi - gi


@njit(inline="always")
def _first_pass(re, im, x, w):
    """Transform the quarters of x and leave the results of each butterfly beside one another, parts apart."""
    m = x.shape[0] // 4
    a, b, c, d = x[:m], x[m : 2 * m], x[2 * m : 3 * m], x[3 * m :]
    for p in range(m):
        ur, ui = w[p, 0], w[p, 1]
        vr, vi, zr, zi = _powers(ur, ui)
        r0, i0, r1, i1, r2, i2, r3, i3 = _butterfly(
            a[p, 0], a[p, 1], b[p, 0], b[p, 1], c[p, 0], c[p, 1], d[p, 0], d[p, 1]
        )
        re[4 * p], im[4 * p] = r0, i0
        re[4 * p + 1], im[4 * p + 1] = _product(ur, ui, r1, i1)
        re[4 * p + 2], im[4 * p + 2] = _product(vr, vi, r2, i2)
        re[4 * p + 3], im[4 * p + 3] = _product(zr, zi, r3, i3)


@njit(inline="always")
def _middle_pass(next_re, next_im, re, im, w, stride):
    """Transform the quarters; `stride` neighbours share a twiddle."""
    m = re.size // (4 * stride)
    quarter = re.size // 4
    for p in range(m):
        ur, ui = w[p * stride, 0], w[p * stride, 1]
        vr, vi, zr, zi = _powers(ur, ui)
        i = p * stride
        j = i + stride
        ar, br = re[i:j], re[i + quarter : j + quarter]
        cr, dr = re[i + 2 * quarter : j + 2 * quarter], re[i + 3 * quarter : j + 3 * quarter]
        ai, bi = im[i:j], im[i + quarter : j + quarter]
        ci, di = im[i + 2 * quarter : j + 2 * quarter], im[i + 3 * quarter : j + 3 * quarter]
        y0r, y0i = next_re[4 * i : 4 * i + stride], next_im[4 * i : 4 * i + stride]
        y1r, y1i = next_re[4 * i + stride : 4 * i + 2 * stride], next_im[4 * i + stride : 4 * i + 2 * stride]
        y2r, y2i = next_re[4 * i + 2 * stride : 4 * i + 3 * stride], next_im[4 * i + 2 * stride : 4 * i + 3 * stride]
        y3r, y3i = next_re[4 * i + 3 * stride : 4 * j], next_im[4 * i + 3 * stride : 4 * j]
        for q in range(stride):
            r0, i0, r1, i1, r2, i2, r3, i3 = _butterfly(ar[q], ai[q], br[q], bi[q], cr[q], ci[q], dr[q], di[q])
            y0r[q], y0i[q] = r0, i0
            y1r[q], y1i[q] = _product(ur, ui, r1, i1)
            y2r[q], y2i[q] = _product(vr, vi, r2, i2)
            y3r[q], y3i[q] = _product(zr, zi, r3, i3)


@njit(inline="always")
def _last_pass(y, re, im):
    """Transform the quarters, whose twiddles are all 1, and put the parts together."""
    m = re.size // 4
    ar, br, cr, dr = re[:m], re[m : 2 * m], re[2 * m : 3 * m], re[3 * m :]
    ai, bi, ci, di = im[:m], im[m : 2 * m], im[2 * m : 3 * m], im[3 * m :]
    y0, y1, y2, y3 = y[:m], y[m : 2 * m], y[2 * m : 3 * m], y[3 * m :]
    for q in range(m):
        r0, i0, r1, i1, r2, i2, r3, i3 = _butterfly(ar[q], ai[q], br[q], bi[q], cr[q], ci[q], dr[q], di[q])
        y0[q, 0], y0[q, 1] = r0, i0
        y1[q, 0], y1[q, 1] = r1, i1
        y2[q, 0], y2[q, 1] = r2, i2
        y3[q, 0], y3[q, 1] = r3, i3
