"""One panel: the roofs of one dtype and thread count, and the kernels under them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from roofline.model.ceilings import Ceiling, ComputeCeiling, MemoryCeiling
from roofline.model.run import Run
from roofline.plotting.ceiling_label import short_name
from roofline.plotting.figure import style
from roofline.plotting.figure.label_places import Line, Paper, Place
from roofline.plotting.figure.marker import Palette, draw_marker
from roofline.plotting.figure.numbers import write_numbers
from roofline.plotting.figure.pen import draw_scales, stroke, write_label
from roofline.plotting.figure.points import Point
from roofline.plotting.figure.span import Span
from roofline.plotting.text import intensity_unit, rate_unit
from roofline.units import byte_rate, giga

RIDGE: dict[str, Any] = {
    "markersize": style.points(7),
    "markerfacecolor": "white",
    "markeredgecolor": style.INK,
    "markeredgewidth": style.points(1.2),
    "zorder": 4,
    "gid": "ridge",
}


BURST_SHARE = 0.97
"""A ceiling whose median sample reaches less of its best one is drawn twice: burst and, dashed, sustained."""
OWN_ROOF_WIDTH = 1.09
"""The bar reaches from intensity / this to intensity x this."""


@dataclass(frozen=True)
class Scene:
    """What one panel shows."""

    threads: int
    compute: tuple[ComputeCeiling, ...]
    """The best of every ISA, highest first."""
    memory: tuple[MemoryCeiling, ...]
    """The best of every level, highest first."""
    drawn: tuple[Point, ...]
    rate_unit: str = "GFLOP/s"
    """Of the rates: GOP/s where the operations are on whole numbers."""
    intensity_unit: str = "flop/B"
    """Of the intensities: op/B there."""


def scene_of(run: Run, dtype: str, threads: int, drawn: Sequence[Point]) -> Scene:
    """Return the ceilings of this dtype and thread count with the points under them."""
    isas = dict.fromkeys(ceiling.isa for ceiling in run.ceilings.compute)
    compute = [run.ceilings.best_compute(dtype, threads, isa) for isa in isas]
    memory = [run.ceilings.best_memory(level, threads) for level in run.ceilings.levels]
    return Scene(
        threads=threads,
        compute=tuple(sorted(filter(None, compute), key=lambda ceiling: -ceiling.flop_per_s)),
        memory=tuple(sorted(filter(None, memory), key=lambda ceiling: -ceiling.byte_per_s)),
        drawn=tuple(drawn),
        rate_unit=rate_unit([dtype]),
        intensity_unit=intensity_unit([dtype]),
    )


def draw_panel(axes: Axes, scene: Scene, span: Span, palette: Palette) -> None:
    """Draw roofs, ridges, markers and their labels into axes of the span's size."""
    places = [(point.derived.flop_per_byte, point.derived.flop_per_s) for point in scene.drawn]
    paper = draw_roofs(axes, scene, span, palette, places)
    own_roofs = [line for point in scene.drawn for line in _own_roof(axes, span, point, palette)]
    for point, place in zip(scene.drawn, places, strict=True):
        draw_marker(axes, place, point, palette)
    write_numbers(axes, span, scene.drawn, [*paper.lines, *own_roofs], paper.labels)


