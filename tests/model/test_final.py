"""What only the whole run tells."""

from __future__ import annotations

from typing import Any

import pytest
from ceilings_of import CLOCK_HZ, compute, launch, memory
from msgspec.structs import replace
from sample_host import sample_environment, sample_machine

from roofline.model.ceilings import Ceiling, Ceilings
from roofline.model.evidence import Evidence
from roofline.model.final import pinned_cpus, rejudged
from roofline.model.measurement import Measurement
from roofline.model.run import Caveat, Level, Run
from roofline.model.work import Work


def run_of(*ceilings: Ceiling, **changes: Any) -> Run:
    """Return a run with these ceilings."""
    found = Ceilings()
    for ceiling in ceilings:
        found = found.with_ceiling(ceiling)
    start = Run(
        id="20261201-120000-abcd",
        started_utc="2026-12-01T12:00:00Z",
        machine=sample_machine(),
        environment=sample_environment(),
        levels=(Level(name="L1"), Level(name="DRAM")),
        ceilings=found,
    )
    return replace(start, **changes)


def codes(run: Run) -> list[str]:
    return [caveat.code for caveat in rejudged(run).caveats]


@pytest.mark.canary("STREAMW")
@pytest.mark.parametrize(("pattern", "share"), [("copy", 0.76), ("copy", 1.0), ("triad", 0.85)])
def test_stores_that_skip_the_fetch_of_their_lines_are_told_of(pattern: str, share: float) -> None:
    run = run_of(memory(1e10, pattern=f"nt_{pattern}"), memory(share * 1e10, pattern=pattern))
    assert codes(run) == ["STREAMW"]
    assert f"reaches {share:.2f} of its nt_ form" in rejudged(run).caveats[0].message


@pytest.mark.twin("STREAMW")
@pytest.mark.parametrize(("pattern", "share"), [("copy", 0.67), ("copy", 0.5), ("triad", 0.75), ("store", 1.0)])
def test_stores_that_fetch_their_lines_are_as_expected(pattern: str, share: float) -> None:
    assert codes(run_of(memory(1e10, pattern=f"nt_{pattern}"), memory(share * 1e10, pattern=pattern))) == []
    assert codes(run_of(memory(share * 1e10, pattern=pattern))) == []
    assert codes(run_of(memory(1e10, level="L1", pattern="copy"), memory(1e10, level="L1", pattern="nt_copy"))) == []


def falling(fall: float) -> list[Ceiling]:
    """Return ceilings measured one after the other under a clock that falls by this share in all, shuffled."""
    found: list[Ceiling] = []
    for place, op in enumerate(("e", "b", "h", "a", "f", "c", "g", "d", "i", "j")):
        started_s = float(ord(op))
        clock_hz = CLOCK_HZ * (1 - fall * (ord(op) - ord("a")) / 9)
        one = replace(launch(1e9), clock_samples_hz=(clock_hz,) * 6, evidence=Evidence(started_s=started_s))
        found.append(replace(compute(1e9 + place), op=op, launches=(one,)))
    return found


def test_a_clock_that_falls_in_the_order_of_measurement_is_told_of() -> None:
    assert codes(run_of(*falling(0.1))) == ["TURBO"]
    assert codes(run_of(*falling(0.01))) == []
    assert codes(run_of(*falling(-0.1))) == []


def test_what_was_told_of_the_whole_is_told_once_and_the_rest_is_kept() -> None:
    run = run_of(*falling(0.1), caveats=(Caveat(code="VM", message="m"),))
    assert codes(rejudged(rejudged(run))) == ["VM", "TURBO"]


def test_a_kernel_is_judged_under_the_ceilings_as_they_ended() -> None:
    early = Measurement(
        kernel="a.b",
        n=1,
        dtype="f64",
        threads=1,
        work=Work(flops=10**9, read_bytes=8, write_bytes=0),
        level="L1",
        repeats=1,
        samples_s=(0.01,) * 8,
        vector_register="ymm",
        status="above_roof",
        status_codes=("ROOF_TOO_LOW",),
    )
    run = run_of(compute(2e11), measurements=(early,))
    assert rejudged(run).measurements[0].status == "ok"
    assert rejudged(run_of(compute(5e10), measurements=(replace(early, status="ok"),))).measurements[0].status == (
        "above_roof"
    )


def test_threads_that_could_not_be_pinned_have_no_cpus() -> None:
    run = run_of(plan={"cpus": [2, 3]})
    assert pinned_cpus(run) == (2, 3)
    assert pinned_cpus(replace(run, caveats=(Caveat(code="UNPINNED", message=""),))) == ()
    assert pinned_cpus(replace(run, plan={"cpus": "all"})) == pinned_cpus(replace(run, plan={"cpus": [True]})) == ()
