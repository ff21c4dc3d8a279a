"""Proves that a hot loop of integer dot products is what its ceiling claims; see `dot` for the forms it can have."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from roofline.codegen.loops import ARITHMETIC_STEPS
from roofline.codegen.proof import checked, destination, hot_loop, refuse
from roofline.codegen.reading import Instruction, innermost_loops
from roofline.model.ceilings import Audit
from roofline.model.isa import Isa


@dataclass(frozen=True)
class _Form:
    """The instructions of one step of a chain, with how many there are."""

    vector: bool
    arch: str
    accumulate: tuple[str, int]
    """Pattern of the mnemonic that changes the accumulator."""
    products: tuple[str, int] | None = None
    """Pattern of the mnemonic that multiplies, where that is another."""


_FORMS = (
    _Form(True, "x86_64", (r"vpdpbusd", 1)),
    _Form(True, "x86_64", (r"v?paddd", 2), (r"v?pmaddwd", 2)),
    _Form(False, "x86_64", (r"addl", 1), (r"imull", 1)),
    _Form(True, "aarch64", (r"sdot", 1)),
    _Form(True, "aarch64", (r"sadalp", 2), (r"smull", 2)),
    _Form(False, "aarch64", (r"madd", 1)),
)


def audit_dot(assembly: str, isa: Isa, chains: int) -> Audit:
    """Prove an integer ceiling: mnemonics, register width, number of independent chains, no spill, no call.

    Raises CodegenError that says what was found and what was expected.
    """
    name = f"dot_{isa.name}_i8 with {chains} chains"
    loops = innermost_loops(assembly)
    forms = [form for form in _FORMS if form.arch == isa.arch and form.vector == bool(isa.vector_bits)]
    form = max(forms, key=lambda form: max((len(_multiplying(loop, form)) for loop in loops), default=0))
    hot = hot_loop(name, {number: len(_multiplying(loop, form)) for number, loop in enumerate(loops)}, loops)
    checked(name, assembly, hot, isa)
    work = [i for i in hot if any(re.fullmatch(pattern, i.mnemonic) for pattern, _ in _patterns(form))]
    wrong = [i for i in work if not all(re.fullmatch(_register(isa), operand) for operand in i.operands)]
    if wrong:
        raise refuse(
            name,
            f"uses other operands than {_class(isa)} in {len(wrong)} of {len(work)} instructions: {wrong[0].text}",
            f"{_class(isa)} registers only",
        )
    counted = Counter(i.mnemonic for i in work)
    turns = max(1, len(_multiplying(hot, form)) // (chains * ARITHMETIC_STEPS * _patterns(form)[-1][1]))
    for pattern, per_step in _patterns(form):
        found = sum(count for mnemonic, count in counted.items() if re.fullmatch(pattern, mnemonic))
        if found != turns * chains * ARITHMETIC_STEPS * per_step:
            expected = f"{turns * chains * ARITHMETIC_STEPS * per_step}"
            raise refuse(name, f"holds {found} {pattern.removeprefix('v?')} instructions in its hot loop", expected)
    sums = [i for i in work if re.fullmatch(form.accumulate[0], i.mnemonic)]
    fresh = [i for i in sums if not _accumulates(i, isa)]
    if fresh:
        raise refuse(name, f"starts a value anew in its hot loop: {fresh[0].text}", "chains of dependent steps")
    seen = len({destination(i, isa) for i in sums})
    if seen != chains:
        raise refuse(name, f"has {seen} independent chains", f"{chains}")
    return Audit(instructions=dict(counted), register=_class(isa), chains=seen, loop_instructions=len(hot))


def _patterns(form: _Form) -> tuple[tuple[str, int], ...]:
    return (form.accumulate,) if form.products is None else (form.accumulate, form.products)


def _multiplying(loop: list[Instruction], form: _Form) -> list[Instruction]:
    """Return the instructions that multiply: additions alone are no dot product."""
    return [i for i in loop if re.fullmatch(_patterns(form)[-1][0], i.mnemonic)]


def _class(isa: Isa) -> str:
    """Name the registers for the record: whole numbers one at a time are in the general ones."""
    return isa.asm_register if isa.vector_bits else "general (scalar)"


def _register(isa: Isa) -> str:
    if isa.arch == "x86_64":
        return rf"%{isa.asm_register}\d+" if isa.vector_bits else r"%(?:e[a-z]{2}|r\d+d)"
    return r"v\d+\.(?:16b|8b|8h|4s)" if isa.vector_bits else r"w\d+"


def _accumulates(instruction: Instruction, isa: Isa) -> bool:
    """Whether the result depends on what the destination held."""
    if instruction.mnemonic in ("vpdpbusd", "sdot", "sadalp") or len(instruction.operands) == 2:
        return True
    sources = instruction.operands[:-1] if isa.arch == "x86_64" else instruction.operands[1:]
    return destination(instruction, isa) in sources
