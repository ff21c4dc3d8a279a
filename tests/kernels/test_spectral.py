from __future__ import annotations

import numpy as np
import pytest

from roofline.kernels.check import check
from roofline.kernels.compile import compiled
from roofline.kernels.counting import count_work
from roofline.kernels.kernel import Kernel
from roofline.kernels.spectral import length_of, naive, scipy_fft, stockham

every_rung = pytest.mark.parametrize("known", [naive, stockham, scipy_fft], ids=lambda known: known.name)


@pytest.mark.parametrize(("n", "length"), [(1, 1), (2, 2), (3, 2), (64, 64), (127, 64), (65536, 65536)])
def test_the_length_is_the_largest_power_of_two_that_is_not_above_n(n: int, length: int):
    assert length_of(n) == length


@every_rung
@pytest.mark.parametrize("n", [2, 4, 8, 16, 32, 256, 512, 4096])
def test_every_power_of_two_has_the_reference_transform(known: Kernel, n: int):
    for dtype in known.dtypes:
        check(known, compiled(known, False), known.make_arguments(n, dtype, np.random.default_rng(n)), n, dtype)


@every_rung
def test_one_frequency_in_gives_one_line_out(known: Kernel):
    y, x, w = known.make_arguments(64, "f64", np.random.default_rng(1))
    angle = 2 * np.pi * 5 * np.arange(64) / 64
    x[:] = np.stack((np.cos(angle), np.sin(angle)), axis=1)
    compiled(known, False)(y, x, w)
    line = np.zeros((64, 2))
    line[5, 0] = 64
    np.testing.assert_allclose(y, line, atol=1e-12)


@pytest.mark.parametrize("n", [2, 4, 8, 16, 32, 64, 128])
def test_the_work_of_either_radix_is_what_it_does_for_every_number_of_passes(n: int):
    assert count_work(naive, n) == naive.work_of(n, "f64")
    assert count_work(stockham, n, scratch=True) == stockham.own_work_of(n, "f64")


def test_a_higher_radix_takes_fewer_flops():
    for n in (4096, 65536):
        assert stockham.own_work_of(n, "f64").flops < 0.85 * naive.work_of(n, "f64").flops
