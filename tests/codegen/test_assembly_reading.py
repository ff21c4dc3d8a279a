"""How assembly is read: innermost loops, and the register that a kernel's arithmetic uses."""

from __future__ import annotations

import pytest

from roofline.codegen.reading import innermost_loops
from roofline.codegen.register import vector_register


def texts(assembly: str) -> list[list[str]]:
    """Return the innermost loops as lines."""
    return [[instruction.text for instruction in loop] for loop in innermost_loops(assembly)]


def test_only_the_inner_of_nested_loops_counts() -> None:
    assembly = """
f:
    xorl %eax, %eax
.outer:
    movl $1, %ecx
.inner:
    addq $1, %rdx
    jne .inner
    incq %rax
    jb .outer
    retq
"""
    assert texts(assembly) == [["addq $1, %rdx", "jne .inner"]]


def test_loops_one_after_the_other_all_count() -> None:
    assembly = ".a:\n incq %rax\n jne .a\n.b:\n decq %rax\n jne .b\n"
    assert texts(assembly) == [["incq %rax", "jne .a"], ["decq %rax", "jne .b"]]


def test_two_inner_loops_of_one_outer_loop_count_and_the_outer_does_not() -> None:
    assembly = ".o:\n.a:\n incq %rax\n jne .a\n nop\n.b:\n decq %rax\n jne .b\n jb .o\n"
    assert texts(assembly) == [["incq %rax", "jne .a"], ["decq %rax", "jne .b"]]


def test_a_branch_forward_is_no_loop() -> None:
    assert texts("f:\n testq %rax, %rax\n je .end\n incq %rax\n.end:\n retq\n") == []


def test_a_jump_to_a_label_that_is_not_there_is_no_loop() -> None:
    assert texts("f:\n jmp *%rax\n jmp g@PLT\n b elsewhere\n br x8\n") == []


def test_comments_and_directives_are_no_instructions() -> None:
    assembly = """
.LBB0_1:                                # =>This Inner Loop Header: Depth=1
    .p2align 4
    # a whole line
    #APP
    #NO_APP
    vaddpd %ymm0, %ymm1, %ymm1          # ymm1 = ymm1 + ymm0
    jne .LBB0_1
"""
    assert texts(assembly) == [["vaddpd %ymm0, %ymm1, %ymm1", "jne .LBB0_1"]]


@pytest.mark.parametrize(("label", "comment"), [("LBB0_1", "; =>This Inner Loop"), (".LBB0_1", "// =>This Inner Loop")])
def test_comments_of_both_arm_syntaxes_end_and_immediates_stay(label: str, comment: str) -> None:
    assembly = f"{label}:  {comment}\n\tldur\tq1, [x12, #-32] {comment}\n\tadd\tx8, x8, #1\n\tb.lo\t{label}\n"
    assert texts(assembly) == [["ldur q1, [x12, #-32]", "add x8, x8, #1", f"b.lo {label}"]]


def test_the_macos_arrangement_is_read_as_the_linux_one() -> None:
    macos, linux = "LBB0_1:\n\tfmla.2d v2, v1, v3\n\tb.lo LBB0_1\n", ".L1:\n\tfmla v2.2d, v1.2d, v3.2d\n\tb.lo .L1\n"
    (first, _), (second, _) = innermost_loops(macos)[0], innermost_loops(linux)[0]
    assert first == second


def test_addresses_are_one_operand() -> None:
    (loop,) = innermost_loops(".a:\n vmovaps -96(%rsi,%rdx,8), %ymm1\n ldr q1, [x12, #16]\n jne .a\n")
    assert loop[0].operands == ("-96(%rsi,%rdx,8)", "%ymm1")
    assert loop[1].operands == ("q1", "[x12, #16]")


@pytest.mark.parametrize("branch", ["cbnz x8, .a", "tbnz w8, #0, .a", "b.ne .a", "b .a", "jne .a", "jmp .a", "jae .a"])
def test_every_branch_back_closes_a_loop(branch: str) -> None:
    assert texts(f".a:\n nop\n {branch}\n") == [["nop", branch]]


@pytest.mark.parametrize(
    ("assembly", "register"),
    [
        ("\tvfmadd213pd\t(%rdi), %zmm0, %zmm1", "zmm"),
        ("\tvaddpd\t%ymm0, %ymm1, %ymm1\n\tvaddsd\t%xmm0, %xmm1, %xmm1", "ymm"),
        ("\taddps\t%xmm0, %xmm1", "xmm"),
        ("\tmulsd\t%xmm0, %xmm1", "scalar"),
        ("\tvsqrtss\t%xmm0, %xmm1, %xmm1", "scalar"),
        ("\tvmovupd\t%zmm0, (%rdi)\n\tvaddsd\t%xmm0, %xmm1, %xmm1", "scalar"),
        ("\tvmovupd\t%ymm0, (%rdi)\n\tcallq\tdgemm@PLT", None),
        ("\tfmla\tv2.2d, v1.2d, v0.d[0]", "v"),
        ("\tfmla.4s\tv2, v1, v0[0]", "v"),
        ("\tfadd\td0, d1, d2", "scalar"),
        ("\tfmsub\ts0, s1, s2, s3", "scalar"),
        ("", None),
    ],
)
def test_the_widest_register_that_does_arithmetic_is_seen(assembly: str, register: str | None) -> None:
    assert vector_register(assembly) == register
