from __future__ import annotations

import numpy as np
import pytest

from roofline.kernels.capacity import UNKNOWN, Capacity
from roofline.kernels.check import check
from roofline.kernels.compile import compiled
from roofline.kernels.counting import count_work
from roofline.kernels.grid import span
from roofline.kernels.registry import kernel_named
from roofline.kernels.stencil import ROWS, STEPS

SMALL = Capacity(first_bytes=2048, second_bytes=4096, last_bytes=8192)
"""Of caches so small that a few dozen points per side are several tiles."""


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize(
    ("name", "n"),
    [
        ("blocked_2d5", 70),
        ("temporal_2d5", 2 * ROWS + 9),
        ("blocked_3d7", 37),
        ("temporal_3d7", 43),
        ("blocked_3d27", 21),
    ],
)
def test_many_tiles_give_the_result_of_whole_sweeps(name: str, n: int, parallel: bool):
    known = kernel_named(f"stencil.{name}")
    arguments = known.make_arguments(n, "f64", np.random.default_rng(3), SMALL)
    check(known, compiled(known, parallel), arguments, n, "f64")


@pytest.mark.parametrize("width", [2 * STEPS, 2 * STEPS + 3, 100])
@pytest.mark.parametrize("n", [1, 2, 3, 20, 51, 52, 90])
def test_trapezoids_and_the_gaps_between_them_relax_every_inner_point_once_per_sweep(width: int, n: int):
    tiles = (n - 3 + width) // width
    for step in range(STEPS):
        relaxed = np.zeros(n, int)
        for between in range(2):
            for tile in range(tiles - between):
                first, last = span(tile, between, step, width, n)
                relaxed[first : max(first, last)] += 1
        assert (relaxed[1 : n - 1] == 1).all()
        assert relaxed.sum() == max(n - 2, 0)


@pytest.mark.parametrize("ladder", ["2d5", "3d7"])
def test_one_pass_over_memory_lifts_the_intensity_of_the_same_flops(ladder: str):
    naive, temporal = (kernel_named(f"stencil.{form}_{ladder}") for form in ("naive", "temporal"))
    n = naive.sizes[0]
    one_pass, sweeps = temporal.own_work_of(n, "f64"), naive.own_work_of(n, "f64")
    assert one_pass.flops == sweeps.flops
    assert one_pass == naive.work_of(n, "f64")
    assert sweeps.flop_per_byte < one_pass.flop_per_byte / 5


def test_sweep_by_sweep_moves_every_iterate_with_several_strips_too():
    known = kernel_named("stencil.blocked_2d5")
    assert count_work(known, 11, every_value=True) == known.own_work_of(11, "f64")
    assert count_work(known, 11) == known.work_of(11, "f64")


def test_the_frame_stays_and_the_last_two_iterates_are_kept_in_order():
    known = kernel_named("stencil.naive_2d5")
    out, u, centre, near = known.make_arguments(5, "f64", np.random.default_rng(5))
    compiled(known, False)(out, u, centre, near)
    inner = (slice(1, -1), slice(1, -1))
    for grid in out:
        frame = grid.copy()
        frame[inner] = u[inner]
        assert np.array_equal(frame, u)
    around = out[0, :-2, 1:-1] + out[0, 2:, 1:-1] + out[0, 1:-1, :-2] + out[0, 1:-1, 2:]
    assert np.allclose(out[1][inner], centre * out[0][inner] + near * around)


def test_a_temporal_slab_is_never_narrower_than_its_gaps():
    known = kernel_named("stencil.temporal_3d7")
    tiny = Capacity(first_bytes=64, second_bytes=64, last_bytes=64)
    arguments = known.make_arguments(40, "f64", np.random.default_rng(1), tiny)
    assert arguments[-1] < known.tiles_for(UNKNOWN, "f64")[0]
    check(known, compiled(known, False), arguments, 40, "f64")
