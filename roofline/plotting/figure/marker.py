"""The marker of a kernel: colour for its memory level, shape for its family, hollow when degraded."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes

from roofline.model.ceilings import level_order
from roofline.model.ladder import family_of
from roofline.model.run import Run
from roofline.plotting.figure import style
from roofline.plotting.figure.points import Point


@dataclass(frozen=True)
class Palette:
    """Levels and families of a run in their order: all panels and keys agree on colours and shapes."""

    levels: tuple[str, ...]
    families: tuple[str, ...]

    @classmethod
    def of(cls, run: Run) -> Palette:
        """Return the palette of a run."""
        # Also those that could not be measured: a level has the same colour in every run of a machine.
        there = (cache.name for cache in run.machine.caches)
        levels = {*run.ceilings.levels, *(m.level for m in run.measurements), *there, "DRAM"}
        families = (family_of(m.kernel) for m in run.measurements)
        return cls(levels=tuple(sorted(levels, key=level_order)), families=tuple(dict.fromkeys(families)))

    def colour(self, level: str) -> str:
        """Return the colour of a memory level."""
        return style.OKABE_ITO[self.levels.index(level) % len(style.OKABE_ITO)]

    def text_colour(self, level: str) -> tuple[float, float, float]:
        """Return the level's colour, dark enough for small text on white."""
        colour = self.colour(level)
        red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
        return 0.72 * red, 0.72 * green, 0.72 * blue

    def shape(self, family: str) -> str:
        """Return the shape of a family's markers."""
        return style.MARKERS[self.families.index(family) % len(style.MARKERS)]


def draw_marker(
    axes: Axes, place: tuple[float, float], point: Point, palette: Palette, hollow: bool | None = None
) -> None:
    """Draw the marker of a point at a place in the axes' data; `hollow` by its status, or as it is given."""
    colour = palette.colour(point.measurement.level)
    hollow = point.measurement.status != "ok" if hollow is None else hollow
    axes.plot(
        *([value] for value in place),
        palette.shape(point.family),
        markersize=style.points(style.MARKER_PX),
        markerfacecolor="white" if hollow else colour,
        markeredgecolor=colour if hollow else "white",
        markeredgewidth=style.points(1.3 if hollow else 0.5),
        clip_on=False,
        zorder=6,
        gid="kernel",
    )
