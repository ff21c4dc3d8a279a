"""The figure of a comparison: for each thread count a panel with the ways that points went, and its key below."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from roofline.compare.comparison import ComparedPoint, Comparison
from roofline.compare.match import point_name
from roofline.errors import UsageError
from roofline.model.ceilings import level_order
from roofline.model.run import Run
from roofline.plotting.ceiling_label import threads_text
from roofline.plotting.change_tables import lines
from roofline.plotting.figure import style
from roofline.plotting.figure.change_key import draw_change_key, key_height_px
from roofline.plotting.figure.change_panel import Move, draw_moves
from roofline.plotting.figure.lettering import put, wrapped
from roofline.plotting.figure.marker import Palette
from roofline.plotting.figure.page import (
    AXIS_PX,
    FORMATS,
    KEY_WIDTH_PX,
    LEAST_PANEL_PX,
    MOST_PANEL_PX,
    PANEL_TITLE_PX,
    PLOT_LEFT_PX,
    scene_span,
    share,
    write_files,
)
from roofline.plotting.figure.panel import Scene, scene_of
from roofline.plotting.figure.points import Point
from roofline.plotting.figure.span import with_common_width
from roofline.plotting.summary import machine_line
from roofline.plotting.text import elided

HEAD_PX = 64.0


@dataclass(frozen=True)
class Panel:
    """What one thread count shows."""

    scene: Scene
    moves: tuple[Move, ...]


def draw_changes(comparison: Comparison) -> Figure:
    """Draw how points moved, for f64 or else the first dtype with any, at the fewest and the most threads.

    Raises UsageError when no point has flops and a number that may be drawn on both sides. The figure has no pyplot
    state.
    """
    with style.default_style():
        return _page(comparison, *_panels(comparison))


def save_changes(comparison: Comparison, stem: Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Draw the comparison and write `<stem>.<format>` for each format; return their paths.

    The same comparison gives the same bytes. Raises what `draw_changes` raises, and ResultsError when a file cannot be
    written.
    """
    return write_files(draw_changes(comparison), stem, formats)


def _is_drawable(point: ComparedPoint) -> bool:
    sides = (point.before, point.after)
    return all(side.drawable and side.work.flops > 0 for side in sides)


def _panels(comparison: Comparison) -> tuple[str, list[Panel]]:
    drawable = [point for point in comparison.points if _is_drawable(point)]
    dtypes = list(dict.fromkeys(point.before.dtype for point in drawable))
    if not dtypes:
        raise UsageError(
            f"nothing of {comparison.before.id} and {comparison.after.id} can be drawn: no point has flops and a sound "
            "number on both sides"
        )
    dtype = "f64" if "f64" in dtypes else dtypes[0]
    chosen = [point for point in drawable if point.before.dtype == dtype]
    counts = sorted({point.before.threads for point in chosen})
    numbers: dict[tuple[str, str, int], int] = {}  # as in the figure of one run, for a kernel in a level
    panels = []
    for threads in dict.fromkeys((counts[0], counts[-1])):
        moves: list[Move] = []
        seen: Counter[tuple[str, str]] = Counter()
        for point in chosen:
            if point.before.threads == threads:
                place = (point.after.kernel, point.after.level)
                seen[place] += 1
                key = (*place, seen[place])
                move = _move(point, numbers.setdefault(key, len(numbers) + 1), comparison.across)
                moves += [move] if move else []
        drawn = [side for move in moves for side in (move.before, move.after)]
        panels.append(Panel(scene_of(comparison.after, dtype, threads, drawn), tuple(moves)))
    return dtype, panels


def _move(point: ComparedPoint, number: int, across: bool) -> Move | None:
    """Return the point with both its places; across, the one before stands at its percent of the roof after."""
    before = (across and point.before_under_roof_after) or point.before_derived
    after = point.after_derived
    if before is None or after is None:
        return None
    return Move(Point(number, point.before, before), Point(number, point.after, after), point.change)


