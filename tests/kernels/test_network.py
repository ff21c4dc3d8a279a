from __future__ import annotations

import numpy as np
import pytest

from roofline.kernels import network, network_rows
from roofline.kernels.check import check
from roofline.kernels.compile import compiled
from roofline.kernels.counting import count_work
from roofline.kernels.kernel import Kernel

LAYERS = (network.naive_mlp, network.naive_lstm)
ROWS = (network_rows.naive_layer_norm, network_rows.naive_softmax)


@pytest.mark.parametrize("layer", [network.blocked_mlp, network.blocked_lstm], ids=lambda layer: layer.name)
@pytest.mark.parametrize("dtype", ["f64", "f32"])
def test_results_are_right_where_a_packed_batch_leaves_a_rest(layer: Kernel, dtype: str):
    n = network.MANY + 5
    arguments = layer.make_arguments(n, dtype, np.random.default_rng(1997))
    check(layer, compiled(layer, parallel=False), arguments, n, dtype)


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
def test_batch_moves_a_layer_with_weights_along_the_intensity_axis(layer: Kernel):
    intensity = [layer.work_of(n, "f64").flop_per_byte for n in network.BATCHES]
    assert intensity[0] == pytest.approx(0.25, rel=0.05)
    assert intensity[2] > 4 * intensity[1] > 8 * intensity[0]


@pytest.mark.parametrize("layer", ROWS, ids=lambda layer: layer.name)
def test_batch_leaves_row_operators_where_they_are(layer: Kernel):
    intensity = [layer.work_of(n, "f64").flop_per_byte for n in network_rows.BATCHES]
    assert intensity[0] <= intensity[2] <= 2.1 * intensity[0]


def test_relu_cuts_some_outputs_and_leaves_others():
    arguments = network.blocked_mlp.make_arguments(5, "f64", np.random.default_rng(1))
    compiled(network.blocked_mlp, parallel=False)(*arguments)
    assert 0.2 < np.mean(arguments[0] == 0) < 0.8


def test_unfused_row_operators_write_two_numbers_per_row_and_fused_ones_none():
    for naive, fused in zip(ROWS, (network_rows.fused_layer_norm, network_rows.fused_softmax), strict=True):
        assert naive.own_work_of(3, "f64").bytes - naive.work_of(3, "f64").bytes == 2 * 2 * 3 * 8
        assert fused.own_work is None


def test_the_vectorised_tanh_of_the_lstm_costs_four_flop_more():
    extra = network.blocked_lstm.own_work_of(1, "f64").flops - network.naive_lstm.work_of(1, "f64").flops
    assert extra == 2 * 4 * network.UNITS
    assert count_work(network.blocked_lstm, 1) == network.blocked_lstm.own_work_of(1, "f64")
