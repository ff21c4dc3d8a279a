"""Text placed by pixels on the figure: measured, cut, broken into lines."""

from __future__ import annotations

from matplotlib.figure import Figure, FigureBase
from matplotlib.text import Text

from roofline.plotting.figure import style
from roofline.plotting.text import elided

MOST_CHARACTERS = 300
"""More than fit into any line: cutting begins here."""


def width_px(figure: FigureBase, text: str, size_px: float = style.SMALL_PX, weight: str = "normal") -> float:
    """Return how wide the text is when drawn literally."""
    if not text:
        return 0.0
    measured = Text(0, 0, text, fontsize=style.points(size_px), weight=weight, parse_math=False, figure=figure)
    return float(measured.get_window_extent().width)


def fitted(figure: FigureBase, text: str, most_px: float, size_px: float, weight: str = "normal") -> str:
    """Return the text, cut in its middle as far as it must be to fit."""
    shown = elided(text, MOST_CHARACTERS)
    while width_px(figure, shown, size_px, weight) > most_px and len(shown) > 1:
        shown = elided(text, len(shown) - 1)
    return shown


def wrapped(figure: FigureBase, text: str, most_px: float) -> list[str]:
    """Break the text at blanks into lines that fit; a word that fits no line gets its own."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        grown = f"{line} {word}" if line else word
        if not line or width_px(figure, grown) <= most_px:
            line = grown
        else:
            lines.append(line)
            line = word
    return [*lines, line]


def put(
    figure: Figure,
    place_px: tuple[float, float],
    text: str,
    size_px: float = style.SMALL_PX,
    colour: str = style.MUTED,
    weight: str = "normal",
) -> None:
    """Write the text at pixels from the upper left corner, cut at the right margin."""
    across_px, down_px = place_px
    total_px = figure.get_figheight() * style.DPI
    most_px = style.WIDTH_PX - style.MARGIN_PX - across_px
    figure.text(
        across_px / style.WIDTH_PX,
        1 - down_px / total_px,
        fitted(figure, style.drawable_text(text), most_px, size_px, weight),
        fontsize=style.points(size_px),
        color=colour,
        weight=weight,
        va="center_baseline",
        parse_math=False,
        gid="page text",
    )
