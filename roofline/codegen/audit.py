"""Proves that a hot loop is what its ceiling claims: no number without this proof."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from roofline.codegen.loops import ARITHMETIC_STEPS, accesses_of, chain_kinds
from roofline.codegen.proof import X86_MEMORY, checked, destination, hot_loop, refuse
from roofline.codegen.reading import X86_REGISTER, Instruction, innermost_loops
from roofline.model.ceilings import Audit
from roofline.model.isa import Isa

_X86_ARITHMETIC = {"fma": r"vfn?m(?:add|sub)\d{3}", "add": r"v?(?:add|sub)", "mul": r"v?mul"}
_X86_SUFFIX = {("f64", False): "sd", ("f32", False): "ss", ("f64", True): "pd", ("f32", True): "ps"}
_ARM_SCALAR = {"fma": r"fn?m(?:add|sub)", "add": r"f(?:add|sub)", "mul": r"fmul"}
_ARM_VECTOR = {"fma": r"fml[as]", "add": r"f(?:add|sub)", "mul": r"fmul"}
_ARM_REGISTER = re.compile(r"\b[qdsv]\d+")
_ARM_BITS = {"q": 128, "d": 64, "s": 32}


def _arithmetic_pattern(isa: Isa, dtype: str, kind: str) -> re.Pattern[str]:
    if isa.arch == "x86_64":
        return re.compile(_X86_ARITHMETIC[kind] + _X86_SUFFIX[dtype, isa.vector_bits > 0])
    return re.compile((_ARM_VECTOR if isa.vector_bits else _ARM_SCALAR)[kind])


def _on_register(instruction: Instruction, isa: Isa, dtype: str) -> bool:
    """Whether all operands are registers, of the ISA's class (and element type, on AArch64): no memory, no constant."""
    if isa.arch == "x86_64":
        return all(re.fullmatch(rf"%{isa.asm_register}\d+", operand) for operand in instruction.operands)
    if isa.vector_bits:
        shape = f"{isa.lanes(dtype)}{'d' if dtype == 'f64' else 's'}"
        element = r"v\d+(\.[sd])?\[\d\]"  # one lane of a register as the common factor
        return all(re.fullmatch(rf"v\d+\.{shape}|{element}", operand) for operand in instruction.operands)
    return all(re.fullmatch(rf"{'d' if dtype == 'f64' else 's'}\d+", operand) for operand in instruction.operands)


def _continues_chain(instruction: Instruction, isa: Isa) -> bool:
    """Whether the instruction's result depends on what its destination held: a chain, not a fresh value."""
    if isa.arch == "x86_64":
        *sources, destination = instruction.operands
        accumulates = len(sources) == 1 or "fm" in instruction.mnemonic or "fnm" in instruction.mnemonic
    else:
        destination, *sources = instruction.operands
        accumulates = instruction.mnemonic in ("fmla", "fmls")
    return accumulates or destination in sources


def _accesses(instruction: Instruction, isa: Isa, dtype: str) -> tuple[int, int, bool]:
    """Return (loads, stores, whether every access is of the ISA's register width) of one instruction."""
    joined = " ".join(instruction.operands)
    if isa.arch == "x86_64":
        if not X86_MEMORY.search(joined) or instruction.mnemonic.startswith(("lea", "prefetch")):
            return 0, 0, True
        register = set(X86_REGISTER.findall(joined)) == {isa.asm_register}
        element = instruction.mnemonic.endswith(_X86_SUFFIX[dtype, False])
        wide = register and element != (isa.vector_bits > 0)
        stores = bool(X86_MEMORY.search(instruction.operands[-1]))
        return int(not stores), int(stores), wide
    match = re.fullmatch(r"(ld|st)(n?p|u?r)", instruction.mnemonic)
    if not match:
        return 0, 0, True
    if match[0] == "stnp" and isa.vector_bits and all(r.startswith("d") for r in instruction.operands[:2]):
        return 0, 1, True  # one 128-bit register, stored as its two halves
    count = 2 if match[2].endswith("p") else 1
    want = isa.vector_bits or {"f64": 64, "f32": 32}[dtype]
    registers = instruction.operands[:count]
    wide = all(_ARM_BITS.get(register[0]) == want for register in registers)
    return (count, 0, wide) if match[1] == "ld" else (0, count, wide)


def _has_vector(instruction: Instruction, isa: Isa) -> bool:
    """Whether the instruction touches a floating-point or vector register, of whatever width."""
    joined = " ".join(instruction.operands)
    pattern = X86_REGISTER if isa.arch == "x86_64" else _ARM_REGISTER
    return bool(pattern.search(joined))


