from __future__ import annotations

import numpy as np
import pytest

from roofline.codegen.assembly import assembly_of
from roofline.codegen.reading import innermost_loops
from roofline.codegen.register import vector_register
from roofline.kernels import attention, attention_parts
from roofline.kernels.capacity import Capacity
from roofline.kernels.check import check
from roofline.kernels.compile import compiled
from roofline.kernels.counting import count_work
from roofline.kernels.kernel import Kernel

FORMS = (attention.naive, attention.materialised, attention.flash)
every_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)


@every_form
@pytest.mark.parametrize("dtype", ["f64", "f32"])
def test_results_are_right_where_the_maximum_keeps_growing(form: Kernel, dtype: str):
    n = 147  # beyond a tile of queries and several of keys, and no multiple of either
    arguments = form.make_arguments(n, dtype, np.random.default_rng(2022), Capacity(second_bytes=2**17))
    keys = arguments[2]
    keys *= np.linspace(0.1, 3, n).astype(keys.dtype)[:, None]
    check(form, compiled(form, parallel=False), arguments, n, dtype)


@pytest.mark.parametrize("form", FORMS[1:], ids=lambda form: form.name)
def test_own_work_holds_beyond_one_tile_of_keys(form: Kernel):
    n = attention_parts.KEYS + 3
    assert count_work(form, n, scratch=True) == form.own_work_of(n, "f64")


def test_only_the_flash_form_has_no_intermediate_that_grows_with_the_square_of_the_length():
    extra = {form: form.own_work_of(1024, "f64").bytes - form.work_of(1024, "f64").bytes for form in FORMS}
    assert extra[attention.flash] == 2 * 1024 * attention_parts.HEAD * 8  # the transposed V
    assert all(extra[form] >= 2 * 1024**2 * 8 for form in FORMS[:2])


@pytest.mark.parametrize(
    ("second_bytes", "dtype", "queries"), [(1024, "f64", 16), (2**18, "f64", 128), (2**20, "f32", 192)]
)
def test_a_tile_of_scores_takes_a_quarter_of_the_second_cache(second_bytes: int, dtype: str, queries: int):
    assert attention.flash.tiles_for(Capacity(second_bytes=second_bytes), dtype) == (queries,)


def test_the_products_of_the_flash_form_fill_vectors():
    call = compiled(attention.flash, parallel=False)
    call(*attention.flash.make_arguments(40, "f64", np.random.default_rng(1)))
    assembly = assembly_of(call, next(iter(call.overloads)))  # type: ignore[attr-defined]
    assert vector_register(assembly) not in (None, "scalar")
    products = [sum(i.mnemonic.startswith(("vfm", "fml")) for i in loop) for loop in innermost_loops(assembly)]
    if max(products):  # on a CPU without fused multiply-adds there is nothing to find
        assert max(products) >= 16
