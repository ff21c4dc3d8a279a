"""Elementary functions that vectorise: Numba's own are calls into the C library, one number at a time.

Each counts as 1 flop, as `np.exp` and `np.tanh` do: one operation of the formula, whatever it is made of.
Source: Cody, Waite, "Software Manual for the Elementary Functions", Prentice Hall, 1980: the argument is reduced by
whole multiples of ln 2, which is split in two so that the first product is exact; what remains is a polynomial.
"""

from __future__ import annotations

import numpy as np

from roofline.codegen.by_dtype import compiled_by_dtype


def _exponential_f64(x):
    """e^x = 2^k e^r with k = round(x / ln 2); Taylor's series to degree 13, next term below eps / 50.

    Adding 1.5 * 2^52 rounds to a whole number and leaves it in the low bits, from where it goes into the exponent.
    """
    x = min(max(x, -708.0), 709.0)
    shifted = x * 1.4426950408889634 + 6755399441055744.0
    k = shifted - 6755399441055744.0
    r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10
    p = 1.6059043836821613e-10
    p = p * r + 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 0.0001984126984126984
    p = p * r + 0.001388888888888889
    p = p * r + 0.008333333333333333
    p = p * r + 0.041666666666666664
    p = p * r + 0.16666666666666666
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    scale = np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)
    return p * scale


def _exponential_f32(x):
    """e^x = 2^k e^r with k = round(x / ln 2); Taylor's series to degree 7, next term below eps / 20."""
    x = min(max(x, np.float32(-87.0)), np.float32(88.0))
    shifted = x * np.float32(1.4426950408889634) + np.float32(12582912.0)
    k = shifted - np.float32(12582912.0)
    r = (x - k * np.float32(0.693359375)) - k * np.float32(-2.12194440e-4)
    p = np.float32(1 / 5040)
    p = p * r + np.float32(1 / 720)
    p = p * r + np.float32(1 / 120)
    p = p * r + np.float32(1 / 24)
    p = p * r + np.float32(1 / 6)
    p = p * r + np.float32(0.5)
    p = p * r + np.float32(1.0)
    p = p * r + np.float32(1.0)
    scale = np.int32((np.float32(shifted).view(np.int32) + np.int32(127)) << np.int32(23)).view(np.float32)
    return p * scale


@compiled_by_dtype(f64=_exponential_f64, f32=_exponential_f32)
def exponential(x):
    """e^x, to about 1 unit in the last place; arguments beyond the range of normal results are clamped to it."""
    return np.exp(x)
