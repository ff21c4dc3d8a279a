"""`verify`: one line for everything that does not hold."""

from __future__ import annotations

import json
from pathlib import Path

from answer import Ask
from msgspec.structs import replace
from small_run import small_run

from roofline.archive.document import encode
from roofline.model.final import rejudged

RUN = rejudged(small_run())


def test_the_verb_says_what_holds_and_exits_with_4_for_what_does_not(ask: Ask, tmp_path: Path) -> None:
    good, bad, torn = (tmp_path / name for name in ("good.json", "bad.json", "torn.json"))
    good.write_bytes(encode(RUN))
    tree = json.loads(encode(RUN))
    tree["measurements"][0]["derived"]["median_s"] *= 2
    bad.write_text(json.dumps(tree))
    torn.write_bytes(encode(RUN)[:500])
    answer = ask("verify", str(good))
    assert answer.code == 0
    assert answer.out.splitlines()[-1].endswith("numbers derived again from the samples, all hold")
    answer = ask("verify", str(bad), str(torn), str(good))
    assert answer.code == 4
    assert f"{bad}: measurements[0].derived.median_s: found" in answer.out
    assert f"{torn}: file: found" in answer.out
    assert f"{good}: " in answer.out
    told = json.loads(ask("verify", "--json", str(bad)).out)
    assert [one["holds"] for one in told] == [False]
    assert told[0]["defects"][0]["path"] == "measurements[0].derived.median_s"


def test_strict_also_refuses_what_holds_and_is_no_sound_result(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(encode(replace(RUN, complete=False, reason="SIGINT")))
    assert ask("verify", str(path)).code == 0
    assert ask("verify", "--strict", str(path)).code == 4
    assert "note: the run is incomplete: SIGINT" in ask("verify", str(path)).out
