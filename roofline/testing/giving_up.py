"""How a test ends whose number tells nothing."""

from __future__ import annotations

from typing import NoReturn

import pytest


def give_up(reason: str, strict: bool) -> NoReturn:
    """Skip the test with a reason; fail it where skips are not wanted."""
    __tracebackhide__ = True
    if strict:
        pytest.fail(f"{reason} (--roofline-strict)", pytrace=False)
    pytest.skip(reason)
