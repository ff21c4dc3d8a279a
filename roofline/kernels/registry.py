"""The list of kernel families: the only place that names them. A new family is a file and an entry here."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from types import ModuleType

from roofline.errors import UnknownName, UsageError
from roofline.kernels import (
    attention,
    blas1,
    conv,
    conv_depthwise,
    finance,
    gemm,
    gemv,
    network,
    network_rows,
    particles,
    quantised,
    reduction,
    sparse,
    spectral,
    stencil,
    stream,
)
from roofline.kernels.kernel import Kernel

FAMILIES: tuple[ModuleType, ...] = (
    stream,
    blas1,
    gemv,
    gemm,
    reduction,
    particles,
    finance,
    sparse,
    spectral,
    stencil,
    conv,
    conv_depthwise,
    attention,
    network,
    network_rows,
    quantised,
)
HINT = "list them with `python -m bench list kernels`"


def kernels_in(modules: Iterable[ModuleType]) -> dict[str, Kernel]:
    """Return the kernels that these modules declare, by full name, in the order in which they are written.

    Raises UsageError when two kernels have one name.
    """
    kernels: dict[str, Kernel] = {}
    for module in modules:
        for declared in vars(module).values():
            if not isinstance(declared, Kernel) or declared.body.__module__ != module.__name__:
                continue
            if kernels.setdefault(declared.name, declared) is not declared:
                first = kernels[declared.name].body.__module__
                raise UsageError(
                    f"two kernels are called {declared.name}: in {first} and in {module.__name__}; rename one"
                )
    return kernels


_added: list[ModuleType] = []
"""Modules of a user's own files, in processes that have loaded some."""


def add_modules(modules: Iterable[ModuleType]) -> None:
    """Add the kernels of these modules to the suite's own, in this process."""
    _added.extend(modules)


def all_kernels() -> dict[str, Kernel]:
    """Return the kernels by full name, family by family, each ladder from the bottom up; a user's own come last."""
    return kernels_in((*FAMILIES, *_added))


def kernel_named(name: str) -> Kernel:
    """Return the kernel with this full name. Raises UnknownName with the nearest one."""
    kernels = all_kernels()
    if name not in kernels:
        raise UnknownName("kernel", name, kernels, HINT)
    return kernels[name]


def select(patterns: Iterable[str], kernels: dict[str, Kernel] | None = None) -> tuple[Kernel, ...]:
    """Return the kernels that any pattern fits, each once, in the registry's order; all for no pattern.

    A pattern is a full name, a family, or either with `*`, `?` and `[...]`. Raises UnknownName for a pattern that
    fits nothing.
    """
    known = all_kernels() if kernels is None else kernels
    patterns = tuple(patterns) or ("*",)
    chosen: set[str] = set()
    for pattern in patterns:
        fitting = {
            name
            for name, candidate in known.items()
            if fnmatchcase(name, pattern) or fnmatchcase(candidate.family, pattern)
        }
        if not fitting:
            families = {candidate.family for candidate in known.values()}
            raise UnknownName("kernel", pattern, [*families, *known], HINT)
        chosen |= fitting
    return tuple(candidate for name, candidate in known.items() if name in chosen)
