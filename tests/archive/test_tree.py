"""Hostile bytes: whatever they are, reading them gives a run or an ArchiveError."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_run import small_run

from roofline.archive.document import decode, encode
from roofline.archive.tree import MAX_BYTES, MAX_DEPTH, MAX_TEXT, MAX_VALUES, defects, parse
from roofline.errors import ArchiveError

VALID = encode(small_run())
TREE = json.loads(VALID)
TOKENS = [
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"null",
    b"{",
    b"]",
    b'"',
    b",",
    b"\x00",
    b"\xff",
    b"\\ud800",
    b"-",
    b"9" * 30,
]
ODD = [None, True, "", "x", "\x00", "\ud800", -1, 0, 2, 2**63, -(2**80), 0.5, 1e-300, 1e300, math.nan, math.inf, [], {}]


def places(node: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the place of every value below `node`."""
    members = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, item in members:
        yield (*path, key)
        yield from places(item, (*path, key))


PLACES = list(places(TREE))


def survives(data: bytes) -> None:
    """Either refuse these bytes with ArchiveError, or get a run that can be derived from and written."""
    try:
        run = decode(data, "a.json")
    except ArchiveError as refused:
        assert str(refused).startswith("a.json: ")
        return
    assert decode(encode(run), "b.json") == run


@settings(max_examples=150, derandomize=True, deadline=None)
@given(st.data())
def test_no_mutation_of_the_bytes_escapes(data: st.DataObject) -> None:
    mutated = bytearray(VALID)
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, max(0, len(mutated) - 1)))
        length = data.draw(st.sampled_from([0, 1, 2, 30, len(mutated)]))
        mutated[start : start + length] = data.draw(st.sampled_from(TOKENS) | st.binary(max_size=4))
    survives(bytes(mutated))


@settings(max_examples=250, derandomize=True, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from([*ODD, "delete"])), min_size=1, max_size=2))
def test_no_mutation_of_a_value_escapes(changes: list[tuple[tuple[str | int, ...], Any]]) -> None:
    tree = json.loads(VALID)
    for place, value in changes:
        node = tree
        try:
            for step in place[:-1]:
                node = node[step]
            if value == "delete":
                del node[place[-1]]
            else:
                node[place[-1]] = value
        except (LookupError, TypeError):  # the change before took the place away
            continue
    survives(json.dumps(tree).encode())


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.binary(max_size=64) | st.text(max_size=64).map(str.encode))
def test_no_bytes_at_all_escape(data: bytes) -> None:
    survives(data)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_document_is_refused(share: float) -> None:
    with pytest.raises(ArchiveError, match=r"empty|broken or cut short"):
        decode(VALID[: int(share * len(VALID))], "a.json")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b" \n", "the file is empty"),
        (VALID + b"x", "broken or cut short at line .*: extra data"),
        (VALID + VALID, "extra data"),
        (b"\xef\xbb\xbf" + VALID, "byte order mark"),
        (VALID.decode().encode("utf-16"), "byte 0 is not UTF-8"),
        (b'{"schema": 1, "label": "\xff"}', "byte 24 is not UTF-8"),
        (b"9" * 5000, "too many digits"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"schema": 1, "id": "a\nb"}', "invalid control character"),
    ],
)
def test_what_is_not_one_json_document_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(ArchiveError, match=message):
        decode(data, "a.json")


@pytest.mark.parametrize(
    ("text", "defect"),
    [
        ('{"a": NaN}', "a: found NaN, expected a finite number"),
        ('{"a": {"b": [0, Infinity]}}', "a.b[1]: found Infinity, expected a finite number"),
        ("[-Infinity]", "[0]: found -Infinity, expected a finite number"),
        ('{"a": 1e999}', "a: found Infinity, expected a finite number"),
        ('{"a": -1e999}', "a: found -Infinity, expected a finite number"),
        ('{"a": 1, "a": 1}', "document: found the key 'a' twice, expected each key once"),
        ('{"x": [{"b": 1, "c": 2, "b": 1}]}', "x[0]: found the key 'b' twice, expected each key once"),
        ('{"a": 9223372036854775808}', "a: found an integer of 64 bits, expected at most 63"),
        ('{"a": "\\ud800"}', "a: found half of a surrogate pair in '\\ud800', expected Unicode text"),
        ('{"a": {"\\udfff": 1}}', "a: found half of a surrogate pair in '\\udfff', expected Unicode text"),
        ('{"a": {"not a name": NaN}}', "a['not a name']: found NaN, expected a finite number"),
        ('{"not a name": {"b": NaN}}', "['not a name'].b: found NaN, expected a finite number"),
    ],
)
def test_a_defect_is_named_with_its_place(text: str, defect: str) -> None:
    assert [str(found) for found in defects(parse(text.encode(), "a.json"))] == [defect]


def test_a_well_formed_document_has_no_defects() -> None:
    assert list(defects(TREE)) == []
    assert list(defects({"grin": "\U0001f600", "low": -(2**63) + 1, "high": 2**63 - 1, "small": 5e-324})) == []


def test_nesting_is_limited() -> None:
    def nested(depth: int) -> Any:
        return json.loads("[" * depth + "]" * depth)

    assert not list(defects(nested(MAX_DEPTH)))
    assert [defect.expected for defect in defects(nested(MAX_DEPTH + 1))] == ["at most 32 levels"]


def test_texts_and_keys_are_limited() -> None:
    longest = "x" * MAX_TEXT
    assert not list(defects({longest: longest}))
    assert [str(defect) for defect in defects({"a": longest + "x"})] == [
        "a: found a text of 65537 characters, expected at most 65536"
    ]
    assert len(list(defects({longest + "x": 1}))) == 1


def test_a_hostile_value_cannot_flood_the_message() -> None:
    for data in (b'{"schema": 1, "%s": NaN}' % (b"k" * 60_000), b'{"schema": "%s"}' % (b"x" * 60_000)):
        with pytest.raises(ArchiveError) as refused:
            decode(data, "a.json")
        assert len(str(refused.value)) < 300


def test_an_oversized_document_is_refused_unread() -> None:
    with pytest.raises(ArchiveError, match="larger than 64 MiB"):
        decode(bytes(MAX_BYTES + 1), "a.json")


def test_a_document_of_millions_of_values_is_refused_unparsed() -> None:
    with pytest.raises(ArchiveError, match="more than 2000000 values"):
        decode(b"[" + b"0," * MAX_VALUES + b"0]", "a.json")