def _page(comparison: Comparison, dtype: str, panels: Sequence[Panel]) -> Figure:
    figure = Figure(figsize=(style.WIDTH_PX / style.DPI, 1.0), dpi=style.DPI, facecolor="white")
    FigureCanvasAgg(figure)
    spans = with_common_width([scene_span(panel.scene) for panel in panels], LEAST_PANEL_PX, MOST_PANEL_PX)
    foot = _foot(figure, comparison, dtype, panels)
    keys_px = [key_height_px(panel.moves) for panel in panels]
    height_px = HEAD_PX + sum(span.height_px + AXIS_PX + PANEL_TITLE_PX for span in spans) + sum(keys_px)
    height_px += style.LINE_PX * (len(foot) + 0.5) + style.MARGIN_PX
    figure.set_size_inches(style.WIDTH_PX / style.DPI, height_px / style.DPI)
    _head(figure, comparison)
    palette = _palette(comparison)
    y_px = HEAD_PX
    for panel, span, key_px in zip(panels, spans, keys_px, strict=True):
        title = f"{dtype}, {threads_text(panel.scene.threads)}"
        put(figure, (style.MARGIN_PX, y_px + 18), title, 12.5, style.INK, weight="bold")
        y_px += PANEL_TITLE_PX
        box = (PLOT_LEFT_PX, height_px - y_px - span.height_px, span.width_px, span.height_px)
        draw_moves(figure.add_axes(share(box, height_px)), panel.scene, panel.moves, span, palette)
        y_px += span.height_px + AXIS_PX
        box = (style.MARGIN_PX, height_px - y_px - key_px, KEY_WIDTH_PX, max(key_px, 1.0))
        below = figure.add_axes(share(box, height_px))
        below.set(xlim=(0, KEY_WIDTH_PX), ylim=(max(key_px, 1.0), 0))
        draw_change_key(below, panel.moves, comparison.across, palette, KEY_WIDTH_PX)
        y_px += key_px
    for line in foot:
        put(figure, (style.MARGIN_PX, y_px + style.LINE_PX), line)
        y_px += style.LINE_PX
    return figure


def _head(figure: Figure, comparison: Comparison) -> None:
    title = f"What changed under the roofline of {machine_line(comparison.after.machine)}"
    put(figure, (style.MARGIN_PX, 20), title, style.TITLE_PX, style.INK, weight="bold")
    runs = f"Before: {_named(comparison.before)}. After: {_named(comparison.after)}."
    put(figure, (style.MARGIN_PX, 38), runs, style.NORMAL_PX, style.MUTED)
    legend = (
        "Hollow: before. Filled: after. Solid arrow: the interval lies beyond 1 by more than 1 %; dashed: it does not; "
        "none: too short. Roofs: after; dashed: sustained."
    )
    if comparison.across:
        legend = legend.replace("before.", "before, at its percent of the roof.", 1)
    put(figure, (style.MARGIN_PX, 53), legend, style.NORMAL_PX, style.MUTED)


def _named(run: Run) -> str:
    return run.id + (f" ({elided(run.label, 24)})" if run.label else "") + ("" if run.complete else " INCOMPLETE")


def _palette(comparison: Comparison) -> Palette:
    after, before = Palette.of(comparison.after), Palette.of(comparison.before)
    return Palette(
        levels=tuple(sorted({*after.levels, *before.levels}, key=level_order)),
        families=tuple(dict.fromkeys((*after.families, *before.families))),
    )


def _foot(figure: Figure, comparison: Comparison, dtype: str, panels: Sequence[Panel]) -> list[str]:
    shown = {id(move.measurement) for panel in panels for move in panel.moves}
    missing = [point for point in comparison.points if id(point.after) not in shown]
    threads = {panel.scene.threads for panel in panels}
    here = [point for point in missing if point.after.dtype == dtype and point.after.threads in threads]
    paragraphs = lines(comparison)
    if here:
        named = ", ".join(point_name(point.after) for point in here)
        paragraphs.append(f"Not drawn, for want of flops or of a sound number on both sides: {named}")
    if elsewhere := Counter(f"{p.after.dtype} ×{p.after.threads}" for p in missing if p not in here):
        counted = ", ".join(f"{count} of {where}" for where, count in elsewhere.items())
        paragraphs.append(f"Not drawn, of other dtypes and thread counts: {counted}")
    paragraphs += comparison.remarks
    return [
        line
        for text in paragraphs
        for line in wrapped(figure, style.drawable_text(text), style.WIDTH_PX - 2 * style.MARGIN_PX)
    ]
