"""Text from elsewhere, made safe to show: escaped for what it is written into."""

from __future__ import annotations

import re

from roofline.model.legible import elided, printable
from roofline.units import intensity_unit, rate_unit

__all__ = ["elided", "intensity_unit", "markdown", "printable", "rate_unit"]

_ENTITIES = {character: f"&#{ord(character)};" for character in "&<>@#$"}
_BACKSLASHED = "\\`*[]!~|"
_MARKDOWN = str.maketrans(_ENTITIES | {character: "\\" + character for character in _BACKSLASHED})


def markdown(text: str) -> str:
    """Return the text so that Markdown shows it literally in a table cell or a line of its own.

    No emphasis, code, link, image, HTML, mention, issue reference, formula or workflow command (`::`) comes out of it.
    """
    literal = printable(text).translate(_MARKDOWN)
    literal = re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", literal)  # inside a word Markdown keeps it: nt_store stays readable
    literal = re.sub(r"^\s*::", "&#58;:", literal)
    return re.sub(r":(?=//)", "&#58;", literal).replace("www.", "www&#46;")
