"""How loops are nested in assembly, from the flow of control: what stands beside a hot loop is not what is hot.

The order of the text tells nothing: compilers move blocks, and make versions of a loop for few turns, for
remainders, for small sizes, that stand anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from roofline.codegen.reading import BRANCH, COMMENT, LABEL, Instruction, instruction_of

_LOCAL = re.compile(r"\.|L[A-Z]+\d|Ltmp|\$")
_ENDS = re.compile(r"ret\w*|jmpq?|br?|ud2|brk")


class Block:
    """Instructions in a row that are entered at the first and left at the last."""

    def __init__(self, function: str) -> None:
        self.function = function
        self.instructions: list[Instruction] = []
        self.next: set[int] = set()


def nested_loops(assembly: str) -> list[tuple[int, list[Instruction]]]:
    """Return (depth, instructions) of every innermost loop; a loop that a loop calls lies inside it."""
    blocks = _blocks(assembly)
    depths = [0] * len(blocks)
    innermost: list[list[int]] = []
    _nest(set(range(len(blocks))), blocks, depths, innermost)
    base = _depths_of_functions(blocks, depths)
    return [
        (
            base[blocks[members[0]].function] + depths[members[0]],
            [instruction for number in members for instruction in blocks[number].instructions],
        )
        for members in sorted(innermost)
    ]


def _blocks(assembly: str) -> list[Block]:
    """Return the basic blocks with their successors."""
    blocks = [Block("")]
    number_of: dict[str, int] = {}
    tables: set[str] = set()
    for raw in assembly.splitlines():
        line = re.sub(r"\s+", " ", COMMENT.split(raw)[0]).strip()
        label = LABEL.match(line)
        if label:
            function = blocks[-1].function if _LOCAL.match(label[1]) else label[1]
            blocks.append(Block(function))
            number_of[label[1]] = len(blocks) - 1
        elif line.startswith("."):
            tables.update(re.findall(r"\.?LBB\w+", line))
        elif line:
            instruction = instruction_of(line)
            blocks[-1].instructions.append(instruction)
            if BRANCH.match(instruction.mnemonic) or _ENDS.fullmatch(instruction.mnemonic):
                blocks.append(Block(blocks[-1].function))
    _link(blocks, number_of, tables)
    return blocks


def _link(blocks: list[Block], number_of: dict[str, int], tables: set[str]) -> None:
    """Set the successors: where a jump goes, the block behind, or for a jump by table all of the function's entries."""
    for number, block in enumerate(blocks):
        last = block.instructions[-1] if block.instructions else None
        ends = last is not None and _ENDS.fullmatch(last.mnemonic)
        if not ends and number + 1 < len(blocks) and blocks[number + 1].function == block.function:
            block.next.add(number + 1)
        if last is None or not last.operands or not (BRANCH.match(last.mnemonic) or ends):
            continue
        target = number_of.get(last.operands[-1])
        if target is not None and blocks[target].function == block.function:
            block.next.add(target)
        elif last.operands[-1].startswith("*") or last.mnemonic == "br":
            entries = {number_of[name] for name in tables if name in number_of}
            block.next |= {entry for entry in entries if blocks[entry].function == block.function}


def _nest(members: set[int], blocks: list[Block], depths: list[int], innermost: list[list[int]]) -> None:
    """Add 1 to the depth of all blocks on a cycle within `members`, then go on without the block that enters the cycle.

    What is still a cycle then is a loop inside. `innermost` collects those that hold none.
    """
    for cycle in _cycles(members, blocks):
        for number in cycle:
            depths[number] += 1
        entered = {t for n in range(len(blocks)) if n not in cycle for t in blocks[n].next if t in cycle}
        header = min(entered or cycle)
        found = len(innermost)
        _nest(cycle - {header}, blocks, depths, innermost)
        if len(innermost) == found:
            innermost.append(sorted(cycle))


def _cycles(members: Iterable[int], blocks: list[Block]) -> list[set[int]]:
    """Return the strongly connected sets of blocks that hold a cycle, using blocks of `members` only."""
    order = sorted(members)
    place = {number: index for index, number in enumerate(order)}
    edges = [(place[n], place[t]) for n in order for t in blocks[n].next if t in place]
    if not edges:
        return []
    rows, columns = zip(*edges, strict=True)
    graph = csr_matrix((np.ones(len(edges)), (rows, columns)), shape=(len(order), len(order)))
    count, labels = connected_components(graph, connection="strong")
    sets: list[set[int]] = [set() for _ in range(count)]
    for number, label in zip(order, labels, strict=True):
        sets[label].add(number)
    return [found for found in sets if len(found) > 1 or next(iter(found)) in blocks[next(iter(found))].next]


def _depths_of_functions(blocks: list[Block], depths: list[int]) -> dict[str, int]:
    """Return how deep in loops each function is named, by a call or by a load of its address; 0 for one that is not."""
    functions = {block.function for block in blocks}
    named: list[tuple[str, str, int]] = []
    for block, depth in zip(blocks, depths, strict=True):
        for instruction in block.instructions:
            for operand in instruction.operands:
                name = re.sub(r"^\$|@\w+$|\(%rip\)$", "", operand)
                if name in functions and name != block.function:
                    named.append((name, block.function, depth))
    base = dict.fromkeys(functions, 0)
    for _ in range(min(len(functions), 8)):  # chains of calls are short; a circle of them ends here
        for name, caller, depth in named:
            base[name] = max(base[name], base[caller] + depth)
    return base
