"""Trials on disk: whole or not there, and nothing but ArchiveError whatever a file holds."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hostile import TEXTS, Mutations, texts_of, value_at, with_value
from msgspec.structs import replace
from trial_of import SLOWER, TINY, mirrored, refused_pair, spread, trial_of

from bench.cli.ab import exit_code
from roofline.archive.store import runs
from roofline.archive.trial_plausibility import MAX_PAIRS, MAX_POINTS, trial_defects
from roofline.archive.trials import SUFFIX, encode_trial, load_trial, save_trial, trial_path
from roofline.errors import ArchiveError, ResultsError
from roofline.model.run import Caveat
from roofline.model.trial import SideOfPoint, Trial, TrialFailure
from roofline.plotting.table import to_markdown
from roofline.plotting.trial_tables import trial_summary, trial_tables

FAILED = TrialFailure(point="b", side="head", kind="crashed", message="the process died of SIGSEGV: b.py:3")
PLAIN = trial_of(
    {"a": [spread(6, 0.01, 0.1), spread(7, 0.01, 0.1)], "b": []},
    TINY,
    {SLOWER: [spread(6, 0.01, 0.1), spread(7, 0.01, 0.1)]},
    failures=(FAILED,),
    caveats=(Caveat(code="VM", message="virtual machine"),),
    complete=False,
    reason="time limit",
)
EVERY_TEXT = SideOfPoint(digest="1", vector_register="ymm", assembly_digest="2")
SMALL = replace(PLAIN, points=tuple(replace(p, base=EVERY_TEXT, ceiling="L2 load avx2 ×1") for p in PLAIN.points))
TREE = json.loads(encode_trial(SMALL))


def saved(tmp_path: Path, data: bytes | str | Any) -> Path:
    """Write a file that claims to be a trial."""
    path = tmp_path / f"x{SUFFIX}"
    path.write_bytes(
        data if isinstance(data, bytes) else (data if isinstance(data, str) else json.dumps(data)).encode()
    )
    return path


def test_a_trial_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = save_trial(SMALL, tmp_path / "results")
    assert path == trial_path(SMALL, tmp_path / "results")
    assert path.name == f"{SMALL.id}{SUFFIX}" and path.parent.name == SMALL.machine.key
    assert load_trial(path) == SMALL
    assert runs(tmp_path / "results") == []  # it is no run


def test_the_same_trial_makes_the_same_bytes(tmp_path: Path) -> None:
    path = save_trial(SMALL, tmp_path)
    assert path.read_bytes() == encode_trial(load_trial(path)) == encode_trial(SMALL)
    assert encode_trial(mirrored(mirrored(SMALL))) == encode_trial(SMALL)


def test_the_document_holds_the_verdicts_for_other_tools() -> None:
    assert [verdict["verdict"] for verdict in TREE["verdicts"]][:2] == ["slower", "inconclusive"]
    assert encode_trial(SMALL).isascii() or "×" in encode_trial(SMALL).decode()


def test_a_stored_verdict_counts_for_nothing(tmp_path: Path) -> None:
    lies = [{**verdict, "verdict": "faster"} for verdict in TREE["verdicts"]]
    trial = load_trial(saved(tmp_path, {**TREE, "verdicts": lies}))
    assert trial == SMALL
    assert exit_code(trial) == 1


def test_a_growing_trial_takes_the_place_of_itself(tmp_path: Path) -> None:
    save_trial(replace(SMALL, pairs=SMALL.pairs[:5], complete=False), tmp_path)
    assert load_trial(save_trial(SMALL, tmp_path)) == SMALL
    assert len(list(tmp_path.rglob("*.*"))) == 1


def killed(old: Path, new: Path) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def moved_and_killed(old: Path, new: Path) -> None:
    os.replace(old, new)  # noqa: PTH105
    killed(old, new)


@pytest.mark.parametrize(("move", "pairs"), [(killed, 5), (moved_and_killed, len(SMALL.pairs))])
def test_a_kill_leaves_the_old_file_or_the_new_one(
    move: Callable[[Path, Path], None], pairs: int, tmp_path: Path
) -> None:
    path = save_trial(replace(SMALL, pairs=SMALL.pairs[:5], complete=False), tmp_path)
    child = os.fork()
    if child == 0:
        save_trial(SMALL, tmp_path, move)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    assert len(load_trial(path).pairs) == pairs
    assert load_trial(save_trial(SMALL, tmp_path)) == SMALL  # what the killed one left is in nobody's way


def test_a_disk_that_fails_keeps_the_old_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    def failing(old: Path, new: Path) -> None:
        raise OSError(28, os.strerror(28))

    path = save_trial(SMALL, tmp_path)
    with pytest.raises(ResultsError, match="No space left on device; free some space"):
        save_trial(replace(SMALL, pairs=()), tmp_path, failing)
    assert [found.name for found in path.parent.iterdir()] == [path.name]
    assert load_trial(path) == SMALL


@pytest.mark.parametrize("trial_id", ["../../escape", "/etc/escape", "", "a/b", "20261203-090000-a1b2\0"])
def test_no_id_leaves_the_results_folder(trial_id: str, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="id: found"):
        save_trial(replace(SMALL, id=trial_id), tmp_path / "results")
    with pytest.raises(ArchiveError, match="id: found"):
        load_trial(saved(tmp_path, {**TREE, "id": trial_id}))


def test_numbers_that_could_not_be_read_back_are_not_written(tmp_path: Path) -> None:
    pair = SMALL.pairs[0]
    for value in (0.0, -1.0, float("nan"), float("inf")):
        broken = replace(pair, head=replace(pair.head, samples_s=(value,)))
        with pytest.raises(ArchiveError, match=r"pairs\[0\]\.head\.samples_s\[0\]: found"):
            save_trial(replace(SMALL, pairs=(broken,)), tmp_path)
    assert list(tmp_path.iterdir()) == []


TEXT = json.dumps(TREE)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (TEXT[: len(TEXT) // 2], "broken or cut short"),
        ("[" * 100_000, "broken or cut short|nested too deeply"),
        (TEXT.replace('"seed": 7', '"seed": 7, "seed": 8'), "the key 'seed' twice"),
        (TEXT.replace('"seed": 7', '"seed": NaN'), "seed: found NaN"),
        (TEXT.replace('"seed": 7', f'"seed": {10**30}'), "seed: found an integer of"),
        (TEXT.replace('"seed": 7', '"seed": "7"'), "seed: expected `int`"),
        (TEXT.replace('"elapsed_s": 60.0', '"elapsed_s": 1e999'), "elapsed_s: found Infinity"),
        (b"\xff" + TEXT.encode(), "is not UTF-8"),
        ('["pairs"]', "not a trial"),
        ({"schema": 2, "id": "x"}, "not a trial: found no `pairs`"),
        ({**TREE, "schema": 2}, "written by a newer version: upgrade"),
        ({**TREE, "schema": True}, "this version reads 1; it is not a trial"),
        ({**TREE, "started_utc": "yesterday"}, "started_utc: found 'yesterday'"),
        ({**TREE, "points": [TREE["points"][0]] * 2}, "points\\[1\\].name: found 'a' twice"),
        ({**TREE, "points": []}, "pairs\\[0\\].point: found 'a', expected the name of"),
        ({**TREE, "profile": {**TREE["profile"], "screen_pairs": 0}}, "screen_pairs: found 0, expected 1 to 100"),
        ({**TREE, "profile": {**TREE["profile"], "confirm_pairs": 10**9}}, "confirm_pairs: found"),
        ({**TREE, "profile": {**TREE["profile"], "confirm_alpha": 0.0}}, "confirm_alpha: found"),
        ({**TREE, "profile": {**TREE["profile"], "margin": -1.0}}, "margin: found"),
        ({**TREE, "pairs": [{**TREE["pairs"][0], "stage": 3}]}, "stage: found 3, expected 1 or 2"),
        ({**TREE, "failures": [{**TREE["failures"][0], "side": "\x1b[31m"}]}, "side: found"),
        ({**TREE, "points": [{**TREE["points"][0], "control": "none"}]}, "control: found 'none'"),
        ({**TREE, "points": [{**TREE["points"][0], "threads": 0}]}, "threads: found 0"),
        ({**TREE, "machine": {**TREE["machine"], "cores": -1}}, "machine.cores: found -1"),
    ],
)  # fmt: skip
def test_a_broken_file_is_refused_in_words(data: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match=words) as refused:
        load_trial(saved(tmp_path, data))
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    ("field", "values"),
    [("samples_s", []), ("samples_s", [0.0]), ("samples_s", [1e300]), ("samples_s", [1e-3] * 1001),
     ("roof_samples", [1e9]), ("roof_samples", [1e9, 0.0]), ("roof_samples", [1e9, 1e300]),
     ("clock_samples_hz", [1e9] * 3), ("clock_samples_hz", [-1.0, 1e9])],
)  # fmt: skip
def test_times_and_rates_that_no_clock_tells_are_refused(field: str, values: list[float], tmp_path: Path) -> None:
    pair = TREE["pairs"][3]
    broken = {**TREE, "pairs": [{**pair, "base": {**pair["base"], field: values}}]}
    with pytest.raises(ArchiveError, match=rf"pairs\[0\]\.base\.{field}"):
        load_trial(saved(tmp_path, broken))


def test_no_trial_is_too_large_to_judge() -> None:
    points, pairs = SMALL.points[:1] * (MAX_POINTS + 1), SMALL.pairs[:1] * (MAX_PAIRS + 1)
    first = [next(trial_defects(replace(SMALL, **large))) for large in ({"points": points}, {"pairs": pairs})]
    assert [str(defect) for defect in first] == [
        f"points: found {MAX_POINTS + 1} points, expected at most {MAX_POINTS}",
        f"pairs: found {MAX_PAIRS + 1} pairs, expected at most {MAX_PAIRS}",
    ]


def test_a_file_that_is_not_there_or_no_file_is_an_archive_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "none", tmp_path, tmp_path / "pipe", Path("nul\0byte")):
        with pytest.raises(ArchiveError, match="expected"):
            load_trial(path)


def use(trial: Trial) -> None:
    """Do with a trial what the program does, and look at what comes out of it."""
    encode_trial(trial)
    exit_code(trial)
    assert trial_summary(trial).isprintable()
    for table in trial_tables(trial):
        assert all(cell.isprintable() for cell in (table.title, *(cell for row in table.rows for cell in row)))
        page = to_markdown(table)
        assert not any(bad in page for bad in ("<script", "\x1b", "\u202e"))


def test_mutated_files_are_refused_or_can_be_used(tmp_path: Path) -> None:
    counts = {"read": 0, "refused": 0}
    mutations = Mutations(encode_trial(replace(SMALL, pairs=SMALL.pairs[:4])), seed=20261203)
    for _ in range(300):
        try:
            trial = load_trial(saved(tmp_path, next(mutations)))
        except ArchiveError as error:
            counts["refused"] += 1
            assert "\x1b" not in str(error) and "\u202e" not in str(error)
            continue
        use(trial)
        counts["read"] += 1
    assert min(counts.values()) > 20


CHECKED = ("id", "started_utc", "control", "side")
"""Fields in which only what the suite writes is accepted."""


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_hostile_texts_in_every_field_reach_no_terminal_and_no_page(text: str, tmp_path: Path) -> None:
    tree = TREE
    for place in texts_of(TREE):
        if place[-1] not in CHECKED:
            tree = with_value(tree, place, text + value_at(TREE, place) * (place[-1] in ("name", "point")))
    trial = load_trial(saved(tmp_path, tree))
    assert len(trial.accepted(text + "a", 2)) == TINY.confirm_pairs
    use(trial)
    use(replace(trial, pairs=()))  # nothing holds then, and the summary says of which control


def test_a_trial_that_was_refused_most_of_the_time_can_be_used() -> None:
    use(replace(SMALL, pairs=tuple(refused_pair("a", 1, k) for k in range(18))))
