"""The base of every archived type."""

from __future__ import annotations

import msgspec


class Value(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """An immutable value with named fields. Unknown fields of a newer minor version are ignored on reading."""
