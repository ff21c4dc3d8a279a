"""What a call of the program leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Answer(NamedTuple):
    """Exit code, stdout and stderr."""

    code: int
    out: str
    err: str


Ask = Callable[..., Answer]
