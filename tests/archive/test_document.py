"""The JSON document: what is written is read back, and what is not a run is refused with the place."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from small_run import small_run

from roofline.archive.document import LINE, decode, encode
from roofline.errors import ArchiveError
from roofline.model.run import SCHEMA, Run

SMALL = small_run()
SMALL_BYTES = encode(SMALL)


def changed(**fields: Any) -> Run:
    """Return the small run with other fields in its first measurement."""
    return replace(SMALL, measurements=(replace(SMALL.measurements[0], **fields), *SMALL.measurements[1:]))


def edited(*place: str | int, value: Any) -> bytes:
    """Return the small document with one value replaced, NaN and Infinity included."""
    tree = json.loads(SMALL_BYTES)
    node = tree
    for step in place[:-1]:
        node = node[step]
    node[place[-1]] = value
    return json.dumps(tree).encode()


def refusal(data: bytes) -> str:
    """Return the message with which a document is refused."""
    with pytest.raises(ArchiveError) as refused:
        decode(data, "a.json")
    message = str(refused.value)
    assert message.startswith("a.json: ")
    return message.removeprefix("a.json: ")


def test_a_run_survives_writing_and_reading(run: Run) -> None:
    assert decode(encode(run), "a.json") == run


def test_writing_is_deterministic() -> None:
    assert encode(SMALL) == SMALL_BYTES == encode(decode(SMALL_BYTES, "a.json"))


def test_each_measurement_carries_what_is_derived_from_it() -> None:
    document = json.loads(SMALL_BYTES)
    for measurement, written in zip(SMALL.measurements, document["measurements"], strict=True):
        derived = SMALL.derived(measurement)
        assert derived is not None
        assert written["derived"] == {
            "median_s": derived.median_s,
            "interval_s": list(derived.interval_s or ()),
            "spread": derived.spread,
            "flop_per_s": derived.flop_per_s,
            "byte_per_s": derived.byte_per_s,
            "flop_per_byte": derived.flop_per_byte,
            "percent_of_roof": derived.percent_of_roof,
            "roof_flop_per_s": derived.roof_flop_per_s,
            "bound": derived.bound,
            "percent_as_timed": derived.percent_as_timed,
            "percent_of_ceiling": derived.percent_of_ceiling,
        }


def test_readers_derive_anew_instead_of_trusting_the_file() -> None:
    data = edited("measurements", 0, "derived", "median_s", value=123.0)
    assert decode(data, "a.json") == SMALL


def test_samples_stand_on_one_line_and_objects_are_indented() -> None:
    lines = SMALL_BYTES.decode().splitlines()
    samples = [line for line in lines if line.lstrip().startswith('"samples_s"')]
    assert len(samples) == len(SMALL.measurements) + sum(len(ceiling.launches) for ceiling in SMALL.ceilings.all)
    assert all(line.rstrip(",").endswith("]") for line in samples)
    assert all(len(line) <= LINE + 20 for line in lines if line.lstrip().startswith("{"))
    assert lines[1] == f' "schema": {SCHEMA},'


def test_text_outside_ascii_is_written_as_it_is() -> None:
    assert '"×1 µs 屋根"'.encode() in encode(changed(caveats=("×1 µs 屋根",)))


def test_unknown_fields_are_ignored_at_every_depth() -> None:
    tree = json.loads(SMALL_BYTES)
    for node in (tree, tree["machine"], tree["measurements"][0], tree["measurements"][0]["work"]):
        node["of_a_later_version"] = {"traffic": [1, 2]}
    assert decode(json.dumps(tree).encode(), "a.json") == SMALL


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_is_not_written(value: float) -> None:
    with pytest.raises(ArchiveError, match=r"measurements\[0\]\.error: found -?(NaN|Infinity)"):
        encode(changed(error=value))
    with pytest.raises(ArchiveError, match=r"plan\.budget_s: found -?(NaN|Infinity)"):
        encode(replace(SMALL, plan={"budget_s": value}))


def test_an_object_that_json_cannot_hold_is_not_written() -> None:
    with pytest.raises(ArchiveError, match="Path"):
        encode(replace(SMALL, plan={"file": Path("kernel.py")}))


def test_what_could_not_be_read_back_is_not_written() -> None:
    with pytest.raises(ArchiveError, match=r"measurements\[0\]\.status: found 'fine', expected one of ok, "):
        encode(changed(status="fine"))
    with pytest.raises(ArchiveError, match=r"id: found '../../evil'"):
        encode(replace(SMALL, id="../../evil"))


def test_a_newer_schema_asks_for_an_upgrade() -> None:
    message = refusal(edited("schema", value=SCHEMA + 1))
    assert message == (
        f"schema: found {SCHEMA + 1}, this version reads {SCHEMA}; "
        "it was written by a newer version: upgrade roofline-suite"
    )


@pytest.mark.parametrize("schema", [0, -1, True, 1.0, "1", None, [1]])
def test_a_schema_that_is_no_version_is_refused(schema: Any) -> None:
    assert "is not a run file" in refusal(edited("schema", value=schema))


@pytest.mark.parametrize("data", [b"{}", b"[]", b"null", b"1", b'"run"', b'{"id": "x"}'])
def test_json_that_is_no_run_is_refused(data: bytes) -> None:
    assert refusal(data) == "not a run file: found no `schema` field at the top, expected 2"


def test_a_missing_field_is_named_with_its_place() -> None:
    tree = json.loads(SMALL_BYTES)
    del tree["measurements"][3]["work"]["flops"]
    assert refusal(json.dumps(tree).encode()) == ("measurements[3].work: object missing required field `flops`")


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("measurements", 3, "samples_s", 0), "fast", "measurements[3].samples_s[0]: expected `float`, got `str`"),
        (("measurements", 0, "n"), 3.5, "measurements[0].n: expected `int`, got `float`"),
        (("measurements", 0, "n"), True, "measurements[0].n: expected `int`, got `bool`"),
        (("measurements", 0, "kernel"), None, "measurements[0].kernel: expected `str`, got `null`"),
        (("ceilings", "memory"), {}, "ceilings.memory: expected `array`, got `object`"),
        (("machine",), None, "machine: expected `object`, got `null`"),
    ],
)
def test_a_wrong_type_is_named_with_its_place(place: tuple[str | int, ...], value: Any, message: str) -> None:
    assert refusal(edited(*place, value=value)) == message


LAUNCH = ("launches", 0)
IMPLAUSIBLE = [
    (("id",), "last", "id: found 'last'"),
    (("id",), "20261104-101500-a1b2/../x", "id: found"),
    (("started_utc",), "yesterday", "started_utc: found 'yesterday'"),
    (("suite_digest",), "<b>", "suite_digest: found '<b>', expected 16 hexadecimal digits, or null"),
    (("started_utc",), "2026-13-01T00:00:00Z", "started_utc: found"),
    (("label",), "\x1b[2Jgone", "label: found '\\x1b[2Jgone'"),
    (("label",), "last~1", "label: found 'last~1'"),
    (("elapsed_s",), -1, "elapsed_s: found"),
    (("machine", "hardware_threads"), 0, "machine.hardware_threads: found 0"),
    (("machine", "memory_bytes"), -5, "machine.memory_bytes: found -5"),
    (("machine", "caches", 0, "size_bytes"), -5, "machine.caches[0].size_bytes: found -5"),
    (("machine", "caches", 1, "shared_by"), 0, "machine.caches[1].shared_by: found 0"),
    (("environment", "steal_share"), 1.5, "environment.steal_share: found 1.5"),
    (("environment", "memory_limit_bytes"), -1, "environment.memory_limit_bytes: found -1"),
    (("ceilings", "compute", 1, "flop_per_s"), 0, "ceilings.compute[1].flop_per_s: found 0"),
    (("ceilings", "compute", 1, "flop_per_cycle"), -1, "ceilings.compute[1].flop_per_cycle: found -1"),
    (("ceilings", "compute", 0, "threads"), 0, "ceilings.compute[0].threads: found 0"),
    (("ceilings", "compute", 0, "chains"), 0, "ceilings.compute[0].chains: found 0"),
    (("ceilings", "compute", 0, *LAUNCH, "samples_s", 2), 0.0, "ceilings.compute[0].launches[0].samples_s[2]: found"),
    (("ceilings", "compute", 0, *LAUNCH, "amount"), -1, "ceilings.compute[0].launches[0].amount: found -1"),
    (("ceilings", "compute", 0, *LAUNCH, "clock_samples_hz"), [1], "ceilings.compute[0].launches[0].clock_samples_hz"),
    (("ceilings", "compute", 0, "launches"), [{"amount": 1, "samples_s": [1.0]}] * 101, "ceilings.compute[0].launches"),
    (("ceilings", "memory", 2, "byte_per_s"), -1, "ceilings.memory[2].byte_per_s: found -1"),
    (("ceilings", "memory", 2, "byte_per_cycle"), -1, "ceilings.memory[2].byte_per_cycle: found -1"),
    (("ceilings", "memory", 2, "clock_hz"), -1, "ceilings.memory[2].clock_hz: found -1"),
    (("ceilings", "memory", 0, "working_set_bytes"), 0, "ceilings.memory[0].working_set_bytes: found 0"),
    (("ceilings", "memory", 0, "unroll"), 0, "ceilings.memory[0].unroll: found 0"),
    (("levels", 0, "shared_by"), 0, "levels[0].shared_by: found 0"),
    (("levels", 0, "effective_bytes"), 0, "levels[0].effective_bytes: found 0"),
    (("sweep", 1, "byte_per_s"), 0, "sweep[1].byte_per_s: found 0"),
    (("sweep", 1, "size_bytes"), 0, "sweep[1].size_bytes: found 0"),
    (("measurements", 0, "n"), 0, "measurements[0].n: found 0"),
    (("measurements", 0, "threads"), 0, "measurements[0].threads: found 0"),
    (("measurements", 0, "repeats"), 0, "measurements[0].repeats: found 0"),
    (("measurements", 0, "work", "flops"), -1, "measurements[0].work.flops: found -1"),
    (("measurements", 0, "work", "read_bytes"), -1, "measurements[0].work.read_bytes: found -1"),
    (("measurements", 0, "error"), -1.0, "measurements[0].error: found -1.0"),
    (("measurements", 0, "status"), "fine", "measurements[0].status: found 'fine', expected one of ok, "),
    (("measurements", 0, "samples_s"), [], "measurements[0].samples_s: found no samples"),
    (("measurements", 3, "samples_s", 0), -0.1, "measurements[3].samples_s[0]: found -0.1, expected 1e-12 to 1e+06"),
    (("measurements", 3, "samples_s", 11), 1e-13, "measurements[3].samples_s[11]: found 1e-13"),
    (("measurements", 3, "samples_s", 11), 1e7, "measurements[3].samples_s[11]: found 10000000.0"),
    (("measurements", 0, "roof_samples"), [1e9], "measurements[0].roof_samples: found 1 values, expected none or 13"),
    (("measurements", 0, "roof_samples", 4), 0, "measurements[0].roof_samples[4]: found 0"),
    (("measurements", 0, "clock_samples_hz"), [1e9], "measurements[0].clock_samples_hz: found 1 values"),
]


@pytest.mark.parametrize(("place", "value", "message"), IMPLAUSIBLE, ids=lambda value: str(value)[:40])
def test_an_implausible_value_is_named_with_its_place(place: tuple[str | int, ...], value: Any, message: str) -> None:
    assert refusal(edited(*place, value=value)).startswith(message)


def test_a_million_samples_of_one_point_are_refused() -> None:
    data = edited("ceilings", "compute", 0, "launches", 0, "samples_s", value=[0.001] * 100_001)
    assert refusal(data).startswith(
        "ceilings.compute[0].launches[0].samples_s: found 100001 values, expected at most 100000"
    )


def test_a_measurement_that_failed_may_have_no_samples() -> None:
    run = changed(status="failed", samples_s=(), roof_samples=(), clock_samples_hz=())
    assert decode(encode(run), "a.json") == run
    assert json.loads(encode(run))["measurements"][0]["derived"] is None


def test_a_number_above_its_roof_is_not_believed_whatever_its_stored_status() -> None:
    run = small_run()
    sound = next(m for m in run.measurements if m.drawable and run.derived(m).percent_of_roof is not None)
    liar = replace(sound, status="ok", samples_s=tuple(sample_s / 100 for sample_s in sound.samples_s))
    read = decode(encode(replace(run, measurements=(liar,))), "test")
    assert (read.measurements[0].status, read.measurements[0].status_codes) == ("above_roof", ("ARCHIVE",))
    honest = decode(encode(replace(run, measurements=(sound,))), "test")
    assert honest.measurements[0] == sound
