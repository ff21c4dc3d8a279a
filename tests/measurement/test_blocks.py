"""Samples as the clock readings of a team say them, and blocks of kernels."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit, typeof

from roofline.codegen.assembly import assembly_of
from roofline.codegen.call import address_of
from roofline.codegen.emit import CHAIN_ADDS
from roofline.codegen.reading import innermost_loops
from roofline.measurement.blocks import arithmetic_block, intervals_of, kernel_block, take
from roofline.measurement.team import Team


def test_a_sample_is_the_last_end_minus_the_first_start() -> None:
    first = np.array([[1000, 2000, 3000], [10_000, 10_500, 12_500]])
    second = np.array([[1100, 2500, 3500], [9900, 10_400, 12_400]])
    intervals = intervals_of([first, second], chain_turns=1)
    assert intervals.samples_s == pytest.approx((1500e-9, 600e-9))


def test_the_clock_held_is_adds_over_the_time_of_the_chain() -> None:
    chain_turns = 1000
    one = np.array([[0, 500, 500 + chain_turns * CHAIN_ADDS // 2]])  # two adds per nanosecond
    assert intervals_of([one], chain_turns).clock_hz == pytest.approx((2e9,))


def test_the_clock_held_is_the_median_over_the_threads() -> None:
    times = [np.array([[0, 100, 100 + nanoseconds]]) for nanoseconds in (32_000, 64_000, 640_000)]
    assert intervals_of(times, 1000).clock_hz == pytest.approx((1e9,))


def test_a_chain_in_no_time_is_no_division_by_zero() -> None:
    assert np.isfinite(intervals_of([np.array([[5, 5, 5]])], 10).clock_hz[0])


def test_a_block_that_runs_on_a_team_gives_a_sample_for_each_turn() -> None:
    block = arithmetic_block("add", 1, 8, "f64")
    with Team((), 2) as team:

        def call(rank: int, out: np.ndarray) -> None:
            block(team.barrier_address, 2, 4, 1000, 1000, 1.0, 0.0, out)

        intervals = take(team, 2, 4, call)
    assert len(intervals.samples_s) == len(intervals.clock_hz) == 4
    assert min(intervals.samples_s) > 0


def test_the_timing_loop_calls_the_kernel_and_holds_nothing_of_it_that_could_be_merged() -> None:
    @njit
    def stores(array):  # type: ignore[no-untyped-def]
        array[0] = 1.0

    array = np.zeros(1)
    stores(array)
    block = kernel_block(1, False)
    block(address_of(stores, (typeof(array),)), 7, 10, np.zeros(1), np.zeros(3, np.int64), array)
    # Its loop of repeats is shorter than the add chain.
    repeats = innermost_loops(assembly_of(block))[0]
    assert len(repeats) < CHAIN_ADDS
    assert sum(line.mnemonic.startswith(("call", "blr")) for line in repeats) == 1


@pytest.mark.parametrize("returns", [True, False])
def test_a_kernel_is_called_as_often_as_said_and_the_clock_read_around(returns: bool) -> None:
    @njit
    def gives(array, step):  # type: ignore[no-untyped-def]
        array[0] += step
        return array[0]

    @njit
    def gives_nothing(array, step):  # type: ignore[no-untyped-def]
        array[0] += step

    kernel = gives if returns else gives_nothing
    array, sink, out = np.zeros(1), np.zeros(1), np.zeros(3, np.int64)
    kernel(array, 2.0)
    array[0] = 0.0
    kernel_block(2, returns)(address_of(kernel, (typeof(array), typeof(2.0))), 7, 10, sink, out, array, 2.0)
    assert array[0] == 14.0
    assert sink[0] == (14.0 if returns else 0.0)
    assert 0 < out[0] <= out[1] <= out[2]


def test_what_a_kernel_raises_reaches_the_caller_of_its_block() -> None:
    @njit
    def raises(array):  # type: ignore[no-untyped-def]
        if array[0] == 0.0:
            raise ValueError("an empty array")

    raises(np.ones(1))
    block = kernel_block(1, False)
    address = address_of(raises, (typeof(np.ones(1)),))
    with pytest.raises(ValueError, match="an empty array"):
        block(address, 1, 10, np.zeros(1), np.zeros(3, np.int64), np.zeros(1))
