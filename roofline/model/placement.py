"""A time from elsewhere under a roof of ours: what can be said of it, and how little."""

from __future__ import annotations

from roofline.errors import UnknownName, UsageError
from roofline.model.ceilings import Ceilings
from roofline.model.measurement import TOLERANCE_PERCENT
from roofline.model.roof import Roof
from roofline.model.struct import Value
from roofline.model.work import Work


class Placement(Value, frozen=True, kw_only=True):
    """Where declared work, done in a given time, lies under the ceilings of a run.

    Unpaired, not checked, not counted: time and roof are of two hours and two programs, nobody has seen a result, and
    the work is what somebody says it is.
    """

    level: str
    """Memory level that the data is said to be in; empty for work without bytes."""
    dtype: str
    threads: int
    median_s: float
    flop_per_byte: float | None
    """None without flops or without bytes."""
    flop_per_s: float | None
    byte_per_s: float | None
    roof_flop_per_s: float | None
    """The roof at that intensity; None without flops."""
    bound: str
    """Name of the ceiling that binds."""
    percent_of_roof: float

    @property
    def is_above_roof(self) -> bool:
        """True when it lies further above the roof than samples can: time, work or level is not what is said."""
        return self.percent_of_roof > 100 + TOLERANCE_PERCENT


def placed(
    ceilings: Ceilings,
    *,
    median_s: float,
    flops: int,
    moved_bytes: int,
    level: str | None = None,
    dtype: str = "f64",
    threads: int = 1,
) -> Placement:
    """Place work that is done in `median_s` seconds under the highest ceilings of an element type, thread count and
    level (by default the furthest). How many of the bytes are written is not known, so the best pattern counts.

    Raises UsageError for no work and where there is no ceiling for it, and UnknownName for an unknown level.
    """
    if not flops and not moved_bytes:
        raise UsageError("no work is declared, so nothing can be placed; give the flops and the bytes of one call")
    if level is not None and level not in ceilings.levels:
        raise UnknownName("level", level, ceilings.levels)
    compute = ceilings.best_compute(dtype, threads) if flops else None
    if flops and compute is None:
        known = sorted({f"{c.dtype} ×{c.threads}" for c in ceilings.compute if c.is_roof})
        raise UsageError(
            f"the run has no compute ceiling for {dtype} ×{threads} (it has: {', '.join(known) or 'none'})"
        )
    memory = None
    where = level or next(reversed(ceilings.levels), "")
    if moved_bytes:
        memory = ceilings.best_memory(where, threads)
        if memory is None:
            known = sorted({f"{c.level} ×{c.threads}" for c in ceilings.memory if c.is_roof})
            found = f"{where or 'memory'} ×{threads}"
            raise UsageError(f"the run has no memory ceiling for {found} (it has: {', '.join(known) or 'none'})")
    roof = Roof(compute=compute, memory=memory)
    work = Work(flops=flops, read_bytes=moved_bytes, write_bytes=0)
    bound = roof.bound(work)
    least_s = roof.least_s(work)
    return Placement(
        level=where if moved_bytes else "",
        dtype=dtype,
        threads=threads,
        median_s=median_s,
        flop_per_byte=flops / moved_bytes if flops and moved_bytes else None,
        flop_per_s=flops / median_s if flops else None,
        byte_per_s=moved_bytes / median_s if moved_bytes else None,
        roof_flop_per_s=flops / least_s if flops else None,
        bound=bound.name if bound is not None else "",
        percent_of_roof=100 * least_s / median_s,
    )
