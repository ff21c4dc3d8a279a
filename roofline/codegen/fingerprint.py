"""A hash of machine code that is the same wherever the same instructions came out of the compiler."""

from __future__ import annotations

import re
from hashlib import sha256

from roofline.codegen.reading import COMMENT, LABEL

DIGITS = 16
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_SYMBOL = re.compile(r"(?<![\w%.$@])(?:\$(?=[A-Za-z_.])|:\w+:)?([A-Za-z_.][\w.$]*)(?:@\w+)?")
_KEPT = re.compile(r"[A-Za-z]\w*|v\d+\.\d*[bhsdq]")
"""What is no label here and means the same everywhere: registers of AArch64, words of the syntax, functions of C."""
_ADDRESS = re.compile(r"(?<![\w.])([$#]?)(0x[0-9a-f]+|\d+)\b")
_WRAPPERS = ("_ZN7cpython", "cfunc.")
"""What functions begin with that Numba puts around a compiled one, for Python and C: nothing that is timed."""
_ADDRESSES = range(2**32, 2**48)
"""Where programs lie in memory. No count and no bit pattern of a number that kernels work with lies there."""


def assembly_digest(assembly: str) -> str:
    """Return DIGITS hexadecimal digits that tell the instructions of this assembly from others.

    Two processes that compile the same code get the same. Not counted are what a compiler or linker names or places as
    it likes: names of functions, of labels and of constants, addresses, directives, comments, spaces. Counted are every
    instruction, its registers, immediate numbers and offsets, where jumps go, and which functions of libraries are
    called. The values of constants in memory are not counted. Empty for no instructions.
    """
    lines, places = _lines(assembly)
    if not lines:
        return ""
    known: dict[str, str] = {}

    def plain(symbol: re.Match[str]) -> str:
        name = symbol[1]
        if name in places:
            return f"@{places[name]}"
        if _KEPT.fullmatch(name):
            return name
        return known.setdefault(name, f"@symbol{len(known)}")

    told = []
    for mnemonic, operands in lines:
        named = _SYMBOL.sub(plain, operands)
        told.append(f"{mnemonic} {_ADDRESS.sub(_without_address, named)}")
    return sha256("\n".join(told).encode()).hexdigest()[:DIGITS]


def _lines(assembly: str) -> tuple[list[tuple[str, str]], dict[str, int]]:
    """Return (mnemonic, operands) of every instruction that counts, and the place in them of every label."""
    lines: list[tuple[str, str]] = []
    places: dict[str, int] = {}
    counts = True
    for raw in assembly.splitlines():
        line = " ".join(COMMENT.split(_QUOTED.sub(".quoted", raw))[0].split())
        label = LABEL.match(line)
        if label:
            if not label[1].startswith((".L", "L", "Ltmp")):
                counts = not label[1].startswith(_WRAPPERS)
            places[label[1]] = len(lines)
        elif counts and line and not line.startswith("."):
            mnemonic, _, operands = line.partition(" ")
            lines.append((mnemonic, operands))
    return lines, places


def _without_address(number: re.Match[str]) -> str:
    return f"{number[1]}address" if int(number[2], 0) in _ADDRESSES else number[0]
