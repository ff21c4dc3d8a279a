"""Two runs beside each other."""

from __future__ import annotations

import csv
import json
from io import StringIO
from typing import Any

import pytest
from hostile import TEXTS
from msgspec.structs import replace
from two_runs import two_runs

from roofline.compare.comparison import Comparison, compared
from roofline.compare.record import document_of, to_csv
from roofline.errors import NotComparable, NothingMeasured, UnknownName, UsageError
from roofline.model.run import Run

BEFORE, AFTER = two_runs(1, time=0.5)


def of(run: Run, *changes: dict[str, Any]) -> Run:
    """Return the run with its only measurement once for each of the changes to it."""
    return replace(run, measurements=tuple(replace(run.measurements[0], **fields) for fields in changes))


def rows(comparison: Comparison) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(to_csv(comparison))))


def test_every_common_point_gets_a_verdict_and_the_others_are_named() -> None:
    found = compared(of(BEFORE, {}, {"kernel": "a.old"}), of(AFTER, {"kernel": "a.new"}, {}))
    (point,) = found.points
    assert point.change.verdict == "faster"
    assert found.counts == {"faster": 1, "slower": 0, "same": 0, "inconclusive": 0}
    assert found.changed == found.points
    assert [m.kernel for m in (*found.only_before, *found.only_after)] == ["a.old", "a.new"]


def test_kernels_are_chosen_by_name_family_or_pattern() -> None:
    before, after = (of(run, {}, {"kernel": "gemv.blas"}, {"kernel": "conv.naive"}) for run in (BEFORE, AFTER))

    def chosen(*patterns: str) -> list[str]:
        return [point.before.kernel for point in compared(before, after, patterns=patterns).points]

    assert chosen() == ["gemm.naive", "gemv.blas", "conv.naive"]
    assert chosen("gemv") == ["gemv.blas"]
    assert chosen("*.naive") == ["gemm.naive", "conv.naive"]
    assert chosen("conv.naive", "gemm") == ["gemm.naive", "conv.naive"]
    with pytest.raises(UnknownName, match=r"unknown kernel 'gem'.*known: conv\.naive, gemm\.naive, gemv\.blas"):
        chosen("gem")


def test_a_run_beside_itself_is_refused_whatever_is_asked_for() -> None:
    for across in (False, True):
        with pytest.raises(UsageError, match="same run twice"):
            compared(BEFORE, replace(AFTER, id=BEFORE.id), across=across)


@pytest.mark.parametrize("empty", ["before", "after"])
def test_a_run_without_measurements_is_nothing_measured(empty: str) -> None:
    runs = {"before": BEFORE, "after": AFTER}
    runs[empty] = replace(runs[empty], measurements=())
    with pytest.raises(NothingMeasured, match=f"run {runs[empty].id} holds no kernels"):
        compared(runs["before"], runs["after"])


def test_runs_without_a_common_point_are_refused_with_the_reason() -> None:
    with pytest.raises(NotComparable, match=r"n=100 f64 ×1 before and .* n=99 f64 ×1 after; measure the same sizes"):
        compared(BEFORE, of(AFTER, {"n": 99}))
    with pytest.raises(NotComparable, match="measure the same kernels on both sides"):
        compared(BEFORE, of(AFTER, {"kernel": "a.b"}))


def test_other_work_is_refused_for_all_points_at_once_and_compared_across() -> None:
    work = replace(AFTER.measurements[0].work, flops=5)
    after = of(AFTER, {"work": work}, {"kernel": "a.b"})
    before = of(BEFORE, {}, {"kernel": "a.b"})
    with pytest.raises(
        NotComparable, match=r"declared work differs: gemm\.naive n=100 f64 ×1 2000000 and 5 flops; leave"
    ):
        compared(before, after)
    assert len(compared(before, after, patterns=["a.b"]).points) == 1
    assert len(compared(before, after, across=True).points) == 2


