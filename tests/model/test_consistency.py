"""Ceilings that contradict each other."""

from __future__ import annotations

import pytest
from ceilings_of import compute, memory
from msgspec.structs import replace

from roofline.model.ceilings import Ceiling, Ceilings
from roofline.model.consistency import doubted, doubts

PRIVATE = ("L1", "L2")
KNOWN = Ceilings(
    compute=(compute(10.0, isa="scalar"),),
    memory=(memory(100.0, level="L1"), memory(100.0, level="L3"), memory(60.0, level="L2", pattern="copy")),
)


@pytest.mark.canary("MONO")
@pytest.mark.parametrize(
    "ceiling",
    [
        compute(10.0, isa="scalar", threads=2),
        compute(9.0),
        memory(100.0, level="L1", threads=2),
        memory(90.0, level="L2"),
        memory(50.0, level="L1", pattern="copy"),
    ],
    ids=["two cores as slow as one", "wide slower than narrow", "two L1 as slow as one", "L2 below L3", "L1 below L2"],
)
def test_a_ceiling_that_contradicts_the_others_is_doubted(ceiling: Ceiling) -> None:
    assert doubts(ceiling, KNOWN, PRIVATE) == ("MONO",)


@pytest.mark.twin("MONO")
@pytest.mark.parametrize(
    "ceiling",
    [
        compute(18.5, isa="scalar", threads=2),
        compute(9.9),
        memory(190.0, level="L1", threads=2),
        memory(97.0, level="L2"),
        memory(50.0, level="L3", threads=2),
        memory(90.0, level="L2", isa="scalar"),
        memory(90.0, level="L2", threads=2),
        compute(1.0, dtype="f32"),
    ],
)
def test_a_ceiling_that_fits_the_others_is_believed(ceiling: Ceiling) -> None:
    assert doubts(ceiling, KNOWN, PRIVATE) == ()


@pytest.mark.parametrize(("clock_hz", "codes"), [(3.01e9, ()), (2.7e9, ("CLOCK",)), (3.4e9, ("CLOCK",))])
@pytest.mark.canary("CLOCK")
@pytest.mark.twin("CLOCK")
def test_a_clock_that_others_of_its_isa_and_threads_did_not_hold_is_doubted(
    clock_hz: float, codes: tuple[str, ...]
) -> None:
    known = Ceilings(compute=(compute(100e9), compute(90e9, dtype="f32"), compute(100e9, isa="avx512")))
    one = replace(compute(100e9, dtype="f32"), op="add", clock_hz=clock_hz)
    assert doubts(one, known, []) == codes
    assert doubts(replace(one, threads=2), known, []) == ()  # more threads may well hold a lower clock


def test_doubts_are_judged_anew_beside_all_ceilings_whatever_order_they_came_in() -> None:
    wide, narrow = replace(compute(9.0, isa="avx2"), caveats=("NO_FLAT_TOP",)), compute(10.0, isa="scalar")
    early = Ceilings(compute=(wide, narrow))
    assert [ceiling.caveats for ceiling in doubted(early, PRIVATE).compute] == [("NO_FLAT_TOP", "MONO"), ()]
    mended = Ceilings(compute=(replace(wide, flop_per_s=20.0, caveats=("MONO",)), narrow))
    assert [ceiling.caveats for ceiling in doubted(mended, PRIVATE).compute] == [(), ()]