def draw_roofs(
    axes: Axes, scene: Scene, span: Span, palette: Palette, markers: Sequence[Place], paths: Sequence[Line] = ()
) -> Paper:
    """Draw scales, roofs, ridges and the roofs' labels, clear of `markers` (in the axes' data) and of `paths`.

    Returns what the panel then holds, the paths among its lines.
    """
    draw_scales(axes, span, scene.rate_unit, f"arithmetic intensity, {scene.intensity_unit} (compulsory traffic)")
    memory = [(ceiling, _memory_line(ceiling, scene, span)) for ceiling in scene.memory]
    compute = [(ceiling, _compute_line(ceiling, scene, span)) for ceiling in scene.compute]
    for rank, (roof, line) in reversed(list(enumerate(compute))):
        stroke(axes, span, line, style.INK if rank == 0 else "#8a8a8a", 2.0 if rank == 0 else 1.2, 2)
        if rank == 0 and is_burst(roof):
            stroke(axes, span, _sustained(line, roof, span), style.INK, 0.9, 2, gid="sustained", dashed=True)
    for ceiling, line in reversed(memory):
        colour = palette.colour(ceiling.level)
        stroke(axes, span, line, colour, 1.8, 3)
        if is_burst(ceiling):
            stroke(axes, span, _sustained(line, ceiling, span), colour, 0.9, 2.9, gid="sustained", dashed=True)
    ridges = _ridges(scene)
    for place in ridges:
        axes.plot(*([value] for value in place), "o", **RIDGE)
    lines = [*(line for _, line in (*memory, *compute)), *paths]
    taken = [span.pixel(*place) for place in (*markers, *ridges)]
    paper = Paper(span.width_px, span.height_px, taken, lines, [])
    for ceiling, line in memory:
        text = f"{short_name(ceiling)} {byte_rate(ceiling.byte_per_s)}"
        write_label(axes, span, paper, line, text, palette.text_colour(ceiling.level), "memory roof")
    for group in _near_together(compute):
        text = " · ".join(f"{short_name(ceiling)} {giga(ceiling.flop_per_s)}" for ceiling, _ in group)
        text += f" {scene.rate_unit}"
        write_label(axes, span, paper, group[0][1], text, style.INK, "compute roof")
    return paper


def is_burst(ceiling: Ceiling) -> bool:
    """Whether the best samples of a ceiling are so far above its median ones that both are drawn."""
    return 0 < ceiling.sustained_per_s < BURST_SHARE * ceiling.per_s


def _sustained(line: Line, ceiling: Ceiling, span: Span) -> Line:
    """Return the line of the median samples, below that of the best ones."""
    share = ceiling.sustained_per_s / ceiling.per_s
    (x0, y0), (x1, y1) = span.value(*line.start), span.value(*line.end)
    return Line(span.pixel(x0, y0 * share), span.pixel(x1, y1 * share))


def _own_roof(axes: Axes, span: Span, point: Point, palette: Palette) -> list[Line]:
    """Draw a bar at the roof of the kernel's own access pattern, tied to the marker; return both lines."""
    roof, rate, x = point.derived.roof_flop_per_s, point.derived.flop_per_s, point.derived.flop_per_byte
    if roof is None:
        return []
    bar = Line(span.pixel(x / OWN_ROOF_WIDTH, roof), span.pixel(x * OWN_ROOF_WIDTH, roof))
    tie = Line(span.pixel(x, rate), span.pixel(x, max(rate, roof)))
    colour = palette.colour(point.measurement.level)
    stroke(axes, span, bar, colour, 2.0, 3.6, gid="own roof")
    stroke(axes, span, tie, style.MUTED, 0.6, 2.5)
    return [bar, tie]


def _ridges(scene: Scene) -> list[tuple[float, float]]:
    """Return where each memory roof meets the highest compute roof."""
    if not scene.compute:
        return []
    peak = scene.compute[0].flop_per_s
    return [(peak / ceiling.byte_per_s, peak) for ceiling in scene.memory]


def _memory_line(ceiling: MemoryCeiling, scene: Scene, span: Span) -> Line:
    """Return the roof from where it enters the panel to its ridge (to the right edge without a compute roof)."""
    rate = ceiling.byte_per_s
    begin = max(span.left, span.bottom / rate)
    end = min(span.right, span.top / rate)
    if scene.compute:
        end = min(end, scene.compute[0].flop_per_s / rate)
    return Line(span.pixel(begin, begin * rate), span.pixel(end, end * rate))


def _compute_line(ceiling: ComputeCeiling, scene: Scene, span: Span) -> Line:
    """Return the roof from the right edge to where the nearest level's memory roof meets it."""
    begin = ceiling.flop_per_s / scene.memory[0].byte_per_s if scene.memory else span.left
    return Line(span.pixel(span.right, ceiling.flop_per_s), span.pixel(max(begin, span.left), ceiling.flop_per_s))


def _near_together(
    compute: Sequence[tuple[ComputeCeiling, Line]],
) -> list[list[tuple[ComputeCeiling, Line]]]:
    """Group roofs that are closer than a line of text: they share one label."""
    groups: list[list[tuple[ComputeCeiling, Line]]] = []
    for ceiling, line in compute:
        if groups and groups[-1][0][1].start[1] - line.start[1] < style.LINE_PX:
            groups[-1].append((ceiling, line))
        else:
            groups.append([(ceiling, line)])
    return groups
