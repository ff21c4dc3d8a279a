"""The figure of a history: a small panel for each kernel, all over the same runs, with what changed marked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from roofline.compare.history import History, runs_text
from roofline.model.ceilings import level_order
from roofline.plotting.figure import style
from roofline.plotting.figure.history_panel import Look, draw_history_key, draw_history_panel
from roofline.plotting.figure.lettering import fitted, put, wrapped
from roofline.plotting.figure.page import FORMATS, share, write_files

COLUMNS = 3
HEAD_PX, KEY_PX = 46.0, 20.0
TITLE_PX, PLOT_PX, AXIS_PX, BETWEEN_PX = 18.0, 112.0, 18.0, 8.0
LEFT_PX = 34.0
"""What the numbers beside a panel need."""
MOST_FOOT = 12
"""Changes of conditions that the foot tells; the table has all."""


def draw_history(history: History, machine: str) -> Figure:
    """Draw a history; `machine` is the key of its machine. The figure has no pyplot state."""
    with style.default_style():
        return _page(history, machine)


def save_history(history: History, machine: str, stem: Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Draw a history and write `<stem>.<format>` for each format; return their paths.

    The same history gives the same bytes. Raises ResultsError when a file cannot be written.
    """
    return write_files(draw_history(history, machine), stem, formats)


def _page(history: History, machine: str) -> Figure:
    kernels = list(dict.fromkeys(series.kernel for series in history.series))
    columns = min(COLUMNS, len(kernels))
    rows = -(-len(kernels) // columns)
    figure = Figure(figsize=(style.WIDTH_PX / style.DPI, 1.0), dpi=style.DPI, facecolor="white")
    FigureCanvasAgg(figure)
    foot = _foot(figure, history)
    row_px = TITLE_PX + PLOT_PX + AXIS_PX + BETWEEN_PX
    height_px = HEAD_PX + KEY_PX + rows * row_px + style.LINE_PX * (len(foot) + 0.5) + style.MARGIN_PX
    figure.set_size_inches(style.WIDTH_PX / style.DPI, height_px / style.DPI)
    put(figure, (style.MARGIN_PX, 18), f"History of {machine}", style.TITLE_PX, style.INK, weight="bold")
    put(figure, (style.MARGIN_PX, 37), _subtitle(history), style.NORMAL_PX, style.MUTED)
    look = _look(history)
    width = style.WIDTH_PX - 2 * style.MARGIN_PX
    key = figure.add_axes(share((style.MARGIN_PX, height_px - HEAD_PX - KEY_PX, width, KEY_PX), height_px))
    key.set(xlim=(0, width), ylim=(KEY_PX, 0))
    draw_history_key(key, look)
    panel_px = width / columns
    for number, kernel in enumerate(kernels):
        row, column = divmod(number, columns)
        left_px = style.MARGIN_PX + column * panel_px
        top_px = HEAD_PX + KEY_PX + row * row_px
        _title(figure, (left_px, top_px + TITLE_PX / 2), kernel, panel_px - BETWEEN_PX, height_px)
        bottom_px = height_px - top_px - TITLE_PX - PLOT_PX
        box = (left_px + LEFT_PX, bottom_px, panel_px - LEFT_PX - 2 * BETWEEN_PX, PLOT_PX)
        axes: Axes = figure.add_axes(share(box, height_px))
        draw_history_panel(axes, history, [series for series in history.series if series.kernel == kernel], look)
    y_px = HEAD_PX + KEY_PX + rows * row_px
    for line in foot:
        put(figure, (style.MARGIN_PX, y_px + style.LINE_PX / 2), line)
        y_px += style.LINE_PX
    return figure


def _title(figure: Figure, place_px: tuple[float, float], kernel: str, most_px: float, height_px: float) -> None:
    shown = fitted(figure, style.drawable_text(kernel), most_px, 11.0, "bold")
    figure.text(
        place_px[0] / style.WIDTH_PX, 1 - place_px[1] / height_px, shown, fontsize=style.points(11.0),
        color=style.INK, weight="bold", va="center_baseline", parse_math=False, gid="panel title",
    )  # fmt: skip


def _subtitle(history: History) -> str:
    metric = history.metric
    better = "higher" if metric.more_is_better else "lower"
    first, last = history.moments[0], history.moments[-1]
    return (
        f"{metric.name} ({metric.unit}, {better} is better) in {runs_text(len(history.moments))}, in their order, from "
        f"{first.started_utc[:10]} to {last.started_utc[:10]}. Each panel has its own scale."
    )


def _look(history: History) -> Look:
    return Look(
        levels=tuple(sorted({series.level for series in history.series}, key=level_order)),
        dtypes=tuple(dict.fromkeys(series.dtype for series in history.series)),
        threads=tuple(sorted({series.threads for series in history.series})),
    )


def _foot(figure: Figure, history: History) -> list[str]:
    changed = [moment for moment in history.moments if moment.differences]
    paragraphs = [
        f"{number}: from {moment.run}: {'; '.join(moment.differences)}"
        for number, moment in enumerate(changed[:MOST_FOOT], 1)
    ]
    if len(changed) > MOST_FOOT:
        paragraphs.append(f"... and {len(changed) - MOST_FOOT} more changes of conditions; the table has all")
    paragraphs.append(
        "Change points (E-divisive, a permutation test at 1 %) are hints where to look, no verdicts; their size is "
        "that of the medians."
    )
    return [
        line
        for text in paragraphs
        for line in wrapped(figure, style.drawable_text(text), style.WIDTH_PX - 2 * style.MARGIN_PX)
    ]
