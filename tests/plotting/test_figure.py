from __future__ import annotations

import dataclasses
from math import log10

import pytest
from ceilings_of import launch
from lettering_of import overlapping, texts, written_on
from matplotlib.figure import Figure
from matplotlib.text import Text
from msgspec.structs import replace

from roofline.errors import UnknownName, UsageError
from roofline.model.ceilings import Ceilings
from roofline.model.run import Run
from roofline.plotting.figure import draw
from roofline.plotting.figure.key import key_of
from roofline.plotting.figure.points import points_of
from roofline.plotting.figure.style import OKABE_ITO
from roofline.units import byte_rate, giga


@pytest.fixture(scope="module")
def figure(run: Run) -> Figure:
    return draw(run)


def drawn(run: Run, dtype: str = "f64") -> list[str]:
    return [m.kernel for m in run.measurements if m.dtype == dtype and m.drawable and m.work.flops]


@pytest.mark.parametrize("dtype", ["f64", "f32"])
def test_no_two_texts_overlap_and_none_leaves_the_page(run: Run, dtype: str) -> None:
    written = written_on(page := draw(run, dtype=dtype))
    assert len(written) > 300
    assert overlapping(written) == []
    for text in written:
        assert text.corners.min() >= 0, text
        assert text.corners[:, 0].max() <= page.bbox.width, text


def test_no_number_and_no_label_of_a_roof_hides_a_marker(figure: Figure) -> None:
    written = [text for text in written_on(figure) if text.gid in ("number", "memory roof", "compute roof")]
    for axes in figure.axes[::2]:
        markers = [line for line in axes.lines if line.get_gid() == "kernel"]
        for marker in markers:
            centre = axes.transData.transform(marker.get_xydata()[0])
            assert not [text.text for text in written if text.holds(centre)]


def test_every_ceiling_is_labelled_with_its_name_and_value(run: Run, figure: Figure) -> None:
    memory, compute = texts(figure, "memory roof"), " ".join(texts(figure, "compute roof"))
    assert len(memory) == 8
    for threads in (1, 2):
        for level in ("L1", "L2", "L3", "DRAM"):
            best = run.ceilings.best_memory(level, threads)
            assert best is not None
            assert f"{level} {best.pattern} {byte_rate(best.byte_per_s)}" in memory
        for isa in ("scalar", "sse2", "avx2", "avx512"):
            roof = run.ceilings.best_compute("f64", threads, isa)
            assert roof is not None
            assert f"{isa} fma {giga(roof.flop_per_s)}" in compute


def test_every_ridge_is_marked(figure: Figure) -> None:
    assert sum(line.get_gid() == "ridge" for axes in figure.axes for line in axes.lines) == 8


def test_every_marker_has_a_bar_at_the_roof_of_its_own_pattern(run: Run, figure: Figure) -> None:
    bars = sorted(line.get_ydata()[0] for axes in figure.axes for line in axes.lines if line.get_gid() == "own roof")
    shown = [m for m in run.measurements if m.drawable and m.work.flops and m.dtype == "f64"]
    roofs = sorted(run.derived(measurement).roof_flop_per_s for measurement in shown)
    assert bars == pytest.approx(roofs)


def test_the_key_has_one_entry_for_each_drawn_kernel(run: Run, figure: Figure) -> None:
    assert texts(figure, "key entry: kernel") == drawn(run)
    for column in ("n", "GFLOP/s", "flop/B", "roof", "bound"):
        assert len(texts(figure, f"key entry: {column}")) == len(drawn(run)), column


def test_a_long_key_has_two_columns_that_break_between_families(run: Run) -> None:
    point = points_of(run, "f64", [1])[1][0]
    families = ["a"] * 7 + ["b"] * 3 + ["c"] * 5
    named = [replace(point.measurement, kernel=f"{family}.{k}") for k, family in enumerate(families)]
    key = key_of(run, [dataclasses.replace(point, number=k, measurement=m) for k, m in enumerate(named)])
    left, right = key.columns()
    assert [row.measurement.kernel for column in (left, right) for row, _ in column.rows] == [m.kernel for m in named]
    assert {row.family for row, _ in left.rows} == {"a"}
    assert key.height_px == right.column_px < key.column_px
    short = key_of(run, [point])
    assert short.columns() == (short,)


def test_markers_and_key_carry_the_same_numbers(figure: Figure) -> None:
    assert sorted(texts(figure, "number"), key=int) == sorted(texts(figure, "key entry: "), key=int)


def test_one_kernel_in_one_level_has_the_same_number_in_both_panels(figure: Figure) -> None:
    columns = [texts(figure, f"key entry: {column}") for column in ("", "kernel", "in")]
    numbers = {(kernel, level): number for number, kernel, level in zip(*columns, strict=True)}
    assert sorted(map(int, numbers.values())) == list(range(1, len(set(columns[0])) + 1))


def test_what_is_not_drawn_is_named_with_its_reason(figure: Figure) -> None:
    page = " ".join(texts(figure, "page text"))
    assert "Not drawn, 1 thread: stream.copy (no flops), stream.scale L1 (invalid: TOO_SHORT)" in page
    assert "stream.triad L2 (above_roof: SMALLER_LEVEL)" in page


