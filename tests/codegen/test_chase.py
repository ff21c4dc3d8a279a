"""The chain of dependent loads, compiled for CPUs that are not here, and what its audit refuses."""

from __future__ import annotations

import pytest

from roofline.codegen.assembly import TARGETS, chase_assembly
from roofline.codegen.chase import audit_chase
from roofline.errors import CodegenError

LOADS = "\n".join(["movq (%rax), %rcx", "movq (%rcx), %rax"] * 4)
LOOP = ".L1:\n{}\ndecq %rdx\njne .L1\n"


def arch_of(target: str) -> str:
    return "x86_64" if TARGETS[target][0].startswith("x86") else "aarch64"


@pytest.mark.parametrize("target", TARGETS)
def test_the_emitted_chain_passes(target: str) -> None:
    audit = audit_chase(chase_assembly(target), arch_of(target))
    assert audit.chains == 1
    assert sum(audit.instructions.values()) % 8 == 0


def test_alternating_registers_and_a_move_between_them_are_one_chain() -> None:
    assert audit_chase(LOOP.format(LOADS), "x86_64").instructions == {"movq": 8}
    moved = "\n".join(["movq (%rax), %rcx"] + ["movq (%rcx), %rcx"] * 7 + ["movq %rcx, %rax"])
    assert audit_chase(LOOP.format(moved), "x86_64").instructions == {"movq": 8}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("movq (%rcx), %rax", "movq (%rsi), %rax", "what the load before has not read"),
        ("movq (%rcx), %rax", "movq 8(%rcx), %rax", "accesses memory beside the chain"),
        ("movq (%rcx), %rax", "movl (%rcx), %eax", "accesses memory beside the chain"),
        ("movq (%rcx), %rax", "movq (%rcx), %rax\nmovq %rax, (%rdi)", "accesses memory beside the chain"),
        ("movq (%rcx), %rax", "movq (%rcx), %rax\ncallq f", "calls a function"),
        ("movq (%rax), %rcx\nmovq (%rcx), %rax\n", "", "holds 6 loads"),
        (LOADS, "nop", "has no loop"),
    ],
)
def test_what_is_no_chain_is_refused(old: str, new: str, words: str) -> None:
    assert old in LOADS
    with pytest.raises(CodegenError, match=words):
        audit_chase(LOOP.format(LOADS.replace(old, new, 1)), "x86_64")
