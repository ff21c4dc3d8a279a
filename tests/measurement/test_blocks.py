"""Samples as the clock readings of a team say them, and blocks of kernels."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from numba import njit

from roofline.codegen.assembly import assembly_of
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


def name_of(*words: object) -> str:
    """Return a block's name that is this version of the file's own: Numba caches the block by it."""
    digest = sha256(Path(__file__).read_bytes()).hexdigest()[:16]
    return "_".join([*map(str, words), digest]).lower()


def test_calls_that_do_the_same_again_are_not_merged() -> None:
    @njit
    def stores(array):  # type: ignore[no-untyped-def]
        array[0] = 1.0

    block = kernel_block(stores, name_of("repeated"), 1, False)
    block(7, 10, np.zeros(1), np.zeros(3, np.int64), np.zeros(1))
    # Around a call that is inlined and whose store is kept, the loop of repeats is shorter than the add chain.
    repeats = innermost_loops(assembly_of(block))[0]
    assert len(repeats) < CHAIN_ADDS


@pytest.mark.parametrize("returns", [True, False])
def test_a_kernel_is_called_as_often_as_said_and_the_clock_read_around(returns: bool) -> None:
    @njit
    def gives(array):  # type: ignore[no-untyped-def]
        array[0] += 1.0
        return array[0]

    @njit
    def gives_nothing(array):  # type: ignore[no-untyped-def]
        array[0] += 1.0

    block = kernel_block(gives if returns else gives_nothing, name_of("counted", returns), 1, returns)
    array, sink, out = np.zeros(1), np.zeros(1), np.zeros(3, np.int64)
    block(7, 10, sink, out, array)
    assert array[0] == 7.0
    assert sink[0] == (7.0 if returns else 0.0)
    assert 0 < out[0] <= out[1] <= out[2]