def test_other_machines_are_compared_across_and_the_remarks_say_what_differs() -> None:
    elsewhere = replace(AFTER, machine=replace(AFTER.machine, cores=64))
    with pytest.raises(NotComparable):
        compared(BEFORE, elsewhere)
    found = compared(BEFORE, elsewhere, across=True)
    assert found.points[0].change.basis == "percent of roof"
    assert found.points[0].change.time is None
    assert (
        "percent of the machine's roof is judged, never time; what differs: machine.cores: 2 and 64" in found.remarks[0]
    )


def test_the_remarks_tell_what_makes_the_runs_doubtful() -> None:
    broken = replace(AFTER, complete=False, reason="SIGINT", ceilings=type(AFTER.ceilings)())
    few = {"samples_s": (1.0,) * 3, "roof_samples": ()}
    remarks = " | ".join(compared(broken, of(BEFORE, few)).remarks)
    assert f"BEFORE {AFTER.id} is incomplete: SIGINT" in remarks
    assert f"BEFORE {AFTER.id} has grade D, not fit for comparison (there is no ceiling" in remarks
    assert "BEFORE was measured later" in remarks
    assert "1 points have fewer than 6 samples on a side: gemm.naive n=100 f64 ×1" in remarks
    assert not [remark for remark in compared(BEFORE, AFTER).remarks if "grade D" not in remark]


def test_the_remarks_tell_of_same_code_other_bytes_and_other_sizes() -> None:
    code = {"assembly_digest": "00112233445566ff"}
    work = replace(AFTER.measurements[0].work, read_bytes=5)
    before = of(BEFORE, code, {"kernel": "a.b", "n": 100})
    after = of(AFTER, {**code, "work": work}, {"kernel": "a.b", "n": 104})
    remarks = " | ".join(compared(before, after).remarks)
    assert "same code: any difference is noise: gemm.naive n=100 f64 ×1" in remarks
    assert "declared bytes differ, so that intensities do: gemm.naive" in remarks
    assert "1 points differ in n alone: a.b n=100 f64 ×1 and n=104" in remarks


def test_the_document_holds_both_ratios_and_which_one_the_verdict_follows() -> None:
    document = json.loads(json.dumps(document_of(compared(BEFORE, of(AFTER, {}, {"kernel": "a.new"})))))
    (point,) = document["points"]
    assert (document["before"]["id"], document["after"]["id"]) == (BEFORE.id, AFTER.id)
    assert point["basis"] == "percent of roof"
    assert point["verdict"] == "faster"
    assert point["speedup"] == point["paired"]["speedup"] != point["time"]["speedup"]
    assert point["interval"] == point["paired"]["interval"]
    assert point["before"]["median_s"] / point["after"]["median_s"] == pytest.approx(point["time"]["speedup"])
    assert document["only_after"][0]["kernel"] == "a.new"


def test_comma_separated_values_hold_each_point_once() -> None:
    first, last = rows(compared(BEFORE, of(AFTER, {}, {"kernel": "a.new"})))
    assert (first["kernel"], first["n"], first["verdict"]) == ("gemm.naive", "100", "faster")
    assert float(first["speedup"]) == pytest.approx(2, rel=0.1)
    assert float(first["interval_low"]) < float(first["speedup"]) < float(first["interval_high"])
    assert float(first["before_median_s"]) > float(first["after_median_s"])
    assert (last["kernel"], last["verdict"], last["speedup"]) == ("a.new", "only after", "")


@pytest.mark.parametrize("name", [*TEXTS, "+1", "-2", "@SUM(A1)", " =1", "\t=1", 'a,b"c', "＝1"])
def test_no_text_becomes_a_formula_or_another_line(name: str) -> None:
    before, after = (of(run, {"kernel": name}) for run in (BEFORE, AFTER))
    text = to_csv(compared(before, after))
    assert text.count("\n") == 2
    assert text.replace("\n", "").isprintable()
    (row,) = csv.DictReader(StringIO(text))
    assert not row["kernel"].lstrip().startswith(("=", "+", "-", "@", "\t", "＝"))
    if name.isprintable() and name[:1].isalnum():
        assert row["kernel"] == name
