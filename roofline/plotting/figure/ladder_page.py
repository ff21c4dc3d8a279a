"""The figure of a family's ladders: for each a panel with the path, and beside it what every step did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from roofline.model.ladder import Ladder
from roofline.model.run import Run
from roofline.model.rung import Rung, is_library
from roofline.plotting.figure import style
from roofline.plotting.figure.ladder_panel import draw_ladder, draw_rung, ladder_span, short_rung
from roofline.plotting.figure.ladder_roofs import Roofs, roofs_of
from roofline.plotting.figure.lettering import put, wrapped
from roofline.plotting.figure.marker import Palette
from roofline.plotting.figure.page import (
    AXIS_PX,
    FORMATS,
    HEAD_PX,
    PANEL_TITLE_PX,
    PLOT_LEFT_PX,
    share,
    write_files,
)
from roofline.plotting.figure.span import Span
from roofline.plotting.kernel_tables import factor_text, times_text
from roofline.plotting.ladder_text import heading, story
from roofline.plotting.summary import grade_line, machine_line, versions_line
from roofline.plotting.text import elided

KEY_LEFT_PX = 490.0
STORY_LEFT_PX = 14.0
STORY_WIDTH_PX = style.WIDTH_PX - KEY_LEFT_PX - style.MARGIN_PX - STORY_LEFT_PX
BETWEEN_PX = 4.0


@dataclass(frozen=True)
class Told:
    """The words of one rung, broken into lines."""

    name: str
    lines: tuple[str, ...]

    @property
    def height_px(self) -> float:
        """Height with the gap below."""
        return style.LINE_PX * (1 + len(self.lines)) + BETWEEN_PX


@dataclass(frozen=True)
class Scene:
    """One ladder with everything that its panel shows."""

    ladder: Ladder
    roofs: Roofs
    told: tuple[Told, ...]
    span: Span

    @property
    def height_px(self) -> float:
        """Height of the panel with its axis, or of the words beside it."""
        return max(self.span.height_px + AXIS_PX, sum(told.height_px for told in self.told) + style.LINE_PX / 2)


def draw_ladders(run: Run, ladders: Sequence[Ladder]) -> Figure:
    """Draw the ladders of a run one below the other. The figure has no pyplot state."""
    with style.default_style():
        return _page(run, ladders)


def save_ladders(run: Run, ladders: Sequence[Ladder], stem: Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Draw the ladders and write `<stem>.<format>` for each format; return their paths.

    The same run gives the same bytes. Raises ResultsError when a file cannot be written.
    """
    return write_files(draw_ladders(run, ladders), stem, formats)


def _page(run: Run, ladders: Sequence[Ladder]) -> Figure:
    figure = Figure(figsize=(style.WIDTH_PX / style.DPI, 1.0), dpi=style.DPI, facecolor="white")
    FigureCanvasAgg(figure)
    scenes = [_scene(figure, run, ladder) for ladder in ladders]
    foot = _foot(figure, run, ladders)
    height_px = HEAD_PX + sum(scene.height_px + PANEL_TITLE_PX for scene in scenes)
    height_px += style.LINE_PX * len(foot) + style.MARGIN_PX
    figure.set_size_inches(style.WIDTH_PX / style.DPI, height_px / style.DPI)
    palette = Palette.of(run)
    title = f"Ladder on the roofline of {machine_line(run.machine)}"
    put(figure, (style.MARGIN_PX, 20), title, style.TITLE_PX, style.INK, weight="bold")
    label = f" ({elided(run.label, 24)})" if run.label else ""
    state = "" if run.complete else f" INCOMPLETE: {run.reason or 'reason unknown'}."
    subtitle = (
        f"Run {run.id}{label}.{state} ×: times as fast as the rung before. Colour: memory level. Hollow: degraded."
    )
    put(figure, (style.MARGIN_PX, 38), f"{subtitle} Diamond: a library, for reference.", style.NORMAL_PX, style.MUTED)
    y_px = HEAD_PX
    for scene in scenes:
        put(figure, (style.MARGIN_PX, y_px + 18), heading(scene.ladder), 12.5, style.INK, weight="bold")
        y_px += PANEL_TITLE_PX
        box = (PLOT_LEFT_PX, height_px - y_px - scene.span.height_px, scene.span.width_px, scene.span.height_px)
        draw_ladder(figure.add_axes(share(box, height_px)), scene.ladder, scene.roofs, scene.span, palette)
        width = style.WIDTH_PX - KEY_LEFT_PX - style.MARGIN_PX
        beside = figure.add_axes(
            share((KEY_LEFT_PX, height_px - y_px - scene.height_px, width, scene.height_px), height_px)
        )
        beside.set(xlim=(0, width), ylim=(scene.height_px, 0))
        _tell(beside, scene, palette)
        y_px += scene.height_px
    for line in foot:
        put(figure, (style.MARGIN_PX, y_px + style.LINE_PX / 2), line)
        y_px += style.LINE_PX
    return figure


