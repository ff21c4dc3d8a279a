"""The hash of machine code: what the compiler names as it likes does not count, what runs does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_compiler_canaries import compiled

from roofline.codegen.assembly import arithmetic_assembly, stream_assembly
from roofline.codegen.fingerprint import assembly_digest

X86 = """
	.section	.rodata.cst8
.LCPI0_0:
	.quad	0x3fe0000000000000
kernel_1:
	movabsq	$.LCPI0_0, %rcx
	movabsq	$memset, %rax          # imm = 0x7f0000000000
	movabsq	$139637976727552, %rdx
.LBB0_1:
	vmulsd	(%rcx), %xmm1, %xmm1
	decq	%rdi
	jne	.LBB0_1
	callq	*%rax
	movabsq	$".const.it's, a name", %rsi
	retq
"""
PROCESS = """
import numpy as np, numba
from roofline.codegen.assembly import assembly_of
from roofline.codegen.fingerprint import assembly_digest
from roofline.kernels.compile import compiled
from roofline.kernels.registry import all_kernels

for name, parallel in (("gemv.naive", False), ("finance.naive", False), ("gemv.parallel", True)):
    kernel = all_kernels()[name]
    call = compiled(kernel, parallel)
    types = tuple(map(numba.typeof, kernel.make_arguments(kernel.n_for(20000, "f64"), "f64", np.random.default_rng(1))))
    call.compile(types)
    print(assembly_digest(assembly_of(call, types)))
"""


@pytest.mark.parametrize(
    ("found", "instead"),
    [
        ("kernel_1", "_ZN8__main__6kernelB2v1B38c8tJTIeE"),
        (".LBB0_1", ".LBB7_12"),
        (".LCPI0_0", ".LCPI3_1"),
        (".rodata.cst8", ".rodata.cst16"),
        ("139637976727552", "140737488355327"),
        ("0x7f0000000000", "0x7e0000000000"),
        (".const.it's, a name", ".const.another # name"),
        ("0x3fe0000000000000", "0x3ff0000000000000"),
        ("\n\tdecq", "\n\t.p2align\t4\n\n\t  decq"),
    ],
)
def test_what_the_compiler_names_or_places_does_not_count(found: str, instead: str) -> None:
    assert found in X86
    assert assembly_digest(X86.replace(found, instead)) == assembly_digest(X86)


@pytest.mark.parametrize(
    ("found", "instead"),
    [
        ("xmm1, %xmm1", "xmm1, %xmm2"),
        ("vmulsd", "vaddsd"),
        ("(%rcx)", "8(%rcx)"),
        ("$memset", "$exp"),
        (".LBB0_1:\n\tvmulsd	(%rcx), %xmm1, %xmm1", "\tvmulsd	(%rcx), %xmm1, %xmm1\n.LBB0_1:"),
        ("decq	%rdi", "subq	$4, %rdi"),
    ],
)
def test_what_runs_counts(found: str, instead: str) -> None:
    assert found in X86
    assert assembly_digest(X86.replace(found, instead)) != assembly_digest(X86)


def test_what_numba_puts_around_a_function_does_not_count() -> None:
    wrapper = "_ZN7cpython8kernel_1:\n\tpushq\t%rbp\n.LBB1_1:\n\tjmp .LBB1_1\ncfunc.kernel_1:\n\tretq\n"
    assert assembly_digest(X86 + wrapper) == assembly_digest(X86)
    assert assembly_digest(X86 + wrapper + "helper:\n\tretq\n") != assembly_digest(X86)


@pytest.mark.parametrize("target", ["znver4", "neoverse-n1", "apple-m1"])
def test_another_unroll_factor_another_register_and_another_chain_is_another_code(target: str) -> None:
    lanes = 2
    codes = [stream_assembly(target, "triad", "f64", lanes, unroll) for unroll in (1, 2, 4)]
    codes += [stream_assembly(target, "triad", "f32", 2 * lanes, 4)]
    codes += [arithmetic_assembly(target, "fma", "f64", lanes, chains) for chains in (4, 8)]
    assert len({assembly_digest(code) for code in codes}) == len(codes)
    assert assembly_digest(codes[0]) == assembly_digest(stream_assembly(target, "triad", "f64", lanes, 1))


def test_registers_of_aarch64_count() -> None:
    code = "f:\n\tfmla\tv0.2d, v1.2d, v2.2d\n\tret\n"
    assert assembly_digest(code.replace("v1.2d", "v7.2d")) != assembly_digest(code)
    assert assembly_digest(code.replace("f:", "_g:")) == assembly_digest(code)


def test_the_name_of_a_function_does_not_count_when_it_is_compiled() -> None:
    ir = "define i64 @{0}(i64 %a) {{\n  %b = mul i64 %a, 7\n  ret i64 %b\n}}"
    one, other = (assembly_digest(compiled(ir.format(name), "znver4")) for name in ("first", "second.$3"))
    assert one == other
    assert len(one) == 16


def test_nothing_that_runs_has_no_digest() -> None:
    assert assembly_digest('\t.file "<string>"\nf:\n') == ""


def test_two_processes_that_both_compile_agree(tmp_path: Path) -> None:
    found = [
        subprocess.run(
            [sys.executable, "-c", PROCESS],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / folder), "PYTHONHASHSEED": seed},
        ).stdout.split()
        for folder, seed in (("one", "1"), ("other", "2"))
    ]
    assert found[0] == found[1]
    assert len(set(found[0])) == 3
