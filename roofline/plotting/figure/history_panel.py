"""One kernel through all runs: a line for each of its points, change points and changes of conditions across it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from roofline.compare.history import History, Series
from roofline.model.ceilings import level_order
from roofline.plotting.figure import style
from roofline.plotting.figure.pen import HALO
from roofline.plotting.history_table import shifts_text

DASHES: tuple[tuple[float, ...], ...] = ((), (4, 1.6), (1.2, 1.4), (6, 1.6, 1.2, 1.6))
"""Strokes of dtypes, in their order; the first is whole."""
DOT_PX = 3.6
USUAL_LEVELS = ("L1", "L2", "L3", "DRAM")
LABELS = 3
"""Rows of labels of change points under the top of a panel."""


@dataclass(frozen=True)
class Look:
    """What colours, strokes and shapes mean, in all panels."""

    levels: tuple[str, ...]
    dtypes: tuple[str, ...]
    threads: tuple[int, ...]

    def colour(self, level: str) -> str:
        """Return the colour of a memory level: the one that it has under the roof, where all levels are shown."""
        order = sorted({*self.levels, *USUAL_LEVELS}, key=level_order)
        return style.OKABE_ITO[order.index(level) % len(style.OKABE_ITO)]

    def dashes(self, dtype: str) -> tuple[float, ...]:
        """Return the strokes of a dtype's lines."""
        return DASHES[self.dtypes.index(dtype) % len(DASHES)]

    def shape(self, threads: int) -> str:
        """Return the shape of the dots of a thread count."""
        return style.MARKERS[self.threads.index(threads) % len(style.MARKERS)]


def draw_history_panel(axes: Axes, history: History, shown: Sequence[Series], look: Look) -> None:
    """Draw the points of one kernel; across are the runs by their number, so that gaps in time leave none."""
    count = len(history.moments)
    axes.set_xlim(-0.6, count - 0.4)
    values = [value for series in shown for value in series.values]
    low, high = min(values), max(values)
    room = max(0.08 * (high - low), 0.04 * abs(high), 1e-12)
    has_shifts = any(series.shifts for series in shown)
    axes.set_ylim(low - room, high + room * (3.2 if has_shifts else 1))
    _dress(axes, history)
    _conditions(axes, history)
    for series in shown:
        _line(axes, series, look)
    _shifts(axes, shown, look)


def draw_history_key(axes: Axes, look: Look) -> None:
    """Say what colours, strokes, shapes and lines across mean, in axes whose data are pixels, downwards."""
    axes.set_axis_off()
    x_px, y_px = 0.0, axes.get_ylim()[0] / 2

    def write(text: str, after_px: float = 12.0) -> None:
        nonlocal x_px
        drawn = axes.text(
            x_px, y_px, style.drawable_text(text), fontsize=style.points(style.SMALL_PX), color=style.MUTED,
            va="center_baseline", parse_math=False, gid="key",
        )  # fmt: skip
        x_px += float(drawn.get_window_extent().width) + after_px

    def stroke(colour: str, dashes: tuple[float, ...], width_px: float = 1.6) -> None:
        nonlocal x_px
        (drawn,) = axes.plot([x_px, x_px + 20], [y_px, y_px], color=colour, linewidth=style.points(width_px))
        drawn.set_linestyle((0, dashes) if dashes else "-")
        x_px += 24

    def dot(shape: str, colour: str, hollow: bool) -> None:
        nonlocal x_px
        _dot(axes, [x_px + 4], [y_px], shape, colour, hollow)
        x_px += 12

    for level in look.levels:
        stroke(look.colour(level), (), 3.0)
        write(level or "no level")
    for dtype in look.dtypes:
        stroke(style.MUTED, look.dashes(dtype))
        write(dtype)
    for threads in look.threads:
        dot(look.shape(threads), style.MUTED, False)
        write(f"×{threads}")
    dot("o", style.MUTED, True)
    write("degraded")
    axes.plot([x_px + 3] * 2, [1, 2 * y_px - 1], color=style.MUTED, linewidth=style.points(1.2))
    x_px += 9
    write("change point")
    axes.plot([x_px + 3] * 2, [1, 2 * y_px - 1], color=style.MUTED, linewidth=style.points(1.2), linestyle=":")
    x_px += 9
    write("other conditions (below)")


