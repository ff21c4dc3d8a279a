"""One plain sentence for each rung of a ladder: what changed, what it gained, what binds now."""

from __future__ import annotations

from collections.abc import Sequence

from roofline.model.ceilings import Ceiling, ComputeCeiling, MemoryCeiling
from roofline.model.ladder import Ladder
from roofline.model.measurement import Measurement
from roofline.model.rung import Rung, is_library, own_work
from roofline.plotting.ceiling_label import short_name, threads_text
from roofline.plotting.kernel_tables import percent_text, status_text, times_text
from roofline.plotting.text import printable, rate_unit
from roofline.units import giga

ALIKE = 1.05
"""Traffic and flops per unit of the job that differ by less than this are not told as a change."""


def sentences(ladder: Ladder) -> tuple[str, ...]:
    """Return one sentence for each rung of the path, then one for each library beside it and one for who is missing."""
    told = [sentence(rung) for rung in (*ladder.rungs, *ladder.references)]
    if ladder.left_out:
        names = ", ".join(map(printable, ladder.left_out))
        told.append(f"Not on this path, for want of a number that can be drawn at its size: {names}.")
    return tuple(told)


def heading(ladder: Ladder) -> str:
    """Return what the path is of, e.g. `gemm.naive and better: f64, n = 1000`."""
    rungs = [rung.measurement for rung in ladder.rungs]
    dtypes = " and ".join(dict.fromkeys(printable(measurement.dtype) for measurement in rungs))
    sizes = " and ".join(dict.fromkeys(str(measurement.n) for measurement in rungs))
    return f"{printable(ladder.foot)} and better: {dtypes}, n = {sizes}"


def sentence(rung: Rung) -> str:
    """Return the sentence of one rung, e.g. `gemm.packed: 1.3 times as fast as gemm.blocked, ...`."""
    return f"{printable(rung.measurement.kernel)}: {story(rung)}."


def story(rung: Rung) -> str:
    """Return the sentence without the name that begins it and the point that ends it."""
    measurement, before = rung.measurement, rung.before
    parts = ["for reference, a library"] if is_library(measurement) else []
    if before is None or rung.step is None:
        parts += [_arithmetic(measurement), threads_text(measurement.threads)]
    else:
        in_all = "" if rung.gain == rung.step or is_library(measurement) else f" ({_gain(rung)})"
        parts.append(f"{times_text(rung.step)} times as fast as {printable(before.kernel)}{in_all}")
        parts += _changes(rung, before) if not is_library(measurement) else []
    rate = f"{giga(rung.flop_per_s)} {rate_unit([measurement.dtype])}"
    if rung.crossed:
        rate += f", past {_roofs(rung.crossed, measurement)}"
    doubt = [] if measurement.status == "ok" else [status_text(measurement)]
    return "; ".join([", ".join(filter(None, parts)), rate, *_bound(rung), *doubt])


def _gain(rung: Rung) -> str:
    """Write the gain over the first rung, and which that is where it is not the foot of the ladder."""
    improved = rung.measurement.improves in (rung.first, None)
    return f"{times_text(rung.gain)} times {'' if improved else f'{printable(rung.first)} '}in all"


def _arithmetic(measurement: Measurement) -> str:
    register = _register(measurement)
    return f"{register} arithmetic" if register else ""


def _register(measurement: Measurement) -> str:
    return printable((measurement.vector_register or "").split(" ")[0])


def _changes(rung: Rung, before: Measurement) -> list[str]:
    """Return what is seen to differ from the rung before, in words."""
    now = rung.measurement
    found = []
    if _register(now) != _register(before):
        found.append(f"{_register(now)} instead of {_register(before)} arithmetic")
    if now.dtype != before.dtype:
        found.append(f"{printable(now.dtype)} instead of {printable(before.dtype)}")
    if now.n != before.n:
        found.append(f"per flop of the job, at n = {now.n} instead of {before.n}")
    if now.threads != before.threads:
        found.append(f"{threads_text(now.threads)} instead of {before.threads}")
    flops = _per_job(own_work(now).flops, now) / _per_job(own_work(before).flops, before)
    moved = _per_job(own_work(now).bytes, now) / _per_job(own_work(before).bytes, before)
    for ratio, what in ((flops, _operations(now)), (moved, "bytes")):
        if ratio > ALIKE:
            found.append(f"{ratio:.2g} times the {what}")
        elif ratio < 1 / ALIKE:
            found.append(f"1/{1 / ratio:.2g} of the {what}")
    if (now.n != before.n or moved > ALIKE or moved < 1 / ALIKE) and now.level != before.level:
        found.append(f"data in {printable(now.level)} instead of {printable(before.level)}")
    for name, size in now.tiles.items():
        if name.startswith("tile") and before.tiles.get(name) != size:
            found.append(f"{printable(name).replace('_', ' ')} {size}")
    return found or [f"{_arithmetic(now)} as before"]


def _operations(measurement: Measurement) -> str:
    return "flops" if measurement.dtype.startswith("f") else "operations"


def _per_job(amount: int, measurement: Measurement) -> float:
    """Return the amount per flop of the job, so that two sizes can be compared."""
    return amount / measurement.work.flops


def _roofs(ceilings: Sequence[Ceiling], measurement: Measurement) -> str:
    names = [ceiling_text(ceiling, measurement) for ceiling in ceilings]
    if len(names) == 1:
        return f"the roof of {names[0]}"
    return f"the roofs of {', '.join(names[:-1])} and {names[-1]}"


def ceiling_text(ceiling: Ceiling, measurement: Measurement) -> str:
    """Return the ceiling's short name with what is not the measurement's own: another dtype, several threads."""
    name = short_name(ceiling)
    if isinstance(ceiling, ComputeCeiling) and ceiling.dtype != measurement.dtype:
        name += f" {printable(ceiling.dtype)}"
    if ceiling.threads > 1 or measurement.threads > 1:
        name += f" ×{ceiling.threads}"
    return name


def _bound(rung: Rung) -> list[str]:
    limit = rung.limit_flop_per_s
    if rung.binds is None or limit is None or rung.percent_of_limit is None:
        return []
    reached = f"{100 * rung.flop_per_s / limit:.0f} %"
    beside = f"{rung.percent_of_limit:.0f} %"
    height = f"{giga(limit)} {rate_unit([rung.measurement.dtype])}"
    name = ceiling_text(rung.binds, rung.measurement)
    if isinstance(rung.binds, MemoryCeiling) and rung.binds != rung.roof.memory:
        name += f" in {printable(rung.binds.isa)}"
    if rung.flop_per_s >= limit:
        return [f"at its roof, {name} with {height}"]
    paired = "" if beside == reached else f" ({beside} of what that gave beside it)"
    told = [f"next: {name} at {height}, of which it reaches {reached}{paired}"]
    of_roof = rung.percent_of_roof
    if rung.measurement.own_work is not None and of_roof is not None and of_roof != rung.percent_of_limit:
        told.append(f"{percent_text(of_roof)} of the roof over the job's compulsory work")
    return told
