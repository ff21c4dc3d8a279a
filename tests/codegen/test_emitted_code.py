"""The emitted loops, compiled for CPUs that are not here, hold what their ceilings claim."""

from __future__ import annotations

import re
from itertools import product

import pytest

from roofline.codegen.assembly import DOT_FEATURES, TARGETS, arithmetic_assembly, stream_assembly
from roofline.codegen.audit import audit_arithmetic, audit_stream
from roofline.codegen.loops import ARITHMETIC_STEPS, ARRAYS, CHAIN_KINDS, accesses_of, flops_per_turn
from roofline.errors import CodegenError
from roofline.model.isa import ISAS, Isa

SHAPES = ((8, 1, 0), (16, 1, 512), (16, 4, 0), (16, 4, 2048))
"""(Unroll, segments, bytes fetched ahead) of the streams."""
CODE_OF = {
    "haswell": ("scalar", "sse2", "avx", "avx2"),
    "skylake-avx512": ("scalar", "avx512"),
    "znver4": ("sse2", "avx2", "avx512"),
    "neoverse-n1": ("scalar", "neon"),
    "apple-m1": ("scalar", "neon"),
}
"""Rows that are compiled for each target: every row at least once, every width on its newest CPU."""


def rows() -> list[tuple[str, Isa]]:
    """Return every (target, ISA row) of CODE_OF."""
    arch = {target: "aarch64" if triple.startswith("a") else "x86_64" for target, (triple, _) in TARGETS.items()}
    return [
        (target, isa)
        for target, names in CODE_OF.items()
        for isa in ISAS
        if isa.arch == arch[target] and isa.name in names
    ]


every_row = pytest.mark.parametrize(
    ("target", "isa"), rows(), ids=[f"{isa.name}-on-{target}" for target, isa in rows()]
)


def test_every_row_of_the_table_is_compiled_for_some_target() -> None:
    assert {(isa.arch, isa.name) for _, isa in rows()} == {(isa.arch, isa.name) for isa in ISAS}
    assert set(CODE_OF) | set(DOT_FEATURES) == set(TARGETS)


@every_row
def test_arithmetic_passes_its_audit(target: str, isa: Isa) -> None:
    for op, (dtype, chains) in product(CHAIN_KINDS, (("f64", 8), ("f64", 12), ("f32", 12))):
        assembly = arithmetic_assembly(target, op, dtype, isa.lanes(dtype), chains)
        audit = audit_arithmetic(assembly, isa, dtype, op, chains)
        assert audit.chains == chains
        assert sum(audit.instructions.values()) % (chains * ARITHMETIC_STEPS) == 0
        assert audit.loop_instructions > sum(audit.instructions.values())
        assert audit.register == isa.asm_register + ("" if isa.vector_bits else " (scalar)")


@every_row
def test_streams_pass_their_audit(target: str, isa: Isa) -> None:
    non_temporal = [f"nt_{plain}" for plain in ("store", "copy", "triad")] if isa.vector_bits else []
    for pattern, (unroll, segments, ahead_bytes) in product([*ARRAYS, *non_temporal], SHAPES):
        assembly = stream_assembly(target, pattern, "f64", isa.lanes("f64"), unroll, segments, ahead_bytes)
        audit = audit_stream(assembly, isa, "f64", pattern, unroll)
        assert audit.loop_instructions > sum(audit.instructions.values()) >= unroll * sum(accesses_of(pattern)) / 2
        fetches = len(re.findall(r"^\s*(?:prefetch|prfm)", assembly, re.M))
        assert (fetches > 0) == (ahead_bytes > 0 and accesses_of(pattern)[0] > 0), (pattern, fetches)
        assert any("nt" in name or name == "stnp" for name in audit.instructions) == pattern.startswith("nt_")


def test_an_audit_for_another_row_dtype_or_shape_is_refused() -> None:
    avx2 = next(isa for isa in ISAS if isa.name == "avx2")
    others = [isa for isa in ISAS if isa.name in ("sse2", "avx512") or (isa.name, isa.arch) == ("scalar", "x86_64")]
    arithmetic = arithmetic_assembly("haswell", "fma", "f64", 4, 8)
    stream = stream_assembly("haswell", "copy", "f64", 4, 8)
    for isa in others:
        with pytest.raises(CodegenError):
            audit_arithmetic(arithmetic, isa, "f64", "fma", 8)
        with pytest.raises(CodegenError):
            audit_stream(stream, isa, "f64", "copy", 8)
    for dtype, op, chains in (("f32", "fma", 8), ("f64", "add", 8), ("f64", "fma_add", 8), ("f64", "fma", 10)):
        with pytest.raises(CodegenError):
            audit_arithmetic(arithmetic, avx2, dtype, op, chains)
    for pattern, unroll in (("load", 8), ("triad", 8), ("store", 8), ("copy", 6), ("nt_copy", 8)):
        with pytest.raises(CodegenError):
            audit_stream(stream, avx2, "f64", pattern, unroll)


def test_more_chains_than_registers_are_a_spill() -> None:
    sse2 = next(isa for isa in ISAS if isa.name == "sse2")
    with pytest.raises(CodegenError, match="spill"):
        audit_arithmetic(arithmetic_assembly("haswell", "fma", "f64", 2, 20), sse2, "f64", "fma", 20)


def test_without_fma_hardware_the_call_of_the_library_is_seen() -> None:
    # What a host without FMA would make of llvm.fma: a loop that calls. The targets all have it, so it is written.
    assembly = "loop:\n\tcallq\tfma@PLT\n\tvfmadd231sd %xmm1, %xmm0, %xmm2\n\tdecq %rax\n\tjne loop\n"
    scalar = next(isa for isa in ISAS if (isa.name, isa.arch) == ("scalar", "x86_64"))
    with pytest.raises(CodegenError, match="calls a function"):
        audit_arithmetic(assembly, scalar, "f64", "fma", 1)


def test_flops_of_a_turn_count_two_for_an_fma() -> None:
    assert flops_per_turn("fma", 4, 10) == ARITHMETIC_STEPS * 4 * 10 * 2
    assert flops_per_turn("add", 4, 10) == flops_per_turn("mul_add", 4, 10) == ARITHMETIC_STEPS * 4 * 10
    assert flops_per_turn("fma_add", 1, 3) == ARITHMETIC_STEPS * (2 + 1 + 2)


def test_an_unknown_operation_says_which_there_are() -> None:
    with pytest.raises(CodegenError, match=r"'div' \(expected one of fma, add, mul, mul_add, fma_add\)"):
        flops_per_turn("div", 1, 8)
