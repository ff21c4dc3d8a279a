"""The micro-kernel of GEMM: its shape fits the registers of every ISA, its hot loop holds what it claims, no more."""

from __future__ import annotations

import re
from functools import cache

import pytest

from roofline.codegen.assembly import TARGETS, tile_assembly
from roofline.codegen.proof import destination
from roofline.codegen.reading import X86_REGISTER, Instruction, innermost_loops
from roofline.codegen.tile import tile_shape
from roofline.model.isa import ISAS, Isa

WIDEST = {
    "haswell": "avx2",
    "skylake-avx512": "avx512",
    "znver4": "avx512",
    "alderlake": "avx2",
    "cortex-a72": "neon",
    "neoverse-n1": "neon",
    "apple-m1": "neon",
}
"""The row whose tiles each target runs."""
FMA = re.compile(r"vfmadd\d{3}p[sd]|fmla")
ARM_VECTOR = re.compile(r"\b[qdsv]\d+")
STACK = re.compile(r"\(%rsp|\[sp")

every_target = pytest.mark.parametrize("target", TARGETS)
every_dtype = pytest.mark.parametrize("dtype", ["f64", "f32"])
every_row = pytest.mark.parametrize("isa", ISAS, ids=[f"{isa.arch}-{isa.name}" for isa in ISAS])


def isa_on(target: str) -> Isa:
    """Return the row of WIDEST for a target."""
    arch = "aarch64" if TARGETS[target][0].startswith("a") else "x86_64"
    return next(isa for isa in ISAS if (isa.arch, isa.name) == (arch, WIDEST[target]))


@cache
def hot_loop(target: str, dtype: str) -> list[Instruction]:
    """Return the loop over the depth, from the assembly of a target."""
    assembly = tile_assembly(target, isa_on(target), dtype)
    loops = innermost_loops(assembly)
    assert not re.search(r"%rsp, %rbp", assembly), "the frame pointer is a register like any other"
    return max(loops, key=lambda loop: len(multiply_adds(loop)))


def multiply_adds(loop: list[Instruction]) -> list[Instruction]:
    return [instruction for instruction in loop if FMA.fullmatch(instruction.mnemonic)]


@every_row
def test_the_accumulators_a_row_of_b_and_an_element_of_a_fit_the_registers(isa: Isa) -> None:
    rows, vectors = tile_shape(isa)
    assert rows * vectors + vectors + 1 <= isa.registers


@every_row
def test_the_tile_is_8_by_3_vectors_with_32_registers_and_4_by_3_with_16(isa: Isa) -> None:
    assert tile_shape(isa) == {32: (8, 3), 16: (4, 3)}[isa.registers]


@every_row
def test_a_tile_offers_more_independent_chains_than_two_fma_units_of_four_cycles_need(isa: Isa) -> None:
    rows, vectors = tile_shape(isa)
    assert rows * vectors >= 2 * 4


@every_dtype
@every_target
def test_a_step_of_the_depth_is_one_multiply_add_for_each_vector_of_the_tile(target: str, dtype: str) -> None:
    isa = isa_on(target)
    rows, vectors = tile_shape(isa)
    found = multiply_adds(hot_loop(target, dtype))
    assert len(found) > 0
    assert len(found) % (rows * vectors) == 0
    assert len({destination(instruction, isa) for instruction in found}) == rows * vectors


@every_dtype
@every_target
def test_the_multiply_adds_work_on_whole_registers_of_the_isa(target: str, dtype: str) -> None:
    isa = isa_on(target)
    if isa.arch == "x86_64":
        operand = rf"%{isa.asm_register}\d+"
        suffix = "pd" if dtype == "f64" else "ps"
    else:
        shape = f"{isa.lanes(dtype)}{'d' if dtype == 'f64' else 's'}"
        operand, suffix = rf"v\d+\.{shape}|v\d+(\.[sd])?\[\d\]", ""  # A comes as one lane of a register
    for instruction in multiply_adds(hot_loop(target, dtype)):
        assert instruction.mnemonic.endswith(suffix)
        assert all(re.fullmatch(operand, word) for word in instruction.operands), instruction.text


@every_dtype
@every_target
def test_the_tile_stays_in_registers_and_the_loop_calls_nothing(target: str, dtype: str) -> None:
    register = X86_REGISTER if isa_on(target).arch == "x86_64" else ARM_VECTOR
    for instruction in hot_loop(target, dtype):
        words = " ".join(instruction.operands)
        assert not re.fullmatch(r"call\w*|blr?", instruction.mnemonic), instruction.text
        # An address may be reloaded there: 15 integer registers hold the pointers to eight rows and little more.
        assert not (STACK.search(words) and register.search(words)), instruction.text


@every_dtype
@every_target
def test_a_step_loads_its_row_of_b_once_and_stores_nothing(target: str, dtype: str) -> None:
    isa = isa_on(target)
    rows, vectors = tile_shape(isa)
    loop = hot_loop(target, dtype)
    turns = len(multiply_adds(loop)) // (rows * vectors)
    if isa.arch == "x86_64":
        whole = [i for i in loop if re.fullmatch(r"vmov[au]p[sd]", i.mnemonic)]
        assert all("(" in i.operands[0] and i.operands[1].startswith(f"%{isa.asm_register}") for i in whole)
        loads = len(whole)
    else:
        assert not any(re.match(r"st", i.mnemonic) for i in loop)
        loads = sum(word.startswith("q") for i in loop if re.match(r"ld", i.mnemonic) for word in i.operands)
    assert loads == vectors * turns
