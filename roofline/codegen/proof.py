"""What every audit asks of a hot loop: that there is one, and that it neither calls nor spills."""

from __future__ import annotations

import re
from collections.abc import Sequence

from roofline.codegen.reading import Instruction
from roofline.errors import CodegenError
from roofline.model.isa import Isa

X86_MEMORY = re.compile(r"\(%|\(,%")
_X86_STACK = re.compile(r"\(%rsp")
_X86_FRAME = re.compile(r"\(%r[sb]p")
_X86_SETS_FRAME = re.compile(r"mov[q ]\s*%rsp, %rbp")
"""Where this stands, %rbp points into the stack; elsewhere it is a register like any other."""


def refuse(name: str, found: str, expected: str) -> CodegenError:
    """Return the error of an audit: what was found, what was expected, what to check."""
    return CodegenError(
        f"{name}: the assembly {found} (expected {expected}); check NUMBA_CPU_NAME, NUMBA_CPU_FEATURES and NUMBA_OPT"
    )


def checked(name: str, assembly: str, loop: Sequence[Instruction], isa: Isa) -> None:
    """Refuse a hot loop that calls, spills, or holds packed arithmetic in a scalar ceiling."""
    stack = _X86_FRAME if _X86_SETS_FRAME.search(assembly) else _X86_STACK
    for instruction in loop:
        joined = " ".join(instruction.operands)
        if re.fullmatch(r"call\w*|bl|blr", instruction.mnemonic):
            raise refuse(name, f"calls a function in its hot loop: {instruction.text}", "no call")
        if stack.search(joined) or "[sp" in joined:
            raise refuse(name, f"spills a register in its hot loop: {instruction.text}", "no stack access")
        packed_x86 = re.fullmatch(r"v?(?:fn?m\w+|add|sub|mul|mov[au]|movnt)p[sd]", instruction.mnemonic)
        moves = re.fullmatch(r"v?mov[au]p[sd]", instruction.mnemonic) and not X86_MEMORY.search(joined)
        packed = (packed_x86 and not moves) or re.search(r"\bv\d+\.\d+[sd]", joined)
        if not isa.vector_bits and packed:
            raise refuse(name, f"holds a packed instruction in a scalar ceiling: {instruction.text}", "scalar only")


def hot_loop(name: str, count: dict[int, int], loops: list[list[Instruction]]) -> list[Instruction]:
    """Return the loop with the most of the expected instructions; `count` has their number by loop."""
    hot = max(count, key=lambda number: count[number], default=None)
    if hot is None or not count[hot]:
        raise refuse(name, "has no loop with the expected instructions", "one hot loop")
    return loops[hot]


def destination(instruction: Instruction, isa: Isa) -> str:
    """Return the register that an instruction writes."""
    return instruction.operands[-1 if isa.arch == "x86_64" else 0]
