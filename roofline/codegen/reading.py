"""Reads assembly: instructions, innermost loops, and which registers do the arithmetic.

Understands the AT&T syntax that LLVM writes for x86-64 and its syntax for AArch64 (Linux and macOS).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LABEL = re.compile(r"^([.\w$]+):")
_COMMENT = re.compile(r"(?:^|\s)(?:#+(?=[\s%A-Z]|$)|//|;)")  # `#-16` is an AArch64 immediate
_BRANCH = re.compile(r"^(?:j[a-z]+|b(?:\.[a-z]+)?|cbn?z|tbn?z)$")
X86_REGISTER = re.compile(r"%([xyz]mm)\d+")


@dataclass(frozen=True)
class Instruction:
    """One line of assembly."""

    mnemonic: str
    """With an AArch64 arrangement appended when the syntax puts it there: `fmla.2d` (macOS) is `fmla`."""
    operands: tuple[str, ...]

    @property
    def text(self) -> str:
        """The line again, for messages."""
        return f"{self.mnemonic} {', '.join(self.operands)}".strip()


def _instruction(line: str) -> Instruction:
    mnemonic, _, rest = line.removeprefix("{vex} ").partition(" ")
    operands = [part.strip() for part in re.split(r",(?![^(\[]*[)\]])", rest) if part.strip()]
    arrangement = re.fullmatch(r"(f\w+|sdot|smull|sadalp)\.(\d+[hsd])", mnemonic)
    if arrangement:  # macOS writes `fmla.2d v0, v1, v2`, Linux `fmla v0.2d, v1.2d, v2.2d`
        mnemonic = arrangement[1]
        operands = [re.sub(r"^(v\d+)$", rf"\1.{arrangement[2]}", operand) for operand in operands]
    return Instruction(mnemonic, tuple(operands))


def innermost_loops(assembly: str) -> list[list[Instruction]]:
    """Return the bodies of all innermost loops: from a label to the branch back to it, with no loop inside."""
    position: dict[str, int] = {}
    instructions: list[Instruction] = []
    spans: list[tuple[int, int]] = []
    for raw in assembly.splitlines():
        line = re.sub(r"\s+", " ", _COMMENT.split(raw)[0]).strip()
        label = _LABEL.match(line)
        if label:
            position[label[1]] = len(instructions)
            continue
        if not line or line.startswith("."):
            continue
        instruction = _instruction(line)
        instructions.append(instruction)
        if _BRANCH.match(instruction.mnemonic) and instruction.operands:
            start = position.get(instruction.operands[-1])
            if start is not None:
                spans.append((start, len(instructions)))
    return [
        instructions[start:stop]
        for start, stop in spans
        if not any(s >= start and e <= stop and (s, e) != (start, stop) for s, e in spans)
    ]


def vector_register(assembly: str, integers: bool = False) -> str | None:
    """Return the widest register class that does floating-point arithmetic anywhere in a kernel's assembly.

    `zmm`, `ymm`, `xmm` (packed), `scalar`, or on AArch64 `v` and `scalar`; None when there is no such arithmetic.
    With `integers` the arithmetic is that of whole numbers: their multiplications, since every loop has additions.
    """
    seen = set(_integer_registers(assembly)) if integers else set()
    for raw in assembly.splitlines():
        line = re.sub(r"\s+", " ", raw.strip())
        x86 = re.match(r"v?(?:fn?m(?:add|sub)\d{3}|add|sub|mul|div|sqrt)([sp])[sd] (.*)", line)
        if x86:
            classes = set(X86_REGISTER.findall(x86[2]))
            seen.add(next((c for c in ("zmm", "ymm", "xmm") if c in classes), "xmm") if x86[1] == "p" else "scalar")
        arm = re.match(r"f(?:ml[as]|n?m(?:add|sub)|add|sub|mul|div|sqrt)(\.\d[sd])? (.*)", line)
        if arm:
            seen.add("v" if arm[1] or re.search(r"v\d+\.\d[sd]", arm[2]) else "scalar")
    return next((name for name in ("zmm", "ymm", "xmm", "v", "scalar") if name in seen), None)


def _integer_registers(assembly: str) -> Iterator[str]:
    for raw in assembly.splitlines():
        line = re.sub(r"\s+", " ", raw.strip()).removeprefix("{vex} ")
        if re.match(r"v?p(?:dp|madd|mul)\w+ ", line):
            classes = set(X86_REGISTER.findall(line))
            yield next((c for c in ("zmm", "ymm", "xmm") if c in classes), "xmm")
        elif re.match(r"imul[lq] |(?:mul|madd) w|smull x|smaddl x", line):
            yield "scalar"
        elif re.match(r"(?:sdot|smull2?|smlal2?|mul|mla)(?:\.\d+[hs])? v\d", line):
            yield "v"
