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
from numba import prange

from roofline.codegen.multiply import aligned_start, pack_panels
from roofline.kernels.data import uniform
from roofline.kernels.inner import cache_tile
from roofline.kernels.kernel import kernel
from roofline.kernels.multiplication import ROOM, multiply_panels
from roofline.kernels.network_parts import add_dots, step_cell, transpose
from roofline.model.work import Work

INPUTS = 256
OUTPUTS = 128
UNITS = 64
"""Of the LSTM cell; as many inputs."""
BATCHES = (1, 16, 256)
FEW = 8
"""Outputs per task: their weights stay in the first cache for all samples."""
MANY = 64
"""Samples from which on packing the weights pays, a multiple of TASKS."""
TASKS = 4
"""Tasks that share MANY samples."""
LANES = 16
"""Units of the LSTM cell per task: whole vectors of any width."""


def _layer(n: int, size: int, intermediates: int = 0) -> Work:
    return Work(
        flops=2 * INPUTS * OUTPUTS * n,
        read_bytes=(INPUTS * OUTPUTS + OUTPUTS + INPUTS * n + intermediates) * size,
        write_bytes=(OUTPUTS * n + intermediates) * size,
        allocate_bytes=(OUTPUTS * n + intermediates) * size,
    )


def packed_layer(n: int, size: int, many: int = MANY) -> Work:
    """Return the work of a layer whose weights are written and read twice, to be packed, from `many` samples on."""
    return _layer(n, size, intermediates=2 * INPUTS * OUTPUTS if n >= many else 0)


def _mlp(Y, W, b, X):
    return np.maximum(X.astype("f8") @ W.T.astype("f8") + b, 0).astype(Y.dtype)


