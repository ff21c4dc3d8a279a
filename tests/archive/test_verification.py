"""Every published number follows from its samples, or `verify` says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from proved_run import proved_run
from small_run import small_run

from roofline.archive.conditions import OF_ALL_CEILINGS
from roofline.archive.document import encode
from roofline.archive.journal import Journal
from roofline.archive.verification import Verification, verify
from roofline.errors import ArchiveError
from roofline.model.final import rejudged
from roofline.model.run import KernelMeasured, Run

RUN = rejudged(small_run())
Edit = Callable[[Any], None]


def verified(tmp_path: Path, edit: Edit = lambda tree: None) -> Verification:
    """Return what is said of the small run, but for an edit of its document."""
    tree = json.loads(encode(RUN))
    edit(tree)
    path = tmp_path / "run.json"
    path.write_text(json.dumps(tree))
    return verify(path)


def paths(tmp_path: Path, edit: Edit) -> list[str]:
    return [defect.path for defect in verified(tmp_path, edit).defects]


def test_a_run_as_it_was_saved_holds_and_every_number_was_derived(tmp_path: Path) -> None:
    found = verified(tmp_path)
    assert found.defects == ()
    assert found.numbers > 8 * len(RUN.measurements) + 3 * len(RUN.ceilings.all)


def change(*place: str | int, by: Callable[[Any], Any]) -> Edit:
    def edit(tree: Any) -> None:
        for step in place[:-1]:
            tree = tree[step]
        tree[place[-1]] = by(tree[place[-1]])

    return edit


@pytest.mark.parametrize(
    ("edit", "path"),
    [
        (change("ceilings", "compute", 0, "flop_per_s", by=lambda x: x * 1.001), "ceilings.compute[0].flop_per_s"),
        (change("ceilings", "compute", 0, "clock_hz", by=lambda x: x * 1.01), "ceilings.compute[0].clock_hz"),
        (change("ceilings", "memory", 1, "byte_per_cycle", by=lambda x: x + 1), "ceilings.memory[1].byte_per_cycle"),
        (change("ceilings", "memory", 0, "caveats", by=lambda x: ["MONO"]), "ceilings.memory[0].caveats"),
        (change("ceilings", "memory", 0, "invalid", by=lambda x: ["THROTTLE"]), "ceilings.memory[0].invalid"),
        (change("measurements", 0, "derived", "median_s", by=lambda x: x / 2), "measurements[0].derived.median_s"),
        (change("measurements", 0, "derived", "bound", by=lambda x: "L9"), "measurements[0].derived.bound"),
        (change("measurements", 0, "derived", "interval_s", by=lambda x: None), "measurements[0].derived.interval_s"),
        (change("measurements", 0, "derived", by=lambda x: {}), "measurements[0].derived.median_s"),
        (change("measurements", 0, "status_codes", by=lambda x: ["STEAL"]), "measurements[0].status"),
        (change("measurements", 0, "samples_s", by=lambda x: [s * 2 for s in x]), "measurements[0].derived.median_s"),
        (change("grade", "letter", by=lambda x: "A"), "grade.letter"),
        (change("grade", "reasons", by=lambda x: x[1:]), "grade.reasons"),
        (change("plan", by=lambda x: {**x, "points": ["L7 load avx2 ×1"]}), "complete"),
    ],
)
def test_a_number_that_does_not_follow_from_its_samples_is_named(tmp_path: Path, edit: Edit, path: str) -> None:
    found = paths(tmp_path, edit)
    assert path in found


def test_evidence_that_was_hidden_from_the_verdict_is_found(tmp_path: Path) -> None:
    edit = change("measurements", 0, "evidence", by=lambda x: {"throttled_s": 0.5})
    (defect,) = [d for d in verified(tmp_path, edit).defects if d.path == "measurements[0].status"]
    assert "invalid: THROTTLE" in defect.expected


def test_a_run_of_an_earlier_schema_is_checked_by_its_numbers() -> None:
    sample = Path(__file__).parents[1] / "data" / "archives"
    found = verify(sample / f"schema-{RUN.schema}.json")
    assert [defect for defect in found.defects if ".status" not in defect.path] == []
    assert found.numbers > 1000


def test_the_committed_runs_hold() -> None:
    runs = sorted((Path(__file__).parents[2] / "results").glob("*/*.json"))
    assert runs
    for path in runs:
        assert verify(path).defects == (), path


@pytest.mark.parametrize("run", [RUN, proved_run()], ids=["without evidence", "with evidence"])
def test_a_journal_can_be_verified(tmp_path: Path, run: Run) -> None:
    told = tuple(caveat for caveat in run.caveats if caveat.code not in OF_ALL_CEILINGS)  # which nobody tells yet
    bare = replace(run, measurements=(), complete=False, caveats=told)
    with Journal(bare, tmp_path) as journal:
        for measurement in run.measurements:
            journal.append(KernelMeasured(measurement=measurement))
    found = verify(journal.path)
    assert found.defects == ()
    assert any("incomplete" in doubt for doubt in found.doubts)


def without(*place: str | int) -> Edit:
    def edit(tree: Any) -> None:
        for step in place[:-1]:
            tree = tree[step]
        del tree[place[-1]]

    return edit


@pytest.mark.parametrize(
    ("edit", "path"),
    [
        (without("grade"), "grade"),
        (without("measurements", 0, "derived"), "measurements[0].derived"),
        (change("schema", by=lambda x: 1), "schema"),
        (change("measurements", 0, "evidence", by=lambda x: None), "measurements[0].evidence"),
        (change("measurements", 0, "error", by=lambda x: None), "measurements[0].error"),
        (change("measurements", 0, "tolerance", by=lambda x: 1.0), "measurements[0].tolerance"),
        (change("measurements", 0, "roof_samples", by=lambda x: []), "measurements[0].roof_samples"),
        (change("measurements", 0, "ceiling", by=lambda x: "nonsense"), "measurements[0].ceiling"),
        (change("measurements", 0, "repeats", by=lambda x: 10**9), "measurements[0].repeats"),
        (
            change("measurements", 0, "evidence", "minor_faults", by=lambda x: -1),
            "measurements[0].evidence.minor_faults",
        ),
        (change("measurements", 0, "kernel", by=lambda x: "gemm.wonder"), "measurements[0]"),
        (change("measurements", by=lambda x: x[1:]), "complete"),
        (change("ceilings", "compute", by=lambda x: [*x, x[0]]), "ceilings"),
        (change("reason", by=lambda x: "SIGINT"), "reason"),
        (change("started_utc", by=lambda x: "2026-01-01T00:00:00Z"), "id"),
        (change("id", by=lambda x: "20260101-000000-abcd"), "id"),
    ],
)
def test_a_whole_run_that_was_edited_says_where(tmp_path: Path, edit: Edit, path: str) -> None:
    tree = json.loads(encode(proved_run()))
    edit(tree)
    edited = tmp_path / "run.json"
    edited.write_text(json.dumps(tree))
    try:
        found = [defect.path for defect in verify(edited).defects]
    except ArchiveError as refused:  # what no run can hold is not even read
        found = [str(refused).removeprefix(f"{edited}: ").partition(": ")[0]]
    assert path in found
