from __future__ import annotations

import numpy as np
import pytest

from roofline.kernels import conv, conv_depthwise
from roofline.kernels.capacity import Capacity
from roofline.kernels.check import check
from roofline.kernels.compile import compiled
from roofline.kernels.counting import count_work
from roofline.kernels.kernel import Kernel
from roofline.kernels.panel import WIDTH


@pytest.mark.parametrize("form", [conv.blocked_1x1, conv.im2col_3x3, conv.blocked_3x3], ids=lambda form: form.name)
@pytest.mark.parametrize("dtype", ["f64", "f32"])
def test_results_are_right_beyond_one_tile_and_one_band(form: Kernel, dtype: str):
    n = 51  # more columns than any register tile has, and no multiple of one
    arguments = form.make_arguments(n, dtype, np.random.default_rng(2006), Capacity(second_bytes=1024))
    check(form, compiled(form, parallel=False), arguments, n, dtype)


def test_large_depthwise_filters_are_right_beyond_one_panel_of_columns():
    form = conv_depthwise.blocked_depthwise_31x31
    n = WIDTH + 2
    output, weights, image = form.make_arguments(n, "f64", np.random.default_rng(2022))
    compiled(form, parallel=False)(output, weights, image)
    rows = (0, 1, n - 2, n - 1)
    for y in rows:
        expected = form.reference(output[:, :1], weights, image[:, y : y + conv_depthwise.LARGE])
        np.testing.assert_allclose(output[:, y : y + 1], expected, rtol=1e-12)


def test_only_im2col_writes_an_intermediate_and_it_is_nine_times_the_output_and_the_weights():
    n = 4
    job, own = conv.naive_3x3.work_of(n, "f64"), conv.im2col_3x3.own_work_of(n, "f64")
    assert own.write_bytes - job.write_bytes == 9 * job.write_bytes + conv.CHANNELS**2 * conv.TAPS * 8
    assert count_work(conv.im2col_3x3, 2, scratch=True) == conv.im2col_3x3.own_work_of(2, "f64")
    assert count_work(conv.blocked_3x3, 2) == conv.naive_3x3.work_of(2, "f64")


def test_the_size_of_a_depthwise_filter_moves_it_along_the_intensity_axis():
    small = conv_depthwise.naive_depthwise_3x3.work_of(1000, "f64").flop_per_byte
    large = conv_depthwise.naive_depthwise_31x31.work_of(1000, "f64").flop_per_byte
    assert small == pytest.approx(18 / 16, rel=0.01)
    assert large == pytest.approx(1922 / 16, rel=0.05)