@kernel(
    family="network",
    work=_layer,
    arguments=lambda n, dtype, rng: (
        uniform(rng, (n, OUTPUTS), dtype),
        uniform(rng, (OUTPUTS, INPUTS), dtype) - dtype(1),  # of both signs, so that relu has something to cut
        uniform(rng, OUTPUTS, dtype) - dtype(1),
        uniform(rng, (n, INPUTS), dtype),
    ),
    reference=_mlp,
    magnitude=lambda Y, W, b, X: np.abs(X).astype("f8") @ np.abs(W.T).astype("f8") + np.abs(b),
    roundings=lambda n: INPUTS + 1,
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


@kernel(
    improves=naive_mlp,
    fastmath=("contract", "reassoc"),
    sizes=BATCHES,
    own_work=packed_layer,
    tiles=lambda capacity, dtype: (MANY,),
)
def blocked_mlp(Y, W, b, X, many):
    """Y[s, o] = max(0, b[o] + sum over i of W[o, i] * X[s, i]), four samples by four outputs at once

    Sixteen sums in registers: each vector of weights serves four samples. A task keeps its weights for all samples.
    Of a large batch, most samples go through GEMM's register tile instead, for which the weights are transposed and
    packed: they are written and read twice beside the job's traffic.
    """
    packed = X.shape[0] // many * many
    share = max(1, many // TASKS)
    if packed:
        columns = np.empty((INPUTS, OUTPUTS), W.dtype)
        transpose(columns, W)
        panels = np.empty(INPUTS * (OUTPUTS + ROOM) + ROOM, W.dtype)
        pack_panels(panels, aligned_start(panels), columns, 0, INPUTS, 0, OUTPUTS)
        for task in prange(packed // share):
            rows = Y[task * share : task * share + share]
            inputs = X[task * share : task * share + share]
            for s in range(share):
                row = rows[s]
                for o in range(OUTPUTS):
                    row[o] = b[o]
            multiply_panels(rows, inputs, 0, panels, aligned_start(panels), INPUTS, True)
            for s in range(share):
                row = rows[s]
                for o in range(OUTPUTS):
                    row[o] = max(row[o], Y.dtype.type(0))
    for task in prange(OUTPUTS // FEW):
        sums = cache_tile((4, 4), Y.dtype)
        for s in range(packed, X.shape[0], 4):
            samples = min(4, X.shape[0] - s)
            for o in range(task * FEW, task * FEW + FEW, 4):
                for row in range(samples):
                    for column in range(4):
                        sums[row, column] = b[o + column]
                add_dots(sums, X[s : s + samples], W[o : o + 4])
                for row in range(samples):
                    for column in range(4):
                        Y[s + row, o + column] = max(sums[row, column], Y.dtype.type(0))


def _cell(n: int, size: int, tanh_flops: int = 1, intermediates: int = 0) -> Work:
    return Work(
        flops=(4 * 4 * UNITS + 3 * 3 + 2 * tanh_flops + 4) * UNITS * n,
        read_bytes=(4 * UNITS * (2 * UNITS + 1) + 3 * UNITS * n + intermediates) * size,
        write_bytes=(2 * UNITS * n + intermediates) * size,
        allocate_bytes=(2 * UNITS * n + intermediates) * size,
    )


def packed_cell(n: int, size: int, many: int = MANY) -> Work:
    """Return the work of a cell whose tanh is an exp, and whose weights are packed as those of `packed_layer`."""
    return _cell(n, size, tanh_flops=5, intermediates=2 * 4 * UNITS * 2 * UNITS if n >= many else 0)


def _gates(W: np.ndarray, b: np.ndarray, Z: np.ndarray) -> np.ndarray:
    gates: np.ndarray = Z.astype("f8") @ W.astype("f8").transpose(1, 2, 0) + b.T[:, None, :]
    return gates


def _lstm(out, W, b, Z, C):
    gates = _gates(W, b, Z)
    i, f, o = (1 / (1 + np.exp(-gate)) for gate in gates[:3])
    c = f * C + i * np.tanh(gates[3])
    return np.stack((o * np.tanh(c), c), axis=1).astype(out.dtype)


def _lstm_magnitude(out, W, b, Z, C):
    """Return what the terms add up to: an error in a gate, relative to its own terms, reaches a sigmoid times at most
    the sigmoid itself, and a tanh at most as it is."""
    gates, terms = _gates(W, b, Z), _gates(np.abs(W), np.abs(b), np.abs(Z))
    i, f, o = (1 / (1 + np.exp(-gate)) for gate in gates[:3])
    g = np.abs(np.tanh(gates[3]))
    c = f * np.abs(C) * (1 + terms[1]) + i * (g * (1 + terms[0]) + terms[3])
    h = o * (np.abs(np.tanh(f * C + i * np.tanh(gates[3]))) * (1 + terms[2]) + c)
    return np.stack((h, c), axis=1)


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
    magnitude=_lstm_magnitude,
    roundings=lambda n: 2 * UNITS + 12,
    sizes=BATCHES,
)
def naive_lstm(out, W, b, Z, C):
    """c' = f * c + i * g, h' = o * tanh(c'), where i, f, o = sigmoid and g = tanh of W [x, h] + b

    Z holds [x, h] and C holds c of each sample; out holds h' and c'. Unit by unit, each sum in strict order.
    """
    one = out.dtype.type(1)
    for s in prange(Z.shape[0]):
        gates = cache_tile(4, out.dtype)
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
    own_work=packed_cell,
    tiles=lambda capacity, dtype: (MANY,),
)
def blocked_lstm(out, W, b, Z, C, many):
    """c' = f * c + i * g, h' = o * tanh(c'), four gates by four samples at once

    Sixteen sums in registers, or of a large batch a packed product, as in the MLP layer. The gates of several units
    are then turned into outputs in vectors; tanh x is 1 - 2 / (1 + e^(2 x)), 5 flop instead of 1.
    """
    packed = Z.shape[0] // many * many
    share = max(1, many // TASKS)
    if packed:
        columns = np.empty((2 * UNITS, 4 * UNITS), W.dtype)
        for gate in range(4):
            transpose(columns[:, gate * UNITS : gate * UNITS + UNITS], W[:, gate])
        panels = np.empty(2 * UNITS * (4 * UNITS + ROOM) + ROOM, W.dtype)
        pack_panels(panels, aligned_start(panels), columns, 0, 2 * UNITS, 0, 4 * UNITS)
        for task in prange(packed // share):
            sums = cache_tile((share, 4 * UNITS), out.dtype)
            for row in range(share):
                for gate in range(4):
                    for u in range(UNITS):
                        sums[row, gate * UNITS + u] = b[u, gate]
            inputs = Z[task * share : task * share + share]
            multiply_panels(sums, inputs, 0, panels, aligned_start(panels), 2 * UNITS, True)
            for row in range(share):
                s = task * share + row
                step_cell(out[s, 0], out[s, 1], sums[row].reshape(4, UNITS), C[s])
    for task in prange(UNITS // LANES):
        u0 = task * LANES
        dots = cache_tile((4, 4), out.dtype)
        gates = cache_tile((4, 4, LANES), out.dtype)
        for s in range(packed, Z.shape[0], 4):
            samples = min(4, Z.shape[0] - s)
            for u in range(LANES):
                for row in range(samples):
                    for gate in range(4):
                        dots[row, gate] = b[u0 + u, gate]
                add_dots(dots, Z[s : s + samples], W[u0 + u])
                for row in range(samples):
                    for gate in range(4):
                        gates[row, gate, u] = dots[row, gate]
            for row in range(samples):
                step_cell(
                    out[s + row, 0, u0 : u0 + LANES], out[s + row, 1, u0 : u0 + LANES], gates[row], C[s + row, u0:]
                )
