"""A JSON document as a tree of dicts, lists and scalars, read with suspicion.

The standard parser is lenient: it takes NaN, Infinity, 1e999 and repeated keys. Here each of these is an
ArchiveError that names the place.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from roofline.errors import ArchiveError

MAX_BYTES = 64 * 2**20
"""Largest document that is read: a full run is below 1 MiB."""
MAX_VALUES = 2_000_000
"""Most values and members, so that reading takes a second at most: a full run holds some 30 000."""
MAX_DEPTH = 32
"""Deepest nesting of objects and arrays."""
MAX_TEXT = 64 * 2**10
"""Longest string, in characters."""
MAX_INTEGER = 2**63 - 1

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}", re.ASCII)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SHOWN = 60


class Defect(NamedTuple):
    """What is wrong with one value of a document."""

    path: str
    """Where, e.g. `measurements[3].samples_s[0]`; empty for the document itself."""
    found: str
    expected: str

    def __str__(self) -> str:
        """Write path, found and expected in one line."""
        return f"{self.path or 'document'}: found {self.found}, expected {self.expected}"


class _Repeated(dict[str, Any]):
    """An object in which a key occurred twice. Marked while parsing, reported by `defects`, which knows the path."""

    key = ""


def shown(value: object) -> str:
    """Write a value for a message: printable, and never longer than a line."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def parse(data: bytes, source: str, what: str = "run file") -> Any:
    """Parse UTF-8 JSON; `what` is expected. Raises ArchiveError naming `source` for all but exactly one document."""
    if len(data) > MAX_BYTES:
        raise ArchiveError(oversized(source, what))
    if data.startswith(b"\xef\xbb\xbf"):
        raise ArchiveError(f"{source}: found a byte order mark, expected plain UTF-8; save the file without it")
    if data.count(b",") + data.count(b"{") + data.count(b"[") > MAX_VALUES:
        raise ArchiveError(f"{source}: holds more than {MAX_VALUES} values, expected a {what}, which has far fewer")
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_object)
    except UnicodeDecodeError as error:
        raise ArchiveError(f"{source}: byte {error.start} is not UTF-8, expected a JSON {what}") from None
    except json.JSONDecodeError as error:
        what = "is empty" if not data.strip() else f"is broken or cut short at line {error.lineno}: {error.msg.lower()}"
        raise ArchiveError(f"{source}: the file {what}; expected one whole JSON document") from None
    except RecursionError:
        raise ArchiveError(f"{source}: nested too deeply, expected at most {MAX_DEPTH} levels") from None
    except ValueError:  # an integer with thousands of digits, which Python refuses to convert
        raise ArchiveError(f"{source}: found an integer with too many digits, expected 64 bits") from None


def oversized(source: str, what: str = "run file") -> str:
    """Return the message about a file above MAX_BYTES."""
    return f"{source}: larger than {MAX_BYTES // 2**20} MiB, expected a {what}, which stays far below that"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    repeated = _Repeated(members)
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            repeated.key = key
        seen.add(key)
    return repeated


def defects(value: Any, path: str = "", depth: int = 1) -> Iterator[Defect]:
    """Yield what no run file may hold: non-finite numbers, repeated keys, huge integers, texts or nesting."""
    if isinstance(value, (dict, list)) and depth > MAX_DEPTH:
        yield Defect(path, "nesting", f"at most {MAX_DEPTH} levels")
    elif isinstance(value, dict):
        if isinstance(value, _Repeated):
            yield Defect(path, f"the key {shown(value.key)} twice", "each key once")
        for key, item in value.items():
            yield from _text_defects(key, path)
            yield from defects(item, _member(path, key), depth + 1)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if type(item) is not float or not math.isfinite(item):  # arrays of samples are most of a document
                yield from defects(item, f"{path}[{index}]", depth + 1)
    elif isinstance(value, str):
        yield from _text_defects(value, path)
    elif isinstance(value, float) and not math.isfinite(value):
        name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        yield Defect(path, name, "a finite number")
    elif isinstance(value, int) and abs(value) > MAX_INTEGER:
        yield Defect(path, f"an integer of {value.bit_length()} bits", "at most 63")


def _member(path: str, key: str) -> str:
    name = key if _IDENTIFIER.fullmatch(key) else f"[{shown(key)}]"
    return f"{path}.{name}" if path and not name.startswith("[") else path + name


def _text_defects(text: str, path: str) -> Iterator[Defect]:
    if len(text) > MAX_TEXT:
        yield Defect(path, f"a text of {len(text)} characters", f"at most {MAX_TEXT}")
    elif not text.isascii() and _SURROGATE.search(text):
        yield Defect(path, f"half of a surrogate pair in {shown(text)}", "Unicode text")
