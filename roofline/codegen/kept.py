"""Machine code of the suite's own, which is kept from run to run, and that of a user, which is not.

Numba writes into code what a function reads from modules, arrays, files and the environment when it is compiled, and
looks at none of it when it loads the code again. Of the suite's own code everything that decides is known, and names
the folder; a user's lies in one that does not outlive its run.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

FOLDER = "ROOFLINE_CODE_FOLDER"
"""Variable that names the folder of the suite's own code; without it, it lies where Numba keeps all code."""


def kept(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile one of the suite's functions as `numba.njit` does with these options, and keep its code."""
    from numba import config, njit  # here: who only wants the folder's name does not load Numba

    if function is None:
        return lambda decorated: kept(decorated, **options)
    elsewhere = config.CACHE_DIR  # type: ignore[attr-defined]
    config.CACHE_DIR = os.environ.get(FOLDER) or elsewhere  # type: ignore[attr-defined]
    try:
        return njit(cache=True, **options)(function)
    finally:
        config.CACHE_DIR = elsewhere  # type: ignore[attr-defined]
