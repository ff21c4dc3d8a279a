"""The published schema, and the files of released versions, which stay readable for ever."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator, ValidationError
from small_run import small_run

from roofline.archive.document import encode
from roofline.archive.schema import schema
from roofline.archive.store import load
from roofline.model.run import SCHEMA, Run

SMALL_BYTES = encode(small_run())
ARCHIVES = Path(__file__).parents[1] / "data" / "archives"


def test_the_schema_is_a_valid_json_document() -> None:
    Draft202012Validator.check_schema(schema())
    assert json.loads(json.dumps(schema())) == schema()


def test_a_document_fits_the_schema(run: Run) -> None:
    Draft202012Validator(schema()).validate(json.loads(encode(run)))


@pytest.mark.parametrize(
    ("field", "value"), [("schema", SCHEMA + 1), ("id", 7), ("measurements", [{}]), ("machine", None)]
)
def test_another_document_does_not_fit_the_schema(field: str, value: object) -> None:
    document = json.loads(SMALL_BYTES)
    with pytest.raises(ValidationError):
        Draft202012Validator(schema()).validate({**document, field: value})
    del document[field]
    if field != "measurements":
        with pytest.raises(ValidationError):
            Draft202012Validator(schema()).validate(document)


def test_every_field_of_a_document_is_in_the_schema() -> None:
    definitions = schema()["$defs"]
    document = json.loads(SMALL_BYTES)
    assert set(document) == set(definitions["RunDocument"]["properties"])
    assert set(document["measurements"][0]) == set(definitions["MeasurementDocument"]["properties"])
    assert set(document["measurements"][0]["derived"]) == set(definitions["Derived"]["properties"])


def test_an_unknown_status_does_not_fit_the_schema() -> None:
    document = json.loads(SMALL_BYTES)
    document["measurements"][0]["status"] = "fine"
    with pytest.raises(ValidationError, match="'fine' is not one of"):
        Draft202012Validator(schema()).validate(document)


@pytest.mark.parametrize("version", range(1, SCHEMA + 1))
def test_every_released_schema_has_a_golden_file(version: int) -> None:
    path = ARCHIVES / f"schema-{version}.json"
    assert json.loads(path.read_bytes())["schema"] == version
    load(path)


def test_the_golden_file_of_schema_1_loads_to_known_values() -> None:
    run = load(ARCHIVES / "schema-1.json")
    assert (run.schema, run.id, run.started_utc) == (SCHEMA, "20261104-101500-a1b2", "2026-11-04T10:15:00Z")
    assert (run.label, run.revision, run.complete, run.reason) == ("sample", "0123abc+dirty", True, None)
    assert run.argv == ("bench", "all")
    assert run.plan["threads"] == [1, 2]
    assert run.machine.cpu_model == "AMD EPYC"
    assert run.machine.isas == ("scalar", "sse2", "avx2", "avx512")
    assert [(cache.name, cache.size_bytes) for cache in run.machine.caches] == [
        ("L1", 32768),
        ("L2", 1048576),
        ("L3", 33554432),
    ]
    assert run.environment.blas[0].version == "0.3.30"
    assert run.environment.steal_share == 0.003
    assert [caveat.code for caveat in run.caveats] == ["VM", "NO_CPUFREQ", "L3_SMALLER"]
    scalar = run.ceilings.compute[0]
    assert (scalar.name, scalar.chains, scalar.audited) == ("scalar fma f64 ×1", 12, True)
    assert scalar.audit is not None
    assert scalar.audit.instructions == {"vfmadd231pd": 12}
    (launch,) = scalar.launches
    assert (launch.amount, len(launch.samples_s), len(launch.clock_samples_hz)) == (2**24, 9, 9)
    assert scalar.flop_per_s == launch.best_per_s == 14559051462.054276
    load_l1 = run.ceilings.memory[0]
    assert (load_l1.name, load_l1.working_set_bytes, load_l1.unroll) == ("L1 load scalar ×1", 16384, 8)
    assert run.levels[2].effective_bytes == 16 * 2**20
    assert run.sweep[0].size_bytes == 4096
    copy = run.measurements[0]
    assert (copy.kernel, copy.n, copy.dtype, copy.threads, copy.level) == ("stream.copy", 640, "f64", 1, "L1")
    assert (copy.work.flops, copy.work.read_bytes, copy.work.allocate_bytes) == (0, 5120, 5120)
    assert copy.samples_s[0] == 4.8217629570007724e-08
    assert (len(copy.samples_s), len(copy.roof_samples), copy.stopped) == (12, 13, "precise")
    assert {measurement.status for measurement in run.measurements} == {"ok", "above_roof"}
    assert run.failures[0].kind == "wrong"
