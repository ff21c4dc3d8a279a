"""Chains through memory: their order, and that they are followed. How long it takes is not looked at."""

from __future__ import annotations

import numpy as np
import pytest
from witnesses import quiet_witness

from roofline.measurement.buffers import Arena
from roofline.measurement.latency import BLOCK_BYTES, LINE_BYTES, LatencyProbe, chase_code, linked
from roofline.measurement.probe import Stage
from roofline.measurement.team import Team


@pytest.mark.parametrize("size_bytes", [64, 128, 4096, 5000, BLOCK_BYTES, 2 * BLOCK_BYTES + 3 * LINE_BYTES])
def test_a_chain_visits_every_line_once_and_returns(size_bytes: int) -> None:
    arena = Arena(size_bytes)
    start = linked(arena, size_bytes, np.random.default_rng(1))
    words = arena.bytes.view(np.int64)
    place, seen = start, set()
    while place not in seen:
        seen.add(place)
        place = int(words[(place - arena.address) // 8])
    assert place == start
    assert len(seen) == size_bytes // LINE_BYTES
    assert all((place - arena.address) % LINE_BYTES == 0 for place in seen)


def test_the_order_is_random_and_the_seed_decides_it() -> None:
    def order(seed: int) -> list[int]:
        arena = Arena(4096)
        place, places = linked(arena, 4096, np.random.default_rng(seed)), []
        for _ in range(64):
            places.append(place - arena.address)
            place = int(arena.bytes.view(np.int64)[places[-1] // 8])
        return places

    assert order(1) == order(1) != order(2)
    steps = {(b - a) % 4096 for a, b in zip(order(1), order(1)[1:], strict=False)}
    assert len(steps) > 20  # no stride that a prefetcher could guess


def test_the_code_is_one_chain_of_loads() -> None:
    audit = chase_code()
    assert audit.chains == 1
    assert sum(audit.instructions.values()) % 8 == 0


def test_every_size_gets_a_latency() -> None:
    with Team((), 1) as team:
        stage = Stage(team=team, clock=lambda: 0.0, sample_s=1e-9, witness=quiet_witness(team))
        beats: list[int] = []
        points = LatencyProbe(stage, seed=3).sweep((4096, 8192), lambda: beats.append(1))
    assert [point.size_bytes for point in points] == [4096, 8192]
    assert all(0 < point.latency_s < 1 and point.latency_cycles > 0 for point in points)
    assert len(beats) == 2
