from __future__ import annotations

import re

import numpy as np
import pytest

from roofline.codegen.assembly import assembly_of
from roofline.codegen.register import vector_register
from roofline.kernels.compile import compiled
from roofline.kernels.finance import naive, vectorised
from roofline.kernels.kernel import Kernel

every_rung = pytest.mark.parametrize("known", [naive, vectorised], ids=lambda known: known.name)


def prices_of(known: Kernel, S, K, T, rate=0.05, volatility=0.2):
    """Return calls and puts."""
    S, K, T = (np.atleast_1d(np.asarray(values, "f8")) for values in (S, K, T))
    prices = np.full((2, S.size), np.nan)
    compiled(known, parallel=False)(prices, S, K, T, rate, rate + volatility * volatility / 2, volatility)
    return prices


def assembly_for(known: Kernel, dtype: str) -> str:
    call = compiled(known, parallel=False)
    call(*known.make_arguments(8, dtype, np.random.default_rng(3)))
    wanted = next(signature for signature in call.overloads if dtype[1:] in str(signature[0]))  # type: ignore[attr-defined]
    return assembly_of(call, wanted)


@every_rung
def test_an_option_at_the_money_has_the_price_of_the_text_books(known: Kernel):
    # d1 = 0.35, d2 = 0.15: 100 N(0.35) - 100 e^-0.05 N(0.15)
    np.testing.assert_allclose(prices_of(known, 100, 100, 1), [[10.450583572185565], [5.573526022256971]], rtol=1e-13)


@every_rung
def test_prices_far_from_the_strike_go_to_what_is_certain(known: Kernel):
    discounted = 50 * np.exp(-0.05)
    call, put = prices_of(known, [5000, 0.5], 50 * np.ones(2), np.ones(2))
    np.testing.assert_allclose(call, [5000 - discounted, 0], atol=1e-9)
    np.testing.assert_allclose(put, [0, discounted - 0.5], atol=1e-9)


@every_rung
def test_a_call_gains_with_the_spot_and_a_put_loses(known: Kernel):
    spots = np.linspace(20, 200, 500)
    call, put = prices_of(known, spots, np.full(500, 80.0), np.full(500, 0.5))
    assert (np.diff(call) > -1e-12).all()
    assert (np.diff(put) < 1e-12).all()


@pytest.mark.parametrize("dtype", ["f64", "f32"])
def test_own_functions_leave_no_call_of_the_mathematical_library(dtype: str):
    called = re.compile(r"\b(exp|log|erfc)f?(@PLT)?\b")
    assert called.search(assembly_for(naive, dtype))
    assembly = assembly_for(vectorised, dtype)
    assert not called.search(assembly)
    assert vector_register(assembly) not in (None, "scalar")
