from __future__ import annotations

from math import pi

import numpy as np
import pytest

from roofline.plotting.figure.label_places import Line, Paper

FLAT = Line((400.0, 100.0), (0.0, 100.0))


def paper(markers: list[tuple[float, float]] | None = None, lines: tuple[Line, ...] = (FLAT,)) -> Paper:
    return Paper(400.0, 300.0, markers or [], lines, [])


def test_a_label_stands_above_its_line_near_the_preferred_end() -> None:
    label = paper().place(80.0, 10.0, FLAT)
    assert label.angle == 0
    assert label.centre[1] > 105
    assert label.centre[0] > 300


def test_text_reads_from_left_to_right_whichever_end_is_preferred() -> None:
    up = Line((0.0, 0.0), (100.0, 100.0))
    assert up.angle == Line(up.end, up.start).angle == pytest.approx(pi / 4)


def test_a_label_moves_away_from_a_marker() -> None:
    free = paper().place(80.0, 10.0, FLAT)
    moved = paper(markers=[free.centre]).place(80.0, 10.0, FLAT)
    assert np.hypot(*np.subtract(moved.discs, free.centre).T).min() > 10


def test_two_labels_of_one_line_do_not_share_a_place() -> None:
    sheet = paper()
    one, other = (sheet.place(80.0, 10.0, FLAT) for _ in range(2))
    assert np.hypot(*(one.discs[:, None] - other.discs).T).min() > 10


def test_a_label_goes_below_when_another_line_runs_close_above() -> None:
    above = Line((400.0, 107.0), (0.0, 107.0))
    assert paper(lines=(FLAT, above)).place(80.0, 10.0, FLAT).centre[1] < 100


def test_a_text_longer_than_its_line_begins_where_the_line_does() -> None:
    short = Line((400.0, 100.0), (380.0, 100.0))
    assert paper(lines=(short,)).place(120.0, 10.0, short).discs[:, 0].max() < 400


def test_discs_cover_the_text_from_end_to_end() -> None:
    label = paper().place(80.0, 10.0, FLAT)
    assert np.ptp(label.discs[:, 0]) == pytest.approx(70.0)
    assert np.diff(label.discs[:, 0]).max() <= 5.5


def test_distance_is_measured_to_the_nearest_end_beyond_the_line() -> None:
    places = np.array([(200.0, 103.0), (403.0, 104.0)])
    assert FLAT.distances(places) == pytest.approx([3.0, 5.0])