def test_machine_run_versions_and_caveats_are_on_the_page(run: Run, figure: Figure) -> None:
    page = " ".join(texts(figure, "page text"))
    for fact in ("AMD EPYC (zen4)", run.id, run.started_utc, "Numba 0.68.1", "f64, 1 thread", "f64, 2 threads"):
        assert fact in page
    for caveat in run.caveats:
        assert f"{caveat.code}: {caveat.message}" in page


def test_a_roof_that_is_to_be_doubted_is_named_at_the_foot(run: Run) -> None:
    compute = tuple(replace(ceiling, caveats=("CORES",)) for ceiling in run.ceilings.compute)
    figure = draw(replace(run, ceilings=replace(run.ceilings, compute=compute)))
    text = " ".join(shown.text for shown in written_on(figure))
    assert "Roofs to doubt" in text
    assert "avx2 fma f64 ×2 (CORES)" in text


def test_a_run_that_is_not_complete_says_so(run: Run) -> None:
    page = draw(replace(run, complete=False, reason="SIGINT", measurements=()), threads=1)
    assert "INCOMPLETE: SIGINT" in " ".join(texts(page, "page text"))


def test_nothing_written_is_smaller_than_nine_pixels(figure: Figure) -> None:
    sizes = {text.get_fontsize() for text in figure.findobj(Text)}
    assert min(sizes) * figure.dpi / 72 >= 9


def test_levels_differ_in_colour_families_in_shape_and_degraded_ones_are_hollow(run: Run, figure: Figure) -> None:
    markers = [line for axes in figure.axes for line in axes.lines if line.get_gid() == "kernel"]
    assert {line.get_marker() for line in markers} == {"o", "s", "^", "D"}
    edges = {line.get_markerfacecolor() for line in markers} - {"white"}
    assert edges == set(OKABE_ITO[:4])
    hollow = [line for line in markers if line.get_markerfacecolor() == "white"]
    assert len(hollow) == 2 * sum(m.status == "degraded" for m in run.measurements)  # in the panel and in the key


def test_decades_are_equal_in_both_directions(figure: Figure) -> None:
    for axes in figure.axes[::2]:
        box = axes.get_window_extent()
        (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
        assert box.width / box.height == pytest.approx(log10(right / left) / log10(top / bottom), rel=1e-6)


def test_one_panel_for_one_thread_count(run: Run) -> None:
    assert texts(draw(run, threads=2), "key entry: kernel") == [
        m.kernel for m in run.measurements if (m.dtype, m.threads) == ("f64", 2) and m.work.flops
    ]


@pytest.mark.parametrize(
    "part",
    [
        {"ceilings": "compute"},
        {"ceilings": "memory"},
        {"ceilings": "DRAM"},
        {"ceilings": "none"},
        {"measurements": ()},
    ],
)
def test_a_run_with_only_a_part_is_drawn_without_overlaps(run: Run, part: dict[str, object]) -> None:
    ceilings = {
        "compute": Ceilings(compute=run.ceilings.compute),
        "memory": Ceilings(memory=run.ceilings.memory),
        "DRAM": Ceilings(
            compute=run.ceilings.compute, memory=tuple(c for c in run.ceilings.memory if c.level == "DRAM")
        ),
        "none": Ceilings(),
    }.get(str(part.get("ceilings")), run.ceilings)
    some = replace(run, ceilings=ceilings, measurements=part.get("measurements", run.measurements))
    assert overlapping(written_on(draw(some, threads=1))) == []


def test_an_empty_run_is_refused_with_what_to_do(run: Run) -> None:
    with pytest.raises(UsageError, match="nothing to draw; `show` lists"):
        draw(replace(run, ceilings=Ceilings(), measurements=()))


def test_an_unknown_dtype_or_thread_count_is_refused_with_what_there_is(run: Run) -> None:
    with pytest.raises(UnknownName, match=r"unknown dtype 'f16'.*known: f32, f64"):
        draw(run, dtype="f16")
    with pytest.raises(UsageError, match="nothing of 7 threads, only of 1, 2"):
        draw(run, threads=7)


def test_a_sustained_roof_is_drawn_and_named_only_where_it_lies_below_the_burst(run: Run, figure: Figure) -> None:
    assert [line for axes in figure.axes for line in axes.lines if line.get_gid() == "sustained"] == []
    slow = tuple(
        replace(ceiling, launches=(launch(ceiling.byte_per_s, 0.8 * ceiling.byte_per_s, 0.8 * ceiling.byte_per_s),))
        if ceiling.level == "DRAM"
        else ceiling
        for ceiling in run.ceilings.memory
    )
    bursting = draw(replace(run, ceilings=replace(run.ceilings, memory=slow)))
    dashed = [line for axes in bursting.axes for line in axes.lines if line.get_gid() == "sustained"]
    assert len(dashed) == 2
    assert any(text.text.startswith("Dashed: sustained") for text in written_on(bursting))


def test_the_grade_stands_on_the_figure(figure: Figure) -> None:
    assert any(text.text.startswith("Grade ") for text in written_on(figure))
