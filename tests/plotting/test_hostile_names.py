from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from lettering_of import overlapping, texts, written_on
from matplotlib.text import Text
from msgspec.structs import replace

from roofline.errors import ResultsError
from roofline.model.run import Caveat, Run
from roofline.plotting.figure import draw, save_figure

NAMES = (
    "$x^2$.\\frac{",
    "_lead._",
    "a" * 300,
    "new\nline.k\x1b[31m",
    "\U0001f680.rocket",
    "\u202eevil.bidi",
    "漢字.かな",
    "<b>|`@me`",
    "%s{}\\n",
    ".",
    "",
)


@pytest.fixture(scope="module")
def hostile(run: Run) -> Run:
    few = [m for m in run.measurements if (m.dtype, m.threads) == ("f64", 1) and m.drawable and m.work.flops]
    named = tuple(replace(m, kernel=name) for m, name in zip(few, NAMES, strict=False))
    return replace(
        run,
        label="$L$" * 90,
        measurements=named,
        machine=replace(run.machine, cpu_model="A very long name of a processor @ 2.4 GHz " * 4),
        caveats=(Caveat(code="_X_", message="$no^math$ " + "w" * 500),),
    )


def test_hostile_names_are_drawn_literally_without_a_warning(hostile: Run) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page = draw(hostile, threads=1)
        written = written_on(page)
    shown = texts(page, "key entry: kernel")
    assert len(shown) == len(hostile.measurements) == len(NAMES)
    assert shown[0] == "$x^2$.\\frac{"
    assert shown[1] == "_lead._"
    assert shown[3].startswith(r"new\nli") and shown[3].endswith(r"\x1b[31m")
    assert shown[4].startswith(r"\U0001") and shown[4].endswith("rocket")
    assert overlapping(written) == []
    assert not [text for text in page.findobj(Text) if text.get_gid() not in (None, "number") and text.get_parse_math()]
    assert all(text.corners[:, 0].max() <= page.bbox.width - 5 for text in written)


def test_a_long_name_is_cut_in_the_middle(hostile: Run) -> None:
    name = texts(draw(hostile, threads=1), "key entry: kernel")[2]
    assert name.startswith("aaa") and "…" in name and len(name) <= 22


def test_the_same_run_gives_the_same_bytes(hostile: Run, tmp_path: Path) -> None:
    first = save_figure(hostile, tmp_path / "first", threads=1)
    second = save_figure(hostile, tmp_path / "second", threads=1)
    assert [path.name for path in first] == ["first.svg", "first.png"]
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
    assert b"<dc:date>" not in first[0].read_bytes()


def test_only_the_formats_asked_for_are_written(hostile: Run, tmp_path: Path) -> None:
    assert save_figure(hostile, tmp_path / "v1.2", threads=1, formats=("svg",)) == [tmp_path / "v1.2.svg"]
    assert [path.name for path in tmp_path.iterdir()] == ["v1.2.svg"]


def test_a_folder_that_is_not_there_is_a_results_error(hostile: Run, tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match=r"cannot write .*gone/x.svg: No such file or directory"):
        save_figure(hostile, tmp_path / "gone" / "x", threads=1)
