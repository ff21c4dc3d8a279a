"""What is said of a ladder: one plain sentence for each rung."""

from __future__ import annotations

import pytest
from ladder_run import ladder_run, rung
from msgspec.structs import replace

from roofline.model.ladder import ladders_of
from roofline.model.run import Run
from roofline.plotting.kernel_tables import factor_text
from roofline.plotting.ladder_text import heading, sentences


@pytest.fixture(scope="module")
def climbed() -> Run:
    return ladder_run()


def test_the_sentences_of_a_tall_ladder_say_what_changed_what_it_gained_and_what_binds(climbed: Run) -> None:
    (ladder,) = ladders_of(climbed, "gemm")
    told = sentences(ladder)
    assert heading(ladder) == "gemm.naive and better: f64, n = 1000"
    assert told[:3] == (
        "gemm.naive: scalar arithmetic, 1 thread; 2.68 GFLOP/s; next: scalar fma at 14.6 GFLOP/s, of which it reaches "
        "18 %.",
        "gemm.interchanged: 7.6 times as fast as gemm.naive, zmm instead of scalar arithmetic; 20.4 GFLOP/s, past the "
        "roof of scalar fma; next: avx512 fma at 58.6 GFLOP/s, of which it reaches 35 %.",
        "gemm.blocked: 1.22 times as fast as gemm.interchanged (9.3 times in all), zmm arithmetic as before; "
        "24.8 GFLOP/s; next: avx512 fma at 58.6 GFLOP/s, of which it reaches 42 %.",
    )
    assert told[5:7] == (
        "gemm.parallel: 1.98 times as fast as gemm.register (40 times in all), 2 threads instead of 1; 107 GFLOP/s, "
        "past the roofs of sse2 fma ×2, avx2 fma ×1 and avx512 fma ×1; next: avx512 fma ×2 at 116 GFLOP/s, of which "
        "it reaches 93 %.",
        "gemm.blas: for reference, a library, 0.88 times as fast as gemm.register; 47.4 GFLOP/s; next: avx512 fma at "
        "58.6 GFLOP/s, of which it reaches 81 %.",
    )


def test_removed_traffic_another_level_and_another_dtype_are_told(climbed: Run) -> None:
    (attention,), (quantised,) = ladders_of(climbed, "attention"), ladders_of(climbed, "quantised")
    assert (
        "4.5 times as fast as attention.naive, 1/33 of the bytes, data in L3 instead of DRAM;"
        in sentences(attention)[1]
    )
    assert heading(quantised) == "quantised.gemv_f32 and better: f32 and i8, n = 4096 and 8192"
    assert (
        "per flop of the job, at n = 8192 instead of 4096, 1/4 of the bytes; 38.0 GFLOP/s, past the roof of scalar fma;"
        in sentences(quantised)[1]
    )
    assert "i8 instead of f32; 61.0 GOP/s, past the roof of sse2 fma f32;" in sentences(quantised)[2]


def test_more_flops_are_told_and_a_narrow_memory_roof_is_named_with_its_width(climbed: Run) -> None:
    first, *_, kahan = sentences(ladders_of(climbed, "reduction")[1])
    assert "next: L1 load in scalar at 4.48 GFLOP/s" in first
    assert "0.018 times as fast as reduction.sum_8 (0.26 times in all), scalar instead of zmm arithmetic" in kahan
    assert "arithmetic, 4 times the flops; 0.240 GFLOP/s" in kahan
    assert kahan.endswith("of which it reaches 5 %; 0.8 % of the roof over the job's compulsory work.")


def test_tiles_are_told_and_a_rung_at_its_roof_has_no_next(climbed: Run) -> None:
    better = replace(rung("gemm.better", 59.5e9, improves="gemm.naive"), tiles={"tile_depth": 64, "threads": 2})
    (ladder,) = ladders_of(replace(climbed, measurements=(rung("gemm.naive", 2e9), better)), "gemm")
    assert sentences(ladder)[1].endswith(
        "tile depth 64; 59.5 GFLOP/s, past the roofs of scalar fma, sse2 fma, avx2 fma and avx512 fma; at its "
        "roof, avx512 fma with 58.6 GFLOP/s."
    )


def test_a_degraded_rung_is_told_with_its_doubt(climbed: Run) -> None:
    noisy = replace(rung("gemm.better", 5e9, improves="gemm.naive", status="degraded"), status_codes=("NOISY",))
    (ladder,) = ladders_of(replace(climbed, measurements=(rung("gemm.naive", 2e9), noisy)), "gemm")
    assert sentences(ladder)[1].endswith("of which it reaches 9 %; degraded: NOISY.")


def test_who_is_missing_is_named_and_control_characters_are_escaped(climbed: Run) -> None:
    (larger,) = ladders_of(climbed, "gemm", size=2000)
    assert sentences(larger)[-1].endswith("at its size: gemm.naive.")
    hostile = rung("gemm.\x1b[2J", 3e9, improves="gemm.naive")
    (ladder,) = ladders_of(replace(climbed, measurements=(rung("gemm.naive", 2e9), hostile)), "gemm")
    assert sentences(ladder)[1].startswith(r"gemm.\x1b[2J: 1.50 times")


def test_a_factor_has_as_many_digits_as_it_is_worth() -> None:
    assert [factor_text(x) for x in (None, 1.0, 1.224, 7.61, 39.9, 0.88, 0.018)] == [
        "-", "×1.00", "×1.22", "×7.6", "×40", "×0.88", "×0.018"
    ]  # fmt: skip
