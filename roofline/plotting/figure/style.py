"""Colours, shapes and sizes. Lengths are pixels of a figure that is shown WIDTH_PX wide."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

import matplotlib.style
from matplotlib.font_manager import FontProperties, findfont, get_font

from roofline.plotting.text import printable

WIDTH_PX = 900
MARGIN_PX = 12.0
DPI = 100
SAVED_DPI = 200
"""The PNG has twice the pixels, for screens that have them."""

SMALL_PX, NORMAL_PX, TITLE_PX = 9.3, 10.0, 15.0
LINE_PX = 13.5
"""From one line of small text to the next."""
MARKER_PX = 6.5

INK, MUTED, FAINT = "#1a1a1a", "#555555", "#e4e4e4"
OKABE_ITO = ("#0072B2", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#E69F00")
"""Colours that stay apart for the colour-blind. Okabe and Ito, "Color universal design", 2008."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "h", "<", ">", "d", "8")


def default_style() -> AbstractContextManager[None]:
    """Return a context in which no user's matplotlibrc changes the figure, and SVG ids are the same every time.

    Without hinting, text measured at one resolution has the same width at every other.
    """
    fixed = {
        "svg.hashsalt": "roofline",
        "svg.fonttype": "path",
        "font.family": "DejaVu Sans",
        "text.hinting": "none",
    }
    return matplotlib.style.context(["default", fixed])


def points(length_px: float) -> float:
    """Return a length in typographic points, the unit of matplotlib's sizes."""
    return length_px * 72 / DPI


def drawable_text(text: str) -> str:
    """Return the text with everything written as an escape that the font cannot draw, emoji for one."""
    glyphs = _glyphs()
    return "".join(
        character if ord(character) in glyphs else character.encode("unicode_escape").decode("ascii")
        for character in printable(text)
    )


@cache
def _glyphs() -> frozenset[int]:
    return frozenset(get_font(findfont(FontProperties(family="DejaVu Sans"))).get_charmap())
