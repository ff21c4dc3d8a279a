"""Runs whose texts are hostile, and documents that are mutated: made by walking whatever a run holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

Place = tuple[str | int, ...]

TEXTS = (
    "\x1b]0;owned\x07",
    "\x9b31m",
    "\u202egnp.exe",
    '"><script>alert(1)</script>',
    "| [x](javascript:alert(1)) ![i](http://x/y.png) @everyone `code`",
    "::error::file=x",
    "=cmd|'/c calc'!A1",
    "a\r\n::set-output name=x::y",
    "nul\0byte",
    "$\\frac{1}{0}",
    "_hidden",
    "../../../etc/passwd",
    "{{7*7}} %s %n {0}",
    "x" * 10_000,
    "\ufeff\u2028\u2029",
    "e\u0301\u00e9",
)
NUMBERS = (0, -1, 1, 2**31, 2**63 - 1, 2**64, -0.0, 1e308, 1e-308, 5e-324, 10**30)
OTHERS = (None, True, False, "1", "", [], {}, [[]], [None], {"a": 1})
NOT_JSON = ("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "0x1", "01", "[1,]", "'x'", "1" * 5000)


def places(tree: Any, place: Place = ()) -> Iterator[Place]:
    """Yield the place of every value in a document."""
    yield place
    if isinstance(tree, dict):
        for key, item in tree.items():
            yield from places(item, (*place, key))
    elif isinstance(tree, list):
        for index, item in enumerate(tree):
            yield from places(item, (*place, index))


def value_at(tree: Any, place: Place) -> Any:
    for step in place:
        tree = tree[step]
    return tree


def with_value(tree: Any, place: Place, value: Any) -> Any:
    """Return a document with another value at one place."""
    if not place:
        return value
    step, *rest = place
    copy = dict(tree) if isinstance(tree, dict) else list(tree)
    copy[step] = with_value(tree[step], tuple(rest), value)  # type: ignore[index]
    return copy


def texts_of(tree: Any) -> list[Place]:
    """Return the places of all texts."""
    return [place for place in places(tree) if isinstance(value_at(tree, place), str)]


class Mutations:
    """Mutated documents, the same for the same seed."""

    def __init__(self, document: bytes, seed: int) -> None:
        self.document = document
        self.tree = json.loads(document)
        self.places = [place for place in places(self.tree) if place]
        self.rng = Random(seed)
        self.kinds: tuple[Callable[[], bytes], ...] = (
            self.value, self.value, self.text, self.removed, self.renamed, self.repeated, self.swapped,
            self.not_json, self.cut, self.flipped, self.inserted, self.nested, self.grown,
        )  # fmt: skip

    def __next__(self) -> bytes:
        return self.rng.choice(self.kinds)()

    def __iter__(self) -> Mutations:
        return self

    def value(self) -> bytes:
        return self._put(self.rng.choice((*NUMBERS, *OTHERS)))

    def text(self) -> bytes:
        return self._put(self.rng.choice(TEXTS), self.rng.choice(texts_of(self.tree)))

    def removed(self) -> bytes:
        place = self.rng.choice(self.places)
        parent = value_at(self.tree, place[:-1])
        kept = (
            {key: item for key, item in parent.items() if key != place[-1]}
            if isinstance(parent, dict)
            else [item for index, item in enumerate(parent) if index != place[-1]]
        )
        return self._put(kept, place[:-1])

    def renamed(self) -> bytes:
        place = self.rng.choice([place for place in self.places if isinstance(place[-1], str)])
        parent = value_at(self.tree, place[:-1])
        return self._put({(self.rng.choice(TEXTS) if k == place[-1] else k): v for k, v in parent.items()}, place[:-1])

    def repeated(self) -> bytes:
        text = self.document.decode()
        key = self.rng.choice([str(place[-1]) for place in self.places if isinstance(place[-1], str)])
        start = text.find(f'"{key}":')
        return (text[:start] + f'"{key}": 1, ' + text[start:]).encode()

    def swapped(self) -> bytes:
        one, other = self.rng.choice(self.places), self.rng.choice(self.places)
        return self._put(value_at(self.tree, other), one)

    def not_json(self) -> bytes:
        marker = "0123456789.25"
        return self._put(float(marker)).replace(b"123456789.25", self.rng.choice(NOT_JSON).encode())

    def cut(self) -> bytes:
        return self.document[: self.rng.randrange(len(self.document))]

    def flipped(self) -> bytes:
        data = bytearray(self.document)
        for _ in range(self.rng.choice((1, 1, 3, 50))):
            data[self.rng.randrange(len(data))] ^= 1 << self.rng.randrange(8)
        return bytes(data)

    def inserted(self) -> bytes:
        at = self.rng.randrange(len(self.document))
        junk = self.rng.choice(
            (b"\xff", b"\xed\xa0\x80", b"\0", b'"', b"{", b"]", b"\\u0000", b"\\ud800", b"\xef\xbb\xbf")
        )
        return self.document[:at] + junk + self.document[at:]

    def nested(self) -> bytes:
        deep: Any = 1
        for _ in range(self.rng.choice((5, 40, 90))):
            deep = self.rng.choice(([deep], {"a": deep}))
        return self._put(deep)

    def grown(self) -> bytes:
        lists = [place for place in self.places if isinstance(value_at(self.tree, place), list)]
        place = self.rng.choice(lists)
        items = value_at(self.tree, place)
        return self._put(items * self.rng.choice((2, 30)) or [0] * 500, place)

    def _put(self, value: Any, place: Place | None = None) -> bytes:
        at = self.rng.choice(self.places) if place is None else place
        return json.dumps(with_value(self.tree, at, value)).encode()