def _scene(figure: Figure, run: Run, ladder: Ladder) -> Scene:
    roofs = roofs_of(run, ladder)
    told = tuple(
        Told(
            name=_named(rung),
            lines=tuple(wrapped(figure, _bound_to_units(style.drawable_text(f"{story(rung)}.")), STORY_WIDTH_PX)),
        )
        for rung in (*ladder.rungs, *ladder.references)
    )
    return Scene(ladder, roofs, told, ladder_span(ladder, roofs, sum(words.height_px for words in told) - AXIS_PX))


def _named(rung: Rung) -> str:
    """Return the rung's name with its step; a library's with what it is compared with, since it is no step."""
    if rung.step is None or rung.before is None:
        return short_rung(rung)
    if is_library(rung.measurement):
        beside = style.drawable_text(elided(rung.before.kernel.partition(".")[2], 24))
        return f"{short_rung(rung)}  {times_text(rung.step)} of {beside}"
    return f"{short_rung(rung)}  {factor_text(rung.step)}"


def _bound_to_units(text: str) -> str:
    """Return the text with blanks before units that no line is broken at."""
    for unit in ("%", "GFLOP/s", "GOP/s"):
        text = text.replace(f" {unit}", f"\N{NO-BREAK SPACE}{unit}")
    return text


def _tell(axes: Axes, scene: Scene, palette: Palette) -> None:
    """Write what every step did into axes whose data are pixels, downwards."""
    axes.set_axis_off()
    y_px = style.LINE_PX / 2
    for rung, told in zip((*scene.ladder.rungs, *scene.ladder.references), scene.told, strict=True):
        draw_rung(axes, (4.0, y_px), rung, palette, rung in scene.ladder.references)
        for place, line in enumerate((told.name, *told.lines)):
            axes.text(
                STORY_LEFT_PX, y_px + style.LINE_PX * place, line, fontsize=style.points(style.SMALL_PX),
                weight="normal" if place else "bold", color=style.MUTED if place else style.INK, ha="left",
                va="center_baseline", parse_math=False, gid="story" if place else "story name",
            )  # fmt: skip
        y_px += told.height_px


def _foot(figure: Figure, run: Run, ladders: Sequence[Ladder]) -> list[str]:
    paragraphs = [f"{run.started_utc} · {versions_line(run)}", grade_line(run)]
    missing = [name for ladder in ladders for name in ladder.left_out]
    if missing:
        paragraphs.append(f"Not on these paths, for want of a number that can be drawn: {', '.join(missing)}")
    paragraphs += [f"{caveat.code}: {caveat.message}" for caveat in run.caveats]
    return [
        line
        for text in paragraphs
        for line in wrapped(figure, style.drawable_text(text), style.WIDTH_PX - 2 * style.MARGIN_PX)
    ]
