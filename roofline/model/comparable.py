"""What must be the same before two sets of numbers are one: the machine, and the conditions that decide about them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from roofline.model.run import Run

MACHINE_FIELDS = (
    "cpu_model",
    "microarchitecture",
    "arch",
    "features",
    "isas",
    "sockets",
    "cores",
    "core_classes",
    "hardware_threads",
    "numa_nodes",
    "caches",
    "virtualisation",
    "system",
)
ENVIRONMENT_FIELDS = (
    "governor",
    "turbo",
    "smt",
    "transparent_huge_pages",
    "cpus_used",
    "cgroup_cpus",
    "memory_limit_bytes",
    "python",
    "numba",
    "llvmlite",
    "numpy",
    "variables",
)
"""Load, steal and free memory may differ between two runs under the same conditions; these may not."""
MEMORY_APART = 0.05
"""The size of the memory that a kernel reports may vary by so much between two boots."""


def differences(one: Run, other: Run) -> tuple[str, ...]:
    """Return what differs between where and how two runs were measured, one line each; empty when nothing does.

    What either does not know (None) is no difference.
    """
    of_machine = _of("machine", one.machine, other.machine, MACHINE_FIELDS)
    of_environment = _of("environment", one.environment, other.environment, ENVIRONMENT_FIELDS)
    return (*of_machine, *_of_memory(one, other), *of_environment, *_of_blas(one, other))


def _of_memory(one: Run, other: Run) -> Iterator[str]:
    first, second = one.machine.memory_bytes, other.machine.memory_bytes
    if first and second and abs(first / second - 1) > MEMORY_APART:
        yield f"machine.memory_bytes: {first} and {second}"


def _of_blas(one: Run, other: Run) -> Iterator[str]:
    """Yield a line where both runs had loaded a BLAS, and none in common: each loads what its kernels need."""
    first, second = (
        tuple(" ".join(filter(None, (blas.name, blas.version, blas.architecture))) for blas in run.environment.blas)
        for run in (one, other)
    )
    if first and second and not set(first) & set(second):
        yield f"environment.blas: {_short(first)} and {_short(second)}"


def _of(what: str, one: Any, other: Any, fields: tuple[str, ...]) -> Iterator[str]:
    for field in fields:
        first, second = getattr(one, field), getattr(other, field)
        if first is not None and second is not None and first != second:
            yield f"{what}.{field}: {_short(first)} and {_short(second)}"


def _short(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
