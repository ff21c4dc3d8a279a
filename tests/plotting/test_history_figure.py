"""The picture of a history."""

from __future__ import annotations

from msgspec.structs import replace
from small_run import run_at

from roofline.compare.history import history_of
from roofline.model.run import Run
from roofline.plotting.figure.history_page import draw_history
from roofline.plotting.figure.marker import Palette


def test_a_level_has_the_colour_that_it_has_under_the_roof() -> None:
    runs = [run_at(minute) for minute in (1, 2)]
    in_l2 = [replace(run, measurements=tuple(m for m in run.measurements if m.level == "L2")) for run in runs]
    lines = [line for axes in draw_history(history_of(in_l2), "here").axes for line in axes.lines]
    drawn = {line.get_color() for line in lines if line.get_gid() == "series"}
    assert drawn == {Palette.of(runs[0]).colour("L2")}


def test_runs_of_one_day_are_told_by_their_times_and_others_by_their_days() -> None:
    early, late = run_at(1), run_at(59)
    assert _under(early, late) == {("10:01 UTC", "10:59 UTC")}
    later = replace(late, id="20261105-105900-a1b2", started_utc="2026-11-05T10:59:00Z")
    assert _under(early, later) == {("26-11-04", "26-11-05")}


def _under(*runs: Run) -> set[tuple[str, ...]]:
    panels = [axes for axes in draw_history(history_of(runs), "here").axes if len(axes.get_xticks()) == len(runs)]
    return {tuple(label.get_text() for label in axes.get_xticklabels()) for axes in panels}
