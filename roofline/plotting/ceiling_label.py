"""How a ceiling is called where space is short, and which of a run's ceilings are its roof."""

from __future__ import annotations

from roofline.model.ceilings import Ceiling, ComputeCeiling
from roofline.model.run import Run
from roofline.plotting.text import printable


def short_name(ceiling: Ceiling) -> str:
    """Return the ceiling's name without dtype and threads, e.g. `avx512 fma`, `DRAM triad`."""
    if isinstance(ceiling, ComputeCeiling):
        return printable(f"{ceiling.isa} {ceiling.op}")
    return printable(f"{ceiling.level} {ceiling.pattern}")


def short_bound(run: Run, name: str | None) -> str:
    """Return the short name of the run's ceiling with this name; `-` when nothing bounds."""
    if name is None:
        return "-"
    ceiling = run.ceilings.named(name)
    return printable(name) if ceiling is None else short_name(ceiling)


def threads_text(threads: int) -> str:
    """Write a thread count in words, e.g. `1 thread`."""
    return f"{threads} thread" if threads == 1 else f"{threads} threads"
