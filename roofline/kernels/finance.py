"""Prices of European options after Black and Scholes: arithmetic that waits for exp, log and the normal distribution.

call = S N(d1) - K e^(-r T) N(d2),  put = call - S + K e^(-r T)  (parity of puts and calls),
d1 = (log(S / K) + (r + v^2 / 2) T) / (v sqrt T),  d2 = d1 - v sqrt T,  N(d) = erfc(-d / sqrt 2) / 2,
for spot S, strike K and years T of n options, one rate r and one volatility v.

All: 22 flop an option, with r + v^2 / 2 given: a quotient and a logarithm; a product, a sum and a quotient for d1 above
a root and a product; a difference for d2; 3 for each N; a product, an exponential and a product for the discounted
strike; 3 for the call and 2 for the put. exp, log and erfc are 1 each, whatever they are made of: that, some 200
instructions an option, is what binds, so that no rung comes near either roof. Compulsory traffic: S, K and T are read
(3 n elements), call and put written (2 n). 0.55 flop/B in f64.
Source: Black, Scholes, "The Pricing of Options and Corporate Liabilities", J. Political Economy 81(3), 1973; as a
benchmark in Bienia, Kumar, Singh, Li, "The PARSEC Benchmark Suite", PACT 2008.
"""

from __future__ import annotations

import math

import numpy as np
from numba import prange
from scipy.special import ndtr

from roofline.kernels.data import uniform
from roofline.kernels.elementary import ROOT_HALF, exponential, logarithm, normal_distribution
from roofline.kernels.kernel import kernel
from roofline.model.work import Work

RATE = 0.05
VOLATILITY = 0.3
"""Both of a year. With them and data in [0.5, 1.5) the distribution is asked from -6 to 6."""


def _prices(prices: np.ndarray, S: np.ndarray, K: np.ndarray, T: np.ndarray, r, drift, v) -> np.ndarray:
    """Return the same in f64."""
    S, K, T = S.astype("f8"), K.astype("f8"), T.astype("f8")
    spread = v * np.sqrt(T)
    d1 = (np.log(S / K) + drift * T) / spread
    discounted = K * np.exp(-r * T)
    call = S * ndtr(d1) - discounted * ndtr(d1 - spread)
    return np.stack((call, call - S + discounted)).astype(prices.dtype)


def _magnitude(prices: np.ndarray, S: np.ndarray, K: np.ndarray, T: np.ndarray, r, drift, v) -> np.ndarray:
    """Return what the terms of call and put add up to."""
    S, K, T = S.astype("f8"), K.astype("f8"), T.astype("f8")
    spread = v * np.sqrt(T)
    d1 = (np.log(S / K) + drift * T) / spread
    discounted = K * np.exp(-r * T)
    call = S * ndtr(d1) + discounted * ndtr(d1 - spread)
    return np.stack((call, call + S + discounted))


@kernel(
    family="finance",
    work=lambda n, size: Work(
        flops=22 * n, read_bytes=3 * n * size, write_bytes=2 * n * size, allocate_bytes=2 * n * size
    ),
    arguments=lambda n, dtype, rng: (
        uniform(rng, (2, n), dtype),
        uniform(rng, n, dtype),
        uniform(rng, n, dtype),
        uniform(rng, n, dtype),
        dtype(RATE),
        dtype(RATE + VOLATILITY * VOLATILITY / 2),
        dtype(VOLATILITY),
    ),
    reference=_prices,
    magnitude=_magnitude,
    roundings=lambda n: 24,
    sizes=(4096,),
)
def naive(prices, S, K, T, r, drift, v):
    """prices[:, i] = call and put of Black and Scholes for S[i], K[i], T[i]

    The formula as it stands. Numba calls the C library for exp, log and erfc, an option at a time; with Intel's SVML
    installed it calls vector versions of exp and log, and the call of erfc still keeps the loop scalar.
    """
    call = prices[0]
    put = prices[1]
    half = S.dtype.type(0.5)
    root_half = S.dtype.type(ROOT_HALF)
    for i in prange(S.size):
        spread = v * np.sqrt(T[i])
        d1 = (np.log(S[i] / K[i]) + drift * T[i]) / spread
        d2 = d1 - spread
        above1 = math.erfc(-d1 * root_half) * half
        above2 = math.erfc(-d2 * root_half) * half
        discounted = K[i] * np.exp(-r * T[i])
        value = S[i] * above1 - discounted * above2
        call[i] = value
        put[i] = value - S[i] + discounted


@kernel(improves=naive, fastmath=("contract",))
def vectorised(prices, S, K, T, r, drift, v):
    """prices[:, i] = call and put of Black and Scholes for S[i], K[i], T[i], with functions that fill vectors

    exp, log and N from `elementary`: polynomials without branches and calls, so that options fill the vectors.
    """
    call = prices[0]
    put = prices[1]
    for i in prange(S.size):
        spread = v * np.sqrt(T[i])
        d1 = (logarithm(S[i] / K[i]) + drift * T[i]) / spread
        d2 = d1 - spread
        discounted = K[i] * exponential(-r * T[i])
        value = S[i] * normal_distribution(d1) - discounted * normal_distribution(d2)
        call[i] = value
        put[i] = value - S[i] + discounted
