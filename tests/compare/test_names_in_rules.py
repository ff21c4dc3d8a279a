"""A point may be written in a rule as the other formats name it."""

from __future__ import annotations

import pytest

from roofline.archive.export.point import names
from roofline.compare.rule import parse_points
from roofline.errors import UsageError
from roofline.model.run import Run


def test_an_exported_name_means_its_point_and_no_other(run: Run) -> None:
    for name, measurement in zip(names(run), run.measurements, strict=True):
        assert [other for other in run.measurements if parse_points(name).fits(other)] == [measurement]


def test_a_bare_level_is_a_level_and_no_dtype() -> None:
    assert parse_points("stream.triad[n=64,f64,t=2,L2]") == parse_points("stream.triad[n=64,f64,threads=2,level=L2]")
    assert parse_points("stream.triad[DRAM]").level == "DRAM"


def test_threads_are_given_once() -> None:
    with pytest.raises(UsageError, match="threads is given twice"):
        parse_points("stream.triad[t=1,threads=2]")
