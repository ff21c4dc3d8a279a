"""Compiled blocks of samples: barrier, clock, work, clock, and the add chain that tells the clock held.

One call times many samples, so that nothing of Python lies between two readings. Shapes are baked into closures;
each shape is compiled once and then loaded from the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from roofline.codegen.call import call_repeatedly
from roofline.codegen.emit import CHAIN_ADDS
from roofline.codegen.intrinsics import (
    add_chain,
    arithmetic_chains,
    chase_loads,
    clock_ns,
    dot_product_chains,
    stream_passes,
    wait_for_all,
)
from roofline.codegen.kept import kept
from roofline.measurement.clock import ClockQuality, quality_of
from roofline.measurement.team import Team

CHAIN_TURNS = 1000
"""Turns of the add chain after each sample: 64 000 cycles, some 20 µs, short beside the time that a licence holds."""


@dataclass(frozen=True)
class Intervals:
    """Times of a block of samples that all threads of a team took together."""

    samples_s: tuple[float, ...]
    """Last end minus first start over the threads."""
    clock_hz: tuple[float, ...]
    """Clock held right after each sample, median over the threads."""


@cache
def arithmetic_block(op: str, lanes: int, chains: int, dtype: str) -> Any:
    """Return the block for a compute ceiling, to be called with arguments of one dtype only.

    Its arguments: barrier address, threads, samples, turns, chain turns, factor, term (both of the dtype), and the
    int64 array [samples, 3] that receives start, stop and end of the add chain in nanoseconds.
    """

    def arithmetic(barrier, threads, samples, turns, chain_turns, factor, term, out):  # type: ignore[no-untyped-def]
        for k in range(samples):
            wait_for_all(barrier, threads)
            start = clock_ns()
            arithmetic_chains(op, lanes, chains, turns, factor, term)
            stop = clock_ns()
            add_chain(chain_turns)
            out[k, 0] = start
            out[k, 1] = stop
            out[k, 2] = clock_ns()

    return kept(nogil=True)(arithmetic)


@cache
def dot_block(lanes: int, chains: int) -> Any:
    """Return the block for a ceiling of int8 dot products, with the arguments of `arithmetic_block`."""

    def dot(barrier, threads, samples, turns, chain_turns, factor, term, out):  # type: ignore[no-untyped-def]
        for k in range(samples):
            wait_for_all(barrier, threads)
            start = clock_ns()
            dot_product_chains(lanes, chains, turns, factor, term)
            stop = clock_ns()
            add_chain(chain_turns)
            out[k, 0] = start
            out[k, 1] = stop
            out[k, 2] = clock_ns()

    return kept(nogil=True)(dot)


@cache
def stream_block(pattern: str, lanes: int, unroll: int, segments: int, ahead_bytes: int) -> Any:
    """Return the block for a memory ceiling.

    Its arguments: barrier address, threads, samples, addresses of a, b, c, groups, repeats, chain turns, the
    scalar, and the int64 array [samples, 3] as for `arithmetic_block`.
    """

    def stream(barrier, threads, samples, a, b, c, groups, repeats, chain_turns, s, out):  # type: ignore[no-untyped-def]
        for k in range(samples):
            wait_for_all(barrier, threads)
            start = clock_ns()
            stream_passes(pattern, lanes, unroll, segments, ahead_bytes, a, b, c, groups, repeats, s)
            stop = clock_ns()
            add_chain(chain_turns)
            out[k, 0] = start
            out[k, 1] = stop
            out[k, 2] = clock_ns()

    return kept(nogil=True)(stream)


@kept(nogil=True)
def chase_block(place, turns, chain_turns, out):  # type: ignore[no-untyped-def]
    """Time `turns` turns of dependent loads from an address on, write [start, stop, end of the add chain] to `out`,
    and return where it has come to."""
    start = clock_ns()
    place = chase_loads(place, turns)
    stop = clock_ns()
    add_chain(chain_turns)
    out[0] = start
    out[1] = stop
    out[2] = clock_ns()
    return place


_KERNEL_BLOCK = """
def {name}(address, repeats, chain_turns, sink, out, {arguments}):
    start = clock_ns()
    {store}call_repeatedly(address, repeats, {result}, ({arguments},))
    stop = clock_ns()
    add_chain(chain_turns)
    out[0] = start
    out[1] = stop
    out[2] = clock_ns()
"""


@cache
def kernel_block(arguments: int, returns: bool) -> Any:
    """Return the block for one sample of a kernel of so many arguments: `repeats` calls with a barrier between them.

    Its arguments: the kernel's address, repeats, chain turns, the array whose first element receives what the kernel
    `returns`, the int64 array that receives start, stop and end of the add chain, and the kernel's own.
    """
    name = f"kernel_block_{arguments}" + ("_returns" if returns else "")
    source = _KERNEL_BLOCK.format(
        name=name,
        arguments=", ".join(f"x{number}" for number in range(arguments)),
        store="sink[0] = " if returns else "",
        result="sink[0]" if returns else "None",
    )
    scope: dict[str, Any] = {
        "__name__": __name__,  # a cached function is bound to its module again when it is loaded
        "call_repeatedly": call_repeatedly,
        "clock_ns": clock_ns,
        "add_chain": add_chain,
    }
    exec(compile(source, __file__, "exec"), scope)  # this file's name is what lets Numba cache it
    return kept(nogil=True)(scope[name])


@kept(nogil=True)
def chain_block(chain_turns, out):  # type: ignore[no-untyped-def]
    """Run the add chain after a sample that Python timed, and write to `out[2]` when it would have ended had it begun
    at `out[1]`: the way here through Python takes as long as the chain."""
    start = clock_ns()
    add_chain(chain_turns)
    out[2] = out[1] + clock_ns() - start


@kept(nogil=True)
def _read_clock(out):  # type: ignore[no-untyped-def]
    for k in range(out.size):
        out[k] = clock_ns()


def compiled_clock_quality() -> ClockQuality:
    """Return resolution and overhead of the clock that compiled code reads."""
    readings = np.zeros(2000, np.int64)
    _read_clock(readings)
    remaining = iter(readings.tolist())
    return quality_of(lambda: int(next(remaining)), readings.size)


def intervals_of(times: list[np.ndarray], chain_turns: int) -> Intervals:
    """Return the samples of one block from the [samples, 3] arrays of its threads."""
    stacked = np.stack(times)
    samples_ns = stacked[:, :, 1].max(axis=0) - stacked[:, :, 0].min(axis=0)
    chain_ns = np.maximum(stacked[:, :, 2] - stacked[:, :, 1], 1)
    clock_hz = np.median(chain_turns * CHAIN_ADDS / (chain_ns * 1e-9), axis=0)
    return Intervals(tuple((samples_ns * 1e-9).tolist()), tuple(clock_hz.tolist()))


def take(team: Team, threads: int, samples: int, call: Callable[[int, np.ndarray], None]) -> Intervals:
    """Run `call(rank, out)`, one compiled block, on the first `threads` threads at once and return its samples."""

    def work(rank: int) -> np.ndarray:
        out = np.zeros((samples, 3), np.int64)
        call(rank, out)
        return out

    return intervals_of(team.each(work, threads), CHAIN_TURNS)
