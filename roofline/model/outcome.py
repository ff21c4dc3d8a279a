"""How a rule of a gate ended: what CI passes or fails on, whatever it is then written as."""

from __future__ import annotations

from roofline.model.struct import Value

RESULTS = ("passed", "failed", "inconclusive")


class Outcome(Value, frozen=True, kw_only=True):
    """One rule applied to one point of a run."""

    rule: str
    """The rule as its author wrote it."""
    kernel: str
    """`family.name` of the point that it was applied to."""
    point: str
    """The point in words, e.g. `gemm.blocked n=384 f64 ×2`."""
    result: str
    """One of RESULTS."""
    found: float | None = None
    """What the run has; None where it tells nothing."""
    limit: float
    """What the rule asks for."""
    unit: str = ""
    """Of both: `%`, `GFLOP/s`, `GB/s`, `ms`, or empty for a ratio."""
    interval: tuple[float, float] | None = None
    """95 % confidence interval of `found`."""
    median_s: float | None = None
    """Seconds per call of the point."""
    message: str
    """What was found, what was expected, and for what did not pass what to do; one line."""
