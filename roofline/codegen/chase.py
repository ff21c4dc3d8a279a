"""The chain of loads that tells a memory's latency: the address of each is what the one before has read."""

from __future__ import annotations

import re

from llvmlite import ir

from roofline.codegen.emit import I64, repeat
from roofline.codegen.proof import hot_loop, refuse
from roofline.codegen.reading import Instruction, innermost_loops
from roofline.model.ceilings import Audit

CHASE_LOADS = 8
"""Loads in one turn of the loop, whose own instructions hide behind them."""

_X86_LOAD = re.compile(r"\(%(r[a-z0-9]+)\) %(r[a-z0-9]+)")
_ARM_LOAD = re.compile(r"(x[0-9]+) \[(x[0-9]+)\]")
_LOADS = {"x86_64": "movq", "aarch64": "ldr"}


def chase(builder: ir.IRBuilder, place: ir.Value, turns: ir.Value) -> ir.Value:
    """Emit `turns` x CHASE_LOADS dependent loads, from the address `place` on, and return the last address read."""

    def turn(_: ir.Value, places: list[ir.Value]) -> list[ir.Value]:
        address = places[0]
        for _load in range(CHASE_LOADS):
            address = builder.load(builder.inttoptr(address, I64.as_pointer()))
        return [address]

    return repeat(builder, turns, [place], turn)[0]


def audit_chase(assembly: str, arch: str) -> Audit:
    """Prove the chain: every load reads its address from what the one before has loaded, and nothing else is loaded.

    Raises CodegenError that says what was found and what was expected.
    """
    name = "chase"
    loops = innermost_loops(assembly)
    hot = hot_loop(name, {n: sum(_link(i, arch) is not None for i in loop) for n, loop in enumerate(loops)}, loops)
    calls = [i for i in hot if re.fullmatch(r"call\w*|bl|blr", i.mnemonic)]
    if calls:
        raise refuse(name, f"calls a function in its hot loop: {calls[0].text}", "no call")
    other = [i for i in hot if re.search(r"[(\[]", " ".join(i.operands)) and _link(i, arch) is None]
    if other:
        raise refuse(name, f"accesses memory beside the chain: {other[0].text}", "loads of the chain only")
    links = [link for i in hot if (link := _link(i, arch)) is not None]
    if len(links) % CHASE_LOADS:
        raise refuse(name, f"holds {len(links)} loads in its hot loop", f"{CHASE_LOADS}")
    copies = {_copied(i, arch) for i in hot}
    for number, (address, _) in enumerate(links):
        before = links[number - 1][1]  # the first load follows the last one of the turn before
        if address != before and (before, address) not in copies:
            raise refuse(name, f"loads from %{address} what the load before has not read", f"%{before}")
    return Audit(
        instructions={_LOADS[arch]: len(links)},
        register="general",
        chains=1,
        loop_instructions=len(hot),
    )


def _link(instruction: Instruction, arch: str) -> tuple[str, str] | None:
    """Return (register of the address, register that is written) of a plain 64-bit load; None for anything else."""
    pattern = _X86_LOAD if arch == "x86_64" else _ARM_LOAD
    match = pattern.fullmatch(" ".join(instruction.operands))
    if match is None or instruction.mnemonic != _LOADS[arch]:
        return None
    return (match[1], match[2]) if arch == "x86_64" else (match[2], match[1])


def _copied(instruction: Instruction, arch: str) -> tuple[str, str] | None:
    """Return (from, to) of a move between two registers."""
    registers = [operand.removeprefix("%") for operand in instruction.operands]
    if instruction.mnemonic not in ("mov", "movq") or len(registers) != 2:
        return None
    return (registers[0], registers[1]) if arch == "x86_64" else (registers[1], registers[0])
