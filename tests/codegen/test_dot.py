"""Integer dot products: the right instructions on every CPU, their proof, and the right sums on this one."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from numba import njit

from roofline.codegen.assembly import DOT_FEATURES, TARGETS, dot_assembly, target_features
from roofline.codegen.dot import dot_form
from roofline.codegen.dot_audit import audit_dot
from roofline.codegen.intrinsics import ARCH, dot_product_chains
from roofline.codegen.loops import ARITHMETIC_STEPS, flops_per_turn
from roofline.codegen.register import vector_register
from roofline.errors import CodegenError
from roofline.model.isa import ISAS, Isa, isas_of

INSTRUCTIONS = {
    ("haswell", "scalar"): {"imull": 1, "addl": 1},
    ("haswell", "sse2"): {"vpmaddwd": 2, "vpaddd": 2},
    ("haswell", "avx2"): {"vpmaddwd": 2, "vpaddd": 2},
    ("skylake-avx512", "avx512"): {"vpmaddwd": 2, "vpaddd": 2},
    ("znver4", "sse2"): {"vpdpbusd": 1},
    ("znver4", "avx512"): {"vpdpbusd": 1},
    ("alderlake", "avx2"): {"vpdpbusd": 1},
    ("cortex-a72", "neon"): {"smull": 2, "sadalp": 2},
    ("neoverse-n1", "scalar"): {"madd": 1},
    ("neoverse-n1", "neon"): {"sdot": 1},
    ("apple-m1", "neon"): {"sdot": 1},
}
"""Instructions of one step of one chain: products of as many int8 as the register holds, added to sums in int32."""


def row(target: str, name: str) -> Isa:
    """Return a row of the table for the target's architecture."""
    arch = "aarch64" if TARGETS[target][0].startswith("a") else "x86_64"
    return next(isa for isa in ISAS if isa.arch == arch and isa.name == name)


@pytest.mark.parametrize(("target", "name"), INSTRUCTIONS, ids=[f"{isa}-on-{target}" for target, isa in INSTRUCTIONS])
def test_every_cpu_gets_the_instructions_that_it_has_for_dot_products(target: str, name: str) -> None:
    isa = row(target, name)
    chains = 8
    audit = audit_dot(dot_assembly(target, isa.lanes("i8"), chains), isa, chains)
    turns = next(iter(audit.instructions.values())) // (
        chains * ARITHMETIC_STEPS * next(iter(INSTRUCTIONS[target, name].values()))
    )
    per_turn = {mnemonic: count * chains * ARITHMETIC_STEPS for mnemonic, count in INSTRUCTIONS[target, name].items()}
    assert audit.instructions == {mnemonic: count * turns for mnemonic, count in per_turn.items()}
    assert audit.chains == chains
    assert audit.register == (isa.asm_register if isa.vector_bits else "general (scalar)")


def test_a_wide_register_without_instructions_for_int8_has_no_form() -> None:
    assert dot_form("x86_64", ("sse2", "avx", "avx512f"), 64) is None
    assert dot_form("x86_64", ("sse2", "avx"), 32) is None
    assert dot_form("x86_64", ("sse2", "avx512vnni"), 32) is None
    assert dot_form("x86_64", ("sse2", "avx2", "avxvnni", "avx512bw"), 64) == "widening"
    assert set(DOT_FEATURES) <= set(TARGETS)


WIDENING = ("vpmaddwd %ymm1, %ymm0, %ymm9", "vpaddd %ymm2, %ymm9, %ymm2") * 4
VNNI = ("vpdpbusd %zmm1, %zmm0, %zmm2", "vpdpbusd %zmm1, %zmm0, %zmm3") * 2
SDOT = ("sdot v2.4s, v0.16b, v1.16b", "sdot v3.4s, v0.16b, v1.16b") * 2
DEFECTS = {
    "half the register": ("znver4", "avx512", VNNI, "zmm", "ymm", 2, "uses other operands than zmm in 4 of 4"),
    "two chains in one": ("znver4", "avx512", VNNI, "%zmm3", "%zmm2", 2, "has 1 independent chains"),
    "a lost step": ("znver4", "avx512", VNNI, VNNI[0], "nop", 2, "holds 2 vpdpbusd"),
    "a spill": ("znver4", "avx512", VNNI, VNNI[0], "vmovups %zmm3, 64(%rsp)", 2, "spills a register"),
    "a call": ("znver4", "avx512", VNNI, VNNI[0], "callq dot", 2, "calls a function"),
    "a load": ("znver4", "avx512", VNNI, "%zmm1", "(%rdi)", 2, "uses other operands"),
    "nothing": ("znver4", "avx512", ("nop",), "nop", "vpaddd %zmm1, %zmm2, %zmm2", 1, "no loop with the expected"),
    "products that are not added": ("haswell", "avx2", WIDENING, WIDENING[1], "nop", 1, "holds 0 paddd"),
    "a fresh sum": ("haswell", "avx2", WIDENING, "%ymm2, %ymm9, %ymm2", "%ymm1, %ymm9, %ymm2", 1, "starts a value"),
    "arm: half the register": ("neoverse-n1", "neon", SDOT, "v3.4s", "v3.2s", 2, "uses other operands than v"),
    "arm: two chains in one": ("neoverse-n1", "neon", SDOT, "v3.", "v2.", 2, "has 1 independent chains"),
}