def _dress(axes: Axes, history: History) -> None:
    last = len(history.moments) - 1
    axes.set_xticks(sorted({0, last}))
    axes.set_xticklabels(_moments(history.moments[place].started_utc for place in sorted({0, last})))
    labels = axes.get_xticklabels()
    if last:
        labels[0].set_horizontalalignment("left")
        labels[-1].set_horizontalalignment("right")
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.tick_params(labelsize=style.points(style.SMALL_PX), length=2.5, width=0.5, color=style.MUTED, pad=2)
    axes.grid(True, axis="y", color=style.FAINT, linewidth=0.6, zorder=0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set(linewidth=0.6, color=style.MUTED)


def _moments(started_utc: Iterable[str]) -> list[str]:
    """Write when the first and the last run began: the days, or the times of one day."""
    times = list(started_utc)
    if len({time[:10] for time in times}) == 1:
        return [f"{time[11:16]} UTC" for time in times]
    return [time[2:10] for time in times]


def _conditions(axes: Axes, history: History) -> None:
    changed = [place for place, moment in enumerate(history.moments) if moment.differences]
    low, high = axes.get_ylim()
    for number, place in enumerate(changed, 1):
        axes.axvline(
            place - 0.5, color=style.MUTED, linewidth=style.points(1.0), linestyle=":", zorder=1, gid="conditions"
        )
        axes.text(
            place - 0.4, low + 0.03 * (high - low), str(number), fontsize=style.points(style.SMALL_PX),
            color=style.MUTED, ha="left", va="bottom", zorder=7, path_effects=HALO, gid="conditions number",
        )  # fmt: skip


def _line(axes: Axes, series: Series, look: Look) -> None:
    colour = look.colour(series.level)
    places = [sighting.place for sighting in series.sightings]
    (drawn,) = axes.plot(places, series.values, color=colour, linewidth=style.points(1.0), zorder=3, gid="series")
    if dashes := look.dashes(series.dtype):
        drawn.set_linestyle((0, dashes))
    for hollow in (False, True):
        chosen = [sighting for sighting in series.sightings if sighting.degraded is hollow]
        _dot(axes, [s.place for s in chosen], [s.value for s in chosen], look.shape(series.threads), colour, hollow)


def _dot(axes: Axes, across: Sequence[float], up: Sequence[float], shape: str, colour: str, hollow: bool) -> None:
    axes.plot(
        across, up, shape, markersize=style.points(DOT_PX), markerfacecolor="white" if hollow else colour,
        markeredgecolor=colour, markeredgewidth=style.points(0.9 if hollow else 0.3), clip_on=False, zorder=4,
        gid="degraded" if hollow else "sighting",
    )  # fmt: skip


def _shifts(axes: Axes, shown: Sequence[Series], look: Look) -> None:
    low, high = axes.get_ylim()
    middle = sum(axes.get_xlim()) / 2
    together: dict[tuple[int, str], list[float]] = {}
    for series in shown:
        for shift in series.shifts:
            line = axes.axvline(
                shift.place - 0.5, color=look.colour(series.level), linewidth=style.points(1.1), zorder=2,
                gid="change point",
            )  # fmt: skip
            if dashes := look.dashes(series.dtype):
                line.set_linestyle((0, dashes))
            together.setdefault((shift.place, series.level), []).append(shift.size)
    for row, ((place, level), sizes) in enumerate(sorted(together.items())):
        to_left = place > middle
        axes.text(
            place - (0.7 if to_left else 0.3), high - (0.01 + 0.1 * (row % LABELS)) * (high - low),
            shifts_text(sizes), fontsize=style.points(style.SMALL_PX), color=look.colour(level),
            ha="right" if to_left else "left", va="top", zorder=7, path_effects=HALO, gid="change size",
        )  # fmt: skip
