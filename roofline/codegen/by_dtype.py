"""One plain function, compiled in another way for each dtype: for elementary functions that fill vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import overload

_NUMBA_TYPES = {"f64": types.float64, "f32": types.float32}


def compiled_by_dtype(**implementations: Callable[[Any], Any]) -> Callable[[Callable[[Any], Any]], Any]:
    """Let compiled code run `implementations[dtype]` wherever it calls the decorated function of one number.

    In plain Python the decorated function itself runs. Products and sums of an implementation may be contracted to
    fused multiply-adds; their order stays as written.
    """
    by_type = {_NUMBA_TYPES[dtype]: implementation for dtype, implementation in implementations.items()}

    def declare(plain: Callable[[Any], Any]) -> Any:
        def choose(x: Any) -> Any:
            return by_type.get(x)

        # a call that is left in a loop keeps it scalar, and LLVM leaves long functions where they are
        options: Any = {"fastmath": {"contract"}, "error_model": "numpy", "forceinline": True}
        overload(plain, jit_options=options, strict=False)(choose)
        plain.implementations = tuple(implementations.values())  # type: ignore[attr-defined]
        return plain

    return declare
