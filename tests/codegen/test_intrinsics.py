"""The intrinsics on this host: what compiled functions call does what it says."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
from numba import njit

from roofline.codegen.emit import CHAIN_ADDS
from roofline.codegen.intrinsics import (
    ARCH,
    HAS_FMA,
    add_chain,
    arithmetic_chains,
    clock_ns,
    stream_passes,
    wait_for_all,
)
from roofline.model.isa import isas_of

NUMPY = {"f64": np.float64, "f32": np.float32}
WIDEST = isas_of(ARCH, [name for name, there in llvm.get_host_cpu_features().items() if there])[-1]
UNROLL = 4
GROUPS = 6


def arithmetic(op: str, lanes: int, chains: int) -> Any:
    """Return a compiled function of (turns, factor, term)."""

    @njit
    def run(turns, factor, term):  # type: ignore[no-untyped-def]
        return arithmetic_chains(op, lanes, chains, turns, factor, term)

    return run


def streams(pattern: str, lanes: int, segments: int, ahead_bytes: int) -> Any:
    """Return a compiled function of (addresses of a, b, c, repeats, s)."""

    @njit
    def run(a, b, c, repeats, s):  # type: ignore[no-untyped-def]
        stream_passes(pattern, lanes, UNROLL, segments, ahead_bytes, a, b, c, GROUPS, repeats, s)

    return run


def aligned(size: int, dtype: str, rng: np.random.Generator) -> np.ndarray:
    """Return random data that starts at a multiple of 64 bytes."""
    raw = np.zeros(size * np.dtype(NUMPY[dtype]).itemsize + 64, np.uint8)
    start = -raw.ctypes.data % 64
    array = raw[start : start + size * np.dtype(NUMPY[dtype]).itemsize].view(NUMPY[dtype])
    array[:] = rng.random(size) + 0.5
    return array


@pytest.mark.parametrize("dtype", ["f64", "f32"])
@pytest.mark.parametrize("op", ["fma", "add", "mul", "mul_add", "fma_add"])
def test_arithmetic_chains_stay_finite_and_normal_in_a_long_run(op: str, dtype: str) -> None:
    if "fma" in op and not HAS_FMA:
        pytest.skip("this host has no FMA")
    chains = 8
    scalar = NUMPY[dtype]
    lanes = WIDEST.lanes(dtype)
    run = arithmetic(op, lanes, chains)
    factor, term = scalar(1 - 2**-20), scalar(2**-20)
    total = run(2_000_000, factor, term)
    starts = lanes * sum(float(term) + 1 + chain / 64 for chain in range(chains))
    # What the steps do not undo is rounding: a fraction of the start even in single precision.
    assert 0.25 * starts < total < 4 * starts
    assert np.isclose(run(1, factor, term), starts, rtol=1e-4)


def test_arithmetic_chains_start_apart_and_work_one_lane_at_a_time() -> None:
    one, three = (arithmetic("add", 1, chains)(1, 1.0, 0.0) for chains in (1, 3))
    assert one == 1.0
    assert three == 3 + (0 + 1 + 2) / 64


@pytest.mark.parametrize(
    ("dtype", "wide", "segments"), [("f64", True, 1), ("f64", True, 4), ("f64", False, 1), ("f32", True, 2)]
)
@pytest.mark.parametrize("pattern", ["copy", "nt_copy", "triad", "nt_triad", "store", "nt_store", "update", "load"])
def test_streams_do_what_their_name_says(pattern: str, dtype: str, wide: bool, segments: int) -> None:
    lanes = WIDEST.lanes(dtype) if wide else 1
    rng = np.random.default_rng(7)
    size = GROUPS * UNROLL * lanes
    arrays = [aligned(size + 3, dtype, rng) for _ in range(3)]  # 3 elements beyond the end, that nobody may touch
    a, b, c = (array.copy() for array in arrays)
    s = NUMPY[dtype](0.5)
    repeats = 3
    streams(pattern, lanes, segments, 512 if segments > 1 else 0)(*(array.ctypes.data for array in arrays), repeats, s)
    expected = {"copy": b, "triad": b + s * c, "store": np.full_like(a, s + repeats - 1), "update": a, "load": a}
    np.testing.assert_array_equal(arrays[0][:size], expected[pattern.removeprefix("nt_")][:size])
    np.testing.assert_array_equal(arrays[0][size:], a[size:])
    np.testing.assert_array_equal(arrays[1], b)
    np.testing.assert_array_equal(arrays[2], c)


def test_shapes_that_are_no_constants_are_refused_by_the_compiler() -> None:
    @njit
    def run(chains, factor):  # type: ignore[no-untyped-def]
        return arithmetic_chains("fma", 1, chains, 1, factor, factor)

    with pytest.raises(Exception, match="arithmetic_chains"):
        run(8, 1.0)


@njit
def read_clock(out):  # type: ignore[no-untyped-def]
    for k in range(out.size):
        out[k] = clock_ns()


@njit
def add_up(turns):  # type: ignore[no-untyped-def]
    return add_chain(turns)


def test_the_compiled_clock_grows() -> None:
    readings = np.zeros(10_000, np.int64)
    read_clock(readings)
    assert np.all(np.diff(readings) >= 0)
    assert readings[-1] > readings[0] > 0


@pytest.mark.skipif(sys.platform != "linux", reason="Python's monotonic clock is this one only on Linux")
def test_the_compiled_clock_is_the_monotonic_clock_in_nanoseconds() -> None:
    readings = np.zeros(1, np.int64)
    read_clock(readings)
    before = time.monotonic_ns()
    read_clock(readings)
    assert before <= readings[0] <= time.monotonic_ns()


@pytest.mark.parametrize("turns", [1, 2, 1000])
def test_the_add_chain_adds_one_as_often_as_it_says(turns: int) -> None:
    assert add_up(turns) == turns * CHAIN_ADDS


def test_the_barrier_lets_threads_meet_round_after_round() -> None:
    threads, rounds = 2, 50

    @njit(nogil=True)
    def meet(barrier, rank, slots, seen):  # type: ignore[no-untyped-def]
        for k in range(seen.size):
            slots[rank] = k + 1
            wait_for_all(barrier, threads)
            seen[k] = slots[1 - rank]
            wait_for_all(barrier, threads)

    counter = np.zeros(1, np.int64)
    slots = np.zeros(threads, np.int64)
    seen = np.zeros((threads, rounds), np.int64)
    meet(counter.ctypes.data, 0, slots, np.zeros(0, np.int64))  # compiled before the threads start
    workers = [
        threading.Thread(target=meet, args=(counter.ctypes.data, rank, slots, seen[rank]), daemon=True)
        for rank in range(threads)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=30)
        assert not worker.is_alive(), "a thread still waits at the barrier"
    np.testing.assert_array_equal(seen, np.tile(np.arange(1, rounds + 1), (threads, 1)))
    assert counter[0] == threads * rounds * 2


def test_a_barrier_of_one_thread_does_not_wait() -> None:
    @njit
    def alone(barrier):  # type: ignore[no-untyped-def]
        for _ in range(5):
            wait_for_all(barrier, 1)

    counter = np.zeros(1, np.int64)
    alone(counter.ctypes.data)
    assert counter[0] == 5
