"""Each forgery is one small edit of a trial, and `verify` says where it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from datetime import UTC, datetime
from functools import cache
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace
from trial_of import FIVE_PERCENT, TINY, spread, trial_of

from roofline.archive.tree import Defect
from roofline.archive.trials import encode_trial
from roofline.archive.verification import Verification, verify
from roofline.model.host_caveat import host_caveats
from roofline.model.trial import Timed, Trial

Edit = Callable[[Any], Any]
NOW = datetime(2100, 1, 1, tzinfo=UTC)


def told_by_a_clock(trial: Trial) -> Trial:
    """Return the trial with what a real one has: whole nanoseconds, each time another, a fair coin, and caveats."""
    number, coin = count(), Random(1)
    repeats = {point.name: point.repeats for point in trial.points}

    def timed(one: Timed, calls: int) -> Timed:
        intervals_ns = [round(sample_s * calls * 1e9) + next(number) for sample_s in one.samples_s]
        return replace(one, samples_s=tuple(interval_ns * 1e-9 / calls for interval_ns in intervals_ns))

    pairs = tuple(
        replace(
            pair,
            base=timed(pair.base, repeats[pair.point]),
            head=timed(pair.head, repeats[pair.point]),
            base_first=coin.random() < 0.5,
        )
        for pair in sorted(trial.pairs, key=lambda pair: (pair.stage, pair.launch))
    )
    return replace(trial, pairs=pairs, caveats=host_caveats(trial.machine, trial.environment))


@cache
def document() -> Any:
    slower = [spread(TINY.screen_pairs, 0.01, FIVE_PERCENT), spread(TINY.confirm_pairs, 0.01, FIVE_PERCENT)]
    points = {"mine.slow": slower, "mine.same": [spread(TINY.screen_pairs, 0.01)]}
    return json.loads(encode_trial(told_by_a_clock(trial_of(points, TINY))))


def verified(tmp_path: Path, edit: Edit) -> Verification:
    tree = deepcopy(document())
    edit(tree)
    path = tmp_path / "trial.ab.json"
    path.write_text(json.dumps(tree))
    return verify(path, NOW)


def defects(tmp_path: Path, edit: Edit) -> dict[str, Defect]:
    return {defect.path: defect for defect in reversed(verified(tmp_path, edit).defects)}


def test_the_trial_itself_holds(tmp_path: Path) -> None:
    found = verified(tmp_path, lambda tree: None)
    assert found.defects == ()
    assert found.doubts == ()
    assert found.numbers > 20


def without(point: str, stage: int) -> Edit:
    def edit(tree: Any) -> None:
        tree["pairs"] = [pair for pair in tree["pairs"] if (pair["point"], pair["stage"]) != (point, stage)]

    return edit


def without_controls(tree: Any) -> None:
    names = [point["name"] for point in tree["points"] if point["control"]]
    tree["points"] = [point for point in tree["points"] if not point["control"]]
    tree["pairs"] = [pair for pair in tree["pairs"] if pair["point"] not in names]
    tree["verdicts"] = [verdict for verdict in tree["verdicts"] if verdict["point"] not in names]


def same_coin(tree: Any) -> None:
    for pair in tree["pairs"]:
        pair["base_first"] = True


def scaled(tree: Any) -> None:
    head = tree["pairs"][0]["head"]
    head["samples_s"] = [sample * 0.77 for sample in head["samples_s"]]


def needless(tree: Any) -> None:
    pair = deepcopy(next(pair for pair in tree["pairs"] if pair["point"] == "mine.same"))
    tree["pairs"].append({**pair, "stage": 2, "launch": TINY.confirm_pairs})


FORGERIES: dict[str, tuple[Edit, str]] = {
    "a verdict edited": (lambda t: t["verdicts"][0].update(verdict="same"), "verdicts[0].verdict"),
    "a ratio edited": (lambda t: t["verdicts"][0].update(ratio=1.0), "verdicts[0].ratio"),
    "no verdicts": (lambda t: t.pop("verdicts"), "verdicts"),
    "controls deleted": (without_controls, "points"),
    "controls of different code": (lambda t: t["points"][-1]["head"].update(digest="1"), "points[3].head.digest"),
    "a control that was not slowed down": (lambda t: t["points"][-1].update(stretched=False), "points[3].stretched"),
    "a pair repeated": (
        lambda t: t["pairs"][5].update({side: t["pairs"][0][side] for side in ("base", "head")}),
        "pairs[5].base.samples_s",
    ),
    "a pair after the accepted one": (lambda t: t["pairs"].insert(1, deepcopy(t["pairs"][0])), "pairs[1]"),
    "fewer pairs than planned": (lambda t: t["pairs"].pop(0), "points[0]"),
    "no pairs that confirm": (without("mine.slow", 2), "points[0]"),
    "pairs that confirm what was not flagged": (needless, "points[1]"),
    "launches in another order": (lambda t: t["pairs"][0].update(launch=3), "pairs[1].launch"),
    "a coin that always falls on one side": (same_coin, "pairs"),
    "scaled samples": (scaled, "pairs[0].head.samples_s[0]"),
    "caveats deleted": (lambda t: t.update(caveats=[]), "caveats"),
    "shorter than its samples": (lambda t: t.update(elapsed_s=0.1), "elapsed_s"),
    "no time": (lambda t: t.update(elapsed_s=None), "elapsed_s"),
    "from the future": (lambda t: t.update(started_utc="9999-01-01T00:00:00Z"), "started_utc"),
    "an argument": (lambda t: t.update(argv=["bench", "ab", "main"]), "content_digest"),
    "more cores": (lambda t: t["machine"].update(cores=64, core_classes=[2]), "machine.cores"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_found_where_it_is(tmp_path: Path, name: str) -> None:
    edit, path = FORGERIES[name]
    assert path in defects(tmp_path, edit)


def test_an_incomplete_trial_lacks_pairs_and_says_so(tmp_path: Path) -> None:
    def edit(tree: Any) -> None:
        tree.update(complete=False, reason="time limit")
        del tree["pairs"][-1]

    found = verified(tmp_path, edit)
    assert [defect for defect in found.defects if not defect.path.startswith(("verdicts", "content_digest"))] == []
    assert any("time limit" in doubt for doubt in found.doubts)
