"""Messages for people, safe for a terminal."""

from __future__ import annotations

from roofline.plotting.text import printable


def one_line(text: str) -> str:
    """Return `text` as one printable line: white space collapsed, control and invisible characters escaped."""
    return printable(" ".join(text.split()))
