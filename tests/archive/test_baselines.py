"""Names for runs: set, moved, found, removed, and what a broken or hostile file of names does."""

from __future__ import annotations

import json
import multiprocessing
import shutil
from pathlib import Path

import pytest
from hostile import TEXTS
from msgspec.structs import replace
from small_run import run_at

from roofline.archive.baselines import (
    FILE,
    baseline_file,
    baseline_named,
    baselines,
    remove_baseline,
    set_baseline,
)
from roofline.archive.store import find, runs, save
from roofline.errors import ArchiveError, ResultsError, UnknownName, UsageError
from roofline.model.run import Run

NOW = "2026-11-05T09:00:00Z"


def sound(minute: int) -> Run:
    """Return the small run without what is unsound in it."""
    run = run_at(minute)
    return replace(run, failures=(), measurements=tuple(m for m in run.measurements if m.drawable))


FIRST, SECOND = sound(1), sound(2)
KEY = FIRST.machine.key
ELSEWHERE = replace(sound(3), machine=replace(FIRST.machine, cpu_model="Cortex"))


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of one machine and one of another. Tests only read it."""
    folder = tmp_path_factory.mktemp("saved")
    for run in (FIRST, SECOND, ELSEWHERE):
        save(run, folder)
    return folder


@pytest.fixture
def results(saved: Path, tmp_path: Path) -> Path:
    """The same in a folder of the test's own."""
    return Path(shutil.copytree(saved, tmp_path / "results"))


def name_run(name: str, run: Run, results: Path, force: bool = False) -> None:
    set_baseline(name, run, results / run.machine.key / f"{run.id}.json", results, NOW, force)


def names(results: Path, machine: str | None = None) -> list[tuple[str, str]]:
    return [(named.baseline.name, named.baseline.run) for named in baselines(results, machine)]


def test_a_name_is_kept_with_what_it_names(results: Path) -> None:
    name_run("main", FIRST, results)
    (named,) = baselines(results)
    assert (named.machine, named.path, named.is_there) == (KEY, results / KEY / f"{FIRST.id}.json", True)
    assert (named.baseline.name, named.baseline.run, named.baseline.set_utc) == ("main", FIRST.id, NOW)
    assert (named.baseline.revision, named.baseline.grade) == (FIRST.revision, "B")
    assert baseline_file("main", results) == find("baseline:main", results) == named.path


def test_the_file_of_names_is_no_run(results: Path) -> None:
    name_run("main", FIRST, results)
    assert len(runs(results)) == 3


def test_a_name_that_exists_moves(results: Path) -> None:
    name_run("main", FIRST, results)
    name_run("other", FIRST, results)
    name_run("main", SECOND, results)
    assert names(results) == [("main", SECOND.id), ("other", FIRST.id)]


def test_removing_forgets_the_name_and_leaves_the_run(results: Path) -> None:
    name_run("main", FIRST, results)
    name_run("other", FIRST, results)
    assert remove_baseline("main", results).baseline.run == FIRST.id
    assert names(results) == [("other", FIRST.id)]
    assert (results / KEY / f"{FIRST.id}.json").is_file()


def test_a_name_that_is_not_there_is_refused_with_what_is(results: Path) -> None:
    with pytest.raises(UnknownName, match=r"known: none.*baseline set NAME"):
        baseline_named("main", results)
    name_run("main", FIRST, results)
    for act in (baseline_file, baseline_named, remove_baseline):
        with pytest.raises(UnknownName, match=r"unknown baseline 'mian'; did you mean 'main'"):
            act("mian", results)
    assert names(results) == [("main", FIRST.id)]


def test_names_that_differ_in_case_only_are_two(results: Path) -> None:
    name_run("main", FIRST, results)
    name_run("MAIN", SECOND, results)
    assert baseline_file("main", results) != baseline_file("MAIN", results)
    remove_baseline("main", results)
    assert names(results) == [("MAIN", SECOND.id)]


@pytest.mark.parametrize(
    "name", ["a/b", "../../etc/passwd", "..", ".", "con", "a\\b", "*", "main.json", "-x", "é", "名"]
)
def test_a_name_is_no_file_and_may_look_like_one(results: Path, name: str) -> None:
    before = {path for path in results.parent.rglob("*") if path.name not in (FILE, ".baselines.lock")}
    name_run(name, FIRST, results)
    assert names(results) == [(name, FIRST.id)]
    assert find(f"baseline:{name}", results) == results / KEY / f"{FIRST.id}.json"
    assert {path for path in results.parent.rglob("*") if path.name not in (FILE, ".baselines.lock")} == before


@pytest.mark.parametrize(
    "name", ["", "  ", "last", "last~2", FIRST.id, "baseline:x", "a\nb", "a\x1b[31m", "\u202e", "x" * 101]
)
def test_a_name_that_would_mean_something_else_or_cannot_be_shown_is_refused(results: Path, name: str) -> None:
    with pytest.raises(UsageError, match="as a baseline: "):
        name_run(name, FIRST, results)
    assert names(results) == []


