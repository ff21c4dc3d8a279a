"""`doctor`: what it prints, and its exit code."""

from __future__ import annotations

import json
from typing import Any

from answer import Ask

from bench.cli.doctor import command
from bench.cli.session import Session
from roofline.model.run import Failure, Run


def measured_nothing(plan: Any, run: Run, *, keep: Any, progress: Any) -> Run:
    assert [type(point).__name__ for point in plan.points] == ["SweepPoints", "ComputePoint", "MemoryPoint"]
    return run


def test_each_check_is_a_line_with_its_state(ask: Ask) -> None:
    answer = ask("doctor", session=Session(launch=measured_nothing))
    assert answer.code == 0
    for check in ("governor", "huge pages", "steal", "affinity", "clock stability", "noise, DRAM", "cache folder"):
        assert check in answer.out


def test_as_json_it_is_one_document(ask: Ask) -> None:
    document = json.loads(ask("doctor", "--json", session=Session(launch=measured_nothing)).out)
    assert {"check", "state", "found", "next_step"} == set(document["findings"][0])
    assert document["fit"] == (not any(one["state"] in ("warn", "fail") for one in document["findings"]))


def test_strict_exits_with_1_when_anything_is_in_doubt(ask: Ask) -> None:
    document = json.loads(ask("doctor", "--json", "--no-measure").out)
    assert ask("doctor", "--no-measure", "--strict").code == (0 if document["fit"] else 1)
    assert ask("doctor", "--no-measure").code == 0


def test_what_could_not_be_measured_is_remarked_on(ask: Ask) -> None:
    def refused(plan: Any, run: Run, *, keep: Any, progress: Any) -> Run:
        from msgspec.structs import replace

        return replace(run, failures=(Failure(kind="skipped", point="DRAM load", message="no memory"),))

    answer = ask("doctor", session=Session(launch=refused))
    assert answer.code == 0
    assert "DRAM load: no memory" in answer.err


def test_the_command_is_named_as_its_verb() -> None:
    assert command.name == "doctor"
