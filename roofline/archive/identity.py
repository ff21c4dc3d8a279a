"""What a run may be called: its id, which is also its file name, and its label."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from random import Random

from roofline.errors import UsageError

RUN_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{4}")
"""The whole of an id. Nothing else becomes a file name, so that a hostile id cannot leave its folder."""
LAST = re.compile(r"last(?:~([0-9]{1,6}))?")
"""`last`, or `last~N` for the N-th before it."""
BASELINE = "baseline:"
"""What a baseline's name follows where a run is named."""
MAX_LABEL = 100


def new_id(now_utc: datetime, rng: Random) -> str:
    """Return the id of a run that starts at this time, which has a zone: `YYYYMMDD-HHMMSS-xxxx`, sorted by time."""
    return f"{now_utc.astimezone(UTC):%Y%m%d-%H%M%S}-{rng.getrandbits(16):04x}"


def label_defect(text: str) -> str | None:
    """Return what keeps `text` from being a label, or None."""
    if not text.strip():
        return "it is empty"
    if len(text) > MAX_LABEL:
        return f"it has {len(text)} characters, expected at most {MAX_LABEL}"
    if not text.isprintable():
        return "it holds control or invisible characters"
    if LAST.fullmatch(text) or RUN_ID.fullmatch(text):
        return "it means something else where a run is named"
    return None


def validated_label(text: str, what: str = "label") -> str:
    """Return a label without the white space around it. Raises UsageError for one that cannot name a run.

    `what` is what messages call it.
    """
    label = text.strip()
    defect = label_defect(label)
    if defect is None and label.startswith(BASELINE):
        defect = "it means something else where a run is named"
    if defect is not None:
        raise UsageError(f"cannot use {label[:MAX_LABEL]!r} as a {what}: {defect}; type a short printable name")
    return label
