"""The picture of a comparison."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from hostile import TEXTS
from lettering_of import overlapping, texts, written_on
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from msgspec.structs import replace
from test_change_tables import after_of

from roofline.compare.comparison import Comparison, compared
from roofline.errors import UsageError
from roofline.model.run import Run
from roofline.plotting.figure import draw_changes, save_changes


@pytest.fixture(scope="module")
def comparison(run: Run) -> Comparison:
    few = replace(
        run, measurements=tuple(m for m in run.measurements if m.kernel.split(".")[0] in ("gemm", "gemv", "blas"))
    )
    return compared(few, after_of(few, gemm=0.4, gemv=1.9, blas=0.9999))


@pytest.fixture(scope="module")
def figure(comparison: Comparison) -> Figure:
    return draw_changes(comparison)


def arrows(figure: Figure, gid: str) -> list[FancyArrowPatch]:
    return [patch for patch in figure.findobj(FancyArrowPatch) if patch.get_gid() == gid]


def of_f64(comparison: Comparison) -> list[str]:
    return [p.change.verdict for p in comparison.points if p.before.dtype == "f64"]


def test_no_two_texts_overlap_and_none_leaves_the_page(figure: Figure) -> None:
    written = written_on(figure)
    assert len(written) > 100
    assert overlapping(written) == []
    assert all(text.corners.min() >= 0 and text.corners[:, 0].max() <= figure.bbox.width for text in written)


def test_every_point_has_a_hollow_and_a_filled_marker_and_a_row_in_the_key(
    figure: Figure, comparison: Comparison
) -> None:
    for axes, key in zip(figure.axes[::2], figure.axes[1::2], strict=True):
        markers = [line for line in axes.lines if line.get_gid() == "kernel"]
        hollow = [marker.get_markerfacecolor() == "white" for marker in markers]
        assert hollow == [True, False] * (len(markers) // 2)
        assert len([line for line in key.lines if line.get_gid() == "kernel"]) == len(markers) // 2
    assert len(texts(figure, "key entry: kernel")) == len(of_f64(comparison))


def test_only_what_lies_beyond_noise_has_a_solid_arrow(figure: Figure, comparison: Comparison) -> None:
    verdicts = of_f64(comparison)
    solid, dashed = arrows(figure, "moved"), arrows(figure, "moved within noise")
    assert {"faster", "slower", "inconclusive"} <= set(verdicts)
    assert len(solid) == sum(verdict in ("faster", "slower") for verdict in verdicts)
    assert all(arrow.get_linestyle() in ("-", "solid") for arrow in solid)
    wide = replace(
        comparison,
        points=tuple(replace(p, change=replace(p.change, verdict="inconclusive")) for p in comparison.points),
    )
    doubted = draw_changes(wide)
    assert arrows(doubted, "moved") == []
    assert len(arrows(doubted, "moved within noise")) == len(solid) + len(dashed)
    assert all(arrow.get_linestyle() not in ("-", "solid") for arrow in arrows(doubted, "moved within noise"))


def test_across_the_point_before_stands_at_its_percent_of_the_roof_after(run: Run) -> None:
    gemm = tuple(m for m in run.measurements if m.kernel == "gemm.blocked" and m.dtype == "f64" and m.threads == 1)
    before = replace(run, measurements=gemm)
    elsewhere = replace(after_of(before, gemm=0.5), machine=replace(run.machine, cores=8))
    slow = replace(
        elsewhere,
        measurements=tuple(
            replace(m, samples_s=tuple(9 * s for s in m.samples_s), roof_samples=tuple(r / 9 for r in m.roof_samples))
            for m in elsewhere.measurements
        ),
    )
    axes = draw_changes(compared(before, slow, across=True)).axes[0]
    hollow, filled = [line.get_xydata()[0] for line in axes.lines if line.get_gid() == "kernel"]
    assert filled[0] == hollow[0]
    assert filled[1] / hollow[1] == pytest.approx(2)


def test_the_same_comparison_gives_the_same_bytes_under_the_name_asked_for(
    comparison: Comparison, tmp_path: Path
) -> None:
    few = replace(comparison, points=comparison.points[:2])
    first = save_changes(few, tmp_path / "a-vs-b")
    second = save_changes(few, tmp_path / "other")
    assert [path.name for path in first] == ["a-vs-b.svg", "a-vs-b.png"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_hostile_names_are_drawn_literally(comparison: Comparison) -> None:
    few = [m for m in comparison.before.measurements if (m.dtype, m.drawable) == ("f64", True)]
    named = tuple(replace(m, kernel=name) for m, name in zip(few, TEXTS, strict=False))
    before = replace(comparison.before, measurements=named, label="$L$" * 30)
    hostile = compared(before, after_of(replace(before, caveats=()), gemm=0.5))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page = draw_changes(replace(hostile, remarks=("$\\frac{1}{0} \x1b[31m",)))
        assert overlapping(written_on(page)) == []
    assert len(texts(page, "key entry: kernel")) == len(named)


def test_nothing_to_draw_is_said(comparison: Comparison) -> None:
    with pytest.raises(UsageError, match="no point has flops and a sound number on both sides"):
        draw_changes(replace(comparison, points=()))
