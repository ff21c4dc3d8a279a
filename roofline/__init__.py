"""Measure a machine's roofline and put kernels on it. Public names are loaded lazily."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "Work": "roofline.model.work",
    "Run": "roofline.model.run",
    "Measurement": "roofline.model.measurement",
    "Roof": "roofline.model.roof",
    "kernel": "roofline.kernels.kernel",
}
__version__ = "0.1.0"
__all__ = sorted([*_HOME, "__version__"])


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'roofline' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
