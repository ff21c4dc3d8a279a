"""The picture of a ladder: every rung named once, nothing across another, the roofs with their values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from ladder_run import ladder_run, rung
from lettering_of import overlapping, texts, written_on
from matplotlib.figure import Figure
from msgspec.structs import replace

from roofline.archive.store import load
from roofline.model.ceilings import Ceilings
from roofline.model.ladder import ladders_of
from roofline.model.run import Run
from roofline.plotting.figure import draw_ladders

FAMILIES = ("gemm", "attention", "quantised", "reduction")


@pytest.fixture(scope="module")
def climbed() -> Run:
    return ladder_run()


@pytest.fixture(scope="module")
def figures(climbed: Run) -> dict[str, Figure]:
    return {family: draw_ladders(climbed, ladders_of(climbed, family)) for family in FAMILIES}


@pytest.mark.parametrize("family", FAMILIES)
def test_no_two_texts_overlap_and_none_leaves_the_page(figures: dict[str, Figure], family: str) -> None:
    page = figures[family]
    written = written_on(page)
    assert overlapping(written) == []
    for text in written:
        assert text.corners.min() >= 0, text
        assert text.corners[:, 0].max() <= page.bbox.width, text


@pytest.mark.parametrize("family", FAMILIES)
def test_no_text_hides_a_marker(figures: dict[str, Figure], family: str) -> None:
    page = figures[family]
    written = [text for text in written_on(page) if text.gid in ("rung name", "memory roof", "compute roof")]
    for axes in page.axes[::2]:
        for marker in (line for line in axes.lines if line.get_gid() == "rung"):
            centre = axes.transData.transform(np.asarray(marker.get_xydata())[0])
            assert not [text.text for text in written if text.holds(centre)]


def test_every_rung_has_its_name_and_the_factor_of_its_step(figures: dict[str, Figure]) -> None:
    names = [
        "naive", "interchanged  ×7.6", "blocked  ×1.22", "packed  ×1.25", "register  ×1.75",
        "parallel, 2 threads  ×1.98",
    ]  # fmt: skip
    assert texts(figures["gemm"], "rung name") == [*names, "blas", "blas, 2 threads"]
    beside = ["blas  0.88 of register", "blas, 2 threads  0.84 of parallel"]
    assert texts(figures["gemm"], "story name") == [*names, *beside]


@pytest.mark.parametrize(("family", "dtype"), [("gemm", None), ("gemm", "f32"), ("gemv", None)])
def test_no_two_texts_overlap_on_the_ladder_of_a_run_that_was_measured(family: str, dtype: str | None) -> None:
    path = max((Path(__file__).parents[2] / "results").glob("*/*.json"))
    measured = load(path)
    assert overlapping(written_on(draw_ladders(measured, ladders_of(measured, family, dtype=dtype)))) == []


def test_the_path_has_an_arrow_for_each_step_and_diamonds_stand_beside_it(figures: dict[str, Figure]) -> None:
    axes = figures["gemm"].axes[0]
    assert sum(text.get_gid() == "step" for text in axes.texts) == 5
    assert [line.get_marker() for line in axes.lines if line.get_gid() == "rung"] == ["o"] * 6 + ["D"] * 2


def test_the_roofs_of_one_and_of_all_threads_carry_name_and_value(figures: dict[str, Figure]) -> None:
    assert sorted(texts(figures["gemm"], "compute roof")) == [
        "avx512 fma 116 GFLOP/s, 2 threads",
        "avx512 · avx2 fma 58.6 GFLOP/s, 1 thread",
        "scalar fma 14.6 GFLOP/s, 1 thread",
        "sse2 fma 29.3 GFLOP/s, 1 thread",
    ]


def test_the_roofs_of_two_dtypes_differ_in_style_and_name(figures: dict[str, Figure]) -> None:
    page = figures["quantised"]
    assert {"avx512 dot 469 GOP/s, i8", "avx512 · avx2 fma 117 GFLOP/s, f32"} < set(texts(page, "compute roof"))
    roofs = [line for line in page.axes[0].lines if line.get_gid() == "roof"]
    assert {line.get_linestyle() for line in roofs} == {"-", "--"}
    assert page.axes[0].get_ylabel() == "10⁹ operations/s"
    assert "op/B" in page.axes[0].get_xlabel() and "flop/B" not in page.axes[0].get_xlabel()


def test_a_rung_is_drawn_at_the_intensity_of_its_own_traffic(climbed: Run, figures: dict[str, Figure]) -> None:
    naive, flash = (line for line in figures["attention"].axes[0].lines if line.get_gid() == "rung")
    own = [m.own_work or m.work for m in climbed.measurements if m.kernel.startswith("attention.")]
    drawn = [float(np.asarray(line.get_xdata())[0]) for line in (naive, flash)]
    assert drawn == pytest.approx([work.flop_per_byte for work in own])


def test_a_memory_roof_ends_at_its_ridge(climbed: Run, figures: dict[str, Figure]) -> None:
    peak = climbed.ceilings.best_compute("f64", 1)
    assert peak is not None
    slanted = [
        line for line in figures["reduction"].axes[0].lines
        if line.get_gid() == "roof" and np.ptp(np.asarray(line.get_ydata(), float)) > 0
    ]  # fmt: skip
    assert [max(np.asarray(line.get_ydata(), float)) for line in slanted] == pytest.approx([peak.flop_per_s])


@pytest.mark.parametrize(("n", "slowest"), [(24, 2e9), (360, 2e9), (760, 3e8), (1200, 3e8), (2000, 2e9)])
def test_no_label_leaves_its_panel(climbed: Run, n: int, slowest: float) -> None:
    rungs = (rung("gemm.naive", slowest, n=n), rung("gemm.better", 50e9, improves="gemm.naive", n=n))
    run = replace(climbed, measurements=rungs)
    page = draw_ladders(run, ladders_of(run, "gemm"))
    written = written_on(page)
    assert overlapping(written) == []
    panel = page.axes[0].get_window_extent()
    for text in (text for text in written if text.gid in ("memory roof", "compute roof", "rung name")):
        assert panel.x0 <= text.corners[:, 0].min() and text.corners[:, 0].max() <= panel.x1, text.text
        assert panel.y0 <= text.corners[:, 1].min() and text.corners[:, 1].max() <= panel.y1, text.text


def test_each_ladder_of_a_family_has_a_panel_with_its_words(figures: dict[str, Figure]) -> None:
    page = figures["reduction"]
    assert len(page.axes) == 4
    headings = [text for text in texts(page, "page text") if "and better" in text]
    assert headings == ["reduction.dot_1 and better: f64, n = 4096", "reduction.sum_1 and better: f64, n = 4096"]
    assert "4 times the flops" in " ".join(texts(page, "story"))


def test_machine_run_caveats_and_who_is_missing_are_on_the_page(climbed: Run) -> None:
    page = " ".join(texts(draw_ladders(climbed, ladders_of(climbed, "gemm", size=2000)), "page text"))
    for fact in (
        "AMD EPYC (zen4)",
        climbed.id,
        climbed.started_utc,
        "VM: virtual machine",
        "gemm.naive and better",
        "Grade ",
    ):
        assert fact in page
    assert "Not on these paths, for want of a number that can be drawn: gemm.naive" in page


def test_a_ladder_without_ceilings_with_hostile_names_and_one_rate_is_drawn(climbed: Run) -> None:
    rungs = (rung("a.$x^2$", 1e9), *(rung(f"a.{'y' * 300}{k}", 1e9, improves="a.$x^2$") for k in range(9)))
    run = replace(climbed, ceilings=Ceilings(), measurements=rungs)
    page = draw_ladders(run, ladders_of(run, "a"))
    assert overlapping(written_on(page)) == []
    assert len(texts(page, "rung name")) == 10