def audit_arithmetic(assembly: str, isa: Isa, dtype: str, op: str, chains: int) -> Audit:
    """Prove a compute ceiling: mnemonics, register width, number of independent chains, no spill, no call.

    Raises CodegenError that says what was found and what was expected.
    """
    name = f"{op}_{isa.name}_{dtype} with {chains} chains"
    kinds = chain_kinds(op)
    patterns = {kind: _arithmetic_pattern(isa, dtype, kind) for kind in kinds}
    loops = innermost_loops(assembly)

    def working(loop: Sequence[Instruction]) -> list[Instruction]:
        return [i for i in loop if any(pattern.fullmatch(i.mnemonic) for pattern in patterns.values())]

    hot = hot_loop(name, {number: len(working(loop)) for number, loop in enumerate(loops)}, loops)
    checked(name, assembly, hot, isa)
    work = working(hot)
    wrong = [i for i in work if not _on_register(i, isa, dtype)]
    if wrong:
        raise refuse(
            name,
            f"uses other operands than {isa.asm_register} in {len(wrong)} of {len(work)} instructions: {wrong[0].text}",
            f"{isa.asm_register} registers only",
        )
    expected = chains * ARITHMETIC_STEPS
    if len(work) % expected:
        raise refuse(name, f"holds {len(work)} {'/'.join(kinds)} instructions in its hot loop", f"{expected}")
    turns = len(work) // expected
    for number, kind in enumerate(kinds):
        found = sum(bool(patterns[kind].fullmatch(i.mnemonic)) for i in work)
        want = len(range(number, chains, len(kinds))) * ARITHMETIC_STEPS * turns
        if found != want:
            raise refuse(name, f"holds {found} {kind} instructions in its hot loop", f"{want}")
    fresh = [i for i in work if not _continues_chain(i, isa)]
    if fresh:
        raise refuse(name, f"starts a value anew in its hot loop: {fresh[0].text}", "chains of dependent steps")
    seen = len({destination(i, isa) for i in work})
    if seen != chains:
        raise refuse(name, f"has {seen} independent chains", f"{chains}")
    return Audit(
        instructions=dict(Counter(i.mnemonic for i in work)),
        register=isa.asm_register + ("" if isa.vector_bits else " (scalar)"),
        chains=seen,
        loop_instructions=len(hot),
    )


def audit_stream(assembly: str, isa: Isa, dtype: str, pattern: str, unroll: int) -> Audit:
    """Prove a memory ceiling: loads and stores of the full register width, as many as declared, no spill, no call.

    Raises CodegenError that says what was found and what was expected.
    """
    name = f"{pattern}_{isa.name}_{dtype} unrolled {unroll} times"
    plain = pattern.removeprefix("nt_")
    loops = innermost_loops(assembly)
    accesses = [[_accesses(i, isa, dtype) for i in loop] for loop in loops]
    # The most accesses of vector registers, of whatever width: a loop of integer bookkeeping is not the hot one.
    count = {
        n: sum(a + b for i, (a, b, _) in zip(loops[n], seen, strict=True) if _has_vector(i, isa))
        for n, seen in enumerate(accesses)
    }
    hot = hot_loop(name, count, loops)
    checked(name, assembly, hot, isa)
    found = [_accesses(i, isa, dtype) for i in hot]
    narrow = [i for i, (loads, stores, wide) in zip(hot, found, strict=True) if (loads or stores) and not wide]
    if narrow:
        raise refuse(name, f"accesses memory by another width: {narrow[0].text}", f"{isa.asm_register} registers")
    loads, stores = sum(a for a, _, _ in found), sum(b for _, b, _ in found)
    turns = max(1, (loads + stores) // (sum(accesses_of(pattern)) * unroll))
    expected = tuple(turns * unroll * count for count in accesses_of(pattern))
    if (loads, stores) != expected:
        raise refuse(name, f"holds {loads} loads and {stores} stores", f"{expected[0]} and {expected[1]}")
    streaming = sum(b for i, (_, b, _) in zip(hot, found, strict=True) if re.search(r"movnt|^stnp", i.mnemonic))
    want = stores if plain != pattern else 0
    if streaming != want:
        raise refuse(name, f"holds {streaming} non-temporal stores", f"{want} of {stores}")
    counted = Counter(i.mnemonic for i, (a, b, _) in zip(hot, found, strict=True) if a or b)
    return Audit(
        instructions=dict(counted),
        register=isa.asm_register + ("" if isa.vector_bits else " (scalar)"),
        loop_instructions=len(hot),
    )
