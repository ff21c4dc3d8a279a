"""Documents of earlier versions, turned into what this version reads. Files themselves are never rewritten."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_MONO = {"CORES": "MONO", "WIDTH": "MONO"}
_OF_SAMPLES = "NO_FLAT_TOP"
_AMOUNTS = {"compute": "flops_per_sample", "memory": "bytes_per_sample"}


LATER = {
    "": ("latencies", "suite_digest", "grade"),
    "plan": ("launches", "again", "seed"),
    "measurements": ("compiled", "evidence", "roof_clock_samples_hz", "assembly_digest"),
    "compute": ("launches", "invalid"),
    "memory": ("launches", "invalid"),
    "levels": ("bandwidth_bytes", "latency_bytes"),
}
"""Fields that no version which wrote schema 1 knew, by the part of the document."""


def later_fields(tree: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the paths of what a document of schema 1 cannot hold; none for one that is of it."""
    ceilings = tree.get("ceilings")
    parts = {**tree, "": tree, **(ceilings if isinstance(ceilings, dict) else {})}
    found = []
    for part, names in LATER.items():
        value = parts.get(part)
        values = value if isinstance(value, list) else [value]
        there = [name for name in names if any(isinstance(one, dict) and name in one for one in values)]
        found += [f"{part}.{name}" if part else name for name in there]
    return tuple(found)


def upgraded(tree: Any) -> Any:
    """Return the document as schema 2, from schema 1; anything else as it is.

    Parts that are not what schema 1 says stay as they are, for the reader to refuse.
    """
    if not isinstance(tree, dict) or tree.get("schema") != 1:
        return tree
    tree = {**tree}
    if isinstance(tree.get("measurements"), list):
        tree["measurements"] = [with_compiled(measurement) for measurement in tree["measurements"]]
    ceilings = tree.get("ceilings")
    if not isinstance(ceilings, dict):
        return {**tree, "schema": 2}
    return {
        **tree,
        "schema": 2,
        "ceilings": {
            **ceilings,
            **{
                kind: [with_launches(ceiling, amount) for ceiling in ceilings[kind]]
                for kind, amount in _AMOUNTS.items()
                if isinstance(ceilings.get(kind), list)
            },
        },
    }


def upgraded_record(tree: Any) -> Any:
    """Return a record of a journal of schema 1 as one of schema 2; anything else as it is."""
    if not isinstance(tree, dict):
        return tree
    if tree.get("record") == "measurement":
        return {**tree, "measurement": with_compiled(tree.get("measurement"))}
    if tree.get("record") not in _AMOUNTS:
        return tree
    return {**tree, "ceiling": with_launches(tree.get("ceiling"), _AMOUNTS[tree["record"]])}


def with_compiled(measurement: Any) -> Any:
    """Return a measurement that says whether its code was compiled here: in schema 1 only a library had no register."""
    if not isinstance(measurement, dict) or measurement.get("vector_register") is not None:
        return measurement
    codes = measurement.get("status_codes")
    removed = isinstance(codes, list) and "DCE" in codes
    return {**measurement, "compiled": removed}


def with_launches(ceiling: Any, amount: str) -> Any:
    """Return a ceiling of schema 1 with its samples as its only launch; `amount` is the field that held theirs."""
    if not isinstance(ceiling, dict) or "launches" in ceiling:
        return ceiling
    fields = dict(ceiling)
    launch = {
        "amount": fields.pop(amount, 0),
        "samples_s": fields.pop("samples_s", []),
        "clock_samples_hz": fields.pop("clock_samples_hz", []),
    }
    caveats = fields.get("caveats", [])
    if isinstance(caveats, list):
        fields["caveats"] = list(
            dict.fromkeys(_MONO.get(code, code) if isinstance(code, str) else code for code in caveats)
        )
        launch["caveats"] = [code for code in caveats if code == _OF_SAMPLES]
    return {**fields, "launches": [launch]} if launch["samples_s"] else fields
