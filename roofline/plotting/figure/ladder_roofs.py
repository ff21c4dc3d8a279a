"""The roofs over a ladder: which belong to its picture, where their lines lie and what stands beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from roofline.model.ceilings import ComputeCeiling, MemoryCeiling
from roofline.model.ladder import Ladder
from roofline.model.run import Run
from roofline.plotting.ceiling_label import short_name, threads_text
from roofline.plotting.figure import style
from roofline.plotting.figure.label_places import Line
from roofline.plotting.figure.span import Span
from roofline.plotting.text import rate_unit
from roofline.units import giga


@dataclass(frozen=True)
class Roofs:
    """The ceilings that one panel shows."""

    compute: tuple[ComputeCeiling, ...]
    """Highest first: of the path's first dtype and thread count every ISA, of each other the best."""
    memory: tuple[MemoryCeiling, ...]
    """Of each level that a rung has its data in, for its own access pattern, highest first."""
    dtypes: tuple[str, ...]
    threads: tuple[int, ...]


def roofs_of(run: Run, ladder: Ladder) -> Roofs:
    """Return the ceilings over a ladder."""
    shown = (*ladder.rungs, *ladder.references)
    kinds = list(dict.fromkeys((rung.measurement.dtype, rung.measurement.threads) for rung in shown))
    isas = dict.fromkeys(ceiling.isa for ceiling in run.ceilings.compute)
    compute = {rung.roof.compute.name: rung.roof.compute for rung in shown if rung.roof.compute is not None}
    for isa in isas:
        if (ceiling := run.ceilings.best_compute(*kinds[0], isa)) is not None:
            compute[ceiling.name] = ceiling
    memory = {rung.roof.memory.name: rung.roof.memory for rung in shown if rung.roof.memory is not None}
    return Roofs(
        compute=tuple(sorted(compute.values(), key=lambda ceiling: -ceiling.flop_per_s)),
        memory=tuple(sorted(memory.values(), key=lambda ceiling: -ceiling.byte_per_s)),
        dtypes=tuple(dict.fromkeys(dtype for dtype, _ in kinds)),
        threads=tuple(sorted({threads for _, threads in kinds})),
    )


def group_text(group: Sequence[ComputeCeiling], roofs: Roofs) -> str:
    """Write the ceilings of one height: what they have in common stands at the end."""
    kinds = list(dict.fromkeys(kind_text(ceiling, roofs) for ceiling in group))
    unit = rate_unit([ceiling.dtype for ceiling in group])
    if len(kinds) > 1:
        return " · ".join(f"{short_name(c)} {giga(c.flop_per_s)}{kind_text(c, roofs)}" for c in group) + f" {unit}"
    if len({(ceiling.op, giga(ceiling.flop_per_s)) for ceiling in group}) == 1:
        names = f"{' · '.join(ceiling.isa for ceiling in group)} {group[0].op} {giga(group[0].flop_per_s)}"
    else:
        names = " · ".join(f"{short_name(ceiling)} {giga(ceiling.flop_per_s)}" for ceiling in group)
    return f"{names} {unit}{kinds[0]}"


def kind_text(ceiling: ComputeCeiling | MemoryCeiling, roofs: Roofs) -> str:
    """Return what tells the ceiling from another kind's in the same panel."""
    words = [ceiling.dtype] if isinstance(ceiling, ComputeCeiling) and len(roofs.dtypes) > 1 else []
    words += [threads_text(ceiling.threads)] if len(roofs.threads) > 1 else []
    return "".join(f", {word}" for word in words)


def memory_line(ceiling: MemoryCeiling, roofs: Roofs, span: Span) -> Line | None:
    """Return the part of a memory roof within the panel, up to the highest peak of its thread count."""
    peaks = [peak.flop_per_s for peak in roofs.compute if peak.threads == ceiling.threads]
    rate = ceiling.byte_per_s
    begin = max(span.left, span.bottom / rate)
    end = min(span.right, min([span.top, *(max(peaks) for _ in peaks[:1])]) / rate)
    return Line(span.pixel(begin, begin * rate), span.pixel(end, end * rate)) if begin < end else None


def compute_line(ceiling: ComputeCeiling, roofs: Roofs, span: Span) -> Line | None:
    """Return the part of a compute roof within the panel, from where the nearest level's memory roof meets it."""
    slopes = [slope.byte_per_s for slope in roofs.memory if slope.threads == ceiling.threads]
    begin = max([span.left, *(ceiling.flop_per_s / max(slopes) for _ in slopes[:1])])
    inside = span.bottom < ceiling.flop_per_s < span.top and begin < span.right
    return Line(span.pixel(span.right, ceiling.flop_per_s), span.pixel(begin, ceiling.flop_per_s)) if inside else None


def near_together(compute: Sequence[tuple[ComputeCeiling, Line]]) -> list[list[tuple[ComputeCeiling, Line]]]:
    """Group roofs of one height: they share one label."""
    groups: list[list[tuple[ComputeCeiling, Line]]] = []
    for ceiling, line in compute:
        if groups and groups[-1][0][1].start[1] - line.start[1] < style.LINE_PX / 2:
            groups[-1].append((ceiling, line))
        else:
            groups.append([(ceiling, line)])
    return groups
