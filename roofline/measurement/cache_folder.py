"""Numba's cache in a process that is not a worker: ours beside the workers', everybody else's where it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import numba

from roofline.measurement.code_cache import code_cache
from roofline.model.machine import Machine


@contextmanager
def suite_code_cache(machine: Machine) -> Iterator[None]:
    """Let Numba keep the suite's compiled code where `python -m bench` does, and leave everybody else's alone."""
    earlier = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    with suppress(OSError):
        numba.config.CACHE_DIR = str(code_cache(machine).folder)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        numba.config.CACHE_DIR = earlier  # type: ignore[attr-defined]
