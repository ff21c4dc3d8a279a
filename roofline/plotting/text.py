"""Text from elsewhere, made safe to show: a kernel's name may hold anything that a file can."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ENTITIES = {character: f"&#{ord(character)};" for character in "&<>@#$"}
_BACKSLASHED = "\\`*[]!~|"
_MARKDOWN = str.maketrans(_ENTITIES | {character: "\\" + character for character in _BACKSLASHED})


def printable(text: str) -> str:
    """Return the text with control, bidirectional and other invisible characters written as escapes.

    A newline becomes the two characters `\\n`, so that one name stays on one line; ESC cannot reach a terminal.
    """
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def elided(text: str, length: int) -> str:
    """Return the text cut in its middle to at most `length` characters: names differ at both ends."""
    if len(text) <= length:
        return text
    tail = (length - 1) // 2
    return f"{text[: length - 1 - tail]}…{text[len(text) - tail :]}"


def markdown(text: str) -> str:
    """Return the text so that Markdown shows it literally in a table cell or a line of its own.

    No emphasis, code, link, image, HTML, mention, issue reference, formula or workflow command (`::`) comes out of it.
    """
    literal = printable(text).translate(_MARKDOWN)
    literal = re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", literal)  # inside a word Markdown keeps it: nt_store stays readable
    literal = re.sub(r"^\s*::", "&#58;:", literal)
    return re.sub(r":(?=//)", "&#58;", literal).replace("www.", "www&#46;")


def rate_unit(dtypes: Sequence[str]) -> str:
    """Return the unit of a rate in these dtypes: operations on whole numbers are no flops."""
    return "GFLOP/s" if all(dtype.startswith("f") for dtype in dtypes) else "GOP/s"


def intensity_unit(dtypes: Sequence[str]) -> str:
    """Return the unit of an intensity in these dtypes."""
    return "flop/B" if rate_unit(dtypes) == "GFLOP/s" else "op/B"
