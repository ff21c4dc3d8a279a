"""How far a run has come, for whoever watches it."""

from __future__ import annotations

from roofline.model.struct import Value


class Progress(Value, frozen=True, kw_only=True):
    """How far a run has come."""

    point: str
    """What is being measured."""
    done: float
    """Share that is done, 0 to 1."""
    remaining_s: float
    """Seconds left, about; infinite while nothing tells."""
