"""The JSON document of a run: how it is written, and how it is read back."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from roofline.archive.content_digest import FIELD, content_digest
from roofline.archive.migration import upgraded
from roofline.archive.plausibility import run_defects, without_the_impossible
from roofline.archive.tree import defects, parse, shown
from roofline.errors import ArchiveError
from roofline.model.grade import Grade, grade_of
from roofline.model.measurement import Derived, Measurement
from roofline.model.run import SCHEMA, Run

LINE = 120
"""Objects that fit are written on one line, so that a person can read the document."""


class MeasurementDocument(Measurement, frozen=True, kw_only=True):
    """A measurement as archived: with what follows from it, for other tools. Readers of this suite derive it anew."""

    derived: Derived | None = None


class RunDocument(Run, frozen=True, kw_only=True):
    """A run as archived."""

    measurements: tuple[MeasurementDocument, ...] = ()
    grade: Grade | None = None
    content_digest: str = ""
    """Of all the rest, as it was when the run was saved; empty in files of versions that wrote none."""


def encode(run: Run) -> bytes:
    """Write a run as its JSON document.

    The run carries a `grade` with its `letter` and `reasons`. Each measurement carries a `derived` object: `median_s,
    interval_s, spread, flop_per_s, byte_per_s, flop_per_byte, percent_of_roof, percent_as_timed, roof_flop_per_s,
    bound, percent_of_ceiling`. Raises ArchiveError naming the field for anything that `decode` would refuse, so that
    what is written can be read.
    """
    source = f"run {shown(run.id)}"
    checked = from_tree(to_tree(run, source), source)
    fields = {name: getattr(checked, name) for name in checked.__struct_fields__}
    fields["measurements"] = tuple(
        MeasurementDocument(**msgspec.structs.asdict(measurement), derived=checked.derived(measurement))
        for measurement in checked.measurements
    )
    fields["grade"] = grade_of(checked)
    return sealed(to_tree(RunDocument(**fields), source))


def sealed(tree: dict[str, Any]) -> bytes:
    """Return the bytes of a document, with the digest of its content."""
    return (written({**tree, FIELD: content_digest(tree)}) + "\n").encode("utf-8")


def decode(data: bytes, source: str) -> Run:
    """Read a run from its JSON document; `source` is what messages call it, e.g. its path.

    Fields that this version does not know are ignored. Raises ArchiveError, and nothing else whatever the
    bytes, with the path of the value, what was found and what was expected.
    """
    return from_tree(parse(data, source), source)


def to_tree(value: msgspec.Struct, source: str) -> Any:
    """Turn a value into dicts, lists and scalars. Raises ArchiveError for what JSON cannot hold."""
    try:
        tree = msgspec.to_builtins(value, str_keys=True)
    except (TypeError, UnicodeEncodeError) as error:
        raise ArchiveError(f"{source} cannot be written: {error}; expected plain numbers, texts and lists") from error
    return json_arrays(tree)


def json_arrays(tree: Any) -> Any:
    """Return the tree with lists where Python has tuples."""
    if isinstance(tree, dict):
        return {key: json_arrays(item) for key, item in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [json_arrays(item) for item in tree]
    return tree


def from_tree(tree: Any, source: str) -> Run:
    """Turn a parsed document into a run. Raises ArchiveError as `decode` does."""
    if not isinstance(tree, dict) or "schema" not in tree:
        raise ArchiveError(f"{source}: not a run file: found no `schema` field at the top, expected {SCHEMA}")
    schema = tree["schema"]
    if type(schema) is not int or not 1 <= schema <= SCHEMA:
        newer = type(schema) is int and schema > SCHEMA
        remedy = "it was written by a newer version: upgrade roofline-suite" if newer else "it is not a run file"
        raise ArchiveError(f"{source}: schema: found {shown(schema)}, this version reads {SCHEMA}; {remedy}")
    refuse_defects(tree, source)
    run: Run = converted(upgraded(tree), Run, source)
    for defect in run_defects(run):
        raise ArchiveError(f"{source}: {defect}")
    return without_the_impossible(run)


def typed(tree: Any, kind: Any, source: str) -> Any:
    """Convert a tree to `kind` without any coercion. Raises ArchiveError naming the value that does not fit."""
    refuse_defects(tree, source)
    return converted(tree, kind, source)


def refuse_defects(tree: Any, source: str) -> None:
    """Raise ArchiveError for the first thing in a tree that no run file may hold."""
    for defect in defects(tree):
        raise ArchiveError(f"{source}: {defect}")


def converted(tree: Any, kind: Any, source: str) -> Any:
    """Convert a tree without defects to `kind`. Raises ArchiveError naming the value that does not fit."""
    try:
        return msgspec.convert(tree, kind, strict=True)
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at `$")
        path = place.rstrip("`").removeprefix(".")
        raise ArchiveError(f"{source}: {path or 'document'}: {message[:1].lower()}{message[1:]}") from None


def written(tree: Any, indent: str = "") -> str:
    """Write a tree with an indent of one, but arrays of scalars and short objects on one line each."""
    children = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    nested = any(isinstance(child, (dict, list)) for child in children)
    if not nested:
        line = json.dumps(tree, ensure_ascii=False, allow_nan=False)
        if not isinstance(tree, dict) or len(indent) + len(line) <= LINE:
            return line
    deeper = indent + " "
    if isinstance(tree, dict):
        members = [f"{json.dumps(key, ensure_ascii=False)}: {written(item, deeper)}" for key, item in tree.items()]
        return "{\n" + ",\n".join(deeper + member for member in members) + f"\n{indent}}}"
    return "[\n" + ",\n".join(deeper + written(item, deeper) for item in tree) + f"\n{indent}]"
