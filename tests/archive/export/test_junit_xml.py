"""What a CI service shows of a run, and of a gate, as tests."""

from __future__ import annotations

import io

import pytest
from msgspec.structs import replace
from runs_to_export import sound_run, spoiled_run

from roofline.archive.export import exported
from roofline.errors import NothingMeasured
from roofline.model.outcome import Outcome
from roofline.model.run import Run

junitparser = pytest.importorskip("junitparser")

OUTCOMES = tuple(
    Outcome(
        rule=rule,
        kernel="gemm.blocked",
        point="gemm.blocked n=2048 f64 ×8",
        result=result,
        found=found,
        limit=55.0,
        unit="%",
        interval=(40.0, 42.0),
        median_s=1.5e-3,
        message=f"{result}: found {found}, expected at least 55",
    )
    for rule, result, found in (
        ("roof >= 55%", "failed", 41.0),
        ("roof >= 5%", "passed", 41.0),
        ("x", "inconclusive", None),
    )
)


def suite_of(run: Run, outcomes: tuple[Outcome, ...] = ()) -> list[object]:
    (suite,) = junitparser.JUnitXml.fromfile(io.BytesIO(exported(run, "junit", outcomes)[""]))
    return suite


def test_a_measurement_is_a_test_with_its_numbers_as_properties() -> None:
    suite = suite_of(sound_run())
    assert (suite.tests, suite.errors, suite.failures, suite.skipped) == (len(sound_run().measurements), 0, 0, 0)
    case = next(case for case in suite if case.name.startswith("gemm.naive["))
    assert case.classname == "bench.gemm"
    assert case.time > 0
    told = {one.name: one.value for one in case.child(junitparser.Properties)}
    assert float(told["percent_of_roof"]) > 0 and float(told["gflop_per_s"]) > 0
    assert suite.timestamp == sound_run().started_utc.removesuffix("Z")


def test_what_has_no_sound_number_is_an_error_and_what_was_skipped_is_skipped() -> None:
    suite = suite_of(spoiled_run())
    assert (suite.tests, suite.errors, suite.skipped) == (len(spoiled_run().measurements) + 2, 3, 1)
    results = {case.name: case.result for case in suite if case.result}
    (wrong,) = results["gemm.broken[n=384,f64,t=2]"]
    assert (wrong.type, wrong.message) == ("wrong", "error 0.3, tolerance 1e-12")
    (skipped,) = results["avx512 fma f64 ×1"]
    assert isinstance(skipped, junitparser.Skipped)
    assert sum("invalid: DCE" in result.message for (result,) in results.values()) == 1


def test_with_outcomes_of_a_gate_each_is_a_test() -> None:
    suite = suite_of(sound_run(), OUTCOMES)
    assert (suite.tests, suite.errors, suite.failures, suite.skipped) == (3, 0, 1, 1)
    failed, passed, unsure = list(suite)
    assert failed.classname == "bench.gemm" and failed.name == "gemm.blocked[n=2048,f64,t=8]: roof >= 55%"
    assert failed.result[0].message == "failed: found 41.0, expected at least 55"
    told = {one.name: one.value for one in failed.child(junitparser.Properties)}
    assert told == {"found": "41", "limit": "55", "unit": "%", "interval": "40 to 42"}
    assert passed.result == [] and passed.time == 1.5e-3
    assert isinstance(unsure.result[0], junitparser.Skipped)


def test_a_run_without_anything_to_tell_is_no_report() -> None:
    with pytest.raises(NothingMeasured):
        exported(replace(sound_run(), measurements=(), failures=()), "junit")
