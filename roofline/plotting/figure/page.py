"""The whole figure: a head, for each thread count a panel with its key below, and a foot with what must be known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from roofline.errors import ResultsError, UnknownName, UsageError
from roofline.model.ceilings import Ceiling
from roofline.model.run import Run
from roofline.plotting.ceiling_label import short_name, threads_text
from roofline.plotting.figure import style
from roofline.plotting.figure.key import draw_key, key_of
from roofline.plotting.figure.lettering import put, wrapped
from roofline.plotting.figure.marker import Palette
from roofline.plotting.figure.panel import Scene, draw_panel, is_burst, scene_of
from roofline.plotting.figure.points import not_drawn, points_of
from roofline.plotting.figure.span import Span, span_of, with_common_width
from roofline.plotting.summary import grade_line, machine_line, versions_line
from roofline.plotting.text import elided
from roofline.units import giga

FORMATS = ("svg", "png")
"""What a figure is written as by default."""
ENDINGS = (*FORMATS, "pdf")
"""What it can be written as when asked for."""
_UNDATED: dict[str, dict[str, None]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
"""Without the time of writing the same run gives the same bytes."""
PLOT_LEFT_PX = 50.0
PLOT_WIDTH_PX = style.WIDTH_PX - PLOT_LEFT_PX - style.MARGIN_PX
HEAD_PX = 48.0
PANEL_TITLE_PX = 34.0
AXIS_PX = 40.0
KEY_WIDTH_PX = style.WIDTH_PX - 2 * style.MARGIN_PX
LEAST_PANEL_PX, MOST_PANEL_PX = 300.0, 600.0


def draw(run: Run, *, threads: int | None = None, dtype: str | None = None) -> Figure:
    """Draw the roofline of a run: for one dtype, a panel for each thread count with its key below.

    Without `dtype`, f64 or else the first that was measured; without `threads`, the fewest and the most.
    Raises UsageError when the run has neither a ceiling nor a drawable kernel of that kind, UnknownName for a
    dtype that it does not hold. The figure has no pyplot state; `save_figure` writes it.
    """
    chosen = _dtype(run, dtype)
    panels = _panels(run, chosen, threads)
    points = points_of(run, chosen, panels)
    scenes = [scene_of(run, chosen, count, points[count]) for count in panels]
    if not any(scene.compute or scene.memory or scene.drawn for scene in scenes):
        raise UsageError(
            f"run {run.id} holds no ceiling and no drawable {chosen} kernel: nothing to draw; "
            "`show` lists what it holds"
        )
    with style.default_style():
        return _page(run, chosen, scenes)


def save_figure(
    run: Run, stem: Path, *, threads: int | None = None, dtype: str | None = None, formats: Sequence[str] = FORMATS
) -> list[Path]:
    """Draw the run and write `<stem>.<format>` for each format, by default SVG and PNG; return their paths.

    The same run gives the same bytes. Raises what `draw` raises, and ResultsError when a file cannot be written.
    """
    return write_files(draw(run, threads=threads, dtype=dtype), stem, formats)


def write_files(figure: Figure, stem: Path, formats: Sequence[str]) -> list[Path]:
    """Write `<stem>.<format>` for each format; return their paths. Raises ResultsError when one cannot be written."""
    paths = [stem.with_name(f"{stem.name}.{suffix}") for suffix in formats]
    with style.default_style():
        for path in paths:
            try:
                figure.savefig(path, dpi=style.SAVED_DPI, metadata=_UNDATED.get(path.suffix, {}))
            except OSError as error:
                raise ResultsError(f"cannot write {path}: {error.strerror}; choose another folder") from error
    return paths


def _dtype(run: Run, dtype: str | None) -> str:
    known = list(dict.fromkeys([*(c.dtype for c in run.ceilings.compute), *(m.dtype for m in run.measurements)]))
    if dtype is None:
        return "f64" if "f64" in known or not known else known[0]
    if dtype not in known:
        raise UnknownName("dtype", dtype, known, f"run {run.id} holds only these")
    return dtype


def _panels(run: Run, dtype: str, threads: int | None) -> list[int]:
    measured = {m.threads for m in run.measurements if m.dtype == dtype}
    known = sorted({*run.ceilings.threads, *measured})
    if threads is None:
        return sorted({known[0], known[-1]}) if known else [1]
    if threads not in known:
        counts = ", ".join(map(str, known)) or "none"
        raise UsageError(
            f"run {run.id} holds nothing of {threads_text(threads)}, only of {counts}; choose one of these"
        )
    return [threads]


def _page(run: Run, dtype: str, scenes: Sequence[Scene]) -> Figure:
    keys = [key_of(run, scene.drawn) for scene in scenes]
    spans = with_common_width([scene_span(scene) for scene in scenes], LEAST_PANEL_PX, MOST_PANEL_PX)
    figure = Figure(figsize=(style.WIDTH_PX / style.DPI, 1.0), dpi=style.DPI, facecolor="white")
    FigureCanvasAgg(figure)
    foot = _foot(figure, run, dtype, scenes)
    panels_px = sum(span.height_px + AXIS_PX + PANEL_TITLE_PX for span in spans)
    height_px = HEAD_PX + panels_px + sum(key.height_px for key in keys)
    height_px += style.LINE_PX * (len(foot) + 0.5) + style.MARGIN_PX
    figure.set_size_inches(style.WIDTH_PX / style.DPI, height_px / style.DPI)
    palette = Palette.of(run)
    put(
        figure,
        (style.MARGIN_PX, 20),
        f"Roofline of {machine_line(run.machine)}",
        style.TITLE_PX,
        style.INK,
        weight="bold",
    )
    put(figure, (style.MARGIN_PX, 38), _subtitle(run, dtype), style.NORMAL_PX, style.MUTED)
    y_px = HEAD_PX
    for scene, key, span in zip(scenes, keys, spans, strict=True):
        title = f"{dtype}, {threads_text(scene.threads)}"
        put(figure, (style.MARGIN_PX, y_px + 18), title, 12.5, style.INK, weight="bold")
        put(figure, (style.MARGIN_PX + 110, y_px + 18), _ridges(scene))
        y_px += PANEL_TITLE_PX
        box = (PLOT_LEFT_PX, height_px - y_px - span.height_px, span.width_px, span.height_px)
        axes = figure.add_axes(share(box, height_px))
        draw_panel(axes, scene, span, palette)
        y_px += span.height_px + AXIS_PX
        key_height_px = max(key.height_px, 1.0)  # axes have a height, even with nothing in them
        box = (style.MARGIN_PX, height_px - y_px - key_height_px, KEY_WIDTH_PX, key_height_px)
        below = figure.add_axes(share(box, height_px))
        below.set(xlim=(0, KEY_WIDTH_PX), ylim=(key_height_px, 0))
        draw_key(below, key, palette, KEY_WIDTH_PX)
        y_px += key.height_px
    for line in foot:
        put(figure, (style.MARGIN_PX, y_px + style.LINE_PX), line)
        y_px += style.LINE_PX
    return figure


def scene_span(scene: Scene) -> Span:
    """Return how far the axes of a scene's panel reach, at the width that panels have."""
    return span_of(
        scene.compute,
        scene.memory,
        scene.drawn,
        width_px=PLOT_WIDTH_PX,
        least_height_px=LEAST_PANEL_PX,
        most_height_px=MOST_PANEL_PX,
    )


