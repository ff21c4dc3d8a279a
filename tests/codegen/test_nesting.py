"""Which loops are deepest, from the flow of control, and the register of a kernel that has other loops beside."""

from __future__ import annotations

from roofline.codegen.nesting import nested_loops
from roofline.codegen.register import vector_register

STRICT_PRODUCT = """
product:
.rows:
    cmpq $8, %rcx
    je .small
.columns:
    vxorpd %xmm0, %xmm0, %xmm0
.depth:
    vmulsd (%rsi,%rax,8), %xmm1, %xmm2
    vaddsd %xmm2, %xmm0, %xmm0
    decq %rax
    jne .depth
    decq %rbx
    jne .columns
    decq %r8
    jne .rows
    retq
.small:
    vmulpd (%rcx){1to8}, %zmm2, %zmm10
    vaddpd %zmm0, %zmm10, %zmm10
    decq %rdx
    jne .small
    retq
"""
"""As LLVM compiles `gemm.naive` for several threads: a nest of three, and one loop for matrices of just one vector."""


def texts(assembly: str) -> list[tuple[int, list[str]]]:
    return [(depth, [instruction.text for instruction in loop]) for depth, loop in nested_loops(assembly)]


def test_the_depth_of_a_loop_is_the_number_of_loops_around_it_and_itself() -> None:
    assembly = "f:\n.a:\n nop\n.b:\n incq %rax\n jne .b\n jne .a\n.c:\n decq %rax\n jne .c\n retq\n"
    assert texts(assembly) == [(2, ["incq %rax", "jne .b"]), (1, ["decq %rax", "jne .c"])]


def test_a_loop_whose_blocks_stand_elsewhere_is_found_by_its_jumps() -> None:
    assembly = "f:\n jmp .test\n.exit:\n retq\n.body:\n incq %rax\n.test:\n cmpq $9, %rax\n je .exit\n jmp .body\n"
    ((depth, loop),) = texts(assembly)
    assert (depth, sorted(loop)) == (1, sorted(["incq %rax", "cmpq $9, %rax", "je .exit", "jmp .body"]))


def test_a_loop_in_a_function_lies_inside_the_loops_that_call_it() -> None:
    assembly = (
        "tile:\n.k:\n vfmadd231pd %zmm0, %zmm1, %zmm2\n jne .k\n retq\n"
        "f:\n.i:\n nop\n.j:\n movabsq $tile, %rax\n callq *%rax\n jne .j\n jne .i\n retq\n"
    )
    assert [depth for depth, loop in texts(assembly) if any("fmadd" in text for text in loop)] == [3]


def test_a_loop_through_a_jump_by_table_is_a_loop() -> None:
    assembly = (
        "f:\n.LBB0_1:\n incq %rax\n jmpq *%rcx\n.LBB0_2:\n nop\n.LBB0_3:\n jmp .LBB0_1\n"
        ".LJTI0_0:\n .long .LBB0_2-.LJTI0_0\n .long .LBB0_3-.LJTI0_0\n"
    )
    assert [depth for depth, _ in texts(assembly)] == [1]


def test_functions_that_call_one_another_in_a_circle_end() -> None:
    assert texts("f:\n.a:\n callq g\n jne .a\n retq\ng:\n.b:\n callq f\n jne .b\n retq\n")


def test_a_version_for_small_sizes_beside_the_nest_is_not_what_the_kernel_runs_on() -> None:
    assert vector_register(STRICT_PRODUCT) == "scalar"


def test_the_remainder_beside_the_main_loop_is_not_what_the_kernel_runs_on() -> None:
    assembly = (
        "f:\n.i:\n nop\n.main:\n vfmadd231ps (%rdi), %ymm1, %ymm2\n jne .main\n"
        ".rest:\n vfmadd231ss (%rdi), %xmm1, %xmm2\n jne .rest\n jne .i\n retq\n"
    )
    assert vector_register(assembly) == "ymm"


def test_a_deeper_loop_without_arithmetic_hides_none() -> None:
    assembly = (
        "f:\n.i:\n vaddpd %zmm0, %zmm1, %zmm1\n jne .i\n.a:\n nop\n.b:\n movq (%rdi), %rax\n jne .b\n jne .a\n retq\n"
    )
    assert vector_register(assembly) == "zmm"


def test_nests_on_aarch64_are_read_as_well() -> None:
    assembly = (
        "f:\n.LBB0_1:\n fadd v0.2d, v0.2d, v1.2d\n cbz x1, .LBB0_3\n.LBB0_2:\n fadd d0, d0, d1\n"
        " subs x2, x2, #1\n b.ne .LBB0_2\n.LBB0_3:\n cbnz x3, .LBB0_1\n ret\n"
    )
    assert vector_register(assembly) == "scalar"
