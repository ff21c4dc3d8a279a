"""Memory probes: sizes, amounts and data. The code is compiled and run, its speed not looked at."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from witnesses import quiet_witness

from roofline.codegen.intrinsics import ARCH
from roofline.errors import MeasurementError
from roofline.measurement.buffers import Arena
from roofline.measurement.memory import FAR_SHAPES, NEAR_SHAPES, MemoryProbe, shapes_for
from roofline.measurement.probe import Stage
from roofline.measurement.team import Team
from roofline.model.isa import ISAS

SCALAR = next(isa for isa in ISAS if (isa.name, isa.arch) == ("scalar", ARCH))
SHAPE = (8, 1, 0)


@pytest.fixture
def probe() -> Iterator[MemoryProbe]:
    """A probe with two threads whose samples are as short as can be."""
    with Team((), 2) as team:
        yield MemoryProbe(Stage(team=team, clock=lambda: 0.0, sample_s=1e-9, witness=quiet_witness(team)))


def arenas(probe: MemoryProbe) -> list[np.ndarray]:
    """Return what the threads' memory holds."""
    return [arena.bytes.view(np.float64) for arena in probe._arenas]


def test_a_sampler_uses_whole_groups_within_the_working_set(probe: MemoryProbe) -> None:
    for pattern, arrays, moved in (("load", 1, 1), ("copy", 2, 2), ("triad", 3, 3), ("update", 1, 2)):
        sampler, used_bytes = probe.sampler(SCALAR, pattern, SHAPE, 1, 10_000)
        assert 10_000 - 64 * arrays < used_bytes <= 10_000
        assert used_bytes % (64 * arrays) == 0
        assert sampler.amount % (used_bytes // arrays * moved) == 0


def test_a_set_smaller_than_a_group_is_one_group(probe: MemoryProbe) -> None:
    _, used_bytes = probe.sampler(SCALAR, "load", SHAPE, 1, 1)
    assert used_bytes == 64


def test_the_amount_is_that_of_all_threads_together(probe: MemoryProbe) -> None:
    sampler, used_bytes = probe.sampler(SCALAR, "load", SHAPE, 2, 4096)
    assert sampler.threads == 2
    assert sampler.amount % (2 * used_bytes) == 0
    assert len(sampler.take(3).samples_s) == 3


def test_every_thread_has_its_own_data_without_zeros(probe: MemoryProbe) -> None:
    probe.reserve(4096)
    first, second = arenas(probe)
    assert not np.array_equal(first, second)
    assert min(first.min(), second.min()) >= 0.5


def test_memory_is_kept_until_more_is_needed(probe: MemoryProbe) -> None:
    probe.reserve(4096)
    before = [arena.address for arena in probe._arenas]
    probe.reserve(64)
    assert [arena.address for arena in probe._arenas] == before
    probe.reserve(3 * 2**20)
    assert probe._arenas[0].size_bytes >= 3 * 2**20


def test_memory_that_the_system_refuses_is_an_error_in_words(probe: MemoryProbe) -> None:
    with pytest.raises(MeasurementError, match=r"no memory for 2 buffers of .*raise the memory limit or use fewer"):
        probe.reserve(2**60)


def test_what_a_store_left_behind_is_renewed_before_it_is_read(probe: MemoryProbe) -> None:
    store, used_bytes = probe.sampler(SCALAR, "store", SHAPE, 2, 8192)
    store.take(1)
    for data in arenas(probe):
        assert len(np.unique(data[: used_bytes // 8])) == 1
    probe.sampler(SCALAR, "load", SHAPE, 2, 64)
    for data in arenas(probe):
        assert len(np.unique(data[: used_bytes // 8])) == used_bytes // 8


def test_filling_a_part_leaves_the_rest() -> None:
    arena = Arena(1)
    arena.bytes[:] = 0
    arena.fill(1, 4096)
    values = arena.bytes.view(np.float64)
    assert values[:512].min() >= 0.5
    assert not values[512:].any()


def test_only_what_is_read_from_far_away_by_vectors_is_fetched_ahead() -> None:
    rows = {isa.name: isa for isa in ISAS if isa.arch == "x86_64"}
    wide, scalar = rows["avx2"], rows["scalar"]
    assert shapes_for(wide, "triad", far=True) == FAR_SHAPES
    assert any(ahead_bytes for _, _, ahead_bytes in FAR_SHAPES)
    for isa, pattern, far in ((wide, "nt_store", True), (scalar, "triad", True), (wide, "triad", False)):
        shapes = shapes_for(isa, pattern, far)
        assert len(shapes) >= 2
        assert not any(ahead_bytes for _, _, ahead_bytes in shapes)


def test_segments_divide_the_vectors_of_a_turn() -> None:
    assert all(unroll % segments == 0 for unroll, segments, _ in (*NEAR_SHAPES, *FAR_SHAPES))