def _subtitle(run: Run, dtype: str) -> str:
    label = f" ({elided(run.label, 24)})" if run.label else ""
    state = "" if run.complete else f" INCOMPLETE: {run.reason or 'reason unknown'}."
    return (
        f"Run {run.id}{label}, {dtype}.{state} Colour: memory level. Shape: family. Hollow: degraded. Bar: own roof. "
        f"Roofs: best pattern of each level, {'dot products' if dtype == 'i8' else 'FMA'} of each ISA."
    )


def _ridges(scene: Scene) -> str:
    if not scene.compute or not scene.memory:
        return ""
    peak = scene.compute[0].flop_per_s
    ridges = ", ".join(f"{c.level} {peak / c.byte_per_s:.2g}" for c in scene.memory)
    return f"ridges (○): {ridges} {scene.intensity_unit}"


def _foot(figure: Figure, run: Run, dtype: str, scenes: Sequence[Scene]) -> list[str]:
    paragraphs = [f"{run.started_utc} · {versions_line(run)}", grade_line(run)]
    roofs: list[Ceiling] = [ceiling for scene in scenes for ceiling in scene.compute[:1]]
    roofs += [ceiling for scene in scenes for ceiling in scene.memory]
    if bursts := [ceiling for ceiling in roofs if is_burst(ceiling)]:
        named = ", ".join(f"{short_name(c)} ×{c.threads} {giga(c.sustained_per_s)}" for c in bursts)
        paragraphs.append(f"Dashed: sustained (median samples), where below the best by over 3 %: {named}")
    for scene in scenes:
        missing = not_drawn(run, dtype, scene.threads)
        if missing:
            paragraphs.append(f"Not drawn, {threads_text(scene.threads)}: {', '.join(missing)}")
    paragraphs += [f"{caveat.code}: {caveat.message}" for caveat in run.caveats]
    drawn: list[Ceiling] = [ceiling for scene in scenes for ceiling in scene.compute]
    drawn += [ceiling for scene in scenes for ceiling in scene.memory]
    doubted = [f"{ceiling.name} ({', '.join(ceiling.caveats)})" for ceiling in drawn if ceiling.caveats]
    if doubted:
        paragraphs.append(f"Roofs to doubt (the table tells why): {'; '.join(doubted)}")
    return [
        line
        for text in paragraphs
        for line in wrapped(figure, style.drawable_text(text), style.WIDTH_PX - 2 * style.MARGIN_PX)
    ]


def share(box_px: tuple[float, float, float, float], height_px: float) -> tuple[float, float, float, float]:
    """Return left, bottom, width and height in shares of a figure that is `height_px` high."""
    left, bottom, width, height = box_px
    return left / style.WIDTH_PX, bottom / height_px, width / style.WIDTH_PX, height / height_px
