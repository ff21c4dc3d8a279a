"""Text from elsewhere, made fit to be read: a kernel's name may hold anything that a file can."""

from __future__ import annotations


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
