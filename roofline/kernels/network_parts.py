"""What the blocked layers are made of: sums of few samples, weights in the order of a product, the step of a cell."""

from __future__ import annotations

from roofline.kernels.elementary import exponential
from roofline.kernels.inner import inner

LINE = 8
"""Outputs that are transposed at once: a cache line of f64."""


@inner
def transpose(columns, W):
    """columns[i, o] = W[o, i]"""
    outputs, inputs = W.shape
    for o0 in range(0, outputs, LINE):
        for i in range(inputs):
            for o in range(o0, min(o0 + LINE, outputs)):
                columns[i, o] = W[o, i]


@inner(fastmath=("contract", "reassoc"))
def add_dots(sums, x, w):
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


@inner(fastmath=("contract",))
def step_cell(h, c, gates, before):
    """c = f * before + i * g, h = o * tanh(c)"""
    one = h.dtype.type(1)
    two = h.dtype.type(2)
    i, f, o, g = gates[0], gates[1], gates[2], gates[3]
    for u in range(h.size):
        entered = one / (one + exponential(-i[u])) * (one - two / (one + exponential(two * g[u])))
        cell = one / (one + exponential(-f[u])) * before[u] + entered
        c[u] = cell
        h[u] = one / (one + exponential(-o[u])) * (one - two / (one + exponential(two * cell)))
