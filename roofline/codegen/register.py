"""Which vector register does a kernel's arithmetic, read from its assembly."""

from __future__ import annotations

import re
from collections.abc import Iterable

from roofline.codegen.nesting import nested_loops
from roofline.codegen.reading import X86_REGISTER, Instruction, instructions_of

_WIDEST_FIRST = ("zmm", "ymm", "xmm", "v", "scalar")


def vector_register(assembly: str, integers: bool = False) -> str | None:
    """Return the widest register class that does floating-point arithmetic in the deepest loops that do any.

    `zmm`, `ymm`, `xmm` (packed), `scalar`, or on AArch64 `v` and `scalar`; None when there is no such arithmetic.
    The deepest loops take the time. Beside them stand wider ones that a kernel is not made of: a sum of the values
    of a strict loop, a copy of the whole nest for so few turns that no inner loop is left. Among the deepest are those
    for the remainder, which are narrower: so the widest of them. Without loops it is the widest anywhere.
    With `integers` the arithmetic is that of whole numbers: their multiplications, since every loop has additions.
    """
    found = [(depth, _classes(loop, integers)) for depth, loop in nested_loops(assembly)]
    deepest = max((depth for depth, classes in found if classes), default=None)
    if deepest is None:
        seen = _classes(instructions_of(assembly), integers)
    else:
        seen = {name for depth, classes in found if depth == deepest for name in classes}
    return next((name for name in _WIDEST_FIRST if name in seen), None)


def _classes(instructions: Iterable[Instruction], integers: bool) -> set[str]:
    """Return the register classes that do arithmetic in these instructions."""
    found = {_floating(instruction.text) for instruction in instructions}
    if integers:
        found |= {_whole(instruction.text) for instruction in instructions}
    return {name for name in found if name is not None}


def _widest(line: str) -> str:
    classes = set(X86_REGISTER.findall(line))
    return next((name for name in ("zmm", "ymm", "xmm") if name in classes), "xmm")


def _floating(line: str) -> str | None:
    x86 = re.match(r"v?(?:fn?m(?:add|sub)\d{3}|add|sub|mul|div|sqrt)([sp])[sd] ", line)
    if x86:
        return _widest(line) if x86[1] == "p" else "scalar"
    arm = re.match(r"f(?:ml[as]|n?m(?:add|sub)|add|sub|mul|div|sqrt) (.*)", line)
    if arm:
        return "v" if re.search(r"v\d+\.\d[sd]", arm[1]) else "scalar"
    return None


def _whole(line: str) -> str | None:
    if re.match(r"v?p(?:dp|madd|mul)\w+ ", line):
        return _widest(line)
    if re.match(r"imul[lq] |(?:mul|madd) w|smull x|smaddl x", line):
        return "scalar"
    return "v" if re.match(r"(?:sdot|smull2?|smlal2?|mul|mla)(?:\.\d+[hs])? v\d", line) else None
