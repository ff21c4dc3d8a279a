"""Runs found by name in the results folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace
from small_run import run_at, small_run

from roofline.archive.document import encode
from roofline.archive.journal import Journal
from roofline.archive.store import find, load, runs, save
from roofline.errors import UnknownName, UsageError

SMALL = small_run()
KEY = SMALL.machine.key


def test_runs_lists_every_run_oldest_first(tmp_path: Path) -> None:
    for run in (run_at(20, "after"), run_at(10, "before")):
        save(run, tmp_path)
    Journal(run_at(30), tmp_path).close()
    entries = runs(tmp_path)
    assert [(entry.id, entry.label, entry.complete, entry.error) for entry in entries] == [
        ("20261104-101000-a1b2", "before", True, None),
        ("20261104-102000-a1b2", "after", True, None),
        ("20261104-103000-a1b2", None, False, None),
    ]
    assert {entry.machine for entry in entries} == {KEY}
    assert entries[0].started_utc == "2026-11-04T10:10:00Z"
    assert load(entries[1].path).label == "after"


def test_one_broken_file_does_not_hide_the_others(tmp_path: Path) -> None:
    save(run_at(10), tmp_path)
    for name in ("20261104-102000-ffff.json", "20261104-102100-ffff.jsonl.part", "notes.json"):
        (tmp_path / KEY / name).write_text('{"schema": 7}')
    assert [entry.error is None for entry in runs(tmp_path)] == [True, False, False, False]
    assert [entry.id for entry in runs(tmp_path)][-1] == "notes"
    assert "upgrade" in (runs(tmp_path)[1].error or "")


def test_an_empty_or_missing_folder_lists_nothing(tmp_path: Path) -> None:
    assert runs(tmp_path) == runs(tmp_path / "missing") == []


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Three saved runs, one of them on another machine, and the journal of a newer one."""
    other = replace(SMALL.machine, cpu_model="Cortex")
    save(run_at(10, "base"), tmp_path)
    save(replace(run_at(20, "tuned"), machine=other), tmp_path)
    save(run_at(30, "tuned"), tmp_path)
    Journal(run_at(40), tmp_path).close()
    return tmp_path


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("last", "20261104-103000-a1b2"),
        ("last~0", "20261104-103000-a1b2"),
        ("last~1", "20261104-102000-a1b2"),
        ("last~2", "20261104-101000-a1b2"),
        ("20261104-102000-a1b2", "20261104-102000-a1b2"),
        ("20261104-1010", "20261104-101000-a1b2"),
        ("base", "20261104-101000-a1b2"),
        ("20261104-104", "20261104-104000-a1b2.jsonl"),
    ],
)
def test_a_run_is_found_by_name(results: Path, name: str, stem: str) -> None:
    assert find(name, results).stem == stem


def test_a_run_is_found_by_path(results: Path) -> None:
    path = save(run_at(50), results / "elsewhere")
    assert find(str(path), results) == path
    renamed = path.rename(results / "baseline")
    assert find(str(renamed), results) == renamed


def test_a_plain_name_means_a_saved_run_before_a_file(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("base", "other"):
        (results / name).write_text("{}")
    monkeypatch.chdir(results)
    assert find("base", results).stem == "20261104-101000-a1b2"
    assert find("./base", results) == Path("base")
    assert find("other", results) == Path("other")


def test_what_looks_like_a_path_means_a_file_before_a_label(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(run_at(50, "base.json"), results)
    monkeypatch.chdir(results)
    assert find("base.json", results).stem == "20261104-105000-a1b2"
    (results / "base.json").write_text("{}")
    assert find("base.json", results) == Path("base.json")


def test_a_renamed_file_is_found_by_path_only(results: Path) -> None:
    path = save(run_at(50), results)
    renamed = path.rename(path.with_name("zz.json"))
    assert find("last", results).stem == "20261104-103000-a1b2"
    assert find(str(renamed), results) == renamed
    assert renamed in [entry.path for entry in runs(results)]


def test_a_saved_run_hides_its_journal(results: Path) -> None:
    Journal(run_at(10), results).close()
    assert find("base", results).suffix == ".json"
    listed = [entry.path.suffix for entry in runs(results) if entry.id == run_at(10).id]
    assert listed == [".json"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tuned", "'tuned' fits 2 runs: 20261104-102000-a1b2, 20261104-103000-a1b2; name one by its id"),
        ("20261104", "'20261104' fits 4 runs: .*"),
        ("last~3", r"last~3 is not there: .* holds 3 runs, the oldest is 20261104-101000-a1b2"),
        ("tunes", r"unknown run 'tunes'; did you mean 'tuned'\? \(known: 20261104-101000-a1b2, .*base, last, tuned\)"),
        ("", "unknown run ''"),
        ("last~9999999", "unknown run"),
        ("last~-1", "unknown run"),
        ("missing.json", "there is no file 'missing.json'"),
        ("../../no/such", "there is no file"),
        ("a\x00b/c", "there is no file"),
        ("x" * 5000, "^.{,400}$"),
    ],
)
def test_a_name_that_fits_no_run_or_several_is_refused(results: Path, name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find(name, results)


def test_an_unknown_name_says_when_files_could_not_be_read(results: Path) -> None:
    (results / KEY / "20261104-102000-ffff.json").write_text("{")
    with pytest.raises(UnknownName, match="1 files could not be read"):
        find("nothing", results)


def test_many_runs_do_not_flood_a_message(tmp_path: Path) -> None:
    (tmp_path / KEY).mkdir()
    for second in range(50):
        (tmp_path / KEY / f"20261104-1010{second:02}-a1b2.json").write_text("{")
    for name in ("2026", "nothing"):
        with pytest.raises(UsageError) as refused:
            find(name, tmp_path)
        assert len(str(refused.value)) < 400


@pytest.mark.parametrize("name", ["last", "last~1", "base"])
def test_an_empty_folder_says_what_to_type(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"there are no saved runs in .*; measure one with `python -m bench all`"):
        find(name, tmp_path / "results")


def test_a_folder_of_journals_only_says_so(tmp_path: Path) -> None:
    Journal(SMALL, tmp_path).close()
    with pytest.raises(UsageError, match=r"no saved runs in .* \(but 1 unsaved"):
        find("last", tmp_path)


def test_a_hostile_document_in_the_folder_stays_in_its_folder(tmp_path: Path) -> None:
    document = json.loads(encode(SMALL))
    document["id"] = "../../../escape"
    folder = tmp_path / KEY
    folder.mkdir()
    (folder / f"{SMALL.id}.json").write_text(json.dumps(document))
    assert "id: found" in (runs(tmp_path)[0].error or "")
