"""What can be asked of the ceilings of a run."""

from __future__ import annotations

from ceilings_of import compute, memory
from msgspec.structs import replace

from roofline.model.ceilings import Ceilings

LOW, HIGH, SINGLE, BOTH = compute(1e9, isa="scalar"), compute(4e9), compute(8e9, dtype="f32"), compute(7e9, threads=2)
L2, L1, DRAM, STORE = (
    memory(5e9, level="L2"),
    memory(9e9, level="L1"),
    memory(1e9),
    memory(2e9, pattern="store", isa="avx512"),
)
ALL = Ceilings(compute=(LOW, HIGH, SINGLE, BOTH), memory=(L2, L1, DRAM, STORE))


def test_the_best_compute_ceiling_is_the_highest_of_its_dtype_and_threads() -> None:
    assert ALL.best_compute("f64", 1) is HIGH
    assert ALL.best_compute("f32", 1) is SINGLE
    assert ALL.best_compute("f64", 2) is BOTH
    assert ALL.best_compute("f64", 1, "scalar") is LOW


def test_the_best_memory_ceiling_is_the_highest_of_its_level_and_threads() -> None:
    assert ALL.best_memory("DRAM", 1) is STORE
    assert ALL.best_memory("DRAM", 1, ("triad",)) is DRAM
    assert ALL.best_memory("DRAM", 1, None, "avx2") is DRAM
    assert ALL.best_memory("L1", 1) is L1


def test_what_was_not_measured_is_none() -> None:
    assert ALL.best_compute("f16", 1) is ALL.best_compute("f64", 3) is ALL.best_compute("f64", 1, "neon") is None
    assert ALL.best_memory("L3", 1) is ALL.best_memory("L1", 2) is ALL.best_memory("L1", 1, ("load",)) is None
    assert ALL.named("no such roof") is Ceilings().named("") is None


def test_every_ceiling_is_found_by_its_name() -> None:
    assert [ALL.named(ceiling.name) for ceiling in ALL.all] == list(ALL.all)
    assert HIGH.name == "avx2 fma f64 ×1"
    assert STORE.name == "DRAM store avx512 ×1"


def test_levels_come_nearest_first_and_threads_ascend() -> None:
    assert ALL.levels == ("L1", "L2", "DRAM")
    assert ALL.threads == (1, 2)
    assert Ceilings().levels == Ceilings().threads == ()


def test_one_more_ceiling_goes_to_its_kind_and_leaves_the_old_value_alone() -> None:
    grown = Ceilings().with_ceiling(HIGH).with_ceiling(L2).with_ceiling(LOW)
    assert grown == Ceilings(compute=(LOW, HIGH), memory=(L2,))
    assert grown.all == (LOW, HIGH, L2)
    assert Ceilings() == Ceilings(compute=(), memory=())


def test_a_ceiling_takes_the_place_of_one_with_its_name() -> None:
    raised = replace(HIGH, flop_per_s=2 * HIGH.flop_per_s)
    grown = Ceilings(compute=(HIGH, LOW)).with_ceiling(raised)
    assert grown.compute == (LOW, raised)


def test_a_compute_ceiling_is_flat_and_a_memory_ceiling_rises() -> None:
    assert HIGH.attainable_flop_per_s(0.01) == HIGH.attainable_flop_per_s(100.0) == 4e9
    assert DRAM.attainable_flop_per_s(0.5) == 5e8
