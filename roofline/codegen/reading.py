"""Reads assembly: instructions and innermost loops.

Understands the AT&T syntax that LLVM writes for x86-64 and its syntax for AArch64 (Linux and macOS).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LABEL = re.compile(r"^([.\w$]+):")
COMMENT = re.compile(r"(?:^|\s)(?:#+(?=[\s%A-Z]|$)|//|;)")  # `#-16` is an AArch64 immediate
BRANCH = re.compile(r"^(?:j[a-z]+|b(?:\.[a-z]+)?|cbn?z|tbn?z)$")
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


def instruction_of(line: str) -> Instruction:
    """Return what a line without label, comment and needless space says."""
    mnemonic, _, rest = line.removeprefix("{vex} ").partition(" ")
    operands = [part.strip() for part in re.split(r",(?![^(\[]*[)\]])", rest) if part.strip()]
    arrangement = re.fullmatch(r"(f\w+|sdot|smull|sadalp)\.(\d+[hsd])", mnemonic)
    if arrangement:  # macOS writes `fmla.2d v0, v1, v2`, Linux `fmla v0.2d, v1.2d, v2.2d`
        mnemonic = arrangement[1]
        operands = [re.sub(r"^(v\d+)$", rf"\1.{arrangement[2]}", operand) for operand in operands]
    return Instruction(mnemonic, tuple(operands))


def instructions_of(assembly: str) -> list[Instruction]:
    """Return all instructions, in the order of the text."""
    lines = (re.sub(r"\s+", " ", COMMENT.split(raw)[0]).strip() for raw in assembly.splitlines())
    return [instruction_of(line) for line in lines if line and not line.startswith(".") and not LABEL.match(line)]


def innermost_loops(assembly: str) -> list[list[Instruction]]:
    """Return the bodies of all innermost loops: from a label to the branch back to it, with no loop inside."""
    position: dict[str, int] = {}
    instructions: list[Instruction] = []
    spans: list[tuple[int, int]] = []
    for raw in assembly.splitlines():
        line = re.sub(r"\s+", " ", COMMENT.split(raw)[0]).strip()
        label = LABEL.match(line)
        if label:
            position[label[1]] = len(instructions)
            continue
        if not line or line.startswith("."):
            continue
        instruction = instruction_of(line)
        instructions.append(instruction)
        if BRANCH.match(instruction.mnemonic) and instruction.operands:
            start = position.get(instruction.operands[-1])
            if start is not None:
                spans.append((start, len(instructions)))
    return [
        instructions[start:stop]
        for start, stop in spans
        if not any(s >= start and e <= stop and (s, e) != (start, stop) for s, e in spans)
    ]
