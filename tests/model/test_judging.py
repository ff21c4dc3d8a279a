"""What evidence says, on values alone: every rule with the defect and without it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from roofline.model.evidence import DataEvidence, Evidence
from roofline.model.judging import Circumstances, Verdict, aliases, is_too_short, notes_on, verdict_of

FACTS = Circumstances(samples=10, threads=2, cpus=(0, 1), sample_bytes=4096 * 1000)
QUIET: dict[str, Any] = {
    "interval_s": 1.0,
    "minor_faults": 3,
    "major_faults": 0,
    "involuntary_switches": 4,
    "stolen_s": 0.0,
    "others_s": 0.02,
    "throttled_s": 0.0,
    "suspended_s": 0.0,
    "collections": 0,
    "compilations": 0,
    "cpus": (0, 1),
    "doubled": 2.0,
}
SOUND: dict[str, Any] = {"lines": 1000, "resident_share": 1.0, "offsets_bytes": (0, 1088, 2176), "written_arrays": 1}


def verdict(data: dict[str, Any] | None = None, **process: Any) -> Verdict:
    """Return the verdict on quiet evidence of sound data, but for some changes."""
    return verdict_of(Evidence(**{**QUIET, **process}, data=DataEvidence(**{**SOUND, **(data or {})})), FACTS)


@pytest.mark.twin(
    "HOIST", "SEEN", "THROTTLE", "FAULT", "STEAL", "BUSY", "CLOCKBACK", "GC", "JIT", "UNPINNED", "OVERSUB"
)
@pytest.mark.twin("DENORM", "NONFINITE", "ZERODATA", "ZEROPAGE", "ALIAS4K")
def test_quiet_evidence_of_sound_data_accuses_nobody() -> None:
    assert verdict() == Verdict()


@pytest.mark.canary("HOIST", "SEEN")
@pytest.mark.twin("HOIST", "SEEN")
@pytest.mark.parametrize(
    ("threads", "unseen", "found"),
    [
        (1, 1.2, Verdict()),
        (1, 1.3, Verdict(degraded=("SEEN",))),
        (1, 1.6, Verdict(invalid=("HOIST",))),
        (2, 1.6, Verdict(degraded=("SEEN",))),
        (2, 2.1, Verdict(invalid=("HOIST",))),
    ],
)
def test_calls_that_are_late_on_new_data_are_doubted_then_refused(threads: int, unseen: float, found: Verdict) -> None:
    assert verdict_of(Evidence(unseen=unseen), replace(FACTS, threads=threads)) == found


def test_what_is_unknown_accuses_nobody() -> None:
    assert verdict_of(None, FACTS) == verdict_of(Evidence(), FACTS) == Verdict()
    assert verdict_of(Evidence(data=DataEvidence()), FACTS) == Verdict()


@pytest.mark.canary("HOIST", "THROTTLE", "FAULT", "DENORM", "NONFINITE", "ZERODATA", "ZEROPAGE")
@pytest.mark.parametrize(
    ("code", "process", "data"),
    [
        ("HOIST", {"doubled": 1.02}, {}),
        ("HOIST", {"wiped": 2.1}, {}),
        ("HOIST", {"unseen": 2.1}, {}),
        ("THROTTLE", {"throttled_s": 0.0007}, {}),
        ("FAULT", {"minor_faults": 10 * 1000}, {}),
        ("FAULT", {"major_faults": 10 * 1000}, {}),
        ("DENORM", {}, {"subnormals": 1}),
        ("NONFINITE", {}, {"nonfinite": 1}),
        ("ZERODATA", {}, {"repeated_lines": 1000}),
        ("ZERODATA", {}, {"repeated_lines": 20}),
        ("ZEROPAGE", {}, {"resident_share": 0.0}),
        ("ZEROPAGE", {}, {"resident_share": 0.98}),
    ],
)
def test_a_number_that_is_not_what_it_claims_is_invalid(
    code: str, process: dict[str, Any], data: dict[str, Any]
) -> None:
    assert verdict(data, **process) == Verdict(invalid=(code,))


@pytest.mark.canary("FAULT", "STEAL", "BUSY", "CLOCKBACK", "GC", "JIT", "UNPINNED", "OVERSUB", "ALIAS4K", "SEEN")
@pytest.mark.parametrize(
    ("code", "process", "data"),
    [
        ("FAULT", {"minor_faults": 90}, {}),
        ("STEAL", {"stolen_s": 0.04}, {}),
        ("BUSY", {"others_s": 0.2}, {}),
        ("CLOCKBACK", {"clock_steps_back": 1}, {}),
        ("CLOCKBACK", {"suspended_s": 60.0}, {}),
        ("GC", {"collections": 1}, {}),
        ("JIT", {"compilations": 1}, {}),
        ("UNPINNED", {"cpus": (0, 0)}, {}),
        ("OVERSUB", {"runnable": 9, "runnable_cpus": 2}, {}),
        ("ALIAS4K", {}, {"offsets_bytes": (0, 64)}),
        ("SEEN", {"unseen": 1.3}, {}),
    ],
)
def test_a_number_with_a_doubt_is_degraded(code: str, process: dict[str, Any], data: dict[str, Any]) -> None:
    assert verdict(data, **process) == Verdict(degraded=(code,))


@pytest.mark.parametrize(
    "process",
    [
        {"stolen_s": 0.02},  # two ticks of the books may be rounding
        {"interval_s": 0.05, "others_s": 0.03},
        {"doubled": 1.9},
        {"wiped": 1.9},
        {"unseen": 1.2},
        {"doubled": 3.5},  # an interrupt in the longer one
        {"suspended_s": 1e-4},
        {"runnable": 2, "runnable_cpus": 2},
    ],
)
def test_what_an_interrupt_or_a_tick_can_do_accuses_nobody(process: dict[str, Any]) -> None:
    assert verdict(**process) == Verdict()


def test_few_cache_lines_say_nothing_of_the_data() -> None:
    assert verdict({"lines": 8, "repeated_lines": 8}) == Verdict()


@pytest.mark.parametrize(
    ("offsets", "written", "alias"),
    [
        ((0, 0), 1, False),
        ((0, 64), 1, True),
        ((0, 255), 1, True),
        ((0, 256), 1, False),
        ((64, 0), 1, False),  # the store lies before the load, which is past it already
        ((4000, 100), 1, True),  # across the end of the page
        ((0, 64), 0, False),
        ((0, 1088, 2176), 1, False),
        ((2112, 64, 2176), 1, True),
        ((0, 64, 2048, 2112), 2, False),
        ((), 0, False),
    ],
)
def test_a_store_shortly_behind_a_load_in_its_page_aliases(offsets: tuple[int, ...], written: int, alias: bool) -> None:
    assert aliases(offsets, written) is alias


@pytest.mark.parametrize(
    ("interval_s", "resolution_s", "overhead_s", "short"),
    [
        (2e-3, 1e-9, 3e-8, False),
        (0.9e-3, 1e-9, 3e-8, True),
        (2e-3, 1e-5, 3e-8, True),
        (2e-3, 1e-9, 1e-4, True),
        (20.0, 15.6e-3, 0.0, False),
        (float("nan"), 1e-9, 1e-8, True),
    ],
)
def test_an_interval_is_a_thousand_ticks_long(
    interval_s: float, resolution_s: float, overhead_s: float, short: bool
) -> None:
    assert is_too_short(interval_s, resolution_s, overhead_s) is short


@pytest.mark.canary("FIRSTTOUCH")
@pytest.mark.twin("FIRSTTOUCH")
@pytest.mark.parametrize(
    ("pages", "threads", "codes"),
    [
        ({"0": 1.0}, {"0": 0.5, "1": 0.5}, ("FIRSTTOUCH",)),
        ({"1": 1.0}, {"0": 1.0}, ("FIRSTTOUCH",)),
        ({"0": 0.5, "1": 0.5}, {"0": 0.5, "1": 0.5}, ()),
        ({"0": 0.55, "1": 0.45}, {"0": 0.5, "1": 0.5}, ()),
        ({"0": 1.0}, {"0": 1.0}, ()),
        ({}, {"0": 0.5, "1": 0.5}, ()),
    ],
)
def test_pages_far_from_the_threads_that_use_them_are_told_of(
    pages: dict[str, float], threads: dict[str, float], codes: tuple[str, ...]
) -> None:
    assert verdict({"node_shares": pages, "thread_shares": threads}).degraded == codes


@pytest.mark.canary("SETCONF")
@pytest.mark.twin("SETCONF")
@pytest.mark.parametrize(
    ("rows", "codes"), [((4096,), ("SETCONF",)), ((8 * 513,), ()), ((8 * 512, 64), ("SETCONF",)), ((), ()), ((0,), ())]
)
def test_rows_that_fall_into_the_same_sets_are_noted(rows: tuple[int, ...], codes: tuple[str, ...]) -> None:
    assert notes_on(DataEvidence(row_bytes=rows)) == codes
    assert notes_on(None) == ()
