"""Elementary functions that vectorise: Numba's own are calls into the C library, one number at a time.

Each counts as the plain function that it stands for, 1 flop for `np.exp`: one operation of the formula, whatever it is
made of.
Source: Cody, Waite, "Software Manual for the Elementary Functions", Prentice Hall, 1980: the argument is reduced by
whole multiples of ln 2, which is split in two so that the first product is exact; what remains is a polynomial.
"""

from __future__ import annotations

import math

import numpy as np

from roofline.codegen.by_dtype import compiled_by_dtype

ROOT_HALF = math.sqrt(0.5)


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


def _logarithm_f64(x):
    """log x = k log 2 + 2 artanh((m - 1) / (m + 1)) for x = 2^k m, m in [sqrt(1/2), sqrt 2).

    Taylor's series of artanh to degree 19, next term below eps / 10. The bits of sqrt(1/2), taken off before the shift,
    round k; adding them to those of 1.5 * 2^52 turns k into a number.
    """
    bits = np.float64(x).view(np.int64)
    exponent = (bits - 4604544271217802189) >> 52
    m = np.int64(bits - (exponent << 52)).view(np.float64)
    k = np.int64(exponent + 4843621399236968448).view(np.float64) - 6755399441055744.0
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = 1 / 19
    p = p * z + 1 / 17
    p = p * z + 1 / 15
    p = p * z + 1 / 13
    p = p * z + 1 / 11
    p = p * z + 1 / 9
    p = p * z + 1 / 7
    p = p * z + 1 / 5
    p = p * z + 1 / 3
    twice = s + s
    return k * 6.93147180369123816490e-01 + (twice + (twice * z * p + k * 1.90821492927058770002e-10))


def _logarithm_f32(x):
    """log x = k log 2 + 2 artanh((m - 1) / (m + 1)) as in f64, the series to degree 9."""
    bits = np.float32(x).view(np.int32)
    exponent = (bits - np.int32(1060439283)) >> np.int32(23)
    m = np.int32(bits - (exponent << np.int32(23))).view(np.float32)
    k = np.int32(exponent + np.int32(1262485504)).view(np.float32) - np.float32(12582912.0)
    s = (m - np.float32(1.0)) / (m + np.float32(1.0))
    z = s * s
    p = np.float32(1 / 9)
    p = p * z + np.float32(1 / 7)
    p = p * z + np.float32(1 / 5)
    p = p * z + np.float32(1 / 3)
    twice = s + s
    return k * np.float32(0.693359375) + (twice + (twice * z * p + k * np.float32(-2.12194440e-4)))


@compiled_by_dtype(f64=_logarithm_f64, f32=_logarithm_f32)
def logarithm(x):
    """log x, to about 2 units in the last place, for normal x > 0; undefined for any other."""
    return np.log(x)


def _normal_distribution_f64(x):
    """exp(-t^2 / 2) P(t) / Q(t) with t = |x|, or 1 minus that for x > 0.

    P / Q interpolates exp(t^2 / 2) erfc(t / sqrt 2) / 2 at Chebyshev's nodes of t / (t + 4), t in [0, 37.5], to a
    relative error of 8.2e-17. All coefficients are positive: no cancellation.
    """
    t = abs(x)
    t = 37.5 if t > 37.5 else t
    p = 1.379381528725051e-06
    p = p * t + 3.7132222341078365e-05
    p = p * t + 0.0004892349665613652
    p = p * t + 0.004082027601036733
    p = p * t + 0.023591654839868217
    p = p * t + 0.09760874375211728
    p = p * t + 0.289151208243326
    p = p * t + 0.5938195826526755
    p = p * t + 0.7747376195936659
    p = p * t + 0.5
    q = 3.457596741416031e-06
    q = q * t + 9.30766784179461e-05
    q = q * t + 0.0012297877970571666
    q = q * t + 0.010325202470037891
    q = q * t + 0.06035492449185933
    q = q * t + 0.2547147978266053
    q = q * t + 0.781512260472537
    q = q * t + 1.7136163716916164
    q = q * t + 2.5605613083670353
    q = q * t + 2.3473597999901914
    q = q * t + 1.0
    beyond = exponential(t * t * -0.5) * p / q
    return beyond if x < 0.0 else 1.0 - beyond


def _normal_distribution_f32(x):
    """exp(-t^2 / 2) P(t) / Q(t) as in f64, for t in [0, 12.5] and to a relative error of 5.4e-9."""
    t = abs(x)
    t = np.float32(12.5) if t > np.float32(12.5) else t
    p = np.float32(0.00390285244)
    p = p * t + np.float32(0.0392090216)
    p = p * t + np.float32(0.179030613)
    p = p * t + np.float32(0.432649194)
    p = p * t + np.float32(0.500000001)
    q = np.float32(0.00978283309)
    q = q * t + np.float32(0.098290786)
    q = q * t + np.float32(0.458364334)
    q = q * t + np.float32(1.18508649)
    q = q * t + np.float32(1.66318318)
    q = q * t + np.float32(1.0)
    beyond = exponential(t * t * np.float32(-0.5)) * p / q
    return beyond if x < np.float32(0.0) else np.float32(1.0) - beyond


@compiled_by_dtype(f64=_normal_distribution_f64, f32=_normal_distribution_f32)
def normal_distribution(x):
    """The probability that a standard normal number is below x: erfc(-x / sqrt 2) / 2, 3 flop.

    To 4 units in the last place, and x^2 more below 0, where the exponential carries the rounding of x^2 / 2 through.
    """
    return math.erfc(x * -ROOT_HALF) * 0.5
