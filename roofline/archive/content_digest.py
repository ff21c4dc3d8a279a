"""A digest of a whole document, written into it when it is saved.

It tells of edits that were made by hand or by accident. It is no signature: whoever edits a file on purpose can make
the digest anew, or leave it out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from roofline.archive.tree import Defect, shown

FIELD = "content_digest"
_DIGITS = 16


def content_digest(tree: Mapping[str, Any]) -> str:
    """Return 16 hexadecimal digits of the SHA-256 of everything in a document but this digest.

    Layout and the order of keys do not count.
    """
    content = {name: value for name, value in tree.items() if name != FIELD}
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(canonical.encode("utf-8")).hexdigest()[:_DIGITS]


def digest_defects(tree: Mapping[str, Any], always: bool) -> Iterator[Defect]:
    """Yield a digest that is another one; `always` for a document whose version writes one, where it may not lack."""
    stored = tree.get(FIELD)
    if not stored and not always:
        return
    if stored != (expected := content_digest(tree)):
        found = shown(stored) if stored else "nothing"
        yield Defect(FIELD, found, f"{expected}, the digest of what the file holds: it was edited since it was saved")