@pytest.mark.parametrize("text", TEXTS)
def test_no_text_makes_a_file_elsewhere_or_breaks_the_file(results: Path, text: str) -> None:
    try:
        name_run(text, FIRST, results)
    except UsageError:
        assert names(results) == []
    else:
        assert names(results) == [(text.strip(), FIRST.id)]


def test_blanks_around_a_name_are_not_part_of_it(results: Path) -> None:
    name_run("  main ", FIRST, results)
    assert names(results) == [("main", FIRST.id)]


def test_each_machine_has_names_of_its_own(results: Path) -> None:
    name_run("main", FIRST, results)
    name_run("main", ELSEWHERE, results)
    other = ELSEWHERE.machine.key
    assert names(results, KEY) == [("main", FIRST.id)]
    assert baseline_named("main", results, prefer=KEY).machine == KEY
    assert baseline_named("main", results, machine=other).machine == other
    for act in (baseline_named, baseline_file, remove_baseline):
        with pytest.raises(UsageError, match=r"2 machines have a baseline 'main': .*--machine KEY"):
            act("main", results)
    remove_baseline("main", results, other)
    assert names(results) == [("main", FIRST.id)]


def test_the_only_machine_that_has_a_name_is_meant(results: Path) -> None:
    name_run("main", ELSEWHERE, results)
    assert baseline_named("main", results, prefer=KEY).machine == ELSEWHERE.machine.key


def test_a_run_that_was_deleted_since_is_told_and_can_be_forgotten(results: Path) -> None:
    name_run("main", FIRST, results)
    (results / KEY / f"{FIRST.id}.json").unlink()
    assert [named.is_there for named in baselines(results)] == [False]
    with pytest.raises(UsageError, match="is not there any more; restore the file, or set the baseline anew"):
        baseline_file("main", results)
    name_run("main", SECOND, results)
    assert baseline_file("main", results).name == f"{SECOND.id}.json"
    (results / KEY / f"{SECOND.id}.json").unlink()
    remove_baseline("main", results)
    assert names(results) == []


def test_an_incomplete_run_is_named_only_by_force(results: Path) -> None:
    broken = replace(sound(4), complete=False, reason="SIGINT")
    save(broken, results)
    with pytest.raises(UsageError, match=r"is incomplete \(SIGINT\).*--force"):
        name_run("main", broken, results)
    name_run("main", broken, results, force=True)
    assert names(results) == [("main", broken.id)]


def test_a_run_of_grade_d_is_named_only_by_force(results: Path) -> None:
    spoiled = replace(sound(4), measurements=tuple(replace(m, status="invalid") for m in FIRST.measurements))
    save(spoiled, results)
    with pytest.raises(UsageError, match="has grade D, not fit for comparison"):
        name_run("main", spoiled, results)
    name_run("main", spoiled, results, force=True)
    assert baselines(results)[0].baseline.grade == "D"


def test_a_run_outside_the_folder_of_its_machine_is_refused(results: Path, tmp_path: Path) -> None:
    path = results / KEY / f"{FIRST.id}.json"
    copy = tmp_path / "copy.json"
    copy.write_bytes(path.read_bytes())
    with pytest.raises(UsageError, match="is not where its run belongs"):
        set_baseline("main", FIRST, copy, results, NOW)
    path.unlink()
    with pytest.raises(UsageError, match="copy it there first"):
        set_baseline("main", FIRST, copy, results, NOW)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "[]",
        "{}",
        '{"schema": 2, "baselines": []}',
        '{"schema": true, "baselines": []}',
        '{"schema": 1}',
        '{"schema": 1, "baselines": {}}',
        '{"schema": 1, "baselines": [{"name": "main"}]}',
        '{"schema": 1, "baselines": [{"name": "main", "run": "../../secret", "set_utc": ""}]}',
        '{"schema": 1, "baselines": [{"name": "main", "run": "last", "set_utc": ""}]}',
    ],
)
def test_a_broken_file_of_names_is_named_and_left_as_it_is(results: Path, text: str) -> None:
    file = results / KEY / FILE
    file.write_text(text)
    with pytest.raises(ArchiveError, match=FILE):
        baselines(results)
    for act in (lambda: name_run("main", FIRST, results), lambda: baseline_file("main", results)):
        with pytest.raises(ArchiveError, match=FILE):
            act()
    assert file.read_text() == text


def test_what_is_written_is_readable_by_others(results: Path) -> None:
    name_run("main", FIRST, results)
    document = json.loads((results / KEY / FILE).read_text())
    assert document["schema"] == 1
    assert [baseline["name"] for baseline in document["baselines"]] == ["main"]
    assert [path.name for path in (results / KEY).iterdir() if path.name.endswith(".tmp")] == []


def test_a_folder_that_cannot_be_written_is_refused(results: Path) -> None:
    (results / KEY / ".baselines.lock").mkdir()
    with pytest.raises(ResultsError):
        name_run("main", FIRST, results)
    assert names(results) == []


def _set_ten(results: Path, writer: int) -> None:
    for number in range(10):
        name_run(f"{writer}-{number}", FIRST, results)


def test_writers_at_once_lose_no_name(results: Path) -> None:
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_set_ten, args=(results, writer)) for writer in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(30)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert len(names(results)) == 30
