"""The published JSON schema of the archived document, for tools that are not this suite."""

from __future__ import annotations

from typing import Any

import msgspec

from roofline.archive.document import RunDocument, json_arrays
from roofline.model.measurement import STATUSES
from roofline.model.run import SCHEMA


def schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of what `encode` writes, derived from the types themselves."""
    document = json_arrays(msgspec.json.schema(RunDocument))
    definitions = document["$defs"]
    run = definitions[RunDocument.__name__]
    run["properties"]["schema"] = {"const": SCHEMA}
    run["required"] = ["schema", *run["required"]]
    definitions["MeasurementDocument"]["properties"]["status"] = {"enum": list(STATUSES)}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"roofline run {SCHEMA}", **document}