def looped(lines: tuple[str, ...], isa: Isa) -> str:
    """Return assembly of one loop of these lines."""
    back = "jne .L1" if isa.arch == "x86_64" else "b.ne .L1"
    return "\n\t".join(["\r.L1:", *lines, back]) + "\n"


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_loop_of_dot_products_is_refused_for(defect: str) -> None:
    target, name, lines, old, new, chains, words = DEFECTS[defect]
    isa = row(target, name)
    planted = tuple(line.replace(old, new) for line in lines)
    assert planted != lines
    if defect != "nothing":
        audit_dot(looped(lines, isa), isa, chains)
    with pytest.raises(CodegenError, match=words) as refused:
        audit_dot(looped(planted, isa), isa, chains)
    assert str(refused.value).startswith(f"dot_{name}_i8 with {chains} chains: the assembly ")


def test_each_product_of_a_dot_product_counts_two() -> None:
    assert flops_per_turn("dot", 64, 8) == ARITHMETIC_STEPS * 64 * 8 * 2


HOST = [isa for isa in isas_of(ARCH, target_features()) if dot_form(ARCH, target_features(), isa.lanes("i8"))]


@pytest.mark.parametrize("isa", HOST, ids=[isa.name for isa in HOST])
def test_chains_on_this_host_add_up_every_product(isa: Isa) -> None:
    lanes, chains, turns = isa.lanes("i8"), 8, 5

    @njit
    def run(turns, a, b):  # type: ignore[no-untyped-def]
        return dot_product_chains(lanes, chains, turns, a, b)

    steps = turns * ARITHMETIC_STEPS
    if isa.vector_bits:
        # every step of every chain multiplies each of its lanes
        expected = sum(1 + chain for chain in range(chains)) * lanes // 4 + chains * steps * lanes * 57 * -39
    else:
        expected = sum((1 + chain) * 3**steps - 5 * (3**steps - 1) // 2 for chain in range(chains))
    a, b = (57, -39) if isa.vector_bits else (3, -5)
    assert run(turns, np.int8(a), np.int8(b)) == expected


@pytest.mark.parametrize(
    ("assembly", "register"),
    [
        ("\tvpdpbusd\t(%rdi), %zmm0, %zmm1", "zmm"),
        ("\t{vex}\tvpdpbusd\t%ymm0, %ymm1, %ymm2\n\timull\t%eax, %ecx", "ymm"),
        ("\tpmaddwd\t%xmm0, %xmm1", "xmm"),
        ("\tvpmulld\t%ymm0, %ymm1, %ymm1\n\tvpaddd\t%zmm0, %zmm1, %zmm1", "ymm"),
        ("\timull\t%eax, %ecx", "scalar"),
        ("\tsdot\tv2.4s, v1.16b, v0.16b", "v"),
        ("\tsdot.4s\tv2, v1, v0", "v"),
        ("\tsmlal2\tv2.4s, v1.8h, v0.8h", "v"),
        ("\tmadd\tw8, w9, w10, w8", "scalar"),
        ("\tvpaddd\t%zmm0, %zmm1, %zmm1\n\taddl\t%eax, %ecx", None),
    ],
)
def test_the_widest_register_that_multiplies_whole_numbers_is_seen(assembly: str, register: str | None) -> None:
    assert vector_register(assembly, integers=True) == register
    assert vector_register(assembly) is None


_WITHOUT_DOT_INSTRUCTION = """
import numba, numpy as np
from roofline.codegen.dot_kernels import COLUMNS, ROWS, TILE_FORM
from roofline.kernels.row_products import dot_tile

@numba.njit
def compiled(sums, rows, panel, depth):
    dot_tile(sums, rows, panel, rows.shape[1], panel.shape[1], depth)

rng = np.random.default_rng(5)
for depth in (1, 4, 7, 40):
    groups = (depth + 3) // 4
    x, w = (rng.integers(-128, 128, (count, depth)).astype(np.int8) for count in (ROWS, COLUMNS))
    x[0], w[0] = -128, -128
    rows, panel = np.zeros((groups, ROWS, 4), np.int8), np.zeros((groups, COLUMNS, 4), np.int8)
    for k in range(depth):
        rows[k // 4, :, k % 4], panel[k // 4, :, k % 4] = x[:, k], w[:, k]
    sums = np.zeros((ROWS, COLUMNS), np.int32)
    compiled(sums, rows, panel, depth)
    assert (sums == x.astype(np.int32) @ w.T.astype(np.int32)).all(), depth
print(TILE_FORM)
"""


@pytest.mark.skipif(not ({"avx2", "fma"} <= target_features()), reason="this CPU has no AVX2 to run the code of one")
def test_tiles_are_widened_and_right_on_a_cpu_with_avx2_and_no_dot_instruction() -> None:
    features = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+sse2,+ssse3,+sse4.1,+avx,+avx2,+fma"}
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_DOT_INSTRUCTION], capture_output=True, text=True, env={**os.environ, **features}
    )
    assert done.stdout.strip() == "widening", done.stderr
