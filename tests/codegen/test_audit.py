"""The audit accepts what it should, and refuses each planted defect with the right words."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from roofline.codegen.audit import audit_arithmetic, audit_stream
from roofline.errors import CodegenError
from roofline.model.isa import ISAS, Isa

X86_FMA = (
    "vfmadd231pd %ymm2, %ymm0, %ymm3",
    "vfmadd231pd %ymm2, %ymm0, %ymm5",
    "vfmadd231pd %ymm4, %ymm0, %ymm3",
    "vfmadd231pd %ymm4, %ymm0, %ymm5",
)
X86_SCALAR_FMA = tuple(line.replace("pd", "sd").replace("ymm", "xmm") for line in X86_FMA)
LINUX_FMA = (
    "fmla v2.2d, v1.2d, v0.d[0]",
    "fmla v3.2d, v1.2d, v0.d[0]",
    "fmls v2.2d, v1.2d, v0.d[0]",
    "fmls v3.2d, v1.2d, v0.d[0]",
)
MACOS_FMA = ("fmla.2d v2, v1, v0[0]", "fmla.2d v3, v1, v0[0]", "fmls.2d v2, v1, v0[0]", "fmls.2d v3, v1, v0[0]")
ARM_SCALAR_FMA = (
    "fmadd d2, d0, d1, d2",
    "fmadd d3, d0, d1, d3",
    "fmsub d2, d0, d1, d2",
    "fmsub d3, d0, d1, d3",
)
X86_COPY = (
    "vmovaps -32(%rsi,%rdx), %ymm1",
    "vmovaps %ymm1, -32(%rdi,%rdx)",
    "vmovaps (%rsi,%rdx), %ymm1",
    "vmovaps %ymm1, (%rdi,%rdx)",
)
X86_SCALAR_COPY = (
    "vmovsd -8(%rsi,%rdx), %xmm1",
    "vmovsd %xmm1, -8(%rdi,%rdx)",
    "vmovsd (%rsi,%rdx), %xmm1",
    "vmovsd %xmm1, (%rdi,%rdx)",
)
ARM_COPY = ("ldur q1, [x12, #-16]", "stur q1, [x13, #-16]", "ldr q1, [x12]", "str q1, [x13]")


def isa_of(arch: str, name: str) -> Isa:
    """Return a row of the table."""
    return next(isa for isa in ISAS if isa.arch == arch and isa.name == name)


AVX2, SCALAR, SSE2 = isa_of("x86_64", "avx2"), isa_of("x86_64", "scalar"), isa_of("x86_64", "sse2")
NEON, ARM_SCALAR = isa_of("aarch64", "neon"), isa_of("aarch64", "scalar")


def looped(lines: Sequence[str], isa: Isa) -> str:
    """Return assembly of one function around one loop of these lines."""
    if isa.arch == "x86_64":
        return "\n\t".join(["f:", "xorl %eax, %eax", "\r.L1:", *lines, "decq %rcx", "jne .L1", "retq"]) + "\n"
    return "\n\t".join(["f:", "mov x8, xzr", "\r.L1:", *lines, "cmp x8, x0", "b.lo .L1", "ret"]) + "\n"


def changed(lines: Sequence[str], old: str, new: str, times: int = 1) -> list[str]:
    """Return the lines with `old` replaced by `new`, which may add lines, so many times."""
    text = "\n".join(lines)
    assert old in text
    return text.replace(old, new, times).split("\n")


@pytest.mark.parametrize(
    ("lines", "isa"),
    [(X86_FMA, AVX2), (X86_SCALAR_FMA, SCALAR), (LINUX_FMA, NEON), (MACOS_FMA, NEON), (ARM_SCALAR_FMA, ARM_SCALAR)],
)
def test_two_chains_of_two_steps_pass(lines: Sequence[str], isa: Isa) -> None:
    audit = audit_arithmetic(looped(lines, isa), isa, "f64", "fma", 2)
    assert audit.chains == 2
    assert sum(audit.instructions.values()) == 4
    assert audit.loop_instructions == 6


@pytest.mark.parametrize(("lines", "isa"), [(X86_COPY, AVX2), (X86_SCALAR_COPY, SCALAR), (ARM_COPY, NEON)])
def test_a_copy_of_two_vectors_passes(lines: Sequence[str], isa: Isa) -> None:
    audit = audit_stream(looped(lines, isa), isa, "f64", "copy", 2)
    assert sum(audit.instructions.values()) == 4
    assert audit.loop_instructions == 6


def test_paired_accesses_count_twice() -> None:
    lines = ("ldp q1, q2, [x12]", "stp q1, q2, [x13]")
    audit_stream(looped(lines, NEON), NEON, "f64", "copy", 2)
    with pytest.raises(CodegenError, match="holds 2 loads and 2 stores"):
        audit_stream(looped(lines, NEON), NEON, "f64", "copy", 4)


ARITHMETIC_DEFECTS = {
    "half the register": (X86_FMA, AVX2, "ymm", "xmm", 99, r"uses other operands than ymm in 4 of 4"),
    "half the register once": (X86_FMA, AVX2, "%ymm4, %ymm0, %ymm5", "%xmm4, %xmm0, %xmm5", 1, r"in 1 of 4"),
    "single precision": (X86_FMA, AVX2, "231pd", "231ps", 99, "has no loop with the expected instructions"),
    "single precision once": (X86_FMA, AVX2, "231pd", "231ps", 1, "holds 3 fma instructions"),
    "scalar once": (X86_FMA, AVX2, "231pd", "231sd", 1, "holds 3 fma instructions"),
    "two chains in one": (X86_FMA, AVX2, "%ymm5", "%ymm3", 99, r"has 1 independent chains \(expected 2\)"),
    "a lost step": (X86_FMA, AVX2, X86_FMA[3], "nop", 1, r"holds 3 fma instructions.*\(expected 4\)"),
    "a multiplication": (X86_FMA, AVX2, X86_FMA[3], "vmulpd %ymm4, %ymm5, %ymm5", 1, "holds 3 fma"),
    "a spill": (X86_FMA, AVX2, X86_FMA[3], X86_FMA[3] + "\nvmovups %ymm3, 32(%rsp)", 1, "spills a register"),
    "a reload": (X86_FMA, AVX2, "%ymm4, %ymm0", "-32(%rsp), %ymm0", 1, "spills a register"),
    "a call": (X86_FMA, AVX2, X86_FMA[3], X86_FMA[3] + "\ncallq *%rax", 1, r"calls a function.*callq \*%rax"),
    "nothing": (X86_FMA, AVX2, "\n".join(X86_FMA), "nop", 1, "has no loop with the expected instructions"),
    "packed in scalar": (X86_SCALAR_FMA, SCALAR, X86_SCALAR_FMA[3], "vaddpd %xmm1, %xmm2, %xmm3", 1, "packed"),
    "packed moves in scalar": (
        X86_SCALAR_FMA,
        SCALAR,
        X86_SCALAR_FMA[3],
        X86_SCALAR_FMA[3] + "\nvmovapd (%rdi), %xmm7",
        1,
        "holds a packed instruction in a scalar ceiling: vmovapd",
    ),
    "linux: single precision": (LINUX_FMA, NEON, ".2d", ".4s", 99, "uses other operands than v in 4 of 4"),
    "linux: half the register": (LINUX_FMA, NEON, ".2d", ".2s", 1, "uses other operands than v in 1 of 4"),
    "linux: two chains in one": (LINUX_FMA, NEON, "v3.", "v2.", 99, "has 1 independent chains"),
    "linux: a spill": (LINUX_FMA, NEON, LINUX_FMA[3], LINUX_FMA[3] + "\nstr q2, [sp, #16]", 1, "spills"),
    "linux: a call": (LINUX_FMA, NEON, LINUX_FMA[3], LINUX_FMA[3] + "\nbl fma", 1, "calls a function"),
    "linux: scalar": (LINUX_FMA, NEON, LINUX_FMA[3], "fmadd d3, d0, d1, d3", 1, "holds 3 fma"),
    "macos: single precision": (MACOS_FMA, NEON, ".2d", ".4s", 99, "uses other operands than v in 4 of 4"),
    "macos: two chains in one": (MACOS_FMA, NEON, "v3,", "v2,", 99, "has 1 independent chains"),
    "macos: a spill": (MACOS_FMA, NEON, MACOS_FMA[3], MACOS_FMA[3] + "\nldr q2, [sp]", 1, "spills"),
    "macos: a call": (MACOS_FMA, NEON, MACOS_FMA[3], MACOS_FMA[3] + "\nbl _fma", 1, "calls a function"),
    "arm scalar: single": (ARM_SCALAR_FMA, ARM_SCALAR, "d2, d0, d1, d2", "s2, s0, s1, s2", 1, "in 1 of 4"),
    "arm scalar: packed": (ARM_SCALAR_FMA, ARM_SCALAR, ARM_SCALAR_FMA[3], LINUX_FMA[3], 1, "packed instruction"),
    "arm scalar: packed on macos": (ARM_SCALAR_FMA, ARM_SCALAR, ARM_SCALAR_FMA[3], MACOS_FMA[3], 1, "packed"),
}


@pytest.mark.parametrize("defect", ARITHMETIC_DEFECTS)
def test_an_arithmetic_loop_is_refused_for(defect: str) -> None:
    lines, isa, old, new, times, words = ARITHMETIC_DEFECTS[defect]
    with pytest.raises(CodegenError, match=words) as refused:
        audit_arithmetic(looped(changed(lines, old, new, times), isa), isa, "f64", "fma", 2)
    assert str(refused.value).startswith(f"fma_{isa.name}_f64 with 2 chains: the assembly ")
    assert "expected" in str(refused.value)
    assert "check NUMBA_CPU_NAME" in str(refused.value)


COPY_DEFECTS = {
    "half the register": (X86_COPY, AVX2, "ymm", "xmm", 99, "accesses memory by another width: vmovaps"),
    "one narrow load": (X86_COPY, AVX2, X86_COPY[0], "vmovaps -32(%rsi,%rdx), %xmm1", 1, "another width"),
    "one element": (X86_COPY, AVX2, X86_COPY[1], "vmovsd %xmm1, -32(%rdi,%rdx)", 1, "another width"),
    "an integer load": (X86_COPY, AVX2, X86_COPY[0], X86_COPY[0] + "\nmovq (%rsi), %r8", 1, "another width"),
    "a lost load": (X86_COPY, AVX2, X86_COPY[0], "nop", 1, r"holds 1 loads and 2 stores \(expected 2 and 2\)"),
    "a lost store": (X86_COPY, AVX2, X86_COPY[1], "nop", 1, "holds 2 loads and 1 stores"),
    "a load too many": (X86_COPY, AVX2, X86_COPY[0], f"{X86_COPY[0]}\n{X86_COPY[2]}", 1, "3 loads and 2 stores"),
    "a store too many": (X86_COPY, AVX2, X86_COPY[1], f"{X86_COPY[1]}\n{X86_COPY[3]}", 1, "2 loads and 3 stores"),
    "a streaming store": (X86_COPY, AVX2, "vmovaps %ymm1", "vmovntps %ymm1", 1, "holds 1 non-temporal stores"),
    "a spill": (X86_COPY, AVX2, X86_COPY[3], X86_COPY[3] + "\nvmovups %ymm3, 32(%rsp)", 1, "spills a register"),
    "a call": (X86_COPY, AVX2, X86_COPY[3], X86_COPY[3] + "\ncallq memcpy@PLT", 1, "calls a function"),
    "nothing": (X86_COPY, AVX2, "\n".join(X86_COPY), "nop", 1, "has no loop with the expected instructions"),
    "packed in scalar": (X86_SCALAR_COPY, SCALAR, X86_SCALAR_COPY[0], "vmovups (%rsi), %xmm1", 1, "packed"),
    "single precision": (X86_SCALAR_COPY, SCALAR, "vmovsd", "vmovss", 1, "accesses memory by another width: vmovss"),
    "arm: half the register": (ARM_COPY, NEON, "q1", "d1", 99, "accesses memory by another width: ldur d1"),
    "arm: a general register": (ARM_COPY, NEON, "ldr q1", "ldr x1", 1, "another width: ldr x1"),
    "arm: a lost load": (ARM_COPY, NEON, ARM_COPY[0], "nop", 1, "holds 1 loads and 2 stores"),
    "arm: a pair too many": (ARM_COPY, NEON, ARM_COPY[0], "ldp q1, q2, [x12]", 1, "holds 3 loads and 2 stores"),
    "arm: a spill": (ARM_COPY, NEON, ARM_COPY[3], ARM_COPY[3] + "\nstr q2, [sp, #16]", 1, "spills a register"),
    "arm: a call": (ARM_COPY, NEON, ARM_COPY[3], ARM_COPY[3] + "\nbl _memcpy", 1, "calls a function"),
}


@pytest.mark.parametrize("defect", COPY_DEFECTS)
def test_a_copy_loop_is_refused_for(defect: str) -> None:
    lines, isa, old, new, times, words = COPY_DEFECTS[defect]
    with pytest.raises(CodegenError, match=words) as refused:
        audit_stream(looped(changed(lines, old, new, times), isa), isa, "f64", "copy", 2)
    assert str(refused.value).startswith(f"copy_{isa.name}_f64 unrolled 2 times: the assembly ")


def test_plain_stores_are_refused_where_non_temporal_ones_are_claimed() -> None:
    with pytest.raises(CodegenError, match="holds 0 non-temporal stores"):
        audit_stream(looped(X86_COPY, AVX2), AVX2, "f64", "nt_copy", 2)
    with pytest.raises(CodegenError, match="holds 0 non-temporal stores"):
        audit_stream(looped(ARM_COPY, NEON), NEON, "f64", "nt_copy", 2)
    audit_stream(looped(changed(X86_COPY, "vmovaps %ymm1", "vmovntps %ymm1", 2), AVX2), AVX2, "f64", "nt_copy", 2)


def test_non_temporal_stores_among_plain_ones_are_refused() -> None:
    half = changed(X86_COPY, "vmovaps %ymm1", "vmovntps %ymm1", 1)
    with pytest.raises(CodegenError, match="holds 1 non-temporal stores"):
        audit_stream(looped(half, AVX2), AVX2, "f64", "nt_copy", 2)


def test_straight_code_without_a_loop_is_refused() -> None:
    with pytest.raises(CodegenError, match=r"has no loop.*\(expected one hot loop\)"):
        audit_arithmetic("\n".join(X86_FMA), AVX2, "f64", "fma", 2)
    with pytest.raises(CodegenError, match="has no loop"):
        audit_stream("\n".join(X86_COPY), AVX2, "f64", "copy", 2)
    with pytest.raises(CodegenError, match="has no loop"):
        audit_arithmetic("", AVX2, "f64", "fma", 2)


def test_a_loop_of_integer_bookkeeping_is_not_the_hot_one() -> None:
    busy = ["movq (%rsi), %r8"] * 9
    audit_stream(looped(busy, AVX2).replace(".L1", ".L0") + looped(X86_COPY, AVX2), AVX2, "f64", "copy", 2)


def test_alternating_kinds_must_share_the_chains_evenly() -> None:
    lines = ("vmulpd %xmm1, %xmm2, %xmm2", "vaddpd %xmm1, %xmm3, %xmm3") * 2
    assert audit_arithmetic(looped(lines, SSE2), SSE2, "f64", "mul_add", 2).instructions == {"vmulpd": 2, "vaddpd": 2}
    adds = changed(lines, "vmulpd", "vaddpd", 1)
    with pytest.raises(CodegenError, match=r"holds 1 mul instructions in its hot loop \(expected 2\)"):
        audit_arithmetic(looped(adds, SSE2), SSE2, "f64", "mul_add", 2)


def test_a_loop_that_llvm_unrolled_counts_its_turns() -> None:
    audit = audit_arithmetic(looped(X86_FMA * 3, AVX2), AVX2, "f64", "fma", 2)
    assert audit.instructions == {"vfmadd231pd": 12}
    assert audit.chains == 2
    assert audit_stream(looped(X86_COPY * 3, AVX2), AVX2, "f64", "copy", 2).instructions == {"vmovaps": 12}


def test_the_frame_pointer_means_the_stack_only_where_it_is_one() -> None:
    lines = changed(X86_FMA, X86_FMA[3], X86_FMA[3] + "\nmovq %r8, -8(%rbp)", 1)
    plain = looped(lines, AVX2)
    framed = plain.replace("xorl %eax, %eax", "movq\t%rsp, %rbp")
    audit_arithmetic(plain, AVX2, "f64", "fma", 2)
    with pytest.raises(CodegenError, match=r"spills a register.*%rbp"):
        audit_arithmetic(framed, AVX2, "f64", "fma", 2)
