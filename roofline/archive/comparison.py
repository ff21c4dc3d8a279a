"""Stored numbers beside the ones that follow from the samples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from roofline.archive.ceiling_claims import placed
from roofline.archive.document import json_arrays
from roofline.archive.tree import Defect, shown
from roofline.model.ceilings import Ceilings

APART = 1e-9
"""Two floating-point numbers that should be the same may differ by this share: sums in another order."""
OF_CEILINGS = ("flop_per_s", "flop_per_cycle", "byte_per_s", "byte_per_cycle", "clock_hz")


class Comparison:
    """Compares, and counts the numbers that it has compared."""

    def __init__(self) -> None:
        self.numbers = 0

    def ceilings(self, ceilings: Ceilings) -> Iterator[Defect]:
        """Yield what of ceilings does not follow from their launches."""
        for path, ceiling in placed(ceilings):
            derived = ceiling.rederived()
            for name in OF_CEILINGS:
                if hasattr(ceiling, name) and derived.launches:
                    yield from self.number(f"{path}.{name}", getattr(ceiling, name), getattr(derived, name))

    def number(self, path: str, stored: float, expected: float) -> Iterator[Defect]:
        """Yield a defect for a number that is another one."""
        self.numbers += 1
        if not math.isclose(stored, expected, rel_tol=APART):
            yield Defect(path, f"{stored:.12g}", f"{expected:.12g}, as the samples say")

    def same(self, path: str, stored: Any, expected: Any) -> Iterator[Defect]:
        """Compare a derived value of the document, whatever it holds, with what follows from the samples."""
        if isinstance(expected, Mapping):
            for name, value in expected.items():
                if not isinstance(stored, Mapping) or name not in stored:
                    yield Defect(f"{path}.{name}", "nothing", shown(value))
                else:
                    yield from self.same(f"{path}.{name}", stored[name], value)
        elif isinstance(expected, list) and isinstance(stored, list) and len(stored) == len(expected):
            for index, value in enumerate(expected):
                yield from self.same(f"{path}[{index}]", stored[index], value)
        elif _is_number(expected) and _is_number(stored):
            yield from self.number(path, stored, expected)
        else:
            self.numbers += 1
            if stored != expected:
                yield Defect(path, shown(stored), f"{shown(expected)}, as the samples say")


def builtins_of(value: msgspec.Struct) -> Any:
    """Return a value as the document has it: dicts, lists and scalars."""
    return json_arrays(msgspec.to_builtins(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
