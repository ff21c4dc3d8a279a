"""Layers of deep networks at batch n: the batch moves a layer along the intensity axis, because it shares the weights.

Per sample, with sums that start at the bias or at zero, and exp and tanh as 1 flop each, maxima and relu as 0:

MLP layer, 256 to 128: 2 * 256 * 128 flop. LSTM cell, 64 units, 64 inputs: four gates of 2 * 128 flop per unit, then 3
sigmoids of 3 (exp, add, divide), 2 tanh, and c' = f c + i g and h' = o tanh(c') of 4. Compulsory traffic of both: the
weights once, whatever n, and per sample the inputs and outputs. At batch 1 that is 1/4 flop/B in f64, at batch 256 it
is tens of times that.
Sources: Williams, Waterman, Patterson, "Roofline", CACM 52(4), 2009; Hochreiter, Schmidhuber, "Long Short-Term Memory",
Neural Computation 9(8), 1997, with the forget gate of Gers et al., 2000.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from roofline.kernels.data import uniform
from roofline.kernels.elementary import exponential
from roofline.kernels.kernel import kernel
from roofline.model.work import Work

INPUTS = 256
OUTPUTS = 128
UNITS = 64
"""Of the LSTM cell; as many inputs."""
BATCHES = (1, 16, 256)
FEW = 8
"""Outputs per task: their weights stay in the first cache for all samples."""
LANES = 16
"""Units of the LSTM cell per task: whole vectors of any width."""


@kernel(
    family="network",
    work=lambda n, size: Work(
        flops=2 * INPUTS * OUTPUTS * n,
        read_bytes=(INPUTS * OUTPUTS + OUTPUTS + INPUTS * n) * size,
        write_bytes=OUTPUTS * n * size,
        allocate_bytes=OUTPUTS * n * size,
    ),
    arguments=lambda n, dtype, rng: (
        uniform(rng, (n, OUTPUTS), dtype),
        uniform(rng, (OUTPUTS, INPUTS), dtype) - dtype(1),  # of both signs, so that relu has something to cut
        uniform(rng, OUTPUTS, dtype) - dtype(1),
        uniform(rng, (n, INPUTS), dtype),
    ),
    reference=lambda Y, W, b, X: np.maximum(X.astype("f8") @ W.T.astype("f8") + b, 0).astype(Y.dtype),
    roundings=lambda n: 16 * INPUTS,  # the terms of a sum cancel
    sizes=BATCHES,
)
def naive_mlp(Y, W, b, X):
    """Y[s, o] = max(0, b[o] + sum over i of W[o, i] * X[s, i])

    Sample by sample, each sum in strict order: the weights come anew for every sample.
    """
    for s in prange(X.shape[0]):
        for o in range(OUTPUTS):
            total = b[o]
            for i in range(INPUTS):
                total += W[o, i] * X[s, i]
            Y[s, o] = max(total, Y.dtype.type(0))


@kernel(improves=naive_mlp, fastmath=("contract", "reassoc"), sizes=BATCHES)
def blocked_mlp(Y, W, b, X):
    """Y[s, o] = max(0, b[o] + sum over i of W[o, i] * X[s, i]), four samples by four outputs at once

    Sixteen sums in registers: each vector of weights serves four samples. A task keeps its weights for all samples.
    """
    for task in prange(OUTPUTS // FEW):
        sums = np.empty((4, 4), Y.dtype)
        for s in range(0, X.shape[0], 4):
            samples = min(4, X.shape[0] - s)
            for o in range(task * FEW, task * FEW + FEW, 4):
                for row in range(samples):
                    for column in range(4):
                        sums[row, column] = b[o + column]
                _add_dots(sums, X[s : s + samples], W[o : o + 4])
                for row in range(samples):
                    for column in range(4):
                        Y[s + row, o + column] = max(sums[row, column], Y.dtype.type(0))


@njit(fastmath={"contract", "reassoc"}, error_model="numpy", boundscheck=False)
def _add_dots(sums, x, w):
    """sums[s, o] += sum over i of x[s, i] * w[o, i] for four o and up to four s"""
    w0, w1, w2, w3 = w[0], w[1], w[2], w[3]
    if x.shape[0] == 4:
        x0, x1, x2, x3 = x[0], x[1], x[2], x[3]
        s00, s01, s02, s03 = sums[0, 0], sums[0, 1], sums[0, 2], sums[0, 3]
        s10, s11, s12, s13 = sums[1, 0], sums[1, 1], sums[1, 2], sums[1, 3]
        s20, s21, s22, s23 = sums[2, 0], sums[2, 1], sums[2, 2], sums[2, 3]
        s30, s31, s32, s33 = sums[3, 0], sums[3, 1], sums[3, 2], sums[3, 3]
        for i in range(w0.size):
            s00 += x0[i] * w0[i]
            s01 += x0[i] * w1[i]
            s02 += x0[i] * w2[i]
            s03 += x0[i] * w3[i]
            s10 += x1[i] * w0[i]
            s11 += x1[i] * w1[i]
            s12 += x1[i] * w2[i]
            s13 += x1[i] * w3[i]
            s20 += x2[i] * w0[i]
            s21 += x2[i] * w1[i]
            s22 += x2[i] * w2[i]
            s23 += x2[i] * w3[i]
            s30 += x3[i] * w0[i]
            s31 += x3[i] * w1[i]
            s32 += x3[i] * w2[i]
            s33 += x3[i] * w3[i]
        sums[0, 0], sums[0, 1], sums[0, 2], sums[0, 3] = s00, s01, s02, s03
        sums[1, 0], sums[1, 1], sums[1, 2], sums[1, 3] = s10, s11, s12, s13
        sums[2, 0], sums[2, 1], sums[2, 2], sums[2, 3] = s20, s21, s22, s23
        sums[3, 0], sums[3, 1], sums[3, 2], sums[3, 3] = s30, s31, s32, s33
        return
    for s in range(x.shape[0]):
        x0 = x[s]
        s00, s01, s02, s03 = sums[s, 0], sums[s, 1], sums[s, 2], sums[s, 3]
        for i in range(w0.size):
            s00 += x0[i] * w0[i]
            s01 += x0[i] * w1[i]
            s02 += x0[i] * w2[i]
            s03 += x0[i] * w3[i]
        sums[s, 0], sums[s, 1], sums[s, 2], sums[s, 3] = s00, s01, s02, s03


def _cell(n: int, size: int, tanh_flops: int = 1) -> Work:
    return Work(
        flops=(4 * 4 * UNITS + 3 * 3 + 2 * tanh_flops + 4) * UNITS * n,
        read_bytes=(4 * UNITS * (2 * UNITS + 1) + 3 * UNITS * n) * size,
        write_bytes=2 * UNITS * n * size,
        allocate_bytes=2 * UNITS * n * size,
    )


def _lstm(out, W, b, Z, C):
    gates = Z.astype("f8") @ W.astype("f8").transpose(1, 2, 0) + b.T[:, None, :]
    i, f, o = (1 / (1 + np.exp(-gate)) for gate in gates[:3])
    c = f * C + i * np.tanh(gates[3])
    return np.stack((o * np.tanh(c), c), axis=1).astype(out.dtype)


@kernel(
    family="network",
    work=_cell,
    arguments=lambda n, dtype, rng: (
        uniform(rng, (n, 2, UNITS), dtype),
        (uniform(rng, (UNITS, 4, 2 * UNITS), dtype) - dtype(1)) / dtype(8),  # sums of about 1, as in a trained cell
        uniform(rng, (UNITS, 4), dtype) - dtype(1),
        uniform(rng, (n, 2 * UNITS), dtype),
        uniform(rng, (n, UNITS), dtype),
    ),
    reference=_lstm,
    roundings=lambda n: 16 * UNITS,
    sizes=BATCHES,
)
def naive_lstm(out, W, b, Z, C):
    """c' = f * c + i * g, h' = o * tanh(c'), where i, f, o = sigmoid and g = tanh of W [x, h] + b

    Z holds [x, h] and C holds c of each sample; out holds h' and c'. Unit by unit, each sum in strict order.
    """
    one = out.dtype.type(1)
    for s in prange(Z.shape[0]):
        gates = np.empty(4, out.dtype)
        for u in range(UNITS):
            for gate in range(4):
                total = b[u, gate]
                for i in range(2 * UNITS):
                    total += W[u, gate, i] * Z[s, i]
                gates[gate] = total
            kept = one / (one + np.exp(-gates[1])) * C[s, u]
            cell = kept + one / (one + np.exp(-gates[0])) * np.tanh(gates[3])
            out[s, 0, u] = one / (one + np.exp(-gates[2])) * np.tanh(cell)
            out[s, 1, u] = cell


@kernel(
    improves=naive_lstm,
    fastmath=("contract", "reassoc"),
    sizes=BATCHES,
    own_work=lambda n, size: _cell(n, size, tanh_flops=5),
)
def blocked_lstm(out, W, b, Z, C):
    """c' = f * c + i * g, h' = o * tanh(c'), four gates by four samples at once

    Sixteen sums in registers, as in the MLP layer. The gates of several units are then turned into outputs in
    vectors; tanh x is 1 - 2 / (1 + e^(2 x)), 5 flop instead of 1.
    """
    for task in prange(UNITS // LANES):
        u0 = task * LANES
        sums = np.empty((4, 4), out.dtype)
        gates = np.empty((4, 4, LANES), out.dtype)
        for s in range(0, Z.shape[0], 4):
            samples = min(4, Z.shape[0] - s)
            for u in range(LANES):
                for row in range(samples):
                    for gate in range(4):
                        sums[row, gate] = b[u0 + u, gate]
                _add_dots(sums, Z[s : s + samples], W[u0 + u])
                for row in range(samples):
                    for gate in range(4):
                        gates[row, gate, u] = sums[row, gate]
            for row in range(samples):
                _step(out[s + row, 0, u0 : u0 + LANES], out[s + row, 1, u0 : u0 + LANES], gates[row], C[s + row, u0:])


@njit(fastmath={"contract"}, error_model="numpy", boundscheck=False)
def _step(h, c, gates, before):
    """c = f * before + i * g, h = o * tanh(c)"""
    one = h.dtype.type(1)
    two = h.dtype.type(2)
    i, f, o, g = gates[0], gates[1], gates[2], gates[3]
    for u in range(h.size):
        entered = one / (one + exponential(-i[u])) * (one - two / (one + exponential(two * g[u])))
        cell = one / (one + exponential(-f[u])) * before[u] + entered
        c[u] = cell
        h[u] = one / (one + exponential(-o[u])) * (one - two / (one + exponential(two * cell)))
