"""The letter that a run gets, and why."""

from __future__ import annotations

from typing import Any

import pytest
from ceilings_of import compute, launch, memory
from msgspec.structs import replace

from roofline.model.ceilings import Ceiling, Ceilings
from roofline.model.grade import MEANINGS, Grade, grade_of
from roofline.model.machine import Environment, Machine
from roofline.model.measurement import Measurement
from roofline.model.run import Caveat, Failure, Level, Run
from roofline.model.work import Work

LEVELS = (Level(name="L1"), Level(name="L3", shared_by=2), Level(name="DRAM"))


def launched(ceiling: Ceiling, *rates: float) -> Ceiling:
    """Return the ceiling as so many launches measured it."""
    return replace(ceiling, launches=tuple(launch(rate) for rate in rates)).rederived()


def run_of(*ceilings: Ceiling, **changes: Any) -> Run:
    """Return a complete run with these ceilings, by default three that agree."""
    quiet = Ceilings()
    steady = (launched(compute(1e11), 1e11, 1.01e11, 1e11), launched(memory(1e11, level="L1"), 1e11, 1e11, 1.02e11))
    for ceiling in (*steady, *ceilings):
        quiet = quiet.with_ceiling(ceiling)
    whole = Run(
        id="20261201-120000-abcd",
        started_utc="2026-12-01T12:00:00Z",
        machine=Machine(cpu_model="CPU", arch="x86_64"),
        environment=Environment(),
        levels=LEVELS,
        ceilings=quiet,
        measurements=tuple(measured() for _ in range(30)),
        complete=True,
    )
    return replace(whole, **changes)


def measured(status: str = "ok", *codes: str) -> Measurement:
    """Return a measurement that ended so."""
    return Measurement(
        kernel="family.name",
        n=1,
        dtype="f64",
        threads=1,
        work=Work(flops=1, read_bytes=8, write_bytes=0),
        level="L1",
        repeats=1,
        samples_s=(1e-3,),
        status=status,
        status_codes=codes,
    )


def test_a_line_names_the_gravest_reasons_and_counts_the_rest() -> None:
    grade = Grade(letter="D", reasons=("first", "second", "third", "fourth"))
    assert grade.gravest == "first; second; and 2 more"
    assert Grade(letter="B", reasons=("only",)).gravest == "only"


def test_a_quiet_run_is_an_a_without_reasons() -> None:
    grade = grade_of(run_of())
    assert (grade.letter, grade.reasons, grade.meaning) == ("A", (), MEANINGS["A"])


@pytest.mark.parametrize(
    ("changes", "letter", "reason"),
    [
        ({"caveats": (Caveat(code="VM", message=""),)}, "B", "caveat VM"),
        ({"caveats": (Caveat(code="STEAL", message=""),)}, "C", "STEAL"),
        ({"caveats": (Caveat(code="THROTTLE", message=""), Caveat(code="VM", message=""))}, "D", "THROTTLE"),
        ({"complete": False, "reason": "SIGINT"}, "C", "incomplete (SIGINT)"),
        ({"ceilings": Ceilings(), "measurements": ()}, "D", "no ceiling"),
        ({"ceilings": Ceilings(compute=(compute(1e9),))}, "B", "one launch"),
        (
            {"measurements": (*(measured() for _ in range(29)), measured("above_roof"))},
            "B",
            "1 of 30 measurements of kernels has",
        ),
        ({"measurements": (measured(), measured(), measured("invalid", "DCE"))}, "D", "1 of 3 measurements"),
        (
            {"measurements": (measured(),) * 9, "failures": (Failure(kind="crashed", point="x", message=""),)},
            "C",
            "1 of 10 measurements",
        ),
        ({"failures": (Failure(kind="skipped", point="x", message=""),) * 30}, "A", ""),
        (
            {"measurements": (measured("degraded", "NOISY"), measured())},
            "C",
            "1 of 2 measurements of kernels are degraded (NOISY)",
        ),
    ],
)
def test_what_is_found_costs_grades(changes: dict[str, Any], letter: str, reason: str) -> None:
    grade = grade_of(run_of(**changes))
    assert grade.letter == letter
    assert reason in "; ".join(grade.reasons)


@pytest.mark.parametrize(
    ("ceiling", "letter"),
    [
        (launched(compute(1e11, isa="scalar"), 1e11, 1.03e11), "C"),
        (launched(compute(1e11, isa="scalar"), 1e11, 1.2e11), "D"),
        (launched(memory(1e11, level="L1", pattern="load"), 1e11, 1.05e11), "C"),
        (launched(memory(1e10), 1e10, 1.04e10), "A"),
        (launched(memory(1e10), 1e10, 1.3e10), "B"),
        (launched(memory(1e10), 1e10, 2e10), "C"),
        (launched(memory(1e10, level="L3"), 1e10, 1.3e10), "B"),
        (replace(compute(1e10), caveats=("MONO",)), "C"),
    ],
)
def test_launches_that_lie_apart_cost_more_where_nothing_is_shared(ceiling: Ceiling, letter: str) -> None:
    grade = grade_of(run_of(ceiling))
    assert grade.letter == letter
    assert bool(grade.reasons) == (letter != "A")


def test_the_gravest_reason_comes_first_and_none_is_lost() -> None:
    caveats = (Caveat(code="VM", message=""), Caveat(code="UNPINNED", message=""))
    grade = grade_of(run_of(caveats=caveats, complete=False))
    assert [reason.split(":")[0] for reason in grade.reasons] == [
        "caveat UNPINNED",
        "the run is incomplete (reason unknown)",
        "caveat VM",
    ]
