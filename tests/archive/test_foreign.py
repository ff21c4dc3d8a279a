"""Files of other benchmark tools, as they come and as they should not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hostile import Mutations
from msgspec.structs import replace
from small_run import small_run

from roofline.archive.document import encode
from roofline.archive.export import exported
from roofline.archive.export.point import points
from roofline.archive.foreign import FORMATS, named, read_foreign
from roofline.archive.tree import MAX_BYTES
from roofline.errors import ArchiveError, UnknownName

RUN = small_run()
POINTS = points(RUN)
PYTEST: dict[str, Any] = {
    "machine_info": {"node": "here"},
    "benchmarks": [
        {"fullname": "test_a.py::test_sum[10]", "extra_info": {}, "stats": {"median": 2e-3, "iqr": 1e-4, "rounds": 9}}
    ],
    "version": "5.3.1",
}
"""As written without `--benchmark-save-data`: no samples."""
PYPERF: dict[str, Any] = {
    "version": "1.0",
    "metadata": {"unit": "second", "name": "only"},
    "benchmarks": [
        {
            "runs": [
                {"metadata": {"calibrate_loops": 8}, "warmups": [[1, 0.5]]},
                {"values": [0.1, 0.3], "warmups": [[1, 0.4]]},
                {"values": [0.2]},
            ]
        }
    ],
}
GOOGLE: dict[str, Any] = {
    "context": {"num_cpus": 2},
    "benchmarks": [
        {"name": "BM_a/8", "run_name": "BM_a/8", "run_type": "iteration", "real_time": 3.0, "time_unit": "us"},
        {"name": "BM_a/8", "run_name": "BM_a/8", "run_type": "iteration", "real_time": 5.0, "time_unit": "us"},
        {"name": "BM_a/8", "run_name": "BM_a/8", "run_type": "iteration", "real_time": 4.0, "time_unit": "us"},
        {
            "name": "BM_a/8_mean",
            "run_name": "BM_a/8",
            "run_type": "aggregate",
            "aggregate_name": "mean",
            "real_time": 9,
        },
        {
            "name": "BM_a/8_median",
            "run_name": "BM_a/8",
            "run_type": "aggregate",
            "aggregate_name": "median",
            "real_time": 9.0,
        },
        {
            "name": "BM_b_median",
            "run_name": "BM_b",
            "run_type": "aggregate",
            "aggregate_name": "median",
            "repetitions": 7,
            "real_time": 2,
            "time_unit": "ms",
        },
        {"name": "BM_c", "error_occurred": True, "error_message": "no"},
        {"name": "BM_a_BigO", "run_name": "BM_a", "run_type": "aggregate", "aggregate_name": "BigO", "big_o": "N"},
    ],
}
WHOLE = {"pytest-benchmark": PYTEST, "pyperf": PYPERF, "google-benchmark": GOOGLE}


def read(tree: Any, of: str | None = None) -> Any:
    return read_foreign(json.dumps(tree).encode(), "file.json", of)


def changed(tree: Any, *place: Any, to: Any) -> Any:
    copy = json.loads(json.dumps(tree))
    inner = copy
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = to
    return copy


@pytest.mark.parametrize("to", sorted(FORMATS))
def test_what_is_exported_is_read_back_with_the_same_medians(to: str) -> None:
    found = read_foreign(exported(RUN, to)[""], "file.json")
    assert found.format == to and found.left_out == ()
    assert [one.name for one in found.benchmarks] == [point.name for point in POINTS]
    for one, point in zip(found.benchmarks, POINTS, strict=True):
        assert one.median_s == pytest.approx(point.derived.median_s, rel=0 if to != "google-benchmark" else 1e-12)
        assert one.spread == pytest.approx(point.derived.spread)
        assert one.samples == len(point.measurement.samples_s)
        assert one.percent_of_roof == pytest.approx(point.derived.percent_of_roof)
        rate = point.derived.flop_per_s or None
        assert one.flop_per_s == (None if rate is None else pytest.approx(rate, rel=0.01))


def test_a_file_of_pytest_benchmark_without_samples_is_read_by_its_statistics() -> None:
    (one,) = read(PYTEST).benchmarks
    assert (one.name, one.median_s, one.samples) == ("test_a.py::test_sum[10]", 2e-3, 9)
    assert one.spread == pytest.approx(0.05)
    assert (one.flop_per_s, one.percent_of_roof) == (None, None)


def test_values_of_all_processes_of_pyperf_count_and_warmups_do_not() -> None:
    found = read(PYPERF)
    (one,) = found.benchmarks
    assert (found.format, one.name, one.median_s, one.samples) == ("pyperf", "only", 0.2, 3)


def test_a_pyperf_benchmark_that_is_no_time_is_left_out_and_told() -> None:
    memory = {"metadata": {"name": "rss", "unit": "byte"}, "runs": [{"values": [4096]}]}
    found = read({**PYPERF, "benchmarks": [*PYPERF["benchmarks"], memory]})
    assert found.left_out == ("rss, in units of byte",)
    assert len(found.benchmarks) == 1


def test_repetitions_of_google_benchmark_are_samples_and_medians_stand_in_where_there_are_none() -> None:
    found = read(GOOGLE)
    a, b = found.benchmarks
    assert (a.name, a.median_s, a.samples) == ("BM_a/8", pytest.approx(4e-6), 3)
    assert (b.name, b.median_s, b.samples, b.spread) == ("BM_b", 2e-3, 7, None)
    assert found.left_out == ("BM_c, which failed",)


def test_extra_facts_count_only_where_they_are_numbers_that_can_be() -> None:
    for value, kept in ((40.5, 40.5), (True, None), ("40", None), (-1, None), (0, None)):
        found = read(changed(PYTEST, "benchmarks", 0, "extra_info", to={"percent_of_roof": value}))
        assert found.benchmarks[0].percent_of_roof == kept


@pytest.mark.parametrize(
    ("tree", "complaint"),
    [
        ([], "found none of the formats"),
        ({"benchmarks": []}, "found none of the formats"),
        ({**PYTEST, "benchmarks": []}, "no benchmark with a time"),
        (changed(PYTEST, "benchmarks", 0, "stats", "median", to=0), "found 0 s"),
        (
            changed(PYTEST, "benchmarks", 0, "stats", "median", to="2"),
            r"benchmarks\[0\].stats.median: expected `float`",
        ),
        (changed(PYTEST, "benchmarks", 0, "stats", to={}), "missing required field `median`"),
        (changed(PYTEST, "benchmarks", 0, "stats", "data", to=[1e-3, -1e-3]), "found -0.001 s"),
        (changed(PYPERF, "version", to="2.0"), "version: found '2.0'"),
        (changed(PYPERF, "benchmarks", 0, "runs", to=[{"values": [1e300]}]), "found 1e[+]300 s"),
        (changed(GOOGLE, "benchmarks", 0, "time_unit", to="h"), "the unit 'h'"),
        (changed(GOOGLE, "benchmarks", 0, "real_time", to=None), "no real_time"),
    ],
)
def test_what_is_no_time_is_refused_with_its_place(tree: Any, complaint: str) -> None:
    with pytest.raises(ArchiveError, match=complaint):
        read(tree)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "is empty"),
        (b"{", "broken or cut short"),
        (b"\xff{}", "not UTF-8"),
        (b'{"machine_info": {}, "benchmarks": [], "benchmarks": []}', "twice"),
        (json.dumps(PYTEST).replace("0.002", "NaN").encode(), "NaN"),
        (json.dumps(PYTEST).replace("0.002", "1e999").encode(), "Infinity"),
        (b'{"context": ' + b"[" * 90 + b"]" * 90 + b', "benchmarks": []}', "nesting"),
        (b"[" * 100_000, "nested too deeply"),
        (b" " * (MAX_BYTES + 1), "expected a benchmark file"),
    ],
)
def test_a_file_that_is_broken_is_refused(data: bytes, complaint: str) -> None:
    with pytest.raises(ArchiveError, match=complaint):
        read_foreign(data, "file.json")


def test_a_run_of_this_suite_is_told_from_a_foreign_file() -> None:
    with pytest.raises(ArchiveError, match="is a run of this suite"):
        read_foreign(encode(RUN), "run.json")


def test_the_format_that_is_named_decides() -> None:
    with pytest.raises(ArchiveError):
        read(PYTEST, of="pyperf")
    with pytest.raises(UnknownName, match="known: google-benchmark, pyperf, pytest-benchmark"):
        read(PYTEST, of="csv")
    bare = {"benchmarks": [{"name": "x", "real_time": 1.0}]}
    assert read(bare, of="google-benchmark").benchmarks[0].median_s == 1e-9


@pytest.mark.parametrize("kind", sorted(WHOLE))
def test_whatever_becomes_of_a_file_it_is_read_or_refused(kind: str) -> None:
    few = replace(RUN, measurements=RUN.measurements[:1])
    for document in (json.dumps(WHOLE[kind]).encode(), exported(few, kind)[""]):
        mutations = Mutations(document, seed=7)
        for _ in range(150):
            for of in (None, kind):
                try:
                    found = read_foreign(next(mutations), "file.json", of)
                except ArchiveError as error:
                    assert "file.json" in str(error)
                else:
                    assert all(one.median_s > 0 and one.name.isprintable() for one in found.benchmarks)


def test_a_benchmark_is_found_by_its_name() -> None:
    found = read(GOOGLE)
    assert named(found, "BM_b").samples == 7
    with pytest.raises(UnknownName, match="did you mean 'BM_b'"):
        named(found, "BM_bb")
    with pytest.raises(ArchiveError, match="2 benchmarks are called"):
        named(replace(found, benchmarks=found.benchmarks[:1] * 2), "BM_a/8")
