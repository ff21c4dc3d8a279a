"""JSON for other tools: strict, and pure ASCII, so that no consumer's idea of an encoding matters."""

from __future__ import annotations

import json
from typing import Any


def json_bytes(tree: Any) -> bytes:
    """Return a tree as an indented JSON document. Raises ValueError for numbers that are not finite."""
    return (json.dumps(tree, indent=1, allow_nan=False) + "\n").encode("ascii")
